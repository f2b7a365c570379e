"""Failures of other release systems, as public issues tell them, held against this one."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from threading import Event

import pytest
from deployed import NOON, shop
from specimen import KEY

from aal_engine.errors import Conflict
from aal_engine.service.notice import Courier
from aal_engine.service.reconcile import reconcile
from aal_engine.service.release import breach, clear, promote, resume, rollback


def a_window_without_outputs(s):
    """R1: no rollback; not measured, and alarmed."""
    breach(s.desk, s.incident(state="not_measured", check="silence", value=None, limit=None, n=0))
    assert resume(s.desk) == []
    assert s.target.told == []


class Hanging:
    """Takes no notice until it is let go."""

    name = "hanging"

    def __init__(self):
        self.called, self.let_go = Event(), Event()

    def send(self, message):
        self.called.set()
        self.let_go.wait(30)


def a_notifier_hangs_while_breaches_go_on(s):
    """R4: no rollback is delayed."""
    hanging = Hanging()
    desk = replace(s.desk, notifiers=(hanging,))
    with Courier(desk) as courier:
        assert rollback(desk, s.incident()).ended == "rolled_back"
        courier.wake()
        assert hanging.called.wait(10)
        began = time.monotonic()
        assert rollback(desk, s.incident()).ended == "rolled_back"
        assert time.monotonic() - began < 5
        assert s.target.told == ["1.1.0", "1.0.0"]
        hanging.let_go.set()


def released_while_the_version_before_is_in_breach(s):
    """R5: the new one does not inherit the evidence."""
    late = s.incident("1.1.0")
    assert rollback(s.desk, late).ended == "late"
    assert s.serving.version == "1.2.0"
    assert "1.2.0" not in s.serving.quarantined


def the_targets_artefact_is_gone(s):
    """R6: the next version that passed, else a halt."""
    s.target.lost = {"1.1.0"}
    assert rollback(s.desk, s.incident()).version == "1.0.0"
    s.target.lost = {"1.0.0", "1.1.0", "1.2.0"}
    assert rollback(s.desk, s.incident()).ended == "held"


def a_rollback_asks_for_no_analysis(s):
    """R7: to a version that passed it is immediate: one order, and no decision in between."""
    before = len(s.desk.book.replay().decisions)
    assert rollback(s.desk, s.incident()).ended == "rolled_back"
    assert len(s.desk.book.replay().decisions) == before
    assert s.target.told == ["1.1.0"]


def a_desired_state_puts_the_version_back(s):
    """R8: detected and reported."""
    rollback(s.desk, s.incident())
    s.target.shows = "1.2.0"
    (reading,) = reconcile(s.desk)
    assert not reading.agrees
    assert [n.word for n in s.serving.untold.values()] == ["rolled_back", "reasserted"]


def the_target_reports_success_and_changes_nothing(s):
    """R9: caught by the reading."""
    s.target.lies = True
    assert rollback(s.desk, s.incident()).why == "unchanged"
    assert s.serving.version == "1.2.0"


def the_same_version_again_after_a_fix_outside_it(s):
    """R10: there is a way out of quarantine, and no other."""
    rollback(s.desk, s.incident())
    with pytest.raises(Conflict, match="quarantined"):
        promote(s.desk, KEY, "1.2.0")
    clear(s.desk.book, KEY, "1.2.0", "the index was at fault", NOON)
    assert promote(s.desk, KEY, "1.2.0").ended == "promoted"


CASES = {
    "R1": a_window_without_outputs,
    "R4": a_notifier_hangs_while_breaches_go_on,
    "R5": released_while_the_version_before_is_in_breach,
    "R6": the_targets_artefact_is_gone,
    "R7": a_rollback_asks_for_no_analysis,
    "R8": a_desired_state_puts_the_version_back,
    "R9": the_target_reports_success_and_changes_nothing,
    "R10": the_same_version_again_after_a_fix_outside_it,
}


@pytest.mark.parametrize("case", CASES)
def test_a_failure_of_another_system(tmp_path, case):
    s = shop(tmp_path / "ledger", "1.0.0", "1.1.0", "1.2.0")
    CASES[case](s)
    s.verified()


def test_the_cases_are_those_that_are_published(shared):
    lines = (shared / "cases/release.jsonl").read_text().splitlines()
    published = {case["id"] for case in map(json.loads, lines) if case["id"].startswith("R")}
    assert published >= CASES.keys()
