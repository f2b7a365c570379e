"""Paired statistics beside a check: how sure a difference is, and what this set could detect.

They are recorded and decide nothing. Everything here is a function of its inputs: resampling draws
from a generator with a fixed seed, and sums run over whole numbers below 2^53, so that the order in
which a machine adds does not show in the result.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from aal_engine.measure.table import Floats

Test: TypeAlias = Literal["mcnemar", "sign_flip"]

CONFIDENCE = 0.95
POWER = 0.8
SEED = 20_260_101
MOST_FLIPS = 1_999
MOST_RESAMPLES = 999
DRAWS = 4_000_000
LARGE = 4_000
EXACT = 12
STEP = 256
SCALE = 2.0**24
SHOWN = 6
MOST_CASES = 2**24

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Paired:
    """What `n` paired cases say about a difference current - baseline.

    `interval` holds the true mean difference with 95% confidence. `p` is two-sided, to three
    digits. `detectable` is the smallest drop that this many cases, as noisy as these are, would
    show with 80% power at the 5% level.
    """

    n: int
    difference: float
    interval: tuple[float, float]
    p: float
    test: Test
    detectable: float


def compare(
    current: Mapping[str, Floats], baseline: Mapping[str, Floats], binary: Collection[str] = ()
) -> dict[str, Paired]:
    """Compare metrics, each measured on the same cases by both sides, shape (cases,), NaN for none.

    Cases that either side does not measure are left out, and so is a metric of which none is left.
    A `binary` metric whose values are all 0 or 1 is tested by McNemar's exact test, any other by
    flipping the signs of the differences. The interval is the bias-corrected and accelerated
    bootstrap (Efron 1987); where no pair differs it is the exact bound on what `n` equal pairs
    can hide.
    """
    differences = {}
    p_values = {}
    for name in current.keys() & baseline.keys():
        a, b = current[name], baseline[name]
        both = ~(np.isnan(a) | np.isnan(b))
        if not both.any():
            continue
        a, b = a[both], b[both]
        differences[name] = a - b
        if name in binary and np.isin(a, (0.0, 1.0)).all() and np.isin(b, (0.0, 1.0)).all():
            p_values[name] = mcnemar(int((a > b).sum()), int((a < b).sum()))
    flipped = [name for name in sorted(differences) if name not in p_values]
    flips = dict(zip(flipped, sign_flips([differences[name] for name in flipped]), strict=True))
    return {
        name: Paired(
            n=len(differences[name]),
            difference=_shown(math.fsum(differences[name].tolist()) / len(differences[name])),
            interval=bootstrap_interval(differences[name]),
            p=float(f"{p_values.get(name, flips.get(name, 1.0)):.3g}"),
            test="mcnemar" if name in p_values else "sign_flip",
            detectable=detectable_drop(differences[name]),
        )
        for name in sorted(differences)
    }


def mcnemar(won: int, lost: int) -> float:
    """Return the exact two-sided p value of McNemar's test: a fair coin over the pairs that differ.

    >>> mcnemar(0, 6)
    0.03125
    """
    n = won + lost
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(won, lost) + 1))
    return float(min(1.0, 2 * tail / 2**n))


def sign_flips(samples: Sequence[Floats]) -> list[float]:
    """Return, for each sample of differences, the two-sided sign-flip p value of a zero mean.

    Exact, over all sign patterns, for up to 12 differences that are not zero; else over up to
    1,999 patterns drawn, the observed one counted among them; beyond 4,000 differences by the
    normal limit of the same distribution. All samples share the patterns and one product.
    """
    moved = [_whole(sample[sample != 0]) for sample in samples]
    drawn = [place for place, each in enumerate(moved) if EXACT < len(each) <= LARGE]
    longest = max((len(moved[place]) for place in drawn), default=0)
    stacked = np.zeros((len(drawn), longest))
    for row, place in enumerate(drawn):
        stacked[row, : len(moved[place])] = moved[place]
    sums = np.abs(_products(_drawn_signs(-(-longest // STEP) * STEP)[:, :longest], stacked))
    p_values = []
    for place, each in enumerate(moved):
        observed = abs(float(each.sum()))
        if not len(each):
            p_values.append(1.0)
        elif len(each) <= EXACT:
            reached = np.abs(_products(_all_signs(len(each)), each[None])) >= observed
            p_values.append(int(reached.sum()) / len(reached))
        elif len(each) > LARGE:
            length = math.sqrt(math.fsum((each**2).tolist()))
            p_values.append(2 * _NORMAL.cdf(-observed / length))
        else:
            hits = int((sums[:, drawn.index(place)] >= observed).sum())
            p_values.append((hits + 1) / (len(sums) + 1))
    return p_values


@lru_cache(maxsize=EXACT)
def _all_signs(n: int) -> Floats:
    """Return every sign pattern of n differences, shape (2^n, n)."""
    patterns = np.arange(2**n, dtype=np.uint16)[:, None] >> np.arange(n, dtype=np.uint16)
    return ((patterns & 1) * 2.0 - 1.0).astype(np.float64)


@lru_cache(maxsize=4)
def _drawn_signs(n: int) -> Floats:
    """Return drawn sign patterns, shape (patterns, n)."""
    flips = min(MOST_FLIPS, DRAWS // max(n, 1))
    drawn = np.random.default_rng(SEED).bytes((flips * n + 7) // 8)
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8), count=flips * n)
    return (bits.reshape(flips, n) * 2.0 - 1.0).astype(np.float64)


@lru_cache(maxsize=16)
def _resamples(n: int) -> Floats:
    """Return how often each of n cases stands in each bootstrap sample, shape (samples, n)."""
    samples = min(MOST_RESAMPLES, DRAWS // n)
    drawn = np.random.default_rng(SEED).integers(0, n, size=(samples, n))
    drawn += np.arange(samples)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=samples * n).reshape(samples, n).astype(np.float64)


def bootstrap_interval(differences: Floats) -> tuple[float, float]:
    """Return the 95% interval of the mean of differences, shape (n,), by the BCa bootstrap.

    Where all differences are equal there is nothing to resample: the interval then widens by the
    share of differing pairs that n equal ones can hide, times the greatest difference of 1. Beyond
    4,000 cases the normal interval, which the bootstrap then equals, is given.
    """
    n = len(differences)
    whole = _whole(differences)
    mean = float(whole.sum()) / n
    centred = whole - mean
    spread = math.fsum((centred**2).tolist())
    if n < 2 or spread == 0:
        hidden = zero_event_bound(n)
        middle = float(differences[0])
        return _shown(max(-1.0, middle - hidden)), _shown(min(1.0, middle + hidden))
    if n > LARGE:
        reach = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2) * math.sqrt(spread / (n - 1) / n)
        return _shown((mean - reach) / SCALE), _shown((mean + reach) / SCALE)
    means = np.sort(_products(_resamples(n), whole[None])[:, 0]) / n
    below = (int((means < mean).sum()) + int((means <= mean).sum())) / 2
    bias = _NORMAL.inv_cdf(min(max(below / len(means), 0.5 / len(means)), 1 - 0.5 / len(means)))
    acceleration = math.fsum((centred**3).tolist()) / (6 * spread**1.5)
    ends = []
    for quantile in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
        z = bias + _NORMAL.inv_cdf(quantile)
        adjusted = _NORMAL.cdf(bias + z / (1 - acceleration * z))
        place = min(len(means) - 1, max(0, round(adjusted * (len(means) - 1))))
        ends.append(_shown(float(means[place]) / SCALE))
    return ends[0], ends[1]


def detectable_drop(differences: Floats) -> float:
    """Return the smallest true drop of the mean that n such pairs show with 80% power, at most 1.

    Two-sided at the 5% level, as the p value beside it, by the sample size formula for McNemar's
    test (Connor 1987) put the other way round: the pairs keep the noise that both runs show, twice
    the smaller of what rose and what fell, and a drop adds pairs that fall by a typical step.
    """
    n = len(differences)
    moved = differences[differences != 0]
    step = math.fsum(np.abs(moved).tolist()) / len(moved) if len(moved) else 1.0
    rose, fell = (math.fsum((side**2).tolist()) for side in (moved[moved > 0], moved[moved < 0]))
    return _least_shown(n, 2 * min(rose, fell) / n, step)


def _least_shown(n: int, noise: float, step: float) -> float:
    """Return the smallest drop that n pairs show, of which noise and drops move each by `step`."""
    level, power = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2), _NORMAL.inv_cdf(POWER)

    def shown(drop: float) -> bool:
        spread = noise + drop * step
        reach = level * math.sqrt(spread) + power * math.sqrt(max(0.0, spread - drop**2))
        return math.sqrt(n) * drop >= reach

    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return _shown(high)


def smallest_drop(n: int) -> float:
    """Return the drop that n pairs show with 80% power at best, where nothing else differs.

    >>> smallest_drop(50), smallest_drop(200)
    (0.149717, 0.038784)
    """
    return _least_shown(n, 0.0, 1.0) if n else 1.0


def cases_for(drop: float) -> int:
    """Return how many cases a set needs at the least to show a drop, see `smallest_drop`.

    >>> cases_for(0.05)
    155
    """
    low, high = 1, 2
    while high < MOST_CASES and smallest_drop(high) > drop:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if smallest_drop(middle) <= drop else (middle + 1, high)
    return high


def zero_event_bound(n: int) -> float:
    """Return the exact 95% upper bound on a rate of which n trials showed no event.

    >>> round(zero_event_bound(50), 3)
    0.058
    """
    return 1.0 if n <= 0 else 1 - (1 - CONFIDENCE) ** (1 / n)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values adjusted for many tests by Holm's step-down rule, in the given order.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def _products(patterns: Floats, samples: Floats) -> Floats:
    """Return the sum of each pattern (P, n) times each sample (S, n), shape (P, S).

    Not by a matrix product: BLAS would start threads for it, at more cost than these sizes save.
    """
    sums: Floats = np.einsum("pn,sn->ps", patterns, samples)
    return sums


def _whole(values: Floats) -> Floats:
    """Scale to whole numbers, held as float64, whose sums are exact in any order."""
    return np.round(values * SCALE)


def _shown(value: float) -> float:
    return round(value, SHOWN) + 0.0
