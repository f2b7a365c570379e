"""A decision of the ledger judged again, from its own numbers and from the release before it."""

from __future__ import annotations

from collections.abc import Iterator

from aal_engine.decide.decision import Check
from aal_engine.decide.release import Recorded, Release, Scored
from aal_engine.errors import shown
from aal_engine.measure.metric import FLOORS, metric

ALWAYS = ("answers_present", "same_subject", "baseline")


def contradictions(decision: Recorded, before: Release | None) -> Iterator[str]:
    """Yield why a decision cannot be what the gate decided; nothing if it can.

    A check's verdict must follow from its numbers and the decision's from its checks. A released
    one must hold every check that its records call for, with the records' own numbers; its baseline
    must be the release before it, and the numbers it was compared with that release's.
    """
    for check, stated in decision.checks:
        if check.ok != stated:
            yield f"the verdict on {_named(check)} does not follow from its numbers"
        if check.advisory and check.slice is None:
            yield f"{_named(check)} is marked as one that cannot block"
    blocked = not decision.checks or any(check.blocks for check, _ in decision.checks)
    if (decision.verdict == "blocked") != blocked:
        yield "the verdict does not follow from the checks"
    if decision.verdict == "released":
        yield from _of_released(decision, before)


def _of_released(decision: Recorded, before: Release | None) -> Iterator[str]:
    if decision.baseline != (None if before is None else before.decision):
        yield "its baseline is not the release before it"
    held = {
        (c.name, c.metric, c.model_family, c.suite): c
        for c, _ in decision.checks
        if c.slice is None
    }
    for name in ALWAYS:
        if (name, None, None, None) not in held:
            yield f"it lacks the check {name}"
    if not any(key.kind == "answers" for key in decision.records):
        yield "it is released without an answer evaluation"
    for family in decision.families:
        if ("family_evidence", None, family, None) not in held:
            yield f"it lacks the evidence of {shown(family)}"
    for key, scored in decision.records.items():
        yield from _of_record(held, scored)
        if before is not None and key.model_family in (None, *decision.families):
            yield from _of_regressions(decision, held, scored, before.records.get(key))


_Held = dict[tuple[str, str | None, str | None, str | None], Check]


def _named(check: Check) -> str:
    return shown(" ".join(filter(None, (check.name, check.metric, check.model_family))))


def _of_record(held: _Held, scored: Scored) -> Iterator[str]:
    if scored.key.kind != "answers":
        return
    where = (scored.key.model_family, scored.key.suite)
    for floor in FLOORS:
        count = scored.floors[floor]
        check = held.get((floor, None, *where))
        if count:
            yield "it is released although a floor is broken"
        elif check is None or check.current != count or check.baseline != 0:
            yield f"it lacks the floor {floor}"


def _of_regressions(
    decision: Recorded, held: _Held, scored: Scored, before: Scored | None
) -> Iterator[str]:
    """Hold each comparison against the two records that it is between."""
    if before is None or decision.unchanged_cases or scored.golden_set != before.golden_set:
        return
    for name in sorted(before.metrics.keys() & scored.metrics.keys()):
        new, old = scored.metrics[name].value, before.metrics[name].value
        if metric(name).direction == "none" or new is None or old is None:
            continue
        check = held.get(("regression", name, scored.key.model_family, scored.key.suite))
        rescored = decision.rescored and scored.engine != before.engine
        if check is None or check.current != new or (check.baseline != old and not rescored):
            yield f"it lacks the comparison of {shown(name)} with the release before it"
    for name in sorted(before.metrics.keys() - scored.metrics.keys()):
        yield f"it is released although {shown(name)} vanished"
