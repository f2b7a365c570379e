"""Weeks of simulated traffic through the monitor, the ledger and a simulated target."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from deployed import NOON
from specimen import KEY
from traffic import ALL, output, world

from aal_engine.decide import inspection
from aal_engine.errors import InputError, LedgerUnreadable, WriteError
from aal_engine.service import monitor as module
from aal_engine.service import response
from aal_engine.service.release import clear, promote
from aal_engine.store.ledger import Ledger

INVENTED = "Refunds take 30 days [7]."


@pytest.fixture
def made(tmp_path):
    opened = []

    def make(*versions, **more):
        opened.append(world(tmp_path, *versions, **more))
        return opened[-1]

    yield make
    for each in opened:
        each.state.close()
        each.shop.verified()


class TestBreach:
    def test_a_week_without_fault_changes_nothing(self, made):
        w = made("1.0.0", "1.1.0")
        assert w.hours(7 * 24) == []
        assert set(w.states.values()) == {"ok"}
        assert w.shop.serving.version == "1.1.0"
        assert w.shop.entries("breach", None) == []
        assert w.monitor.totals.drawn == 7 * 24 * 60

    def test_an_invented_citation_rolls_back_once(self, made):
        w = made("1.0.0", "1.1.0")
        w.hours(20)
        w.send(INVENTED)
        ((incident, outcome),) = w.monitor.step()
        assert (incident.check, incident.version, outcome.ended) == (
            "invented_citations", "1.1.0", "rolled_back",
        )  # fmt: skip
        assert w.shop.target.shows == w.shop.serving.version == "1.0.0"
        assert w.hours(24) == []
        assert len(w.shop.entries("rollback")) == len(w.incidents()) == 1

    def test_nothing_retrieved_and_a_citation_is_invented(self, made):
        w = made("1.0.0", "1.1.0")
        w.send("As said [1].", retrieved=[])
        assert w.monitor.step()[0][0].check == "invented_citations"

    def test_two_breaches_in_one_tick_make_one_rollback(self, made):
        w = made("1.0.0", "1.1.0")
        w.send(INVENTED, "A guaranteed refund.", INVENTED)
        ended = [outcome.ended for _, outcome in w.monitor.step()]
        assert ended == ["rolled_back", "answered"]
        assert len(w.shop.entries("rollback")) == 1
        assert len(w.incidents()) == 2

    def test_a_breach_and_one_of_a_rerun_in_one_tick_make_one_rollback(self, made):
        w = made("1.0.0", "1.1.0")
        w.send(INVENTED)
        again = w.shop.incident("1.1.0", "rerun.complete", source="rerun")
        assert w.responder.answer(again).ended == "rolled_back"
        assert [outcome.ended for _, outcome in w.monitor.step()] == ["answered"]
        assert len(w.shop.entries("rollback")) == 1

    def test_a_floor_waits_for_as_many_confirmed_hits_as_the_policy_says(self, made):
        w = made("1.0.0", "1.1.0", confirm=3)
        w.send(INVENTED, INVENTED)
        assert w.monitor.step() == []
        w.send(INVENTED)
        assert w.monitor.step()[0][1].ended == "rolled_back"

    def test_a_hit_that_a_second_reading_does_not_find_is_not_measured(self, made, monkeypatch):
        w = made("1.0.0", "1.1.0")
        real = inspection.inspect

        def flawed(one, rules, *, screened=True):
            found = real(one, rules, screened=screened)
            return found if screened else rules.clean

        monkeypatch.setattr(module, "inspect", flawed)
        w.send(INVENTED)
        assert w.monitor.step() == []
        reading = w.monitor.readings()[0]
        assert (reading.hits, reading.unmeasured) == (0, 1)


class TestRates:
    def test_one_hit_in_three_samples_of_a_rate_rule_holds(self, made):
        w = made("1.0.0", "1.1.0")
        w.send("Fine.", "We are sorry.", "Fine.")
        assert w.monitor.step() == []

    def test_the_allowed_rate_holds_and_a_drift_beyond_it_rolls_back(self, made):
        w = made("1.0.0", "1.1.0")
        assert w.hours(5 * 24, bad=0.005, answer="We are sorry.") == []
        ended = w.hours(2 * 24, bad=0.08, answer="We are sorry.", seed=1, version="1.1.0")
        assert [outcome.ended for _, outcome in ended if outcome] == ["rolled_back"]
        (incident,) = w.incidents()
        assert incident["check"] == "sorry"
        assert incident["limit"] == 0.01
        assert 0.004 < incident["value"] < 0.1

    def test_weights_are_those_of_the_rate_drawn_at(self, made):
        shares = {"internal": [10] * 4, "confidential": [10] * 4, "restricted": [100] * 4}
        w = made("1.0.0", sampling=_table({"public": [1] * 4} | shares))
        w.send(*["Fine."] * 4_000)
        w.send(*["We are sorry."] * 40, sensitivity="restricted")
        reading = next(r for r in w.monitor.readings() if r.check == "sorry")
        assert reading.hits == 40
        assert reading.estimate == pytest.approx(40 / 4_040, rel=0.25)
        assert reading.interval[0] < 40 / 4_040 < reading.interval[1]

    def test_an_output_cannot_ask_to_be_watched_less(self, made):
        w = made("1.0.0", "1.1.0")
        w.send(INVENTED, sensitivity="public", autonomy=0)
        assert w.monitor.totals.drawn == 1


class TestNotMeasured:
    def test_silence_is_alarmed_at_its_deadline_once_and_rolls_nothing_back(self, made):
        w = made("1.0.0", "1.1.0")
        w.hours(3)
        assert w.hours(0.75, each=0) == []
        alarmed = w.hours(6, each=0)
        assert {incident.state for incident, _ in alarmed} == {"not_measured"}
        assert len(alarmed) == len(w.states)
        assert set(w.states.values()) == {"not_measured"}
        assert w.shop.serving.version == "1.1.0"
        assert w.shop.entries("rollback") == []

    def test_each_time_of_silence_has_its_own_alarm(self, made):
        w = made("1.0.0")
        for _ in range(3):
            w.hours(2)
            assert set(w.states.values()) == {"ok"}
            w.hours(3, each=0)
        assert len(w.incidents("not_measured")) == 3 * len(w.states)
        assert w.incidents() == []

    def test_ingestion_that_stores_nothing_is_silence(self, made):
        w = made("1.0.0")
        w.hours(3, each=60, version="1.0.0", error="late")
        assert set(w.states.values()) == {"not_measured"}
        assert w.incidents("not_measured") != []

    def test_mostly_unmeasured_with_a_few_good_ones_does_not_pass(self, made):
        w = made("1.0.0")
        for _ in range(40):
            w.pass_minutes(5)
            w.send(*["Fine [1]."] * 9, retrieved=None)
            w.send("Fine [1].")
            w.monitor.step()
        assert w.states == {"invented_citations": "not_measured", "promise": "ok", "sorry": "ok"}
        (alarm,) = w.incidents("not_measured")
        assert alarm["check"] == "invented_citations"

    def test_a_check_that_raises_is_alarmed_and_rolls_nothing_back(self, made, monkeypatch):
        def broken(*_):
            raise RuntimeError

        w = made("1.0.0", "1.1.0")
        monkeypatch.setattr(inspection, "examine", broken)
        w.hours(3, bad=1, answer="[1-9] A guaranteed refund")
        assert {each["check"] for each in w.incidents("not_measured")} == set(w.states)
        assert w.incidents() == []


class TestVersions:
    def test_a_new_version_does_not_inherit_the_evidence_of_the_old_one(self, made):
        w = made("1.0.0", "1.1.0", gate=("1.2.0",), confirm=3)
        w.send(INVENTED, INVENTED)
        promote(w.shop.desk, KEY, "1.2.0")
        w.monitor.step()
        w.send(INVENTED, INVENTED)
        assert w.monitor.step() == []
        assert w.shop.serving.version == "1.2.0"

    def test_late_outputs_of_the_old_version_neither_break_the_new_one_nor_mute_it(self, made):
        w = made("1.0.0", "1.1.0")
        w.send(INVENTED)
        w.monitor.step()
        assert w.shop.serving.version == "1.0.0"
        alarms = []
        for _ in range(8):
            w.pass_minutes(15)
            w.monitor.step()
            assert w.send(INVENTED, version="1.1.0").late == 1
            alarms += w.incidents("not_measured")
        assert len(w.incidents()) == 1
        assert {alarm["version"] for alarm in alarms} == {"1.0.0"}

    def test_an_output_of_an_earlier_stint_of_the_same_version_is_late(self, made):
        w = made("1.0.0", "1.1.0")
        w.send(INVENTED)
        w.monitor.step()
        w.pass_minutes(60)
        clear(w.shop.desk.book, KEY, "1.1.0", "the index was repaired", NOON)
        promote(w.shop.desk, KEY, "1.1.0")
        w.monitor.step()
        assert w.send(INVENTED, at="2026-05-01T12:30:00Z").late == 1
        assert w.monitor.step() == []
        w.pass_minutes(5)
        w.send(INVENTED, at="2026-05-01T23:00:00Z")
        assert w.monitor.step()[0][1].ended == "rolled_back"
        assert len(w.shop.entries("rollback")) == 2

    def test_without_a_version_in_service_each_that_shows_itself_is_watched(self, made):
        w = made(gate=("1.0.0",))
        w.send("Fine [1].", version="1.0.0")
        w.send(INVENTED, version="0.9.0")
        ((incident, _),) = w.monitor.step()
        assert (incident.version, incident.since) == ("0.9.0", None)
        assert w.shop.target.told == []
        for n in range(40):
            w.send("Fine.", version=f"2.{n}")
        assert w.monitor.totals.late == 40 - 14


class TestTending:
    """What is left half done, or undone elsewhere, needs no other command."""

    def test_a_rollback_that_the_target_did_not_show_is_gone_on_with(self, made):
        w = made("1.0.0", "1.1.0")
        w.shop.target.lies = True
        w.send(INVENTED)
        assert w.monitor.step()[0][1].ended == "failed"
        w.shop.target.lies = False
        w.pass_minutes(0.5)
        w.monitor.step()
        assert w.shop.serving.version == "1.1.0"
        w.pass_minutes(1)
        w.monitor.step()
        assert w.shop.target.shows == w.shop.serving.version == "1.0.0"
        assert len(w.shop.entries("rollback")) == 1

    def test_what_another_process_left_half_done_is_finished(self, made, monkeypatch):
        w = made("1.0.0", gate=("1.1.0",))
        monkeypatch.setattr(w.shop.target, "act", _die)
        with pytest.raises(KeyboardInterrupt):
            promote(w.shop.desk, KEY, "1.1.0")
        monkeypatch.undo()
        w.monitor.step()
        assert w.shop.target.shows == w.shop.serving.version == "1.1.0"

    def test_a_version_that_is_put_back_elsewhere_is_told_once(self, made):
        w = made("1.0.0", "1.1.0")
        w.send(INVENTED)
        w.monitor.step()
        w.shop.target.shows = "1.1.0"
        for _ in range(5):
            w.pass_minutes(2)
            w.monitor.step()
        (found,) = w.shop.entries("rollback", "found")
        assert (found["version"], found["found"]) == ("1.0.0", "1.1.0")
        assert w.shop.target.shows == "1.1.0"
        assert "reasserted" in [n.word for n in w.shop.serving.untold.values()]

    def test_a_target_that_cannot_be_read_is_told_each_time_that_it_goes_blind(self, made):
        w = made("1.0.0")
        for blind in (True, True, False, True):
            w.shop.target.blind = blind
            w.pass_minutes(2)
            w.monitor.step()
        assert sum("target cannot be read" in line for line in w.told) == 2

    def test_a_target_that_is_read_as_recorded_adds_nothing(self, made):
        w = made("1.0.0", "1.1.0")
        w.shop.target.reads = 0
        head = len(list(Ledger.open(w.shop.desk.book.folder).entries()))
        for _ in range(10):
            w.pass_minutes(0.5)
            w.monitor.step()
        assert w.shop.target.reads == 5
        assert len(list(Ledger.open(w.shop.desk.book.folder).entries())) == head

    def test_who_is_acting_is_not_waited_for(self, made):
        w = made("1.0.0", gate=("1.1.0",))
        act = w.shop.target.act

        def meanwhile(order):
            w.pass_minutes(2)
            w.monitor.step()
            act(order)

        w.shop.target.act = meanwhile
        assert promote(w.shop.again().desk, KEY, "1.1.0").ended == "promoted"
        assert any("another process is acting" in line for line in w.told)

    @pytest.mark.parametrize("halt", [True, False])
    def test_what_a_person_cleared_is_watched_anew(self, made, halt):
        w = made("1.0.0")
        w.send(INVENTED)
        assert w.monitor.step()[0][1].ended == "held"
        w.send(INVENTED)
        assert w.monitor.step() == []
        clear(w.shop.desk.book, KEY, None, "looked into it", w.shop.clock())
        if not halt:
            clear(w.shop.desk.book, KEY, "1.0.0", "mended", w.shop.clock())
        w.monitor.step()
        assert w.states["invented_citations"] == "not_measured"
        w.die()
        w.send("Fine.", INVENTED)
        ((incident, outcome),) = w.monitor.step()
        assert (incident.n, outcome.ended) == (2, "held")
        assert len(w.incidents()) == 2


def _locked(*_):
    raise LedgerUnreadable("locked")


def _die(*_):
    raise KeyboardInterrupt


class TestFaults:
    def test_a_breach_is_answered_though_its_counts_cannot_be_kept(self, made, monkeypatch):
        w = made("1.0.0", "1.1.0")

        def full(*_):
            raise WriteError("journal was not written: No space left on device")

        monkeypatch.setattr(w.state, "commit", full)
        w.monitor.take([output("t", "1.1.0", INVENTED)])
        assert [outcome.ended for _, outcome in w.monitor.step()] == ["rolled_back"]
        assert any("not kept yet" in line for line in w.told)

    def test_a_clock_that_was_ahead_mutes_nothing(self, made, monkeypatch):
        w = made("1.0.0", "1.1.0")
        w.pass_minutes(60 * 24 * 365)
        w.send("Fine.", "We are sorry.")
        with monkeypatch.context() as broken:
            broken.setattr(response, "breach", _locked)
            w.pass_minutes(120)
            assert w.monitor.step() == []
        w.pass_minutes(-60 * 24 * 365)
        w.monitor.step()
        w.pass_minutes(1)
        assert {i.state for i, _ in w.monitor.step()} == {"not_measured"}
        w.pass_minutes(58)
        assert w.monitor.step() == []
        w.pass_minutes(1)
        assert {i.reason for i, _ in w.monitor.step()} == {"nothing was measured in time"}

    def test_a_ledger_that_cannot_be_followed_is_told_once(self, made, monkeypatch):
        w = made("1.0.0")
        with monkeypatch.context() as broken:
            broken.setattr(Ledger, "follow", _locked)
            for _ in range(5):
                w.monitor.step()
        assert sum("cannot be followed" in line for line in w.told) == 1

    def test_a_stint_that_was_recorded_as_of_later_is_watched(self, made):
        w = made("1.0.0", gate=("1.1.0",))
        w.shop.clock.now += timedelta(days=400)
        promote(w.shop.desk, KEY, "1.1.0")
        w.monitor.step()
        w.send(INVENTED, at="2026-05-01T13:00:00Z")
        assert w.monitor.totals.late == 0
        assert [outcome.ended for _, outcome in w.monitor.step()] == ["rolled_back"]

    def test_a_breach_does_not_wait_for_what_could_not_be_recorded(self, made, monkeypatch):
        w = made("1.0.0", "1.1.0")
        w.pass_minutes(60)
        with monkeypatch.context() as broken:
            broken.setattr(response, "breach", _locked)
            assert w.monitor.step() == []
        w.send(INVENTED)
        assert "rolled_back" in [o.ended for _, o in w.monitor.step() if o is not None]

    def test_flapping_rolls_back_and_then_halts(self, made):
        w = made("1.0.0", "1.1.0", "1.2.0")
        for _ in range(3):
            w.send(INVENTED)
            w.monitor.step()
            w.pass_minutes(30)
            w.monitor.step()
        assert [each["version"] for each in w.shop.entries("rollback")] == ["1.1.0", "1.0.0"]
        assert w.shop.serving.halt is not None

    def test_a_target_that_lies_is_caught_and_not_called_done(self, made):
        w = made("1.0.0", "1.1.0")
        w.shop.target.lies = True
        w.send(INVENTED)
        ((_, outcome),) = w.monitor.step()
        assert (outcome.ended, outcome.why) == ("failed", "unchanged")
        assert w.shop.serving.version == "1.1.0"

    def test_a_target_whose_artefact_is_gone_is_passed_over(self, made):
        w = made("1.0.0", "1.1.0", "1.2.0")
        w.shop.target.lost = {"1.1.0"}
        w.send(INVENTED)
        assert w.monitor.step()[0][1].version == "1.0.0"

    def test_a_ledger_that_cannot_be_written_is_tried_again(self, made, monkeypatch):
        w = made("1.0.0", "1.1.0")
        w.send(INVENTED)

        monkeypatch.setattr(response, "rollback", _locked)
        assert w.monitor.step() == []
        assert w.monitor.step() == []
        monkeypatch.undo()
        w.die()
        assert [outcome.ended for _, outcome in w.monitor.step()] == ["rolled_back"]
        assert w.monitor.step() == []

    def test_a_notifier_that_hangs_delays_no_rollback(self, made):
        w = made("1.0.0", "1.1.0")
        never = threading.Event()
        w.shop.listener.send = lambda message: never.wait(30)
        with w.responder:
            w.hours(1)
            w.send(INVENTED)
            ((_, outcome),) = w.monitor.step()
            assert outcome.ended == "rolled_back"
            never.set()

    @pytest.mark.parametrize("at", range(1, 9))
    def test_killed_at_any_write_one_incident_makes_one_rollback(self, made, monkeypatch, at):
        from aal_engine.store.monitor_state import MonitorState

        class Killed(BaseException):
            pass

        left = at

        def dying(real):
            def write(*args, **more):
                nonlocal left
                left -= 1
                if left == 0:
                    raise Killed
                return real(*args, **more)

            return write

        w = made("1.0.0", "1.1.0")
        monkeypatch.setattr(MonitorState, "commit", dying(MonitorState.commit))
        monkeypatch.setattr(Ledger, "append", dying(Ledger.append))
        rows = [output("the-one", "1.1.0", INVENTED)]
        for _ in range(4):
            try:
                w.monitor.take(rows)
                w.monitor.commit()
                w.monitor.step()
            except Killed:
                w.die()
        assert w.shop.target.shows == "1.0.0"
        assert len(w.shop.entries("rollback")) == len(w.incidents()) == 1

    def test_what_was_counted_counts_once_over_a_death(self, made):
        w = made("1.0.0")
        rows = [output(f"t{n}", "1.0.0") for n in range(50)]
        w.monitor.take(rows[:30])
        w.monitor.commit()
        w.monitor.take(rows[30:40])
        w.die()
        assert w.monitor.take(rows).duplicates == 30
        w.monitor.commit()
        assert {r.measured for r in w.monitor.readings()} == {50}

    def test_lines_that_are_no_outputs_are_counted_by_what_is_wrong(self, made):
        w = made("1.0.0")
        rows = [
            b"no json", b"[1]", b'{"trace_id": "x"}', b'{"trace_id": 1, "version": "1"}',
            b'{"trace_id": "x", "version": "1.0.0", "answer": 7}', b"\xff",
            b'{"trace_id": "y", "version": "1.0.0", "at": "yesterday"}',
            b"[" * 100_000, output("z", "1.0.0", agent="other"), output("z", "1.0.0", pack="other"),
        ]  # fmt: skip
        taken = w.monitor.take(rows)
        assert (taken.lines, taken.unreadable, taken.foreign) == (10, 8, 2)
        assert w.monitor.why_unreadable == {"not_json": 2, "wrong_field": 5, "wrong_time": 1}
        assert taken.drawn == 0

    def test_a_state_of_another_pack_is_refused(self, made):
        w = made("1.0.0")
        w.monitor.commit()
        path = w.folder / "pack" / "pack.yaml"
        path.write_text(path.read_text().replace("agent: desk", "agent: other"))
        with pytest.raises(InputError, match="another agent or pack"):
            w.die()
        w.state = module.MonitorState(w.folder / "elsewhere")


def _table(rows):
    from aal_engine.decide.sampling import sampling_from

    return sampling_from(rows)


def test_the_deadline_of_silence_is_the_policys(made):
    w = made("1.0.0", silence=timedelta(minutes=20), sampling=ALL)
    w.hours(1)
    w.pass_minutes(19)
    assert w.monitor.step() == []
    w.pass_minutes(1)
    assert len(w.monitor.step()) == 3
