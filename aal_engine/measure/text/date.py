"""Dates as golden sets write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Final, Literal, TypeAlias

Precision: TypeAlias = Literal["day", "month", "year"]

PRECISIONS: Final[tuple[Precision, ...]] = ("day", "month", "year")
DATE_LENGTH: Final[Mapping[Precision, int]] = {"day": 10, "month": 7, "year": 4}
"""How many characters of `YYYY-MM-DD` each precision keeps."""

_ISO: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


def iso_date(text: str) -> Precision | None:
    """Return how precise an ISO 8601 calendar date is, or None where the text is none.

    >>> iso_date("2026-01"), iso_date("2026-02-30")
    ('month', None)
    """
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day = match.groups()
    if not is_date(int(year), int(month or 1), int(day or 1)):
        return None
    return "day" if day else "month" if month else "year"


def is_date(year: int, month: int, day: int) -> bool:
    """Return whether the calendar has a day."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
