"""What a decision rests on, and its records set against the baseline's in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from aal_engine.canonical import JSON, digest
from aal_engine.decide.decision import Decision
from aal_engine.decide.policy import Policy
from aal_engine.decide.release import Release
from aal_engine.errors import Fault, InputError, shown
from aal_engine.measure.metric import Kind
from aal_engine.measure.record import EvalRecord, Mean, means
from aal_engine.measure.table import (
    SLICE,
    Floats,
    Integers,
    case_starts,
    floats,
    metric_names,
    per_case,
    prefixed,
)


class Key(NamedTuple):
    """What makes two records comparable."""

    kind: Kind
    suite: str
    model_family: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """All that a decision rests on.

    `baseline` is the earlier decision itself, or records of the released version scored again.
    `release` is what the ledger holds as last released. `tables` are the per-case tables at hand,
    by their digest. `unchanged_cases` compares on the cases that both golden sets share.
    """

    current: Sequence[EvalRecord]
    baseline: Decision | Sequence[EvalRecord] | None
    policy: Policy
    release: Release | None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    unchanged_cases: bool = False

    @property
    def baseline_records(self) -> tuple[EvalRecord, ...]:
        """The baseline's records, wherever they stand."""
        if self.baseline is None:
            return ()
        return tuple(
            self.baseline.records if isinstance(self.baseline, Decision) else self.baseline
        )

    def inputs(self, engine: str) -> str:
        """Return the digest of all that was given, without the time and the ledger's state."""
        baseline = (
            self.baseline.digest
            if isinstance(self.baseline, Decision)
            else sorted(record.digest for record in self.baseline_records)
        )
        told: dict[str, JSON] = {
            "engine": engine,
            "current": sorted(record.digest for record in self.current),
            "baseline": baseline,
            "policy": self.policy.digest(),
            "tables": sorted(self.tables),
            "unchanged_cases": self.unchanged_cases,
        }
        return digest(told)


@dataclass(frozen=True, slots=True)
class Pair:
    """One suite and family in the current records and in the baseline, either may be missing.

    `a` and `b` are their per-case values where both tables are at hand. With `unchanged_cases`
    `current_means` and `baseline_means` are taken over the shared cases alone.
    """

    key: Key
    current: EvalRecord | None
    baseline: EvalRecord | None
    a: Mapping[str, Floats] = field(default_factory=dict)
    b: Mapping[str, Floats] = field(default_factory=dict)
    slices: Mapping[str, Integers] = field(default_factory=dict)
    shared_cases: int | None = None

    @property
    def same_set(self) -> bool:
        """Whether both were scored on the same golden set."""
        return (
            self.current is not None
            and self.baseline is not None
            and self.current.golden_set == self.baseline.golden_set
        )

    @property
    def comparable(self) -> bool:
        """Whether the means of the two may be compared."""
        return self.same_set or self.shared_cases is not None

    def means(self) -> tuple[Mapping[str, Mean], Mapping[str, Mean]]:
        """Return the current and the baseline's means over the cases that are compared."""
        if self.shared_cases is not None:
            return means(self.a), means(self.b)
        return (
            self.current.metrics if self.current else {},
            self.baseline.metrics if self.baseline else {},
        )


def _key(record: EvalRecord) -> Key:
    return Key(record.kind, record.suite, record.model_family)


def allowed(question: Question, record: EvalRecord) -> bool:
    """Whether the policy allows the record's family; retrieval may be of no family at all."""
    family = record.model_family
    return family in question.policy.families or (family is None and record.kind == "retrieval")


def unique(records: Iterable[EvalRecord]) -> dict[Key, EvalRecord]:
    """Return records by key; the same record given twice counts once."""
    found: dict[Key, EvalRecord] = {}
    for record in records:
        known = found.setdefault(_key(record), record)
        if known.canonical() != record.canonical():
            raise InputError(
                Fault(
                    f"two different {record.kind} records for suite {shown(record.suite)} and "
                    f"model family {shown(record.model_family)}"
                ),
                way_out="pass one record for each suite and model family",
            )
    return found


def paired(question: Question) -> list[Pair]:
    """Set the current records against the baseline's, for the families that the policy allows.

    Raises:
        InputError: two different records have the same suite and family.
    """
    current, baseline = unique(question.current), unique(question.baseline_records)
    kept = {
        key
        for records in (current, baseline)
        for key, record in records.items()
        if allowed(question, record)
    }
    order = sorted(kept, key=lambda key: (key.kind, key.suite, key.model_family or ""))
    return [_pair(question, key, current.get(key), baseline.get(key)) for key in order]


def _pair(
    question: Question, key: Key, current: EvalRecord | None, baseline: EvalRecord | None
) -> Pair:
    if current is None or baseline is None:
        return Pair(key, current, baseline)
    new, old = question.tables.get(current.table), question.tables.get(baseline.table)
    if new is None or old is None:
        return Pair(key, current, baseline)
    cases = sorted(_cases(new).keys() & _cases(old).keys())
    same_set = current.golden_set == baseline.golden_set
    if not cases or not (same_set or question.unchanged_cases):
        return Pair(key, current, baseline)
    a, slices = _values(new, cases)
    b, _ = _values(old, cases)
    return Pair(key, current, baseline, a, b, slices, None if same_set else len(cases))


def _cases(table: pa.Table) -> dict[tuple[str, str], int]:
    """Return the place among the table's cases of each case id and digest."""
    ids, starts = case_starts(table)
    digests = table.column("case_digest").to_pylist()
    return {
        (case, digests[row]): place
        for place, (case, row) in enumerate(zip(ids, starts, strict=True))
    }


def _values(
    table: pa.Table, cases: Sequence[tuple[str, str]]
) -> tuple[dict[str, Floats], dict[str, Integers]]:
    """Return each metric's per-case values and each slice's members, both of shape (cases,)."""
    places = _cases(table)
    order = [places[case] for case in cases]
    _, starts = case_starts(table)
    return (
        {name: per_case(floats(table, name), starts)[order] for name in metric_names(table)},
        {name: flags[starts][order] for name, flags in prefixed(table, SLICE).items()},
    )
