"""Releases and rollbacks against a simulated target, one fault after the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from deployed import NOON, shop
from specimen import KEY

from aal_engine.errors import Conflict
from aal_engine.service.notice import deliver
from aal_engine.service.reconcile import reconcile
from aal_engine.service.release import (
    breach,
    clear,
    promote,
    quarantine,
    resume,
    rollback,
)


@pytest.fixture
def made(tmp_path):
    """Open desks on ledgers that are held against their own rules in the end."""
    opened = []

    def make(*versions, **changes):
        opened.append(shop(tmp_path / f"ledger{len(opened)}", *versions, **changes))
        return opened[-1]

    yield make
    for each in opened:
        each.verified()


class TestPromotion:
    def test_a_released_version_serves(self, made):
        s = made("1.0.0")
        assert s.target.shows == "1.0.0"
        assert s.serving.version == "1.0.0"
        assert len(s.entries("release")) == len(s.entries("release", "done")) == 1

    def test_a_version_that_no_decision_released_is_refused(self, made):
        s = made("1.0.0")
        with pytest.raises(Conflict, match=r"no decision of the gate released version 1\.1\.0"):
            promote(s.desk, KEY, "1.1.0")
        assert s.target.told == []

    def test_a_version_that_did_not_pass_for_a_family_of_the_policy_is_refused(self, made):
        s = made("1.0.0", families=("claude",), allowed=("claude", "gpt"))
        with pytest.raises(Conflict, match="did not pass for every model family"):
            promote(s.desk, KEY, "1.0.0")

    def test_promoted_twice_it_is_acted_on_once(self, made):
        s = made("1.0.0")
        assert promote(s.desk, KEY, "1.0.0").ended == "nothing"
        assert s.target.told == []

    def test_only_instead_of_the_version_that_serves(self, made):
        s = made("1.0.0", gate=("1.1.0",))
        with pytest.raises(Conflict, match=r"version 1\.0\.0 serves, not 0\.9\.0"):
            promote(s.desk, KEY, "1.1.0", instead_of="0.9.0")
        assert promote(s.desk, KEY, "1.1.0", instead_of="1.0.0").was == "1.0.0"

    def test_a_target_that_refuses_leaves_the_old_version_and_an_act_under_way(self, made):
        s = made("1.0.0", gate=("1.1.0",))
        s.target.fails = "refused"
        outcome = promote(s.desk, KEY, "1.1.0")
        assert (outcome.ended, outcome.why) == ("failed", "refused")
        assert s.serving.version == "1.0.0"
        s.target.fails = None
        assert [each.ended for each in resume(s.desk)] == ["promoted"]
        assert s.serving.version == "1.1.0"

    def test_an_act_under_way_is_given_up_for_another(self, made):
        s = made("1.0.0", gate=("1.1.0",))
        s.target.fails = "refused"
        promote(s.desk, KEY, "1.1.0")
        s.target.fails = None
        assert promote(s.desk, KEY, "1.0.0").ended == "promoted"
        assert resume(s.desk) == []
        assert s.target.shows == "1.0.0"


class TestRollback:
    def test_the_version_that_served_before_serves_again(self, made):
        s = made("1.9.0", "1.10.0")
        outcome = rollback(s.desk, s.incident())
        assert (outcome.ended, outcome.version, outcome.was) == ("rolled_back", "1.9.0", "1.10.0")
        assert s.target.told == ["1.9.0"]
        assert "1.10.0" in s.serving.quarantined

    @pytest.mark.parametrize("versions", [("1.9.0", "1.10.0"), ("1.10.0", "1.9.0")])
    def test_the_ledgers_sequence_decides_and_no_order_of_version_strings(self, made, versions):
        s = made(*versions)
        assert rollback(s.desk, s.incident()).version == versions[0]

    def test_the_version_that_served_last_goes_before_one_that_was_gated_last(self, made):
        s = made("1.0.0", "1.1.0", "1.2.0")
        s.serve("1.0.0", "1.2.0")
        assert rollback(s.desk, s.incident()).version == "1.0.0"

    def test_a_breach_entry_stands_before_the_rollback(self, made):
        s = made("1.0.0", "1.1.0")
        incident = s.incident()
        rollback(s.desk, incident)
        assert s.entries("breach", None)[0] == incident.body()
        assert s.entries("rollback")[0]["incident"] == incident.id

    def test_asked_again_it_is_answered_already(self, made):
        s = made("1.0.0", "1.1.0")
        incident = s.incident()
        rollback(s.desk, incident)
        assert rollback(s.again().desk, incident).ended == "answered"
        assert s.target.told == ["1.0.0"]
        assert len(s.entries("rollback")) == 1

    def test_two_breaches_in_one_tick_make_one_rollback_and_one_notice(self, made):
        s = made("1.0.0", "1.1.0")
        live = s.incident()
        rerun = s.incident(check="complete", source="rerun", value=0.7, limit=0.85)
        breach(s.desk, live)
        breach(s.desk, rerun)
        assert rollback(s.desk, live).ended == "rolled_back"
        assert rollback(s.desk, rerun).ended == "answered"
        deliver(s.desk)
        assert s.target.told == ["1.0.0"]
        assert s.listener.words == ["rolled_back"]
        assert len(s.entries("breach", None)) == 2

    def test_what_was_not_measured_is_recorded_and_answers_nothing(self, made):
        s = made("1.0.0", "1.1.0")
        silence = s.incident(state="not_measured", check="silence", value=None, limit=None, n=0)
        breach(s.desk, silence)
        with pytest.raises(Conflict, match="only a breach"):
            rollback(s.desk, silence)
        assert resume(s.desk) == []
        assert s.serving.version == "1.1.0"
        assert s.serving.quarantined == {}

    def test_late_outputs_of_the_old_version_neither_breach_the_new_one_nor_mute_it(self, made):
        s = made("1.0.0", "1.1.0", "1.2.0")
        late = s.incident("1.1.0")
        assert rollback(s.desk, late).ended == "late"
        assert s.serving.version == "1.2.0"
        # 1.1.0 is no way out any more, and 1.2.0 is heard all the same.
        outcome = rollback(s.desk, s.incident("1.2.0"))
        assert (outcome.ended, outcome.version) == ("rolled_back", "1.0.0")

    def test_an_earlier_stint_says_nothing_of_the_present_one(self, made):
        s = made("1.0.0", "1.1.0")
        earlier = s.incident("1.0.0")
        s.serve("1.0.0")
        assert s.serving.since("1.0.0") != earlier.since
        assert rollback(s.desk, earlier).ended == "late"
        now = s.incident("1.0.0")
        assert now.id != earlier.id
        assert rollback(s.desk, now).version == "1.1.0"

    def test_a_new_version_does_not_inherit_the_evidence_against_the_old_one(self, made):
        s = made("1.0.0", "1.1.0", gate=("1.2.0",))
        incident = s.incident("1.1.0")
        s.serve("1.2.0")
        assert rollback(s.desk, incident).ended == "late"
        assert "1.2.0" not in s.serving.quarantined
        assert s.serving.version == "1.2.0"

    def test_a_version_being_promoted_can_be_in_breach_already(self, made):
        s = made("1.0.0", gate=("1.1.0",))
        s.target.fails = "late"
        promote(s.desk, KEY, "1.1.0")
        s.target.fails, s.target.shows = None, "1.1.0"
        outcome = rollback(s.desk, s.incident("1.1.0"))
        assert (outcome.ended, outcome.version) == ("rolled_back", "1.0.0")
        assert s.target.shows == "1.0.0"

    def test_a_target_that_passed_for_fewer_families_than_the_policy_allows_is_none(self, made):
        s = made("1.0.0", "1.1.0")
        wider = replace(s.desk, policy=replace(s.desk.policy, families=("claude", "gpt")))
        assert rollback(wider, s.incident()).ended == "held"

    def test_a_quarantined_version_is_no_target(self, made):
        s = made("1.0.0", "1.1.0", "1.2.0")
        quarantine(s.desk.book, KEY, "1.1.0", "its index is gone", NOON)
        assert rollback(s.desk, s.incident()).version == "1.0.0"


class TestFaults:
    def test_a_target_that_lies_is_caught_by_the_reading(self, made):
        s = made("1.0.0", "1.1.0")
        s.target.lies = True
        outcome = rollback(s.desk, s.incident())
        assert (outcome.ended, outcome.why) == ("failed", "unchanged")
        assert s.entries("rollback", "done") == []
        assert s.entries("rollback", "failed")[0]["found"] == "1.1.0"
        deliver(s.desk)
        assert s.listener.words == ["failed"]
        assert [each.ended for each in resume(s.desk)] == ["failed"]
        assert len(s.entries("rollback", "failed")) == 1
        s.target.lies = False
        assert [each.ended for each in resume(s.desk)] == ["rolled_back"]
        assert len(s.entries("rollback")) == 1

    def test_a_target_that_was_late_and_did_it_all_the_same_did_it(self, made):
        s = made("1.0.0", "1.1.0")
        s.target.fails, s.target.shows = "late", "1.0.0"
        assert rollback(s.desk, s.incident()).ended == "rolled_back"

    def test_a_target_that_cannot_be_read_is_not_taken_to_have_obeyed(self, made):
        s = made("1.0.0", "1.1.0")
        s.target.blind = True
        outcome = rollback(s.desk, s.incident())
        assert (outcome.ended, outcome.why) == ("failed", "unreadable")
        s.target.blind = False
        assert [each.ended for each in resume(s.desk)] == ["rolled_back"]
        assert s.target.told == ["1.0.0"]

    def test_if_the_versions_artefact_is_gone_the_next_one_that_passed_is_taken(self, made):
        s = made("1.0.0", "1.1.0", "1.2.0")
        s.target.lost = {"1.1.0"}
        assert rollback(s.desk, s.incident()).version == "1.0.0"
        assert s.target.told == ["1.1.0", "1.0.0"]
        assert {"1.1.0", "1.2.0"} == set(s.serving.quarantined)

    def test_if_every_artefact_is_gone_the_agent_is_halted(self, made):
        s = made("1.0.0", "1.1.0")
        s.target.lost = {"1.0.0"}
        assert rollback(s.desk, s.incident()).ended == "held"
        assert s.serving.halt.why == "no_target"
        deliver(s.desk)
        assert s.listener.words == ["halted"]

    def test_a_version_put_back_by_a_desired_state_is_seen_and_told_once(self, made):
        s = made("1.0.0", "1.1.0")
        rollback(s.desk, s.incident())
        deliver(s.desk)
        assert [each.agrees for each in reconcile(s.desk)] == [True]
        s.target.shows = "1.1.0"
        for _ in range(3):
            (reading,) = reconcile(s.desk)
            assert (reading.agrees, reading.version, reading.found) == (False, "1.0.0", "1.1.0")
        deliver(s.desk)
        assert s.listener.words == ["rolled_back", "reasserted"]
        assert "1.0.0 should serve and the target shows 1.1.0" in s.listener.heard[-1].line
        s.target.shows = "1.0.0"
        reconcile(s.desk)
        s.target.shows = "1.1.0"
        reconcile(s.desk)
        deliver(s.desk)
        assert s.listener.words == ["rolled_back", "reasserted", "reasserted"]


class TestHalt:
    def test_nothing_to_roll_back_to_is_recorded_and_said_loudly(self, made):
        s = made("1.0.0", gate=("1.1.0",))
        incident = s.incident()
        assert rollback(s.desk, incident).ended == "held"
        assert rollback(s.desk, incident).ended == "held"
        deliver(s.desk)
        assert s.listener.words == ["halted"]
        assert "HALTED, a person is needed" in s.listener.heard[0].line
        assert s.target.told == []
        with pytest.raises(Conflict, match="halted"):
            promote(s.desk, KEY, "1.1.0")

    def test_a_person_who_promotes_another_version_answers_the_breach(self, made):
        s = made("1.0.0", gate=("1.1.0",))
        rollback(s.desk, s.incident())
        clear(s.desk.book, KEY, None, "1.1.0 mends it", NOON)
        assert promote(s.desk, KEY, "1.1.0").ended == "promoted"
        assert resume(s.desk) == []
        assert s.serving.halt is None

    def test_a_policy_may_have_the_agent_stopped(self, made):
        s = made("1.0.0", on_halt="stop")
        assert rollback(s.desk, s.incident()).ended == "stopped"
        assert s.target.shows is None
        assert s.serving.version is None
        deliver(s.desk)
        assert s.listener.words == ["halted", "stopped"]

    def test_two_rollbacks_in_a_day_halt_and_call_a_person(self, made):
        s = made("1.0.0", "1.1.0", "1.2.0")
        rollback(s.desk, s.incident())
        s.clock.now += timedelta(hours=23)
        assert rollback(s.desk, s.incident()).version == "1.0.0"
        assert s.serving.halt.why == "rollbacks"
        deliver(s.desk)
        assert s.listener.words == ["rolled_back", "rolled_back", "halted"]
        assert rollback(s.desk, s.incident()).ended == "held"
        assert s.target.told == ["1.1.0", "1.0.0"]

    def test_two_rollbacks_in_two_days_do_not(self, made):
        s = made("1.0.0", "1.1.0", "1.2.0")
        rollback(s.desk, s.incident())
        s.clock.now += timedelta(hours=25)
        rollback(s.desk, s.incident())
        assert s.serving.halt is None

    def test_flapping_ends(self, made):
        s = made("1.0.0", "1.1.0")
        for n in range(10):
            rollback(s.desk, s.incident(evidence=f"{n:064x}"))
            for version in list(s.serving.quarantined):
                clear(s.desk.book, KEY, version, "looks well", NOON)
            try:
                promote(s.desk, KEY, "1.1.0")
            except Conflict:
                break
        assert s.target.told.count("1.0.0") == 2

    def test_a_halt_ends_by_a_person_and_counting_starts_anew(self, made):
        s = made("1.0.0", "1.1.0", "1.2.0", gate=("1.3.0", "1.4.0"))
        rollback(s.desk, s.incident())
        rollback(s.desk, s.incident())
        clear(s.desk.book, KEY, None, "the index was rebuilt", NOON)
        s.serve("1.3.0")
        assert rollback(s.desk, s.incident()).version == "1.0.0"
        assert s.serving.halt is None


class TestQuarantine:
    def test_a_version_in_breach_is_not_promoted_until_it_is_cleared(self, made):
        s = made("1.0.0", "1.1.0")
        rollback(s.desk, s.incident())
        with pytest.raises(Conflict, match="quarantined"):
            promote(s.desk, KEY, "1.1.0")
        clear(s.desk.book, KEY, "1.1.0", "the index was at fault", NOON)
        assert promote(s.desk, KEY, "1.1.0").ended == "promoted"
        assert s.entries("clear", None)[0]["reason"] == "the index was at fault"

    def test_cleared_it_can_be_in_breach_anew(self, made):
        s = made("1.0.0", "1.1.0")
        rollback(s.desk, s.incident())
        clear(s.desk.book, KEY, "1.1.0", "the index was at fault", NOON)
        s.serve("1.1.0")
        s.clock.now += timedelta(days=2)
        assert rollback(s.desk, s.incident()).ended == "rolled_back"

    def test_what_was_cleared_while_it_served_is_not_answered_any_more(self, made):
        s = made("1.0.0")
        incident = s.incident()
        rollback(s.desk, incident)
        clear(s.desk.book, KEY, None, "a false alarm", NOON)
        clear(s.desk.book, KEY, "1.0.0", "a false alarm", NOON)
        assert resume(s.desk) == []
        assert rollback(s.desk, incident).ended == "cleared"

    def test_a_breach_of_a_version_that_never_served_is_late(self, made):
        s = made("1.0.0", gate=("1.1.0",))
        assert rollback(s.desk, s.incident("1.1.0")).ended == "late"
        assert "1.1.0" in s.serving.quarantined

    def test_a_halt_that_was_cleared_does_not_come_back_for_the_same_breach(self, made):
        s = made("1.0.0")
        incident = s.incident()
        rollback(s.desk, incident)
        clear(s.desk.book, KEY, None, "looked into it", NOON)
        assert resume(s.desk) == []
        assert rollback(s.desk, incident).ended == "cleared"
        assert rollback(s.desk, s.incident(check="another")).ended == "held"

    def test_there_must_be_something_to_clear(self, made):
        s = made("1.0.0")
        with pytest.raises(Conflict, match="is not quarantined"):
            clear(s.desk.book, KEY, "1.0.0", "why not", NOON)
        with pytest.raises(Conflict, match="is not halted"):
            clear(s.desk.book, KEY, None, "why not", NOON)


class TestNotices:
    def test_a_notice_is_told_once_by_whichever_process(self, made):
        s = made("1.0.0", "1.1.0")
        rollback(s.desk, s.incident())
        other = s.again()
        assert len(deliver(s.desk)) == 1
        assert deliver(other.desk) == []
        assert s.entries("rollback", "told")[0]["delivered"] == ["listener"]

    def test_that_nobody_took_it_is_recorded(self, made):
        s = made("1.0.0", "1.1.0")
        rollback(s.desk, s.incident())
        s.listener.deaf = True
        deliver(s.desk)
        assert s.entries("rollback", "told")[0]["failed"] == ["listener"]
