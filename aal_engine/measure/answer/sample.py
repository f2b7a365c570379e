"""Sentences made of a point's own words: the shortest answers that meet it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from aal_engine.measure.leaf import Date, Leaf, Number, Phrase
from aal_engine.measure.point import AllOf, AnyOf, AtLeast, Point
from aal_engine.measure.text.language import Language

MAX_SAMPLES = 256
"""How many answers are made of one point at most; beyond that, one of each leaf's writings."""


def samples(point: Point, language: Language) -> list[str]:
    """Return answers that meet a point, each in a way of its own; none where it holds a pattern.

    >>> from aal_engine.measure.point import parse_point
    >>> from aal_engine.measure.text.language import ENGLISH
    >>> samples(parse_point({"all_of": ["refund", {"number": 30, "unit": "days"}]}), ENGLISH)
    ['refund. 30 days.']
    """
    return _samples(point, language, most=MAX_SAMPLES)


def _samples(point: Point, language: Language, *, most: int) -> list[str]:
    if isinstance(point, AnyOf):
        return [each for part in point.of for each in _samples(part, language, most=most)][:most]
    if isinstance(point, AllOf | AtLeast):
        rows = [_samples(part, language, most=most) for part in point.of]
        if isinstance(point, AtLeast):
            rows = sorted(rows, key=len, reverse=True)[: point.least]
        return _joined(rows, most)
    return _written(point, language)


def _joined(rows: Sequence[Sequence[str]], most: int) -> list[str]:
    if prod(map(len, rows)) > most:
        rows = [row[:1] for row in rows]
    return [" ".join(row) for row in product(*rows)]


def _written(leaf: Leaf, language: Language) -> list[str]:
    if isinstance(leaf, Phrase):
        return [f"{form}." for form in leaf.forms]
    if isinstance(leaf, Number):
        figure = str(leaf.value).replace(".", language.decimal_mark)
        return [f"{figure} {leaf.unit}." if leaf.unit else f"{figure}."]
    return [f"{leaf.value}."] if isinstance(leaf, Date) else []
