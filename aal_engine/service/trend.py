"""How an agent's metrics went from decision to decision, by model family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aal_engine.decide.decision import Check, Decision
from aal_engine.decide.release import Recorded
from aal_engine.decide.serving import Serving
from aal_engine.measure.metric import METRICS, metric
from aal_engine.service.chart import Mark, Point, Series

WINDOW = 30
"""Decisions that are shown at once."""

Group = tuple[str | None, str, str]
"""A model family (None for retrieval without one), a suite and a metric."""
Band = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Step:
    """One decision: its entry's number, its values, and what its comparisons would have borne."""

    seq: int
    version: str
    released: bool
    values: Mapping[Group, float | None]
    bands: Mapping[Group, Band]


@dataclass(frozen=True, slots=True)
class Family:
    """The metrics of one model family; of none, where a record is of retrieval alone.

    `series` has each metric's history by the suite that it was measured on.
    """

    name: str | None
    series: tuple[tuple[str, Series], ...]


def families(steps: Sequence[Step], state: Serving | None) -> Iterator[Family]:
    """Yield each model family's metrics over decisions, the oldest first."""
    found = () if state is None else marks(state, [step.seq for step in steps])
    groups = sorted({group for step in steps for group in step.values}, key=_order)
    for name in dict.fromkeys(group[0] for group in groups):
        own = [group for group in groups if group[0] == name]
        yield Family(name, tuple((group[1], _series(steps, group, found)) for group in own))


def _series(steps: Sequence[Step], group: Group, found: tuple[Mark, ...]) -> Series:
    points = (
        Point(step.version, step.released, step.values.get(group), step.bands.get(group))
        for step in steps
    )
    return Series(group[2], metric(group[2]).direction, tuple(points), found)


def _order(group: Group) -> tuple[Any, ...]:
    name, suite, measured = group
    known = metric(measured)
    place = list(METRICS).index(known.stem)
    return name is None, name or "", suite, known.kind != "answers", place, measured


def marks(state: Serving, seqs: Sequence[int]) -> tuple[Mark, ...]:
    """Return where, between decisions (the oldest first), versions came into service."""
    return tuple(
        Mark(sum(seq < stint.done for seq in seqs) - 0.5, stint.by == "rollback", stint.version)
        for stint in state.stints
        if seqs and stint.done > seqs[0]
    )


def bands(checks: Iterable[Check]) -> dict[Group, Band]:
    """Return, of comparisons with the release before, the value then and the worst one borne."""
    found = {}
    for check in checks:
        if check.name == "regression" and check.slice is None and check.baseline is not None:
            fall = -check.tolerance if check.direction == "higher" else check.tolerance
            key = check.model_family, check.suite or "", check.metric or ""
            found[key] = (check.baseline, min(max(check.baseline + fall, 0.0), 1.0))
    return found


def of_recorded(recorded: Recorded) -> Step:
    """Return a decision that the ledger holds as a step."""
    values = {
        (scored.key.model_family, scored.key.suite, name): mean.value
        for scored in recorded.records.values()
        for name, mean in scored.metrics.items()
    }
    released = recorded.verdict == "released"
    checks = (check for check, _ in recorded.checks)
    return Step(recorded.seq, recorded.version, released, values, bands(checks))


def of_decision(decision: Decision, seq: int) -> Step:
    """Return a decision as the step that the ledger holds at `seq`."""
    values = {
        (record.model_family, record.suite, name): mean.value
        for record in decision.records
        for name, mean in record.metrics.items()
    }
    released = decision.verdict == "released"
    return Step(seq, decision.version, released, values, bands(decision.checks))
