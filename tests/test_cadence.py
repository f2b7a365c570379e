from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.cadence import jitter, latest_missed, latest_slot, next_slot

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
QUARTER = timedelta(minutes=15)

times = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
intervals = st.integers(1, 60 * 24 * 40).map(lambda minutes: timedelta(minutes=minutes))


@given(times, intervals, st.integers(0, 10**9))
def test_the_present_slot_holds_now_and_slots_follow_each_other(now, every, micros):
    phase = timedelta(microseconds=micros)
    slot = latest_slot(now, every, phase)
    assert slot <= now < slot + every
    assert next_slot(now, every, phase) == slot + every
    assert latest_slot(slot, every, phase) == slot
    assert latest_slot(slot + every, every, phase) == slot + every


@given(times, intervals, st.integers(0, 10_000))
def test_however_many_were_missed_one_is_due_and_once(now, every, ago):
    last = now - ago * every
    missed = latest_missed(now, every, last)
    if ago == 0:
        assert missed is None
        return
    assert missed is not None
    assert (missed.slot, missed.skipped) == (latest_slot(now, every), ago - 1)
    assert latest_missed(now, every, missed.slot) is None
    assert latest_missed(next_slot(now, every), every, missed.slot).skipped == 0


def test_what_never_ran_is_due_now():
    assert latest_missed(AT, QUARTER, None).slot == datetime(2026, 3, 4, 5, 0, tzinfo=UTC)


def test_a_clock_that_was_set_back_a_little_runs_no_slot_twice():
    assert latest_missed(AT, QUARTER, AT + timedelta(minutes=10)) is None
    assert latest_missed(AT, QUARTER, AT + timedelta(minutes=20)) is None


def test_a_slot_recorded_by_a_clock_far_ahead_does_not_silence_the_schedule():
    missed = latest_missed(AT, QUARTER, AT + timedelta(days=900))
    assert missed is not None
    assert missed.skipped == 0


def test_a_slot_is_the_same_instant_in_every_zone():
    there = AT.astimezone(timezone(timedelta(hours=5, minutes=45)))
    assert latest_slot(there, QUARTER) == latest_slot(AT, QUARTER)
    assert latest_slot(there, QUARTER).tzinfo is UTC


@pytest.mark.parametrize("every", [timedelta(0), timedelta(minutes=-1)])
def test_an_interval_of_nothing_is_refused(every):
    with pytest.raises(ValueError, match="longer than nothing"):
        latest_slot(AT, every)


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="needs a zone"):
        latest_missed(AT.replace(tzinfo=None), QUARTER, AT)


@given(st.text(), st.integers(1, 10**12))
def test_a_jitter_lies_within_its_spread(key, micros):
    spread = timedelta(microseconds=micros)
    assert timedelta(0) <= jitter(key, spread) < spread


def test_jitter_spreads_evenly_over_keys():
    spread = timedelta(minutes=10)
    tenths = [0] * 10
    for place in range(5_000):
        tenths[int(jitter(f"suite-{place}", spread) * 10 / spread)] += 1
    assert min(tenths) > 400
    assert max(tenths) < 600


def test_no_spread_is_no_jitter():
    assert jitter("any", timedelta(0)) == timedelta(0)
