"""Whether a rate has risen above what is allowed, told at any time without looking too often.

The e-value of `k` hits in `n` samples is the mean, over rates p above the allowed rate q with
weights from a beta distribution, of the likelihood ratio of p to q. While the true rate is at most
q, a process of such values starts at 1 and is expected never to grow; so by Ville's inequality it
reaches 1/alpha with probability alpha at most, however often and whenever it is looked at (Ville
1939; Robbins 1970; Ramdas et al. 2023, section 3). A Wilson interval gives no such promise.

A process that began long before a rate rose has seen too much that was good. So new ones begin
as samples come in, each with its own share of the weight, and their weighted sum decides: shares
add up to 1 at most, so the promise holds for the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, log1p
from typing import Final

MEAN_RISE: Final = 4.0
"""The mixture's mean rate, in multiples of the allowed one."""

FIRST_SPACING: Final = 500
"""Samples from one start to the next, at first; doubled whenever there would be too many starts."""

MOST_STARTS: Final = 32
_TINY: Final = 1e-300
_PRECISE: Final = 1e-12


def log_e_value(hits: int, samples: int, allowed: float) -> float:
    """Return the natural logarithm of the e-value of `hits` in `samples`; `allowed` in (0, 1).

    >>> log_e_value(0, 0, 0.01)
    0.0
    >>> log_e_value(10, 100, 0.01) > log(1 / 0.05) > log_e_value(1, 3, 0.01)
    True
    """
    if samples == 0:
        return 0.0
    # Beta(1, b) above q: the integral of b (1-p)^(b-1) p^k (1-p)^(n-k) over p in (q, 1), which is
    # an incomplete beta function, over the weight of (q, 1), which is (1-q)^b.
    b = max((1 - allowed) / (MEAN_RISE * allowed), 1.0)
    left, right = hits + 1.0, samples - hits + b
    mixture = log(b) + _log_upper_beta(allowed, left, right) - b * log1p(-allowed)
    return mixture - hits * log(allowed) - (samples - hits) * log1p(-allowed)


def _log_upper_beta(x: float, a: float, b: float) -> float:
    """Return the logarithm of the integral of t^(a-1) (1-t)^(b-1) for t from x to 1."""
    front = a * log(x) + b * log1p(-x)
    if x < (a + 1) / (a + b + 2):
        whole = lgamma(a) + lgamma(b) - lgamma(a + b)
        below = front + log(_continued(x, a, b) / a)
        return whole + log1p(-exp(below - whole))
    return front + log(_continued(1 - x, b, a) / b)


def _continued(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), after Lentz."""
    c = 1.0
    d = 1.0 / _kept(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _kept(1 + term * d)
            c = _kept(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _PRECISE:
            break
    return value


def _kept(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


@dataclass(frozen=True, slots=True)
class Start:
    """A process that began after `samples` samples with `hits` hits, the `place`-th, from 1."""

    place: int
    samples: int
    hits: int

    @property
    def share(self) -> float:
        """Its share of the weight: 1/2, 1/6, 1/12 and so on, 1 in all."""
        return 1 / (self.place * (self.place + 1))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was counted for one rate rule, and the processes that run over it.

    `starts` are in the order in which they began; at most 32 are kept. The shares of those that are
    dropped are lost, which makes the sum smaller and the promise no weaker. `spacing` is how many
    samples lie between the starts to come.
    """

    samples: int = 0
    hits: int = 0
    starts: tuple[Start, ...] = (Start(1, 0, 0),)
    spacing: int = FIRST_SPACING

    def log_value(self, allowed: float) -> float:
        """Return the natural logarithm of the weighted sum of the processes' e-values."""
        logs = [
            log(start.share)
            + log_e_value(self.hits - start.hits, self.samples - start.samples, allowed)
            for start in self.starts
        ]
        highest = max(logs)
        return highest + log(sum(exp(value - highest) for value in logs))


def counted(evidence: Evidence, *, hit: bool) -> Evidence:
    """Return the evidence after one more sample.

    >>> counted(Evidence(), hit=True).hits
    1
    """
    samples, hits = evidence.samples + 1, evidence.hits + hit
    starts, spacing = evidence.starts, evidence.spacing
    last = starts[-1]
    if samples - last.samples >= spacing:
        starts = (*starts, Start(last.place + 1, samples, hits))
        if len(starts) > MOST_STARTS:
            starts, spacing = _thinned(starts), 2 * spacing
    return Evidence(samples, hits, starts, spacing)


def _thinned(starts: Sequence[Start]) -> tuple[Start, ...]:
    """Keep the first and the last, and every second between them."""
    return (*starts[:-1:2], starts[-1])


def wilson(hits: float, samples: float, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return the Wilson 95% interval of a rate, for reading: it decides nothing.

    >>> [round(bound, 3) for bound in wilson(3, 100)]
    [0.01, 0.085]
    """
    if samples <= 0:
        return 0.0, 1.0
    p, spread = hits / samples, z * z / samples
    middle = (p + spread / 2) / (1 + spread)
    half = z / (1 + spread) * ((p * (1 - p) + spread / 4) / samples) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)
