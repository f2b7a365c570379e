"""Checks and the decision that they amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, TypeAlias

from aal_engine.canonical import JSON, digest
from aal_engine.decide.policy import exact
from aal_engine.measure.metric import Direction
from aal_engine.measure.record import EvalRecord, record_from

DECISION_SCHEMA = "aal/decision/1"

Verdict: TypeAlias = Literal["released", "blocked"]


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: `current` must not be worse than `baseline` by more than `tolerance`.

    Every rule of the gate has this form, so that an auditor who holds only the numbers can judge it
    again: a floor is a count against 0, a presence is 1 or 0 against 1. `current` None is a value
    that should be there and is not; it never passes. `advisory` marks a comparison that the policy
    records without letting it block. `baseline_n` and `current_n` are the cases that the two means
    are over.
    """

    name: str
    direction: Direction
    baseline: float | None
    current: float | None
    tolerance: float = 0.0
    metric: str | None = None
    model_family: str | None = None
    suite: str | None = None
    slice: str | None = None
    advisory: bool = False
    note: str | None = None
    evidence: Mapping[str, JSON] | None = None
    baseline_n: int | None = None
    current_n: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the check holds."""
        if self.current is None or self.baseline is None:
            return False
        return not worse(self.direction, self.current, self.baseline, self.tolerance)

    @property
    def blocks(self) -> bool:
        """Whether the check stops the release."""
        return not (self.ok or self.advisory)

    @property
    def excess(self) -> Decimal:
        """By how much the fall exceeds the tolerance; negative where there is room left."""
        if self.current is None or self.baseline is None:
            return Decimal("Infinity")
        return fall(self.direction, self.current, self.baseline) - exact(self.tolerance)

    def canonical(self) -> dict[str, JSON]:
        """Return the check as JSON."""
        return {
            "check": self.name,
            "metric": self.metric,
            "model_family": self.model_family,
            "suite": self.suite,
            "slice": self.slice,
            "direction": self.direction,
            "baseline": self.baseline,
            "current": self.current,
            "tolerance": self.tolerance,
            "ok": self.ok,
            "advisory": self.advisory,
            "note": self.note,
            "evidence": self.evidence,
            "baseline_n": self.baseline_n,
            "current_n": self.current_n,
        }


def fall(direction: Direction, current: float, baseline: float) -> Decimal:
    """Return by how much a value got worse, exactly in decimals; negative where it got better."""
    change = exact(baseline) - exact(current)
    return change if direction == "higher" else -change


def worse(
    direction: Direction, current: float, baseline: float, tolerance: float | Decimal
) -> bool:
    """Whether a value got worse by more than the tolerance; a fall of exactly that much has not.

    >>> worse("higher", 0.85, 0.9, 0.05), worse("higher", 0.8499, 0.9, 0.05)
    (False, True)
    """
    return fall(direction, current, baseline) > exact(tolerance)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The release that a decision compares with.

    `decision` is the digest of its own decision, None where the ledger knows none; `source` says
    whether the numbers stand in that decision or were scored again from the version's run.
    """

    version: str
    decision: str | None
    source: Literal["decision", "records"]

    def canonical(self) -> dict[str, JSON]:
        """Return the baseline as JSON."""
        return {"version": self.version, "decision": self.decision, "source": self.source}


@dataclass(frozen=True)
class Decision:
    """One verdict on one version of an agent, with every check and the records it rests on.

    `inputs` digests all that was decided on, without the time, so that the same gate run twice is
    known as one.
    """

    agent: str
    pack: str
    version: str
    families: tuple[str, ...]
    decided_at: str
    engine: str
    policy: str
    inputs: str
    baseline: Baseline | None
    checks: tuple[Check, ...]
    records: tuple[EvalRecord, ...]
    notes: tuple[str, ...] = ()
    unchanged_cases: bool = False

    @property
    def verdict(self) -> Verdict:
        """Released if no check blocks."""
        return "blocked" if any(check.blocks for check in self.checks) else "released"

    def canonical(self) -> dict[str, JSON]:
        """Return the decision as JSON, as it is written and digested."""
        return {
            "schema": DECISION_SCHEMA,
            "agent": self.agent,
            "pack": self.pack,
            "version": self.version,
            "verdict": self.verdict,
            "model_families": list(self.families),
            "decided_at": self.decided_at,
            "engine": self.engine,
            "policy": {"digest": self.policy},
            "inputs": {"digest": self.inputs},
            "baseline": None if self.baseline is None else self.baseline.canonical(),
            "unchanged_cases": self.unchanged_cases,
            "checks": [check.canonical() for check in self.checks],
            "notes": list(self.notes),
            "records": [record.canonical() for record in self.records],
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the decision's canonical bytes, in hexadecimal."""
        return digest(self.canonical())


def decision_from(value: Mapping[str, Any]) -> Decision:
    """Read a decision from JSON that the decision's schema has accepted."""
    baseline = value["baseline"]
    return Decision(
        agent=value["agent"],
        pack=value["pack"],
        version=value["version"],
        families=tuple(value["model_families"]),
        decided_at=value["decided_at"],
        engine=value["engine"],
        policy=value["policy"]["digest"],
        inputs=value["inputs"]["digest"],
        baseline=None if baseline is None else Baseline(**baseline),
        checks=tuple(_check_from(check) for check in value["checks"]),
        records=tuple(record_from(record) for record in value["records"]),
        notes=tuple(value["notes"]),
        unchanged_cases=value["unchanged_cases"],
    )


def _check_from(value: Mapping[str, Any]) -> Check:
    fields = {key: part for key, part in value.items() if key not in ("check", "ok")}
    return Check(name=value["check"], **fields)


def worst_first(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Order checks: what blocks first, by how far it is beyond its tolerance; then the rest."""
    return tuple(
        sorted(
            checks,
            key=lambda check: (
                not check.blocks,
                check.ok,
                CHECK_ORDER.index(check.name),
                -check.excess,
                check.model_family or "",
                check.suite or "",
                check.slice or "",
                check.metric or "",
            ),
        )
    )


CHECKS: Mapping[str, str] = {
    "invented_citations": "an answer cites a passage that was not retrieved",
    "forbidden_claims": "an answer makes a claim that its case forbids",
    "answers_present": "there is no answer evaluation",
    "family_evidence": "a model family that the policy allows has no passing answer evaluation",
    "same_subject": "the records are of several agents, packs or versions, or of a released one",
    "baseline": "the baseline is not the last release, or is missing",
    "same_golden_set": "the golden set is not the baseline's",
    "evidence": "a record does not follow from its per-case table, or contradicts another",
    "coverage": "a case has no output, or fewer cases were measured than in the baseline",
    "metric_vanished": "the baseline has a metric that the current records lack",
    "regression": "a metric fell by more than the tolerance since the last release",
    "slide": "a metric fell by more than the policy's slide since the best release",
}

CHECK_ORDER: tuple[str, ...] = tuple(CHECKS)
