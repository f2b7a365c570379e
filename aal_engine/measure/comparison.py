"""Per-case tables against the first of them: what differs, how surely, and which cases moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aal_engine.measure.evidence import Paired, compare, holm
from aal_engine.measure.metric import Direction, metric
from aal_engine.measure.record import Mean, means
from aal_engine.measure.table import (
    Floats,
    case_starts,
    floats,
    metric_names,
    per_case,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of a table against the first, on the cases that both measure.

    `paired.difference` is `value` - `first`. `p_holm` is `paired.p` adjusted, by Holm's rule, for
    the number of tables that were set against the first in this metric. `higher` and `lower` are
    the ids of the cases whose value moved.
    """

    metric: str
    direction: Direction
    first: float
    value: float
    paired: Paired
    p_holm: float
    higher: tuple[str, ...]
    lower: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """A table against the first: the cases of both, those of one alone, and the metrics.

    A case that changed between the two golden sets is no case of both.
    """

    cases: int
    left_out: int
    differences: tuple[Difference, ...]


def compare_tables(first: pa.Table, others: Sequence[pa.Table]) -> tuple[Compared, ...]:
    """Set each of the other tables against the first, metric by metric.

    Attempts of a case are averaged first. A metric that two tables have in common on no case is
    left out.
    """
    compared = [_paired(first, other) for other in others]
    adjusted: list[dict[str, float]] = [{} for _ in others]
    for name in metric_names(first):
        told = [place for place, pair in enumerate(compared) if name in pair.evidence]
        p_values = holm([compared[place].evidence[name].p for place in told])
        for place, p in zip(told, p_values, strict=True):
            adjusted[place][name] = p
    return tuple(
        Compared(
            len(pair.ids),
            pair.left_out,
            tuple(pair.difference(name, p) for name, p in holms.items()),
        )
        for pair, holms in zip(compared, adjusted, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two tables on the cases of both: ids, and the values of each metric, shape (cases,)."""

    ids: tuple[str, ...]
    left_out: int
    first: dict[str, Floats]
    other: dict[str, Floats]
    evidence: dict[str, Paired]

    def difference(self, name: str, p_holm: float) -> Difference:
        old, new = self.first[name], self.other[name]
        both = ~(np.isnan(old) | np.isnan(new))
        return Difference(
            name,
            metric(name).direction,
            _value(means({name: old}, both)[name]),
            _value(means({name: new}, both)[name]),
            self.evidence[name],
            p_holm,
            tuple(self.ids[place] for place in np.flatnonzero(new > old)),
            tuple(self.ids[place] for place in np.flatnonzero(new < old)),
        )


def _value(mean: Mean) -> float:
    assert mean.value is not None
    return mean.value


def _paired(first: pa.Table, other: pa.Table) -> _Pair:
    old, new = _cases(first), _cases(other)
    shared = sorted(old.keys() & new.keys())
    ids = tuple(case for case, _ in shared)
    a = _values(first, [old[key] for key in shared])
    b = _values(other, [new[key] for key in shared])
    binary = [name for name in a if metric(name).binary]
    left_out = len({case for case, _ in old.keys() | new.keys()}) - len(ids)
    return _Pair(ids, left_out, a, b, compare(b, a, binary))


def _values(table: pa.Table, chosen: list[int]) -> dict[str, Floats]:
    """Return each metric's value on the cases at these places, shape (cases,)."""
    _, starts = case_starts(table)
    places = np.array(chosen, np.int64)
    return {name: per_case(floats(table, name), starts)[places] for name in metric_names(table)}


def _cases(table: pa.Table) -> dict[tuple[str, str], int]:
    """Return the place of each case, by its id and its digest."""
    ids, starts = case_starts(table)
    digests = table.column("case_digest").to_pylist()
    return {
        (case, digests[start]): place
        for place, (case, start) in enumerate(zip(ids, starts.tolist(), strict=True))
    }
