"""The statistics beside a check, against exact values and simulation."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure import evidence
from aal_engine.measure.evidence import (
    Paired,
    bootstrap_interval,
    compare,
    detectable_drop,
    holm,
    mcnemar,
    sign_flips,
    zero_event_bound,
)

NAN = float("nan")


def sign_flip(differences) -> float:
    (p,) = sign_flips([differences])
    return p


def pair(a, b, *, binary: bool) -> Paired | None:
    return compare({"m": a}, {"m": b}, ("m",) if binary else ()).get("m")


@pytest.mark.parametrize(
    ("won", "lost", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (0, 6, 0.03125), (5, 5, 1.0), (2, 8, 0.109375), (1, 9, 0.021484375)],
)
def test_mcnemar_is_the_exact_binomial_test(won, lost, p):
    assert mcnemar(won, lost) == p
    assert mcnemar(lost, won) == p


def every_pattern(differences) -> float:
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize(
    "differences",
    [(0.5,), (0.25, -0.5, 0.125), (0.1, 0.2, 0.3, 0.4, 0.5), (-0.5, -0.25, -0.75, 0.5)],
)
def test_sign_flip_is_exact_for_few_differences(differences):
    assert sign_flip(np.array(differences)) == pytest.approx(every_pattern(differences))


def test_sign_flip_drawn_is_near_the_exact_value():
    differences = np.random.default_rng(3).normal(0.15, 0.5, 14)
    assert sign_flip(differences) == pytest.approx(every_pattern(differences.tolist()), abs=0.02)


def test_sign_flip_joins_its_normal_limit():
    differences = np.random.default_rng(5).normal(0.02, 1, evidence.LARGE + 1)
    assert sign_flip(differences) == pytest.approx(sign_flip(differences[:-1]), abs=0.03)


def test_the_same_input_gives_the_same_numbers():
    a, b = np.random.default_rng(1).random((2, 60))
    assert pair(a, b, binary=False) == pair(a.copy(), b.copy(), binary=False)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(300):
        low, high = bootstrap_interval(rng.exponential(1.0, 40) / 10 - 0.05)
        inside += low <= 0.05 <= high
    assert 0.89 <= inside / 300 <= 0.99


def test_interval_is_the_bias_corrected_and_accelerated_one():
    """Against an independent implementation, with 99,999 resamples of its own."""
    skewed = np.random.default_rng(0).exponential(0.1, 40)
    assert bootstrap_interval(skewed) == pytest.approx((0.0866, 0.1622), abs=0.004)
    rare = -(np.random.default_rng(2).random(225) < 0.05).astype(float)
    assert bootstrap_interval(rare) == pytest.approx((-0.0889, -0.0267), abs=0.005)


def test_interval_of_rare_losses_misses_on_both_sides():
    rng = np.random.default_rng(13)
    below = above = 0
    for _ in range(400):
        low, high = bootstrap_interval(-(rng.random(225) < 0.02).astype(float))
        below += high < -0.02
        above += low > -0.02
    assert below <= 20
    assert above <= 24


def test_equal_pairs_leave_room_for_what_they_can_hide():
    low, high = bootstrap_interval(np.zeros(50))
    assert high == -low == pytest.approx(zero_event_bound(50), abs=1e-6)


def test_a_set_of_one_case_detects_nothing():
    assert detectable_drop(np.array([0.5])) == 1.0
    assert bootstrap_interval(np.array([0.5])) == (-0.45, 1.0)


@pytest.mark.parametrize(("n", "noise"), [(60, 0.0), (225, 0.02), (225, 0.05), (1000, 0.03)])
def test_a_detectable_drop_is_detected_about_four_times_in_five(n, noise):
    rng = np.random.default_rng(5)
    both = round(n * noise)
    drop = detectable_drop(np.r_[np.ones(both), -np.ones(both), np.zeros(n - 2 * both)])
    seen = 0
    for _ in range(1000):
        draw = rng.random(n)
        won = int((draw < noise).sum())
        lost = int(((draw >= noise) & (draw < 2 * noise + drop)).sum())
        seen += lost > won and mcnemar(won, lost) <= 0.05
    assert 0.7 <= seen / 1000 <= 0.88


def test_cases_that_either_side_does_not_measure_are_left_out():
    paired = pair(np.array([1.0, NAN, 0.0]), np.array([0.0, 1.0, NAN]), binary=True)
    assert paired is not None
    assert (paired.n, paired.difference, paired.test) == (1, 1.0, "mcnemar")
    assert pair(np.array([NAN]), np.array([1.0]), binary=True) is None


def test_averaged_attempts_of_a_binary_metric_are_not_yes_or_no():
    paired = pair(np.array([0.5, 1.0]), np.array([1.0, 1.0]), binary=True)
    assert paired is not None
    assert paired.test == "sign_flip"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_lowers_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert all(adjusted[i] <= adjusted[j] for i, j in pairwise(order))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40))
def test_every_pair_of_runs_has_sound_statistics(pairs):
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    paired = pair(a, b, binary=False)
    assert paired is not None
    assert 0 < paired.p <= 1
    assert -1 <= paired.interval[0] <= paired.interval[1] <= 1
    assert 0 <= paired.detectable <= 1
