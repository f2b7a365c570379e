"""What the ledger says is released: replayed from its entries, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from aal_engine.decide.decision import Check, Verdict


class AgentKey(NamedTuple):
    """An agent and the pack that it is measured on."""

    agent: str
    pack: str


class Measure(NamedTuple):
    """One metric of one family on one suite of one golden set, by its digest."""

    golden_set: str
    suite: str
    model_family: str | None
    metric: str


Best: TypeAlias = Mapping[Measure, float]


@dataclass(frozen=True, slots=True)
class Release:
    """The last released decision of an agent and pack.

    `decision` is its digest and `seq` its ledger entry. `measures` holds, for each metric, every
    value that a released version reached on the same golden set, oldest first.
    """

    key: AgentKey
    version: str
    decision: str
    seq: int
    measures: Mapping[Measure, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One decision as the ledger holds it: enough to know it again and to judge it again.

    `baseline` is the digest of the released decision that it was compared with. Each of `checks`
    stands with the verdict that the ledger states for it.
    """

    seq: int
    key: AgentKey
    version: str
    decision: str
    inputs: str
    verdict: Verdict
    decided_at: str
    baseline: str | None
    checks: tuple[tuple[Check, bool], ...] = field(default=(), repr=False)
    records: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


def released(known: Release | None, decision: Recorded) -> Release:
    """Return the release that a released decision makes, after the one before it."""
    measures = dict(known.measures) if known else {}
    for measure, value in _measures(decision):
        measures[measure] = (*measures.get(measure, ()), value)
    return Release(decision.key, decision.version, decision.decision, decision.seq, measures)


def _measures(decision: Recorded) -> Iterable[tuple[Measure, float]]:
    for record in decision.records:
        for name, value in record["metrics"].items():
            if value is not None:
                yield (
                    Measure(record["golden_set"], record["suite"], record["model_family"], name),
                    value,
                )
