"""Moments as the registry keeps them: whole milliseconds since 1970, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def millis(moment: datetime) -> int:
    """Return the milliseconds from 1970 to an aware time, rounded down.

    >>> millis(datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC))
    1500
    """
    return (moment - EPOCH) // MILLISECOND


def moment(milliseconds: int) -> datetime:
    """Return the time that so many milliseconds after 1970 is, in UTC."""
    return EPOCH + milliseconds * MILLISECOND


def wire(milliseconds: int) -> str:
    """Return a kept moment as the public record shows it: ISO 8601, to the second, with its zone.

    >>> wire(1_784_193_242_907)
    '2026-07-16T09:14:02+00:00'
    """
    return moment(milliseconds).isoformat(timespec="seconds")
