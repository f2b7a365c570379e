"""What went wrong in other systems after a release, tried on the monitor: it must not here."""

from __future__ import annotations

import json

import pytest
from traffic import world

INVENTED = "As said [1]."


def a_window_without_outputs(w):
    """R1: no rollback; not measured, alarmed at its deadline."""
    assert w.hours(0.75, each=0) == []
    alarmed = w.hours(0.25, each=0)
    assert {incident.state for incident, _ in alarmed} == {"not_measured"}
    assert w.shop.entries("rollback") == []


def mostly_not_measured_with_a_few_failures(w):
    """R2: does not pass."""
    w.send(*["Fine."] * 97, retrieved=None)
    w.send("We are sorry.", "Fine.", "Fine.")
    w.monitor.step()
    assert w.states["invented_citations"] == "not_measured"


def one_breach_in_three_samples_of_a_rate_rule(w):
    """R3: hold."""
    w.send("Fine.", "We are sorry.", "Fine.")
    assert w.monitor.step() == []
    assert w.shop.serving.version == "1.1.0"


def nothing_retrieved_and_a_citation(w):
    """R11: invented."""
    w.send(INVENTED, retrieved=[])
    ((incident, outcome),) = w.monitor.step()
    assert (incident.check, outcome.ended) == ("invented_citations", "rolled_back")


def taken_and_neither_stored_nor_checked(w):
    """R12: silence alarms."""
    w.hours(2, each=60, error="late")
    assert {each["state"] for each in w.incidents("not_measured")} == {"not_measured"}
    assert set(w.states.values()) == {"not_measured"}


CASES = {
    "R1": a_window_without_outputs,
    "R2": mostly_not_measured_with_a_few_failures,
    "R3": one_breach_in_three_samples_of_a_rate_rule,
    "R11": nothing_retrieved_and_a_citation,
    "R12": taken_and_neither_stored_nor_checked,
}


@pytest.mark.parametrize("case", CASES)
def test_a_failure_of_another_system(tmp_path, case):
    w = world(tmp_path, "1.0.0", "1.1.0")
    CASES[case](w)
    w.state.close()
    w.shop.verified()


def test_the_cases_are_those_that_are_published(shared):
    lines = (shared / "cases" / "release.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} >= set(CASES)
