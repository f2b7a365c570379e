"""Times as people give them."""

from __future__ import annotations

from datetime import UTC, datetime

from aal_engine.errors import InputError, shown


def moment(text: str) -> datetime:
    """Read a time; one without a zone is refused rather than guessed.

    Raises:
        InputError: it is not an ISO 8601 time with a zone.
    """
    try:
        now = datetime.fromisoformat(text)
        if now.tzinfo is not None:
            return now.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InputError.at(
        f"{shown(text)} is not a time with a zone", way_out="write 2026-01-31T09:30:00Z"
    )
