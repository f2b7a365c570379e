"""An agent's standing in a suite: the exact sum of all its scores, and what can be said from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from aal_engine.registry.model.moment import wire
from aal_engine.registry.model.result import UNIT

ALL = 0
"""The suite's number under which an agent's results in every suite are summed."""

Z95 = 1.959963984540054
"""The 97.5% point of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of the leaderboard: `sum` is in whole millionths, `last_at` in milliseconds."""

    did: str
    n: int
    sum: int
    last_at: int

    @property
    def mean(self) -> float:
        """The mean score, in [0, 1]: the quotient rounded once."""
        return self.sum / (self.n * UNIT)

    def told(self, now_ms: int) -> dict[str, str | float | int]:
        """Return the row as it is served; `age_seconds` says how long ago the last result was."""
        return {
            "did": self.did,
            "mean": self.mean,
            "runs": self.n,
            "last_at": wire(self.last_at),
            "lower_bound": lower_bound(self.mean, self.n),
            "age_seconds": max(0, (now_ms - self.last_at) // 1000),
        }


def lower_bound(mean: float, n: int) -> float:
    """Return the lower end of the Wilson 95% interval of a mean of n scores in [0, 1].

    Wilson (1927) for proportions. A mean of scores between 0 and 1 varies no more than a proportion
    of the same mean (Bhatia and Davis 2000), so the bound errs on the low side for graded scores. It
    takes results as independent.

    >>> round(lower_bound(1.0, 5), 3), round(lower_bound(0.94, 300), 3)
    (0.566, 0.907)
    """
    if n <= 0:
        return 0.0
    square = Z95 * Z95
    middle = mean + square / (2 * n)
    spread = Z95 * math.sqrt(max(0.0, mean * (1 - mean) / n + square / (4 * n * n)))
    return max(0.0, (middle - spread) / (1 + square / n))
