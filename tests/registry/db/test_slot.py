"""Slots stand at whole intervals from a suite's creation, whatever clocks and ticks do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from aal_engine.registry.db.slot import due_slot, next_slot_of
from aal_engine.registry.db.suite import Stored
from aal_engine.registry.model.moment import millis
from aal_engine.registry.model.suite import Suite

CREATED = datetime(2026, 3, 28, 12, 34, 56, tzinfo=UTC)
HOUR = timedelta(hours=1)


def stored(last=None, *, every=60, enabled=True, tasks=1):
    suite = Suite("hourly", "Hourly", interval_minutes=every, enabled=enabled)
    return Stored(1, suite, tasks, millis(CREATED), None if last is None else millis(last))


def test_a_change_of_the_clocks_does_not_shift_a_cadence():
    zone, last, slots = ZoneInfo("Europe/Berlin"), CREATED, []
    for minute in range(48 * 60):
        now = (CREATED + timedelta(minutes=minute)).astimezone(zone)
        slot = due_slot(stored(last), now)
        if slot is not None:
            slots.append(slot)
            last = slot
    assert slots == [CREATED + n * HOUR for n in range(1, 48)]


def test_a_suite_that_never_ran_is_due_at_once():
    assert due_slot(stored(), CREATED + timedelta(minutes=3)) == CREATED


def test_the_next_slot_is_the_one_that_is_due_or_the_one_to_come():
    assert next_slot_of(stored(), CREATED + timedelta(minutes=3)) == CREATED
    assert next_slot_of(stored(CREATED), CREATED + timedelta(minutes=3)) == CREATED + HOUR


def test_another_interval_has_other_slots_and_runs_none_twice():
    ran = CREATED + HOUR
    now = ran + timedelta(minutes=2)
    assert due_slot(stored(ran, every=30), now) is None
    assert due_slot(stored(ran, every=30), now + timedelta(minutes=30)) == ran + HOUR / 2


@pytest.mark.parametrize("off", [{"every": None}, {"enabled": False}, {"tasks": 0}])
def test_what_cannot_run_by_itself_has_no_slot(off):
    suite = stored(**off)
    assert due_slot(suite, CREATED + HOUR) is None
    assert next_slot_of(suite, CREATED + HOUR) is None
