"""A metric's history as a picture: gaps are gaps, the band is where it was, names are escaped."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.service.chart import (
    BOTTOM,
    HEIGHT,
    TOP,
    Mark,
    Point,
    Series,
    described,
    picture,
    standing,
)


def series(*values, band=None, **more):
    points = tuple(Point(f"1.{n}.0", True, value, band) for n, value in enumerate(values))
    return Series("complete", "higher", points, **more)


def drawn(one):
    return ET.fromstring(picture(one))


def classes(element):
    return [each.get("class") for each in element.iter() if each.get("class")]


def test_a_gap_breaks_the_line_and_a_lonely_point_stays():
    element = drawn(series(0.5, 0.6, None, 0.7, None, 0.8, 0.9))
    line = next(each for each in element if each.get("class") == "line")
    assert line.get("d").count("M") == 2
    assert classes(element).count("dot") == 5


def test_the_band_lies_between_the_values_that_it_names():
    element = drawn(series(0.0, 1.0, band=(0.75, 0.5)))
    bands = [each for each in element if each.get("class") == "band"]
    room = HEIGHT - TOP - BOTTOM
    for band in bands:
        assert float(band.get("y")) == pytest.approx(TOP + room * 0.25, abs=0.1)
        assert float(band.get("height")) == pytest.approx(room * 0.25, abs=0.1)


def test_a_blocked_decision_and_a_rollback_are_marked():
    points = (Point("1.0.0", True, 0.9), Point("1.1.0", False, 0.5))
    marks = (Mark(0.5, True, "1.0.0"), Mark(0.5, False, "1.1.0"))
    element = drawn(Series("complete", "higher", points, marks))
    assert {"dot blocked", "rollback", "promoted"} <= set(classes(element))


def test_in_words():
    one = series(0.8, None, 0.9, marks=(Mark(1.5, True, "1.0.0"),))
    says = "from 0.8 to 0.9, now 0.9, 1 decision without a value, 1 rollback"
    assert described(one) == f"complete over 3 decisions: {says}"
    assert described(series(None)) == "complete: no value"


def test_names_are_escaped():
    hostile = '"><script>&'
    points = (Point(hostile, True, 0.5), Point(hostile, False, 0.6))
    one = Series("complete", "higher", points, (Mark(0.5, True, hostile),))
    assert "<script" not in picture(one)
    assert "<script" not in standing([(hostile, one)])
    ET.fromstring(standing([(hostile, one)]))


VALUES = st.none() | st.floats(0, 1)


@given(st.lists(st.tuples(VALUES, st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)))))
def test_whatever_the_values_all_that_is_drawn_lies_within_the_picture(rows):
    points = tuple(Point(str(n), n % 2 == 0, value, band) for n, (value, band) in enumerate(rows))
    element = drawn(Series("complete", "lower", points))
    for each in element.iter("circle"):
        assert TOP - 0.1 <= float(each.get("cy")) <= HEIGHT - BOTTOM + 0.1
    for each in element.iter("rect"):
        assert float(each.get("y")) + float(each.get("height")) <= HEIGHT - BOTTOM + 1.1
    assert not re.search("nan|inf", picture(Series("complete", "lower", points)))
