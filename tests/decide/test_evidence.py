from __future__ import annotations

import random
from fractions import Fraction
from math import comb, exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.decide.evidence import (
    MEAN_RISE,
    MOST_STARTS,
    Evidence,
    Start,
    counted,
    log_e_value,
    wilson,
)

LIMIT = log(1 / 0.05)


def by_sum(hits, samples, allowed, steps=40_000):
    """The mixture by the midpoint rule, from its definition."""
    b = max((1 - allowed) / (MEAN_RISE * allowed), 1.0)
    width = (1 - allowed) / steps
    total = 0.0
    for step in range(steps):
        p = allowed + (step + 0.5) * width
        weight = b * (1 - p) ** (b - 1) / (1 - allowed) ** b
        ratio = hits * log(p / allowed) + (samples - hits) * log((1 - p) / (1 - allowed))
        total += weight * exp(ratio) * width
    return log(total)


@pytest.mark.parametrize(
    ("hits", "samples", "allowed"),
    [(0, 1, 0.01), (1, 1, 0.01), (3, 40, 0.02), (0, 300, 0.05), (30, 200, 0.1), (9, 10, 0.5)],
)
def test_the_closed_form_is_the_mixture(hits, samples, allowed):
    assert log_e_value(hits, samples, allowed) == pytest.approx(
        by_sum(hits, samples, allowed), abs=2e-3
    )


@given(st.integers(0, 60), st.sampled_from([0.001, 0.01, 0.1, 0.5]))
def test_at_the_allowed_rate_the_next_value_is_expected_to_be_the_present_one(samples, allowed):
    hits = min(samples, 3)
    now = exp(log_e_value(hits, samples, allowed))
    next_ = allowed * exp(log_e_value(hits + 1, samples + 1, allowed)) + (1 - allowed) * exp(
        log_e_value(hits, samples + 1, allowed)
    )
    assert next_ == pytest.approx(now, rel=1e-8)


@pytest.mark.parametrize("allowed", [0.01, 0.2])
def test_its_mean_over_all_outcomes_is_one(allowed):
    q = Fraction(str(allowed))
    mean = sum(
        comb(12, k) * float(q**k * (1 - q) ** (12 - k)) * exp(log_e_value(k, 12, allowed))
        for k in range(13)
    )
    assert mean == pytest.approx(1, abs=1e-9)


@given(st.integers(1, 100_000), st.integers(0, 100_000), st.floats(1e-6, 0.5))
def test_it_is_finite_and_rises_with_hits(samples, hits, allowed):
    hits = min(hits, samples - 1)
    low, high = (log_e_value(k, samples, allowed) for k in (hits, hits + 1))
    assert low == low
    assert low < high < float("inf")


def test_a_rate_below_the_allowed_one_is_no_evidence_against_it():
    assert log_e_value(0, 100_000, 0.01) < log_e_value(0, 10_000, 0.01) < -5


def test_one_hit_in_three_samples_decides_nothing():
    evidence = Evidence()
    for hit in (False, True, False):
        evidence = counted(evidence, hit=hit)
        assert evidence.log_value(0.02) < LIMIT


def test_a_rise_after_long_good_service_is_seen_soon():
    evidence = Evidence()
    draw = random.Random(7)
    for _ in range(20_000):
        evidence = counted(evidence, hit=draw.random() < 0.005)
    assert evidence.log_value(0.01) < LIMIT
    seen = 0
    while evidence.log_value(0.01) < LIMIT:
        evidence = counted(evidence, hit=draw.random() < 0.08)
        seen += 1
    assert seen < 700
    assert log_e_value(evidence.hits, evidence.samples, 0.01) < 0


def test_starts_are_bounded_and_their_shares_are_of_one_whole():
    evidence = Evidence()
    for _ in range(200_000):
        evidence = counted(evidence, hit=False)
    assert len(evidence.starts) <= MOST_STARTS
    assert evidence.starts[0] == Start(1, 0, 0)
    places = [start.place for start in evidence.starts]
    assert places == sorted(set(places))
    assert sum(start.share for start in evidence.starts) <= 1


@given(st.integers(0, 500), st.integers(1, 500))
def test_the_interval_holds_its_own_rate(hits, samples):
    low, high = wilson(min(hits, samples), samples)
    assert 0 <= low <= min(hits, samples) / samples + 1e-12
    assert min(hits, samples) / samples - 1e-12 <= high <= 1


def test_no_samples_say_nothing():
    assert wilson(0, 0) == (0.0, 1.0)
    assert Evidence().log_value(0.01) < 0
