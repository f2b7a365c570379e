"""Numbers in a text: their value as the language writes it, their unit, and what they are part of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from aal_engine.measure.leaf import Number
from aal_engine.measure.text.language import Language, words
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.markup import Span
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.term import stem
from aal_engine.measure.text.unit import LONGEST, MONEY_SCALES, PERCENT, SCALES, unit_names

LONGEST_NUMERAL: Final = 40
"""A longer row of digits is no number that anybody meant."""

_NUMERAL: Final = re.compile(r"(-?)([0-9][0-9.,]*)([^\W\d_]*)")
_STARTS: Final = frozenset("-0123456789")
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*")
_MONEY: Final = frozenset("$€£¥₹")
_JOINS: Final = words("to bis à a and und et y or oder ou o")
_ORDINAL: Final = words("st nd rd th er ère")
_GROUP: Final = re.compile(r"[0-9]{3}(?:[.,][0-9]+)?")
_PARTING: Final = frozenset((":", "/", "⁄"))
_FIXED_SPACES: Final = frozenset("\u00a0\u2009\u202f")


def read_number(digits: str, language: Language) -> Decimal | None:
    """Return the value of digits with separators, or None where they are no number (`3.14.15`).

    Where a single separator has three digits behind it, the language tells what it is.

    >>> from aal_engine.measure.text.language import ENGLISH, GERMAN
    >>> read_number("1,234.50", ENGLISH), read_number("1.234", GERMAN), read_number("8.540", ENGLISH)
    (Decimal('1234.50'), Decimal('1234'), Decimal('8.540'))
    """
    marks = [char for char in digits if char in ".,"]
    decimal = ""
    if len(set(marks)) == 2:
        decimal = marks[-1]
    elif len(marks) == 1 and (not _GROUPED.fullmatch(digits) or marks[0] == language.decimal_mark):
        decimal = marks[0]
    whole, _, fraction = digits.rpartition(decimal) if decimal else (digits, "", "")
    if not whole.isdigit() and not _GROUPED.fullmatch(whole):
        return None
    if fraction and not fraction.isdigit():
        return None
    return Decimal(".".join(filter(None, (whole.replace(".", "").replace(",", ""), fraction))))


def find_number(leaf: Number, line: Line, language: Language) -> Iterator[Span]:
    """Yield the ranges of tokens that are a number within the leaf's bounds and of its unit."""
    wanted, slack = _bounds(leaf.value, leaf.tolerance, leaf.relative)
    place = 0
    while place < len(line.tokens):
        first, place = place, place + 1
        if line.tokens[first][0] not in _STARTS:
            continue
        place = _numeral_end(line, first, language)
        digits = "".join(line.tokens[first:place])
        match = _NUMERAL.fullmatch(digits) if len(digits) <= LONGEST_NUMERAL else None
        value = None if match is None else read_number(match[2].rstrip(".,"), language)
        if match is None or value is None or match[3] in _ORDINAL:
            continue
        before = line.tokens[max(0, first - 2) : first]
        after = ([match[3]] if match[3] else []) + list(line.tokens[place : place + 6])
        scale, words = _scale(after, before[-1:], language, glued=bool(match[3]))
        value *= 10**scale
        if min(abs(value - wanted), abs(-value - wanted)) > slack:
            continue
        if len(before) == 2 and before[0] in _MONEY and _NUMERAL.fullmatch(before[1]):
            # A range has its currency once: `$19-29`.
            before = before[:1] if line.gap(first) == "-" else before
        if not _has_unit(leaf.unit, before, after[words:], language):
            continue
        if match[1] or _is_negative(line, first):
            value = -value
        if abs(value - wanted) <= slack and not _is_part(line, first, place):
            yield first, place


@lru_cache(maxsize=4096)
def _bounds(value: float, tolerance: float, relative: float) -> tuple[Decimal, Decimal]:
    """Return the value and how far from it a number may be, as they are written."""
    wanted = Decimal(str(value))
    return wanted, Decimal(str(tolerance)) + abs(wanted) * Decimal(str(relative))


def _numeral_end(line: Line, place: int, language: Language) -> int:
    """Return where the number at a place ends: spaces may part its groups (`1 234 567,50`)."""
    end = place + 1
    head = line.tokens[place].lstrip("-")
    if not (head.isdecimal() and len(head) <= 3):
        return end
    while end < len(line.tokens) and _GROUP.fullmatch(line.tokens[end]):
        gap = line.text[line.spans[end - 1][1] : line.spans[end][0]]
        if gap not in _FIXED_SPACES and not (gap == " " and language.decimal_mark == ","):
            break
        end += 1
    return end


def _scale(
    after: Sequence[str], before: Sequence[str], language: Language, *, glued: bool
) -> tuple[int, int]:
    """Return the power of ten that words after a number multiply it by, and how many words do."""
    table = SCALES.get(language.code, SCALES["en"])
    if glued and before and before[0] in _MONEY and after[0] in MONEY_SCALES:
        return MONEY_SCALES[after[0]], 1
    power = words = 0
    for word in after[:2]:
        if word not in table or (word == "k" and not glued):
            break
        power += table[word]
        words += 1
    return power, words


def _has_unit(
    unit: str | None, before: Sequence[str], after: Sequence[str], language: Language
) -> bool:
    # A range has its unit once: `5-10 days`, `5 to 10 days`.
    start = 1 if after and after[0] in _JOINS else 0
    if after[start:] and _NUMERAL.fullmatch(after[start]):
        after = after[start + 1 :]
    known = [unit_names(after[:length]) for length in range(min(LONGEST, len(after)), 0, -1)]
    named = next(filter(None, known), frozenset())
    if unit is None:
        return PERCENT not in named
    wanted = tokens(unit)
    names = unit_names(wanted)
    if names:
        ahead = unit_names(before[-1:]) | unit_names(before[-2:])
        return bool(names & (named | ahead))
    return [stem(word, language) for word in after[: len(wanted)]] == [
        stem(word, language) for word in wanted
    ]


def _is_negative(line: Line, place: int) -> bool:
    """Return whether a minus stands before the currency sign before a number (`-$5`)."""
    return (
        place > 0
        and line.tokens[place - 1] in _MONEY
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
