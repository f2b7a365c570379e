"""A decision of the ledger judged again, from its own numbers and from the release before it."""

from __future__ import annotations

from collections.abc import Iterator

from aal_engine.decide.decision import Check
from aal_engine.decide.policy import exact
from aal_engine.decide.release import Key, Measure, Recorded, Release, Scored
from aal_engine.errors import shown
from aal_engine.measure.metric import FLOORS, metric

ALWAYS = ("answers_present", "same_subject", "baseline")


def contradictions(decision: Recorded, before: Release | None) -> Iterator[str]:
    """Yield why a decision cannot be what the gate decided; nothing if it can.

    A check's verdict must follow from its numbers and the decision's from its checks. A released
    one must hold every check that its records call for, with the records' own numbers; its baseline
    must be the release before it, and the numbers it was compared with that release's, or the best
    that a release reached. Tolerances stand in the policy, of which the ledger holds the digest: they
    cannot be judged, but one policy cannot have two.
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
    if not any(key.kind == "answers" and _allowed(decision, key) for key in decision.records):
        yield "it is released without an answer evaluation"
    for family in decision.families:
        if ("family_evidence", None, family, None) not in held:
            yield f"it lacks the evidence of {shown(family)}"
    yield from _of_families(decision, before)
    for key, scored in decision.records.items():
        yield from _of_record(held, scored)
        if _allowed(decision, key) and scored.scored < scored.cases:
            yield f"it is released although cases of {shown(key.suite)} have no output"
    if before is not None:
        for key, old in before.records.items():
            if _allowed(decision, key):
                yield from _of_regressions(decision, held, decision.records.get(key), old)
        yield from _of_slides(decision, held, before)
        yield from _of_tolerances(decision, before)


_Held = dict[tuple[str, str | None, str | None, str | None], Check]


def _named(check: Check) -> str:
    return shown(" ".join(filter(None, (check.name, check.metric, check.model_family))))


def _allowed(decision: Recorded, key: Key) -> bool:
    if key.model_family is None:
        return key.kind == "retrieval"
    return key.model_family in decision.families


def _of_families(decision: Recorded, before: Release | None) -> Iterator[str]:
    """Each family needs an evaluation that passes, on every suite that any of them has or had."""
    known = () if before is None else before.records
    answers = {
        key
        for key in (*decision.records, *known)
        if key.kind == "answers" and _allowed(decision, key)
    }
    for family in decision.families:
        for suite in sorted({key.suite for key in answers}):
            scored = decision.records.get(Key("answers", suite, family))
            if scored is None or not scored.passed:
                yield f"{shown(family)} has no evaluation on {shown(suite)} that passes"


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
    decision: Recorded, held: _Held, scored: Scored | None, before: Scored
) -> Iterator[str]:
    """Hold each comparison against the two records that it is between."""
    for name in sorted(before.metrics.keys() - (scored.metrics.keys() if scored else ())):
        yield f"it is released although {shown(name)} vanished"
    if scored is None:
        return
    where = (scored.key.model_family, scored.key.suite)
    if scored.golden_set != before.golden_set:
        # The numbers of the other side are not in the ledger: they are of the shared cases alone,
        # or were scored again.
        again = decision.rescored or decision.unchanged_cases
        if not again or ("same_golden_set", f"{scored.key.kind}_set", *where) not in held:
            yield "it was compared on another golden set than the release before it"
        return
    if decision.rescored and decision.unchanged_cases:
        return
    for name in sorted(before.metrics.keys() & scored.metrics.keys()):
        new, old = scored.metrics[name].value, before.metrics[name].value
        if metric(name).direction == "none" or new is None or old is None:
            continue
        check = held.get(("regression", name, *where))
        rescored = decision.rescored and scored.engine != before.engine
        if check is None or check.current != new or (check.baseline != old and not rescored):
            yield f"it lacks the comparison of {shown(name)} with the release before it"


def _of_slides(decision: Recorded, held: _Held, before: Release) -> Iterator[str]:
    """Hold what was compared with the best release against the values that releases reached.

    Whether it had to be compared so stands in the policy: with one metric, then with every one.
    """
    if not any(name == "slide" for name, *_ in (*held, *before.tolerances_of(decision.policy))):
        return
    for key, scored in decision.records.items():
        for name, mean in scored.metrics.items():
            measure = Measure(scored.golden_set, key.suite, key.model_family, name)
            reached, direction = before.measures.get(measure), metric(name).direction
            if not _allowed(decision, key) or direction == "none" or not reached:
                continue
            best = (max if direction == "higher" else min)(reached, key=exact)
            check = held.get(("slide", name, key.model_family, key.suite))
            if mean.value is not None and (
                check is None or check.current != mean.value or check.baseline != best
            ):
                yield f"it lacks the comparison of {shown(name)} with the best release"


def _of_tolerances(decision: Recorded, before: Release) -> Iterator[str]:
    known = before.tolerances_of(decision.policy)
    for check, _ in decision.checks:
        tolerance = known.get((check.name, check.metric), check.tolerance)
        if exact(tolerance) != exact(check.tolerance):
            yield f"the tolerance of {_named(check)} is not what the same policy had before"
