"""What the ledger says is released: derived from its entries, never stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aal_engine.decide.decision import Check, Verdict
from aal_engine.measure.metric import Kind
from aal_engine.measure.record import Mean


class AgentKey(NamedTuple):
    """An agent and the pack that it is measured on."""

    agent: str
    pack: str


class Key(NamedTuple):
    """What makes two records comparable."""

    kind: Kind
    suite: str
    model_family: str | None


class Measure(NamedTuple):
    """One metric of one family on one suite of one golden set, by its digest."""

    golden_set: str
    suite: str
    model_family: str | None
    metric: str


@dataclass(frozen=True, slots=True)
class Scored:
    """An eval record as the ledger holds it: its means, its floors, and the digests behind it."""

    key: Key
    golden_set: str
    cases: int
    scored: int
    record: str
    table: str
    run: str
    engine: str
    passed: bool
    metrics: Mapping[str, Mean]
    floors: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One decision as the ledger holds it: enough to know it again and to judge it again.

    `baseline` is the digest of the released decision that it was compared with, and `rescored` says
    that the baseline's numbers are not those of that decision but were scored again. Each of
    `checks` stands with the verdict that the ledger states for it.
    """

    seq: int
    key: AgentKey
    version: str
    decision: str
    inputs: str
    verdict: Verdict
    decided_at: str
    policy: str
    families: tuple[str, ...]
    baseline: str | None
    rescored: bool
    unchanged_cases: bool
    checks: tuple[tuple[Check, bool], ...] = field(repr=False)
    records: Mapping[Key, Scored] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Release:
    """The last released decision of an agent and pack, and what came before it.

    `decision` is its digest and `seq` its ledger entry. `versions` are all that were released, and
    `measures` holds, for each metric, every value that a released version reached on the same
    golden set, oldest first. `tolerances` are those that its policy put on comparisons, by check and
    metric.
    """

    key: AgentKey
    version: str
    decision: str
    seq: int
    policy: str
    records: Mapping[Key, Scored] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    measures: Mapping[Measure, tuple[float, ...]] = field(default_factory=dict)
    tolerances: Mapping[tuple[str, str | None], float] = field(default_factory=dict)

    def tolerances_of(self, policy: str) -> Mapping[tuple[str, str | None], float]:
        """Return the tolerances that are known of a policy, by its digest."""
        return self.tolerances if policy == self.policy else {}


def released(known: Release | None, decision: Recorded) -> Release:
    """Return the release that a released decision makes, after the one before it."""
    measures = dict(known.measures) if known else {}
    for measure, value in _measures(decision):
        measures[measure] = (*measures.get(measure, ()), value)
    known_already = known.tolerances_of(decision.policy) if known else {}
    return Release(
        decision.key,
        decision.version,
        decision.decision,
        decision.seq,
        decision.policy,
        decision.records,
        (*(known.versions if known else ()), decision.version),
        measures,
        {**known_already, **{(c.name, c.metric): c.tolerance for c, _ in decision.checks}},
    )


def _measures(decision: Recorded) -> Iterator[tuple[Measure, float]]:
    for scored in decision.records.values():
        for name, mean in scored.metrics.items():
            if mean.value is not None:
                yield (
                    Measure(scored.golden_set, scored.key.suite, scored.key.model_family, name),
                    mean.value,
                )
