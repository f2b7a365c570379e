"""Numbers in a text, by value, unit and what they are part of."""

from __future__ import annotations

import pytest

from aal_engine.measure.point import parse_point
from aal_engine.measure.text.language import language_of
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.number import find_number


def found(text, point, language="en"):
    line = Line(text, tokens(text))
    return [
        text[line.spans[first][0] : line.spans[last - 1][1]]
        for first, last in find_number(parse_point(point), line, language_of(language))
    ]


@pytest.mark.parametrize(
    ("text", "point", "language", "shown"),
    [
        ("the total cost is $29.00.", {"number": 29, "unit": "USD"}, "en", "29.00"),
        ("costs 29 dollars", {"number": 29, "unit": "USD"}, "en", "29"),
        ("costs 29 US dollars", {"number": 29, "unit": "$"}, "en", "29"),
        ("USD 29", {"number": 29, "unit": "$"}, "en", "29"),
        ("US$29", {"number": 29, "unit": "USD"}, "en", "29"),
        ("20% of it", {"number": 20, "unit": "%"}, "en", "20"),
        ("20 percent", {"number": 20, "unit": "%"}, "en", "20"),
        ("20 Prozent", {"number": 20, "unit": "%"}, "de", "20"),
        ("20 pour cent", {"number": 20, "unit": "%"}, "fr", "20"),
        ("costs $29", {"number": 29}, "en", "29"),
        ("$1.5 million", {"number": 1_500_000, "unit": "USD"}, "en", "1.5"),
        ("$1.5m", {"number": 1_500_000, "unit": "USD"}, "en", "1.5m"),
        ("3 Milliarden Euro", {"number": 3e9, "unit": "EUR"}, "de", "3"),
        ("3 mil millones de dólares", {"number": 3e9}, "es", "3"),
        ("1,234.50 EUR", {"number": 1234.5, "unit": "EUR"}, "en", "1,234.50"),
        ("1.234,50 €", {"number": 1234.5, "unit": "EUR"}, "de", "1.234,50"),
        ("1 234,50 €", {"number": 1234.5, "unit": "EUR"}, "fr", "1 234,50"),
        ("1\u202f234\u202f567 €", {"number": 1234567}, "en", "1\u202f234\u202f567"),
        ("30-day window", {"number": 30, "unit": "days"}, "en", "30"),
        ("5-10 days", {"number": 5, "unit": "days"}, "en", "5"),
        ("5–10 days", {"number": 10, "unit": "days"}, "en", "10"),
        ("5 to 10 days", {"number": 5, "unit": "days"}, "en", "5"),
        ("30 Tage", {"number": 30, "unit": "days"}, "de", "30"),
        ("it is −5", {"number": -5}, "en", "−5"),
        ("it is -$5", {"number": -5, "unit": "USD"}, "en", "5"),
        ("5GB of space", {"number": 5, "unit": "GB"}, "en", "5GB"),
        ("5 seats", {"number": 5, "unit": "seat"}, "en", "5"),
        ("it weighs 5 pounds", {"number": 5, "unit": "lb"}, "en", "5"),
        ("it costs 5 pounds", {"number": 5, "unit": "GBP"}, "en", "5"),
        ("½ cup", {"number": 0.5, "unit": "cup"}, "en", "½"),
        ("2½ cups", {"number": 2.5, "unit": "cup"}, "en", "2½"),
        ("1/2 cup", {"number": 0.5, "unit": "cup"}, "en", "1/2"),
        ("3 1/2 days", {"number": 3.5, "unit": "days"}, "en", "3 1/2"),
        ("3-1/2 days", {"number": 3.5, "unit": "days"}, "en", "3-1/2"),
        ("⅓ of it", {"number": 0.333, "tolerance": 0.001}, "en", "⅓"),
        ("1’000’000 Franken", {"number": 1e6, "unit": "CHF"}, "de-CH", "1’000’000"),
        ("1'000'000", {"number": 1e6}, "en", "1'000'000"),
        ("CHF 1’234.50", {"number": 1234.5, "unit": "CHF"}, "de-CH", "1’234.50"),
        ("$29k", {"number": 29_000, "unit": "USD"}, "en", "29k"),
        ("29k users", {"number": 29_000, "unit": "user"}, "en", "29k"),
        ("29K", {"number": 29_000}, "de", "29K"),
        ("29k€", {"number": 29_000, "unit": "EUR"}, "fr", "29k"),
        ("1.5M users", {"number": 1_500_000}, "en", "1.5M"),
        ("$1.5 m", {"number": 1_500_000, "unit": "USD"}, "en", "1.5"),
        ("1,5 M€", {"number": 1_500_000, "unit": "EUR"}, "fr", "1,5"),
        ("5m USD", {"number": 5_000_000, "unit": "USD"}, "en", "5m"),
        ("1.5B parameters", {"number": 1.5e9}, "en", "1.5B"),
        ("1.5 mln", {"number": 1_500_000}, "en", "1.5"),
        ("₹ 5 lakh", {"number": 500_000, "unit": "INR"}, "en", "5"),
        ("5 m long", {"number": 5, "unit": "m"}, "en", "5"),
        ("5m long", {"number": 5, "unit": "m"}, "en", "5m"),
        ("8.540", {"number": 8.54}, "en", "8.540"),
        ("8.540", {"number": 8540}, "de", "8.540"),
        ("8.540", {"number": 8.54}, "de-CH", "8.540"),
        ("about 28.5", {"number": 29, "tolerance": 0.5}, "en", "28.5"),
        ("about 101", {"number": 100, "relative": 0.01}, "en", "101"),
        ("about -99", {"number": -100, "relative": 0.01}, "en", "-99"),
    ],
)
def test_numbers_that_are_found(text, point, language, shown):
    assert found(text, point, language) == [shown]


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("The answer is 25", {"number": 5}),
        ("The answer is -5", {"number": 5}),
        ("-$5", {"number": 5}),
        ("33.14", {"number": 3.14}),
        ("3.14.15", {"number": 3.14}),
        ("20% of it", {"number": 20}),
        ("2 percentage points", {"number": 2, "unit": "%"}),
        ("€29", {"number": 29, "unit": "USD"}),
        ("5 users", {"number": 5, "unit": "seat"}),
        ("30 minutes", {"number": 30, "unit": "days"}),
        ("30 and more days", {"number": 30, "unit": "days"}),
        ("on 2026-01-31", {"number": 31}),
        ("on 2026-01-31", {"number": 1}),
        ("on 1/2/2026", {"number": 2}),
        ("at 12:30", {"number": 30}),
        ("v5 and B5", {"number": 5}),
        ("the 2nd", {"number": 2}),
        ("about 28.4", {"number": 29, "tolerance": 0.5}),
        ("about 102", {"number": 100, "relative": 0.01}),
        ("9" * 5000, {"number": 9}),
        ("5k runs", {"number": 5}),
        ("5M runs", {"number": 5}),
        ("2½ cups", {"number": 2}),
        ("2½ cups", {"number": 0.5}),
        ("1/2 cup", {"number": 1}),
        ("1/2/2026", {"number": 0.5}),
        ("24/7", {"number": 24}),
        ("9/11", {"number": 9}),
        ("1’000", {"number": 1}),
        ("1’000", {"number": 0}),
        ("5’1000", {"number": 51000}),
    ],
)
def test_numbers_that_are_not_found(text, point):
    assert found(text, point) == []
