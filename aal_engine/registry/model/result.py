"""Results: what one task came to, kept exact, and what a run's tasks come to together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aal_engine.registry.model.moment import wire

UNIT = 1_000_000
"""A score is kept in whole millionths, so that a sum of millions of them is exact."""

PASSING = 0.5
"""The suite score from which on a run counts as satisfactory in the trust graph."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What lets anybody dispute a result and score it again.

    `request` and `response` are SHA-256 digests in hexadecimal; `response` is None where none came.
    """

    request: str
    response: str | None
    scorer_version: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One task as it went with one agent: a score in [0, 1], the task's latency, the error."""

    task_id: int
    score: float
    passed: bool
    latency_ms: int | None
    error: str | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Result:
    """One row of an agent's public record; `score` is in millionths, `at` in milliseconds."""

    run_id: str
    suite: str
    score: int
    passed: bool
    latency_ms: int | None
    error: str | None
    at: int

    def told(self) -> dict[str, str | float | bool | int | None]:
        """Return the row as it is served."""
        return {
            "run_id": self.run_id,
            "suite": self.suite,
            "score": self.score / UNIT,
            "passed": self.passed,
            "latency_ms": self.latency_ms,
            "error": self.error,
            "at": wire(self.at),
        }


def millionths(score: float) -> int:
    """Return a score in [0, 1] in whole millionths; what lies outside, or is no number, is cut.

    >>> millionths(0.25), millionths(1.5), millionths(float("nan"))
    (250000, 1000000, 0)
    """
    return (
        round(min(max(score, 0.0), 1.0) * UNIT) if math.isfinite(score) else int(score > 0) * UNIT
    )


def suite_score(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weight-averaged mean of a run's task scores, in [0, 1]; 0 for no task.

    >>> suite_score([1.0, 0.0], [3.0, 1.0])
    0.75
    """
    total = math.fsum(weights)
    if not total > 0:
        return 0.0
    return math.fsum(s * w for s, w in zip(scores, weights, strict=True)) / total
