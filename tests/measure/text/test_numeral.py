"""Single numbers: what their digits are worth, what multiplies them, where they end."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.text.language import ENGLISH, FRENCH, GERMAN, language_of
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.numeral import read_number, read_numeral


@given(st.decimals(0, 10**9, places=2, allow_nan=False))
def test_each_languages_writing_of_a_number_is_read(number):
    english = f"{number:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert read_number(english, ENGLISH) == number
    assert read_number(german, GERMAN) == number
    assert read_number(german, FRENCH) == number


@pytest.mark.parametrize("digits", ["1.2.3", "1,2,3", "1,23,456", "1.234.5678", "1,2.3,4"])
def test_what_is_no_number(digits):
    assert read_number(digits, ENGLISH) is None


def test_a_single_separator_is_read_as_the_language_has_it():
    assert read_number("1,234", ENGLISH) == Decimal(1234)
    assert read_number("1,234", GERMAN) == Decimal("1.234")
    assert read_number("1.5", GERMAN) == Decimal("1.5")


@pytest.mark.parametrize(
    ("text", "language", "value", "last", "after"),
    [
        ("5 days", "en", 5, 1, ["days"]),
        ("5k days", "en", 5000, 1, ["days"]),
        ("5m days", "en", 5, 1, ["m", "days"]),
        ("5M days", "fr", 5_000_000, 1, ["days"]),
        ("5 million days", "en", 5_000_000, 1, ["days"]),
        ("3 mil millones", "es", 3_000_000_000, 1, []),
        ("5m €", "de", 5_000_000, 1, ["€"]),
        ("2½ cups", "en", 2.5, 3, ["cups"]),
        ("3/4 cup", "en", 0.75, 2, ["cup"]),
        ("-5 °C", "en", 5, 1, ["°", "c"]),
        ("1 234 567 km", "fr", 1_234_567, 3, ["km"]),
        ("1 234 km", "en", 1, 1, ["234", "km"]),
    ],
)
def test_a_numeral(text, language, value, last, after):
    found = read_numeral(Line(text, tokens(text)), 0, (), language_of(language))
    assert (found.value, found.last, list(found.after)) == (Decimal(str(value)), last, after)
    assert found.minus == text.startswith("-")


def test_a_letter_that_is_the_unit_asked_for_multiplies_nothing():
    line = Line("300K", tokens("300K"))
    assert read_numeral(line, 0, ("k",), ENGLISH).value == 300
    assert read_numeral(line, 0, (), ENGLISH).value == 300_000


@pytest.mark.parametrize("text", ["2nd", "1.2.3", "9" * 50, "v5"])
def test_what_starts_no_numeral(text):
    assert read_numeral(Line(text, tokens(text)), 0, (), ENGLISH) is None


@pytest.mark.parametrize("text", ["4/3", "3/7/2026", "1/11"])
def test_what_is_no_fraction_is_its_first_number(text):
    found = read_numeral(Line(text, tokens(text)), 0, (), ENGLISH)
    assert (found.value, found.last) == (int(text[0]), 1)
