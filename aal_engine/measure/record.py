"""The eval record: all that leaves a deployment. Numbers, names and digests only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aal_engine import __version__
from aal_engine.canonical import JSON, digest
from aal_engine.errors import Fault, InputError
from aal_engine.measure.metric import FLOORS, METRICS, Kind, metric
from aal_engine.measure.origin import Identity
from aal_engine.measure.table import (
    COUNT,
    SLICE,
    Floats,
    Integers,
    case_starts,
    floats,
    integers,
    metric_names,
    per_case,
    prefixed,
    source_of,
    table_digest,
)

RECORD_SCHEMA = "aal/record/1"
ENGINE = f"aal-engine@{__version__}"
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Mean:
    """A metric's mean over the `n` cases that it applies to; None where it applies to none."""

    value: float | None
    n: int

    def canonical(self) -> dict[str, JSON]:
        """Return the mean as JSON."""
        return {"value": self.value, "n": self.n}


@dataclass(frozen=True, slots=True)
class SliceMeans:
    """The means over one slice of the golden set, which has `cases` cases."""

    cases: int
    metrics: Mapping[str, Mean]


@dataclass(frozen=True)
class EvalRecord:
    """One evaluation of one agent, version, model family and suite.

    `passed` says that the floors are clean and that every case was measured. `index` is the index
    that a live run searched.
    """

    kind: Kind
    pack: str
    agent: str
    version: str
    model_family: str | None
    suite: str
    golden_set: str
    cases: int
    run: str
    engine: str
    scored_at: str
    metrics: Mapping[str, Mean]
    slices: Mapping[str, SliceMeans]
    counts: Mapping[str, int]
    table: str
    rows: int
    index: Identity | None = None

    @property
    def passed(self) -> bool:
        """Whether the floors are clean and every case was measured."""
        return self.scored == self.cases and not any(self.counts.get(f, 0) for f in FLOORS)

    @property
    def scored(self) -> int:
        """How many cases of the golden set have an output."""
        return self.cases - self.counts["missing_outputs"]

    def canonical(self) -> dict[str, JSON]:
        """Return the record as JSON, as it is written and digested."""
        told: dict[str, JSON] = {
            "schema": RECORD_SCHEMA,
            "kind": self.kind,
            "pack": self.pack,
            "agent": self.agent,
            "version": self.version,
            "model_family": self.model_family,
            "suite": self.suite,
            "golden_set": {"digest": self.golden_set, "cases": self.cases},
            "run": {"digest": self.run},
            "engine": self.engine,
            "scored_at": self.scored_at,
            "metrics": {name: self._told(name, mean) for name, mean in self.metrics.items()},
            "slices": {
                name: {
                    "cases": part.cases,
                    "metrics": {key: mean.canonical() for key, mean in part.metrics.items()},
                }
                for name, part in self.slices.items()
            },
            "counts": dict(self.counts),
            "table": {"digest": self.table, "rows": self.rows},
            "passed": self.passed,
        }
        if self.index is not None:
            told["index"] = self.index.canonical()
        return told

    def _told(self, name: str, mean: Mean) -> dict[str, JSON]:
        floor = metric(name).floor
        told = mean.canonical()
        if floor is not None:
            told["passed"] = self.counts.get(floor, 0) == 0
        return told

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the record's canonical bytes, in hexadecimal."""
        return digest(self.canonical())


REQUIRED: Mapping[Kind, frozenset[str]] = {
    "retrieval": frozenset(),
    "answers": frozenset(("grounded", "complete", "forbidden_claims")),
}
"""Metrics without which a record of a kind says nothing."""


def contradictions(record: EvalRecord) -> Iterator[tuple[str, str]]:
    """Yield `(field, problem)` for all that a record says and its own numbers deny."""
    for name in sorted(REQUIRED[record.kind] - record.metrics.keys()):
        yield f"metrics.{name}", "is missing"
    if not record.metrics:
        yield "metrics", "is empty"
    yield from _outlandish(record.kind, record.metrics, record.cases, "metrics")
    for name, part in record.slices.items():
        if part.cases > record.cases:
            yield f"slices.{name}.cases", "is more than the golden set has"
        if part.metrics.keys() != record.metrics.keys():
            yield f"slices.{name}.metrics", "are not those of the whole set"
        yield from _outlandish(record.kind, part.metrics, part.cases, f"slices.{name}.metrics")
    counts = record.counts
    unseen = record.rows - counts["attempts"]
    if not (
        counts["missing_outputs"] <= record.cases <= record.rows
        and 0 <= unseen <= counts["missing_outputs"] <= counts["missing_attempts"] <= record.rows
    ):
        yield "counts", "do not agree with the numbers of cases and rows"
    for entry in METRICS.values():
        if entry.floor is None or entry.stem not in record.metrics:
            continue
        mean, worst = record.metrics[entry.stem], 0.0 if entry.direction == "higher" else 1.0
        clean = mean.value is None or mean.value == 1.0 - worst
        if clean != (counts.get(entry.floor) == 0):
            yield f"metrics.{entry.stem}", f"does not agree with counts.{entry.floor}"
        if mean.n != record.scored:
            yield f"metrics.{entry.stem}.n", "is not the number of answered cases"


def _outlandish(
    kind: Kind, metrics: Mapping[str, Mean], cases: int, field: str
) -> Iterator[tuple[str, str]]:
    for name, mean in metrics.items():
        try:
            if metric(name).kind != kind:
                yield f"{field}.{name}", f"is not a metric of {kind}"
        except InputError:
            yield f"{field}.{name}", "is not a metric of this engine"
        if mean.n > cases or (mean.value is None) != (mean.n == 0):
            yield f"{field}.{name}.n", "does not agree with the value or the number of cases"
        if mean.value is not None and not 0 <= mean.value <= 1:
            yield f"{field}.{name}.value", "is not between 0 and 1"


def record_from(value: Mapping[str, Any]) -> EvalRecord:
    """Read a record from JSON that the record's schema has accepted."""
    return EvalRecord(
        kind=value["kind"],
        pack=value["pack"],
        agent=value["agent"],
        version=value["version"],
        model_family=value["model_family"],
        suite=value["suite"],
        golden_set=value["golden_set"]["digest"],
        cases=value["golden_set"]["cases"],
        run=value["run"]["digest"],
        engine=value["engine"],
        scored_at=value["scored_at"],
        metrics=_means_from(value["metrics"]),
        slices={
            name: SliceMeans(part["cases"], _means_from(part["metrics"]))
            for name, part in value["slices"].items()
        },
        counts=dict(value["counts"]),
        table=value["table"]["digest"],
        rows=value["table"]["rows"],
        index=Identity(**value["index"]) if "index" in value else None,
    )


def _means_from(value: Mapping[str, Any]) -> dict[str, Mean]:
    return {name: Mean(mean["value"], mean["n"]) for name, mean in value.items()}


def summarise(table: pa.Table, scored_at: str) -> EvalRecord:
    """Return the record that a per-case table amounts to.

    Attempts of a case are averaged first, then the cases that a metric applies to. Counts are sums
    over every attempt. A value is rounded to 12 decimals, far below what any test set resolves, so
    that a difference of two values is exact in decimals.

    Raises:
        InputError: the table does not hold every case of its golden set, in order.
    """
    source = source_of(table)
    cases, starts = case_starts(table)
    if len(cases) != source.golden_cases:
        raise InputError(Fault("has not one row or more for each case of its golden set"))
    values = {name: per_case(floats(table, name), starts) for name in metric_names(table)}
    members = {
        name: flags[starts] == 1 if len(starts) else np.empty(0, np.bool_)
        for name, flags in prefixed(table, SLICE).items()
    }
    return EvalRecord(
        kind=source.kind,
        pack=source.pack,
        agent=source.agent,
        version=source.version,
        model_family=source.model_family,
        suite=source.suite,
        golden_set=source.golden_set,
        cases=source.golden_cases,
        run=source.run,
        engine=source.engine,
        scored_at=scored_at,
        metrics=means(values),
        slices={
            name: SliceMeans(int(flags.sum()), means(values, flags))
            for name, flags in members.items()
        },
        counts=_counts(table, starts, source.foreign_outputs),
        table=table_digest(table),
        rows=table.num_rows,
        index=source.index,
    )


def means(
    values: Mapping[str, Floats], within: npt.NDArray[np.bool_] | None = None
) -> dict[str, Mean]:
    """Return each metric's mean over its cases, of shape (cases,), or over those `within`."""
    told = {}
    for name, column in values.items():
        kept = column if within is None else column[within]
        kept = kept[~np.isnan(kept)]
        n = len(kept)
        told[name] = Mean(round(math.fsum(kept.tolist()) / n, DECIMALS) if n else None, n)
    return told


def _counts(table: pa.Table, starts: Integers, foreign: int) -> dict[str, int]:
    missing = integers(table, "missing")
    every = np.minimum.reduceat(missing, starts) if len(starts) else missing
    counts = {name: int(column.sum()) for name, column in prefixed(table, COUNT).items()}
    return {
        "attempts": int((integers(table, "attempt") > 0).sum()),
        "missing_outputs": int(np.asarray(every).sum()),
        "missing_attempts": int(missing.sum()),
        "foreign_outputs": foreign,
        **counts,
    }
