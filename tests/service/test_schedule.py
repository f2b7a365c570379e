"""Re-runs of a golden set against the version in service, in slots, with what may go wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from deployed import Listener, Target

from aal_engine.decide.monitoring import Timetable
from aal_engine.decide.release import AgentKey
from aal_engine.errors import Conflict, InputError, RemoteError
from aal_engine.service import schedule as module
from aal_engine.service.book import Book
from aal_engine.service.evaluate import evaluate
from aal_engine.service.gate import gate
from aal_engine.service.ledger import verify
from aal_engine.service.release import Desk, promote
from aal_engine.service.rerun import Source, rerun
from aal_engine.service.response import Responder
from aal_engine.service.schedule import Schedule
from aal_engine.service.slot import Slots
from aal_engine.store.ledger import Ledger
from aal_engine.store.policy import load_policy
from aal_engine.store.slot import Slots as Kept
from aal_engine.store.slot import change_slots, lease, load_slots, save_slots

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = AgentKey("desk", "support")
PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: internal
suites: {core: {file: core.jsonl, metrics: [recall@2]}}
"""
GOOD = "Refunds take 30 days, to the same card [1]."


def rows(answer=GOOD, retrieved=("d1", "d2"), cases=10):
    listed = [{"doc_id": doc} for doc in retrieved]
    return "".join(
        json.dumps({"id": f"c{n}", "model_family": "claude", "retrieved": listed, "answer": answer})
        + "\n"
        for n in range(cases)
    )


class Town:
    """A pack whose versions 1.0.0 and 1.1.0 were gated and put into service, and a clock."""

    def __init__(self, folder):
        self.folder = folder
        self.now = NOON
        (folder / "pack").mkdir()
        (folder / "pack" / "pack.yaml").write_text(PACK)
        case = {"question": "How long?", "relevant": {"d1": 1}, "must_mention": ["30 days"]}
        self.cases = [{"id": f"c{n}", **case} for n in range(10)]
        self.write_cases()
        (folder / "policy.yaml").write_text(
            "model_families: {allow: [claude]}\nfirst_release: allow\n"
        )
        self.target, self.listener, self.told = Target(), Listener(), []
        baseline = []
        for version in ("1.0.0", "1.1.0"):
            self.write_run(rows(GOOD + f" As of {version}."))
            done = evaluate(
                folder / "pack", [self.run], folder / version, version=version, now=NOON
            )
            decision = folder / version / "decision.json"
            gated = gate(
                list(done.files.values()), baseline, folder / "policy.yaml", folder / "ledger",
                decision, now=NOON,
            )  # fmt: skip
            assert gated.decision.verdict == "released"
            baseline = [decision]
            promote(self.desk, KEY, version)
        self.target.orders.clear()
        self.responder = Responder(self.desk, self.told.append)

    def write_cases(self):
        text = "".join(json.dumps(case) + "\n" for case in self.cases)
        (self.folder / "pack" / "core.jsonl").write_text(text)

    @property
    def run(self):
        return str(self.folder / "run.jsonl")

    def write_run(self, text):
        (self.folder / "run.jsonl").write_text(text)

    @property
    def desk(self):
        book = Book(self.folder / "ledger")
        policy = load_policy(self.folder / "policy.yaml")
        return Desk(book, policy, self.target, lambda: self.now, (self.listener,), wait=5.0)

    def again(self, text=None):
        if text is not None:
            self.write_run(text)
        return rerun(
            self.responder, self.folder / "pack", Source(runs=(self.run,)), self.folder / "out",
            secrets=str, now=self.now,
        )  # fmt: skip

    def schedule(self, cron="0 3 * * *", **more):
        return Schedule(
            self.responder, self.folder / "pack", Source(runs=(self.run,)),
            Slots(Timetable(cron, **more), "k"), out=self.folder / "out",
            state=self.folder / "state", secrets=str, clock=lambda: self.now, tell=self.told.append,
        )  # fmt: skip

    def entries(self, kind):
        found = [e.body for e in Ledger.open(self.folder / "ledger").entries() if e.kind == kind]
        return [body for body in found if body.get("step", "intent") == "intent"]


@pytest.fixture
def town(tmp_path):
    made = Town(tmp_path)
    yield made
    verify(tmp_path / "ledger")


class TestRerun:
    def test_as_at_its_release_nothing_is_found(self, town):
        done = town.again()
        assert (done.version, done.broke, list(done.answered)) == ("1.1.0", False, [])
        assert {record.version for record in done.records} == {"1.1.0"}

    def test_a_metric_that_fell_beyond_the_tolerance_is_rolled_back(self, town):
        done = town.again(rows(retrieved=("d2", "d3")))
        ((incident, outcome),) = done.answered
        assert (incident.check, incident.value, incident.limit) == ("rerun.recall@2", 0.0, 0.95)
        assert (incident.source, incident.n, outcome.ended) == ("rerun", 10, "rolled_back")
        assert town.target.shows == "1.0.0"

    def test_a_fall_of_exactly_the_tolerance_holds(self, town):
        policy = town.folder / "policy.yaml"
        policy.write_text(policy.read_text() + "tolerance: 0.1\n")
        town.responder = Responder(town.desk, town.told.append)
        assert not town.again(rows(cases=9) + rows("No idea [1].", cases=10).splitlines()[9]).broke
        assert town.again(rows(cases=8) + "\n".join(rows("No [1].").splitlines()[8:])).broke

    def test_an_invented_citation_is_rolled_back_whatever_else_is_missing(self, town):
        done = town.again(rows("Refunds take 30 days [7].", cases=4))
        states = {(i.check, i.state) for i, _ in done.answered}
        assert ("rerun.invented_citations", "breach") in states
        assert {check for check, state in states if state == "not_measured"} == {"rerun.outputs"}
        assert town.target.shows == "1.0.0"
        assert len(town.entries("rollback")) == 1

    def test_outputs_that_are_missing_are_not_measured_and_no_fall(self, town):
        done = town.again(rows(cases=3))
        assert {i.state for i, _ in done.answered} == {"not_measured"}
        assert town.entries("rollback") == []

    def test_another_golden_set_is_not_measured(self, town):
        town.cases.append({"id": "c10", "question": "More?", "relevant": {"d1": 1}})
        town.write_cases()
        done = town.again(rows(cases=11))
        assert {i.check for i, _ in done.answered} == {"rerun.golden_set"}
        assert not done.broke

    def test_a_family_that_is_missing_is_not_measured(self, town):
        done = town.again(rows().replace("claude", "gpt"))
        assert {(i.check, i.state) for i, _ in done.answered} == {("rerun.missing", "not_measured")}
        lacks = "claude: the re-run lacks this record of the release"
        assert all(str(i.reason).endswith(lacks) for i, _ in done.answered)
        assert len({i.reason for i, _ in done.answered}) == len(done.answered)

    def test_without_a_version_in_service_there_is_nothing_to_run(self, town):
        pack = town.folder / "pack" / "pack.yaml"
        pack.write_text(PACK.replace("agent: desk", "agent: other"))
        with pytest.raises(Conflict, match="no version of other is in service"):
            town.again()

    def test_found_again_it_is_answered_once(self, town):
        bad = rows(retrieved=("d2", "d3"))
        town.again(bad)
        promoted = town.entries("rollback")
        again = town.again(bad)
        assert again.version == "1.0.0"
        assert again.answered[0][1].ended == "held"
        assert town.entries("rollback") == promoted


class TestSlots:
    def test_a_slot_is_run_once(self, town):
        schedule = town.schedule()
        first = schedule.step()
        assert (first.state, first.slot) == ("ran", datetime(2026, 5, 1, 3, tzinfo=UTC))
        assert schedule.step().state == "nothing"
        assert town.schedule().step().state == "nothing"
        assert (town.folder / "out" / "2026-05-01T0300Z" / "answers.json").exists()
        town.now += timedelta(days=1)
        assert schedule.step().state == "ran"

    def test_of_several_missed_slots_the_latest_is_caught_up_once(self, town):
        town.schedule().step()
        town.now += timedelta(days=5)
        step = town.schedule().step()
        assert (step.state, step.skipped) == ("ran", 4)
        assert step.slot == datetime(2026, 5, 6, 3, tzinfo=UTC)
        assert town.schedule().step().state == "nothing"

    def test_while_one_process_runs_another_skips(self, town):
        with lease(town.folder / "state") as mine:
            assert mine
            assert town.schedule().step().state == "overlap"
        assert town.schedule().step().state == "ran"

    def test_a_late_run_is_alarmed_once(self, town):
        town.schedule().step()
        town.now += timedelta(days=1)
        assert town.schedule().step().state == "ran"
        (alarm,) = [each for each in town.entries("breach") if each["check"] == "rerun.failed"]
        assert alarm["state"] == "not_measured"
        assert any("STALE: the run of slot 2026-05-02T03:00Z" in line for line in town.told)
        town.now += timedelta(hours=15, minutes=30)
        town.schedule().step()
        assert len(town.entries("breach")) == 1

    def test_a_first_run_is_not_late(self, town):
        town.schedule().step()
        assert town.entries("breach") == []

    def test_a_run_that_fails_is_tried_again_and_alarmed_at_its_deadline(self, town):
        schedule = town.schedule(stale=timedelta(minutes=20))
        (town.folder / "run.jsonl").unlink()
        assert schedule.step().state == "failed"
        assert schedule.step().state == "failed"
        assert sum("failed" in line for line in town.told) == 1
        for _ in range(4):
            town.now += timedelta(minutes=6)
            assert schedule.step().state == "failed"
        assert [each["check"] for each in town.entries("breach")] == ["rerun.failed"]
        town.write_run(rows())
        town.now += timedelta(minutes=6)
        assert schedule.step().state == "ran"
        assert len(town.entries("breach")) == 1

    def test_a_first_run_that_never_ends_well_is_alarmed_by_single_calls_too(self, town):
        (town.folder / "run.jsonl").unlink()
        for _ in range(6):
            assert town.schedule(stale=timedelta(minutes=20)).step().state == "failed"
            town.now += timedelta(minutes=5)
        assert [each["check"] for each in town.entries("breach")] == ["rerun.failed"]

    def test_a_run_that_starts_later_by_its_jitter_is_not_late(self, town):
        more = {"jitter": timedelta(minutes=50), "stale": timedelta(minutes=5)}
        schedule = town.schedule(**more)
        schedule.step()
        delay = Slots(Timetable("0 3 * * *", **more), "k").delay
        assert delay > timedelta(minutes=5)
        town.now = datetime(2026, 5, 2, 3, tzinfo=UTC) + delay
        assert schedule.step().state == "ran"
        assert town.entries("breach") == []

    def test_an_alarm_does_not_undo_what_another_process_ran_meanwhile(self, town, monkeypatch):
        town.schedule().step()
        town.now += timedelta(days=1)

        def run_elsewhere(*_):
            change_slots(town.folder / "state", last=datetime(2026, 5, 2, 3, tzinfo=UTC))

        monkeypatch.setattr(module, "late", run_elsewhere)
        with lease(town.folder / "state"):
            assert town.schedule().step().state == "overlap"
        assert town.schedule().step().state == "nothing"

    def test_a_clock_that_was_ahead_puts_nothing_off(self, town):
        schedule = town.schedule(stale=timedelta(minutes=20))
        (town.folder / "run.jsonl").unlink()
        town.now += timedelta(days=400)
        assert schedule.step().state == "failed"
        town.now -= timedelta(days=400)
        town.write_run(rows())
        assert schedule.step().state == "ran"

    def test_a_run_that_hangs_is_alarmed_while_it_hangs(self, town, monkeypatch):
        schedule = town.schedule(stale=timedelta(milliseconds=300))
        save_slots_after = datetime(2026, 4, 30, 3, tzinfo=UTC)
        (town.folder / "state").mkdir()
        save_slots(town.folder / "state", Kept(last=save_slots_after))
        town.now = datetime(2026, 5, 1, 3, tzinfo=UTC)
        alarmed = Event()
        monkeypatch.setattr(module, "late", lambda *_: alarmed.set())

        def hanging(*_, **__):
            assert alarmed.wait(20)
            raise RemoteError("gave up")

        monkeypatch.setattr(module, "rerun", hanging)
        assert schedule.step().state == "failed"

    def test_it_runs_until_it_is_told_to_stop(self, town):
        stop = Event()
        found = []
        for step in town.schedule().run(stop):
            found.append(step.state)
            stop.set()
        assert found == ["ran"]

    def test_what_was_kept_is_told_if_it_cannot_be_read(self, town):
        (town.folder / "state").mkdir()
        for text in ("{", "[]", '{"last": "2026-01-01T00:00:00", "ended": null, "alarmed": null}'):
            (town.folder / "state" / "slots.json").write_text(text)
            with pytest.raises(InputError, match="is not what a schedule keeps"):
                load_slots(town.folder / "state")
