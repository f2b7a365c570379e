"""What a decision rests on, and its records set against the baseline's in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from aal_engine.canonical import JSON, digest
from aal_engine.decide.decision import Decision
from aal_engine.decide.policy import Policy
from aal_engine.decide.release import AgentKey, Key, Release
from aal_engine.errors import Fault, InputError, shown
from aal_engine.measure.metric import Direction
from aal_engine.measure.record import EvalRecord, Mean, means, summarise
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


@dataclass(frozen=True)
class Question:
    """All that a decision rests on.

    `baseline` is the earlier decision itself, or records of the released version scored again.
    `release` is what the ledger holds as last released, and `near` an agent and pack of the ledger
    whose names differ from these only in case. `tables` are the per-case tables at hand, by the
    digest that a record gives. `unchanged_cases` compares on the cases that both golden sets share.
    """

    current: Sequence[EvalRecord]
    baseline: Decision | Sequence[EvalRecord] | None
    policy: Policy
    release: Release | None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    unchanged_cases: bool = False
    near: AgentKey | None = None

    @property
    def baseline_records(self) -> tuple[EvalRecord, ...]:
        """The baseline's records, wherever they stand."""
        if self.baseline is None:
            return ()
        return tuple(
            self.baseline.records if isinstance(self.baseline, Decision) else self.baseline
        )

    @cached_property
    def follows(self) -> Mapping[str, bool]:
        """Whether each record, by its digest, follows from its table; where that is at hand."""
        found = {}
        for record in (*self.current, *self.baseline_records):
            table = self.tables.get(record.table)
            if table is not None:
                found[record.digest] = _follows(record, table)
        return found

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


def _follows(record: EvalRecord, table: pa.Table) -> bool:
    try:
        return summarise(table, record.scored_at).canonical() == record.canonical()
    except InputError:
        return False


@dataclass(frozen=True, slots=True)
class Scope:
    """A whole suite, or one slice of it: the means of both sides, and their per-case values.

    The values are empty where a table is not at hand.
    """

    slice: str | None
    new: Mapping[str, Mean]
    old: Mapping[str, Mean]
    a: Mapping[str, Floats]
    b: Mapping[str, Floats]
    cases: Sequence[str]

    def fallen(self, metric: str, direction: Direction) -> list[str]:
        """Return the ids of the cases on which a metric got worse, the worst first."""
        if metric not in self.a or metric not in self.b:
            return []
        change = self.a[metric] - self.b[metric]
        lost = -change if direction == "higher" else change
        worst = np.argsort(-np.nan_to_num(lost), kind="stable")
        return [self.cases[place] for place in worst if lost[place] > 0]


@dataclass(frozen=True, slots=True)
class Pair:
    """One suite and family in the current records and in the baseline, either may be missing.

    `a` and `b` are their per-case values on the `cases` that both have, and `members` who of these
    is in which slice, where both tables are at hand. `shared_cases` counts them where the golden
    set changed and the comparison is on them alone. `contradiction` says why two records cannot
    both be of the golden set that they name.
    """

    key: Key
    current: EvalRecord | None
    baseline: EvalRecord | None
    a: Mapping[str, Floats] = field(default_factory=dict)
    b: Mapping[str, Floats] = field(default_factory=dict)
    members: Mapping[str, np.ndarray] = field(default_factory=dict)
    cases: Sequence[str] = ()
    shared_cases: int | None = None
    contradiction: str | None = None

    @property
    def same_set(self) -> bool:
        """Whether both were scored on the same golden set."""
        return (
            self.current is not None
            and self.baseline is not None
            and self.current.golden_set == self.baseline.golden_set
        )

    def scopes(self, least: int) -> Iterator[Scope]:
        """Yield the whole suite and each slice of at least so many cases, where comparable."""
        if self.current is None or self.baseline is None:
            return
        if self.shared_cases is not None:
            yield Scope(None, means(self.a), means(self.b), self.a, self.b, self.cases)
            for name, inside in sorted(self.members.items()):
                if inside.sum() >= least:
                    yield self._slice(name, means(self.a, inside), means(self.b, inside))
        elif self.same_set:
            new, old = self.current.metrics, self.baseline.metrics
            yield Scope(None, new, old, self.a, self.b, self.cases)
            for name in sorted(self.current.slices.keys() & self.baseline.slices.keys()):
                part, other = self.current.slices[name], self.baseline.slices[name]
                if other.cases >= least:
                    yield self._slice(name, part.metrics, other.metrics)

    def _slice(self, name: str, new: Mapping[str, Mean], old: Mapping[str, Mean]) -> Scope:
        inside = self.members.get(name)
        if inside is None:
            return Scope(name, new, old, {}, {}, ())
        a, b = ({m: side[inside] for m, side in each.items()} for each in (self.a, self.b))
        cases = [case for case, held in zip(self.cases, inside, strict=True) if held]
        return Scope(name, new, old, a, b, cases)


def key_of(record: EvalRecord) -> Key:
    """Return what a record is compared by."""
    return Key(record.kind, record.suite, record.model_family)


def allowed(question: Question, key: Key) -> bool:
    """Whether the policy allows a record's family; retrieval may be of no family at all."""
    if key.model_family is None:
        return key.kind == "retrieval"
    return key.model_family in question.policy.families


def unique(records: Iterable[EvalRecord]) -> dict[Key, EvalRecord]:
    """Return records by key; the same record given twice counts once.

    Raises:
        InputError: two different records have the same key.
    """
    found: dict[Key, EvalRecord] = {}
    for record in records:
        known = found.setdefault(key_of(record), record)
        if known.digest != record.digest:
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
    kept = {key for key in (*current, *baseline) if allowed(question, key)}
    order = sorted(kept, key=lambda key: (key.kind, key.suite, key.model_family or ""))
    return [_pair(question, key, current.get(key), baseline.get(key)) for key in order]


def _pair(
    question: Question, key: Key, current: EvalRecord | None, baseline: EvalRecord | None
) -> Pair:
    if current is None or baseline is None:
        return Pair(key, current, baseline)
    same_set = current.golden_set == baseline.golden_set
    contradiction = _contradiction(current, baseline) if same_set else None
    sound = all(question.follows.get(record.digest) for record in (current, baseline))
    if not sound or not (same_set or question.unchanged_cases):
        return Pair(key, current, baseline, contradiction=contradiction)
    new, old = question.tables[current.table], question.tables[baseline.table]
    (places, starts), (others, other_starts) = _cases(new), _cases(old)
    if same_set and places.keys() != others.keys():
        contradiction = "the tables of one golden set hold different cases"
    shared = sorted(places.keys() & others.keys())
    chosen = np.array([places[case] for case in shared], np.int64)
    return Pair(
        key,
        current,
        baseline,
        _values(new, starts, chosen),
        _values(old, other_starts, np.array([others[case] for case in shared], np.int64)),
        {name: flags[starts][chosen] == 1 for name, flags in prefixed(new, SLICE).items()},
        [case for case, _ in shared],
        None if same_set else len(shared),
        contradiction,
    )


def _contradiction(current: EvalRecord, baseline: EvalRecord) -> str | None:
    """Say why two records cannot be of one golden set."""
    if current.cases != baseline.cases:
        return "one golden set has different numbers of cases"
    sizes = [{name: part.cases for name, part in r.slices.items()} for r in (current, baseline)]
    return None if sizes[0] == sizes[1] else "one golden set has different slices"


def _cases(table: pa.Table) -> tuple[dict[tuple[str, str], int], Integers]:
    """Return each case's id and digest with its place among the cases, and where its rows begin."""
    ids, starts = case_starts(table)
    digests = table.column("case_digest").to_pylist()
    places = {
        (case, digests[row]): place
        for place, (case, row) in enumerate(zip(ids, starts.tolist(), strict=True))
    }
    return places, starts


def _values(table: pa.Table, starts: Integers, places: Integers) -> dict[str, Floats]:
    """Return each metric's values of the cases at these places, shape (places,)."""
    return {name: per_case(floats(table, name), starts)[places] for name in metric_names(table)}
