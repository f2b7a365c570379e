"""Slots: when a suite is due by its cadence."""

from __future__ import annotations

from datetime import datetime, timedelta

from aal_engine.cadence import EPOCH, latest_missed, next_slot
from aal_engine.registry.db.suite import Stored
from aal_engine.registry.model.moment import moment
from aal_engine.registry.model.suite import Suite


def due_slot(stored: Stored, now: datetime) -> datetime | None:
    """Return the slot of a suite that is due; None where none is, or it has no cadence or tasks.

    Slots stand at whole intervals from the suite's creation, in elapsed time: neither a late tick
    nor a change of the clocks moves them, and of several that were missed only the newest is left.
    """
    if stored.suite.interval_minutes is None or not stored.suite.enabled or stored.tasks == 0:
        return None
    last = None if stored.last_slot is None else moment(stored.last_slot)
    missed = latest_missed(now, _every(stored.suite), last, phase=_phase(stored))
    return None if missed is None else missed.slot


def next_slot_of(stored: Stored, now: datetime) -> datetime | None:
    """Return when a suite runs next by its cadence: the slot that is due, or the one to come."""
    due = due_slot(stored, now)
    if due is not None or stored.suite.interval_minutes is None:
        return due
    if not stored.suite.enabled or stored.tasks == 0:
        return None
    return next_slot(now, _every(stored.suite), phase=_phase(stored))


def _every(suite: Suite) -> timedelta:
    return timedelta(minutes=suite.interval_minutes or 0)


def _phase(stored: Stored) -> timedelta:
    return moment(stored.created_at) - EPOCH
