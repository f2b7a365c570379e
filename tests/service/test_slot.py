from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aal_engine.decide.monitoring import Timetable
from aal_engine.errors import InputError
from aal_engine.service.slot import Slots

BERLIN = "Europe/Berlin"


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


def slots(cron="30 3 * * *", zone="UTC", **more):
    return Slots(Timetable(cron, zone, **more), "desk\0support")


def test_a_slot_is_due_from_its_own_minute_on():
    due = slots()
    before = due.missed(utc(2026, 1, 2, 3, 29, 59), utc(2026, 1, 1, 3, 30))
    assert before is None
    assert due.missed(utc(2026, 1, 2, 3, 30), utc(2026, 1, 1, 3, 30)).slot == utc(2026, 1, 2, 3, 30)


def test_the_zone_decides_when_that_is():
    assert slots(zone=BERLIN).after(utc(2026, 1, 1), 1) == [utc(2026, 1, 1, 2, 30)]
    assert slots(zone=BERLIN).after(utc(2026, 7, 1), 1) == [utc(2026, 7, 1, 1, 30)]


def test_a_time_that_spring_skips_runs_right_after_the_gap():
    due = slots("30 2 * * *", BERLIN)
    assert due.after(utc(2026, 3, 28, 12), 2) == [utc(2026, 3, 29, 1, 0), utc(2026, 3, 30, 0, 30)]


def test_a_time_that_autumn_repeats_runs_once_and_an_interval_goes_on():
    once = slots("30 2 * * *", BERLIN).after(utc(2026, 10, 24, 12), 2)
    assert once == [utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)]
    every = slots("*/30 * * * *", BERLIN).after(utc(2026, 10, 24, 23, 45), 5)
    assert every == [utc(2026, 10, 25, 0, 0) + n * timedelta(minutes=30) for n in range(5)]


@pytest.mark.parametrize("zone", [BERLIN, "America/New_York", "Australia/Lord_Howe", "UTC"])
def test_over_a_year_each_slot_is_found_once_forwards_and_backwards(zone):
    due = slots("15 2 * * *", zone)
    forwards = due.after(utc(2026, 1, 1), 365)
    assert len(set(forwards)) == 365
    last = None
    for slot in forwards:
        found = due.missed(slot + timedelta(seconds=5), last)
        assert found.slot == slot
        assert found.skipped == 0
        last = slot


def test_jitter_delays_all_slots_alike_and_is_the_packs_own():
    due = slots(jitter=timedelta(minutes=30))
    assert timedelta(0) <= due.delay < timedelta(minutes=30)
    assert due.delay == slots(jitter=timedelta(minutes=30)).delay
    start = utc(2026, 1, 2, 3, 30) + due.delay
    last = utc(2026, 1, 1, 3, 30)
    assert due.missed(start - timedelta(microseconds=1), last) is None
    assert due.missed(start, last).slot == utc(2026, 1, 2, 3, 30)


def test_a_clock_that_was_set_back_runs_nothing_twice_and_one_that_was_far_ahead_stops_nothing():
    due = slots()
    last = utc(2026, 1, 2, 3, 30)
    assert due.missed(utc(2026, 1, 2, 3, 29), last) is None
    assert due.missed(utc(2026, 1, 2, 4, 0), utc(2031, 1, 1)).slot == last


@pytest.mark.parametrize(
    "cron", ["61 * * * *", "* * * *", "* * * * * *", "0 0 30 2 *", "x x x x x", "0 0 * * * 2026"]
)
def test_what_is_no_cron_expression_is_told(cron):
    with pytest.raises(InputError, match=r"schedule\.cron: is no cron expression"):
        slots(cron)


@pytest.mark.parametrize("zone", ["Nowhere/City", "../../etc/passwd", "CEST5", ""])
def test_a_zone_that_is_none_is_told(zone):
    with pytest.raises(InputError, match=r"schedule\.zone"):
        slots(zone=zone)
