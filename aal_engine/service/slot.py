"""The slots of a policy's schedule: a cron expression in a time zone.

As cronsim has them, which follows Debian's cron: a job at a fixed time that the clocks skip in
spring runs right after the gap, one in the hour that autumn repeats runs once, at its first
occurrence; a job every so many minutes runs at every one that there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aal_engine.cadence import Missed, jitter
from aal_engine.decide.monitoring import Timetable
from aal_engine.errors import InputError, MissingExtra, shown

MOST_COUNTED = 10_000
FIELDS = 5
_AHEAD = timedelta(microseconds=1)


class Slots:
    """The slots of one timetable; `key` is what its jitter is drawn by."""

    def __init__(self, timetable: Timetable, key: str) -> None:
        """Read the expression and the zone.

        Raises:
            InputError: one of them is none.
            MissingExtra: cronsim is not installed.
        """
        self.timetable = timetable
        self.delay = jitter(key, timetable.jitter)
        try:
            self._zone = ZoneInfo(timetable.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InputError.at(
                f"{shown(timetable.zone)} is no time zone that this machine knows",
                field="schedule.zone",
                way_out="name it as IANA does, as in Europe/Berlin; pip install tzdata",
            ) from None
        next(self._from(datetime(2026, 1, 1, tzinfo=UTC)))

    def after(self, now: datetime, count: int) -> list[datetime]:
        """Return the next slots after a time, in UTC and without the jitter."""
        return list(islice(self._from(now), count))

    def missed(self, now: datetime, last: datetime | None) -> Missed | None:
        """Return what is due: the latest slot whose start, jitter included, is reached, if not run.

        A `last` that lies beyond the next slot was recorded by a clock that was wrong, and counts as
        none.
        """
        reached = now - self.delay
        slot = next(self._from(reached + _AHEAD, back=True))
        if last is None or last > self.after(now, 1)[0]:
            return Missed(slot, 0)
        if last >= slot:
            return None
        between = takewhile(lambda each: each < slot, islice(self._from(last), MOST_COUNTED))
        return Missed(slot, sum(1 for _ in between))

    def _from(self, at: datetime, *, back: bool = False) -> Iterator[datetime]:
        try:
            from cronsim import CronSim, CronSimError
        except ImportError:
            raise MissingExtra("the schedule", "schedule") from None
        try:
            if len(self.timetable.cron.split()) != FIELDS:
                raise CronSimError
            found = CronSim(self.timetable.cron, at.astimezone(self._zone), reverse=back)
            for slot in found:
                yield slot.astimezone(UTC)
        except CronSimError:
            pass
        raise InputError.at(
            "is no cron expression of five fields that ever comes true",
            field="schedule.cron",
            way_out="as in 30 3 * * *: minute, hour, day of the month, month, day of the week",
        )
