from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.decide.sampling import SENSITIVITIES, Sampling, place, sampled, sampling_from
from aal_engine.errors import InputError


def test_the_suggested_table():
    rows = [[round(100 * Sampling().rate(a, s)) for s in SENSITIVITIES] for a in range(4)]
    assert rows == [[1, 2, 5, 10], [2, 5, 10, 25], [5, 10, 25, 50], [10, 25, 50, 100]]


def test_the_draw_is_the_keyed_hash_of_the_trace_id():
    drawn = hashlib.blake2b(b"trace", digest_size=8, key=b"salt").digest()
    assert place("trace", "salt") == int.from_bytes(drawn, "big")


@given(st.text(), st.text(max_size=200), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_rate_samples_all_that_a_lower_one_does(trace, salt, one, other):
    low, high = sorted((one, other))
    assert sampled(trace, salt, 1.0)
    assert not sampled(trace, salt, 0.0)
    assert sampled(trace, salt, high) or not sampled(trace, salt, low)


@pytest.mark.parametrize("rate", [0.02, 0.25, 0.5])
def test_the_share_drawn_is_the_rate(rate):
    drawn = sum(sampled(f"trace-{n}", "s", rate) for n in range(20_000)) / 20_000
    assert abs(drawn - rate) < 0.012


def test_another_salt_draws_another_sample():
    ids = [f"trace-{n}" for n in range(2_000)]
    both = sum(sampled(t, "one", 0.1) and sampled(t, "two", 0.1) for t in ids)
    assert both < 60


def test_half_a_surrogate_pair_is_drawn_too():
    assert sampled("\ud800", "salt", 1.0)


def test_rows_left_out_are_the_suggested_ones():
    table = sampling_from({"restricted": [50, 60, 70, 100]})
    assert table.rate(1, "restricted") == 0.6
    assert table.rate(0, "public") == 0.01


@pytest.mark.parametrize(
    "rows", [{"public": [5, 2, 5, 10]}, {"public": [3, 3, 5, 10]}, {"restricted": [1, 25, 50, 100]}]
)
def test_sampling_less_where_more_is_at_stake_is_refused(rows):
    with pytest.raises(InputError, match="samples less"):
        sampling_from(rows)
