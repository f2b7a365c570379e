"""Next-due arithmetic: the slots of an interval, the one that was missed, a start moved by a hash.

Slots are counted from the Unix epoch, so that every process, and every restart, names the same
ones: slot n starts at `n * every + phase`. A slot is identified by its start; whoever records the
last slot that it ran is idempotent per slot. Times are aware; what is returned is in UTC.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
_NO_PHASE: Final = timedelta(0)


@dataclass(frozen=True, slots=True)
class Missed:
    """The latest slot that nobody has run, and how many before it are left out for good."""

    slot: datetime
    skipped: int


def latest_slot(now: datetime, every: timedelta, phase: timedelta = _NO_PHASE) -> datetime:
    """Return the start of the slot that `now` lies in.

    Raises:
        ValueError: `every` is not positive, or `now` has no zone.

    >>> latest_slot(datetime(2026, 1, 2, 3, 4, tzinfo=UTC), timedelta(minutes=15)).isoformat()
    '2026-01-02T03:00:00+00:00'
    """
    return EPOCH + phase + _place(now, every, phase) * every


def next_slot(now: datetime, every: timedelta, phase: timedelta = _NO_PHASE) -> datetime:
    """Return the start of the first slot after `now`.

    Raises:
        ValueError: as in `latest_slot`.
    """
    return latest_slot(now, every, phase) + every


def latest_missed(
    now: datetime, every: timedelta, last: datetime | None, phase: timedelta = _NO_PHASE
) -> Missed | None:
    """Return what is due: the latest slot, if it starts after `last`, the last one that was run.

    However many were missed, one is due. Where nothing was ever run, the present slot is. A `last`
    that lies more than a slot ahead of `now` was recorded by a clock that was wrong, and is not
    believed: nothing would be due until that day came.

    Raises:
        ValueError: as in `latest_slot`, or `last` has no zone.

    >>> at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    >>> latest_missed(at, timedelta(minutes=15), at - timedelta(hours=1)).skipped
    3
    >>> latest_missed(at, timedelta(minutes=15), at - timedelta(minutes=4)) is None
    True
    """
    present = _place(now, every, phase)
    if last is None:
        return Missed(latest_slot(now, every, phase), 0)
    done = _place(last, every, phase)
    if present <= done <= present + 1:
        return None
    return Missed(latest_slot(now, every, phase), max(present - done - 1, 0))


def jitter(key: str, spread: timedelta) -> timedelta:
    """Return how much later than its slot this key starts: 0 and more, less than `spread`.

    The same on every machine and at every restart, and spread evenly over keys: many schedules of
    one cadence do not all start at once.

    >>> jitter("support", timedelta(minutes=5)) == jitter("support", timedelta(minutes=5))
    True
    """
    drawn = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest())
    return (drawn * (spread // MICROSECOND) >> 64) * MICROSECOND


def _place(at: datetime, every: timedelta, phase: timedelta) -> int:
    if every <= _NO_PHASE:
        raise ValueError("an interval is longer than nothing")
    if at.tzinfo is None:
        raise ValueError("a time needs a zone")
    return (at - EPOCH - phase) // every
