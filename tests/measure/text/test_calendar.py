"""Dates in a text."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.text.calendar import find_date
from aal_engine.measure.text.language import language_of
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.normal import tokens

DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))


def found(text, value, language="en"):
    line = Line(text, tokens(text))
    return list(find_date(value, line, language_of(language)))


@pytest.mark.parametrize(
    ("text", "value", "language"),
    [
        ("on 2026-01-31.", "2026-01-31", "en"),
        ("on 2026/01/31", "2026-01-31", "en"),
        ("at 2026-01-31T09:30", "2026-01-31", "en"),
        ("January 31, 2026", "2026-01-31", "en"),
        ("Jan. 31st 2026", "2026-01-31", "en"),
        ("31 January 2026", "2026-01-31", "en"),
        ("the 31st of January, 2026", "2026-01-31", "en"),
        ("01/31/2026", "2026-01-31", "en"),
        ("31/01/2026", "2026-01-31", "en"),
        ("1/2/2026", "2026-01-02", "en"),
        ("1/2/2026", "2026-02-01", "en-GB"),
        ("31.01.2026", "2026-01-31", "de"),
        ("31. 1. 2026", "2026-01-31", "de"),
        ("am 31. Januar 2026", "2026-01-31", "de"),
        ("im Mai 2026", "2026-05", "de"),
        ("1er janvier 2026", "2026-01-01", "fr"),
        ("31 de enero de 2026", "2026-01-31", "es"),
        ("in January 2026", "2026-01", "en"),
        ("2026-01", "2026-01", "en"),
        ("01/2026", "2026-01", "en"),
        ("January 31, 2026", "2026-01", "en"),
        ("January 31, 2026", "2026", "en"),
        ("in 2026", "2026", "en"),
    ],
)
def test_dates_that_are_found(text, value, language):
    assert found(text, value, language)


@pytest.mark.parametrize(
    ("text", "value", "language"),
    [
        ("on 2026-01-30", "2026-01-31", "en"),
        ("on 2026-02-31", "2026-01-31", "en"),
        ("in January 2026", "2026-01-31", "en"),
        ("in 2026", "2026-01", "en"),
        ("on 31 January", "2026-01-31", "en"),
        ("1/2/2026", "2026-02-01", "en"),
        ("sections 1, 31, 2026", "2026-01-31", "en"),
        ("you may 2 of 2026", "2026-05-03", "en"),
        ("12026", "2026", "en"),
    ],
)
def test_dates_that_are_not_found(text, value, language):
    assert not found(text, value, language)


@given(DAYS)
def test_every_day_is_found_in_every_writing(day):
    iso = day.isoformat()
    assert found(f"on {iso}", iso)
    assert found(f"on {day:%B} {day.day}, {day.year}", iso)
    assert found(f"am {day.day}.{day.month}.{day.year}", iso, "de")
    assert found(f"le {day.day}/{day.month}/{day.year}", iso, "fr")
    assert not found(f"on {iso}", date.fromordinal(day.toordinal() + 1).isoformat())
