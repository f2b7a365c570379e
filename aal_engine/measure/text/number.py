"""Numbers that a point asks for: by their value, their unit, and what they are part of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from aal_engine.measure.leaf import Number
from aal_engine.measure.text.language import Language, words
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.markup import Span
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.numeral import DIGITS, MONEY, read_numeral
from aal_engine.measure.text.term import stem
from aal_engine.measure.text.unit import LONGEST, PERCENT, unit_names

_JOINS: Final = words("to bis à a and und et y or oder ou o")
_PARTING: Final = frozenset((":", "/", "⁄"))


def find_number(leaf: Number, line: Line, language: Language) -> Iterator[Span]:
    """Yield the ranges of tokens that are a number within the leaf's bounds and of its unit."""
    wanted, slack = _bounds(leaf.value, leaf.tolerance, leaf.relative)
    unit = _unit(leaf.unit)
    place = 0
    for first in line.numerals:
        if first < place:
            continue
        found = read_numeral(line, first, unit, language)
        if found is None:
            continue
        place, value = found.last, found.value
        if min(abs(value - wanted), abs(-value - wanted)) > slack:
            continue
        before = line.tokens[max(0, first - 2) : first]
        if len(before) == 2 and before[0] in MONEY and DIGITS.fullmatch(before[1]):
            # A range has its currency once: `$19-29`.
            before = before[:1] if line.gap(first) == "-" else before
        if not _has_unit(unit, before, found.after, language):
            continue
        if found.minus or _is_negative(line, first):
            value = -value
        if abs(value - wanted) <= slack and not _is_part(line, first, place):
            yield first, place


@lru_cache(maxsize=4096)
def _unit(unit: str | None) -> tuple[str, ...]:
    return () if unit is None else tuple(tokens(unit))


@lru_cache(maxsize=4096)
def _bounds(value: float, tolerance: float, relative: float) -> tuple[Decimal, Decimal]:
    """Return the value and how far from it a number may be, as they are written."""
    wanted = Decimal(str(value))
    return wanted, Decimal(str(tolerance)) + abs(wanted) * Decimal(str(relative))


def _has_unit(
    unit: Sequence[str], before: Sequence[str], after: Sequence[str], language: Language
) -> bool:
    # A range has its unit once: `5-10 days`, `5 to 10 days`.
    start = 1 if after and after[0] in _JOINS else 0
    if after[start:] and DIGITS.fullmatch(after[start]):
        after = after[start + 1 :]
    known = [unit_names(after[:length]) for length in range(min(LONGEST, len(after)), 0, -1)]
    named = next(filter(None, known), frozenset())
    if not unit:
        return PERCENT not in named
    names = unit_names(unit)
    if names:
        ahead = unit_names(before[-1:]) | unit_names(before[-2:])
        return bool(names & (named | ahead))
    return [stem(word, language) for word in after[: len(unit)]] == [
        stem(word, language) for word in unit
    ]


def _is_negative(line: Line, place: int) -> bool:
    """Return whether a minus stands before the currency sign before a number (`-$5`)."""
    return (
        place > 0
        and line.tokens[place - 1] in MONEY
        and not line.gap(place)
        and line.gap(place - 1).endswith("-")
        and (place == 1 or line.gap(place - 1) != "-")
    )


def _is_part(line: Line, first: int, last: int) -> bool:
    """Return whether a number is part of a date, a time, a ratio or a fraction."""
    tokens = line.tokens
    joints = []
    if first and tokens[first - 1][-1].isdigit():
        joints.append(line.gap(first))
    if last < len(tokens) and tokens[last][0].isdigit():
        joints.append(line.gap(last))
    if not _PARTING.isdisjoint(joints) or joints == ["-", "-"]:
        return True
    return "-" in joints and (_is_dated(line, first - 2) or _is_dated(line, first))


def _is_dated(line: Line, first: int) -> bool:
    """Return whether three numbers from a place on are joined by hyphens."""
    row = line.tokens[first : first + 3] if first >= 0 else ()
    return (
        len(row) == 3
        and all(map(str.isdecimal, row))
        and line.gap(first + 1) == line.gap(first + 2) == "-"
    )
