"""One number in a text: where it ends, what it is worth, and the tokens that may be its unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from aal_engine.measure.text.language import Language, words
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.unit import (
    CURRENCIES,
    GLUED_SCALES,
    LONGEST,
    MONEY_SCALES,
    SCALES,
    unit_names,
)

LONGEST_NUMERAL: Final = 40
"""A longer row of digits is no number that anybody meant."""

DIGITS: Final = re.compile(r"(-?)([0-9][0-9.,']*)([^\W\d_]*)")
MONEY: Final = frozenset("$€£¥₹")

_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*")
_ORDINAL: Final = words("st nd rd th er ère")
_GROUP: Final = re.compile(r"[0-9]{3}(?:[.,][0-9]+)?")
_FIXED_SPACES: Final = frozenset("\u00a0\u2009\u202f")
_SLASHES: Final = frozenset("/⁄")
_WHOLE_AND_PART: Final = frozenset(("", " ", "-"))
_SCALING: Final = frozenset(letter.casefold() for letter in GLUED_SCALES)
_DENOMINATORS: Final = words("2 3 4 5 6 7 8 9 10 12 16 32 64")


class Numeral(NamedTuple):
    """A number in the tokens up to `last`: its value without sign, and whether a minus is part of it.

    `after` are the tokens behind it and behind the words that multiply it (`million`).
    """

    last: int
    value: Decimal
    minus: bool
    after: Sequence[str]


def read_number(digits: str, language: Language) -> Decimal | None:
    """Return the value of digits with separators, or None where they are no number (`3.14.15`).

    Where a single separator has three digits behind it, the language tells what it is.

    >>> from aal_engine.measure.text.language import ENGLISH, GERMAN
    >>> read_number("1,234.50", ENGLISH), read_number("1.234", GERMAN), read_number("8.540", ENGLISH)
    (Decimal('1234.50'), Decimal('1234'), Decimal('8.540'))
    """
    digits = digits.replace("'", "")
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


def read_numeral(line: Line, first: int, unit: Sequence[str], language: Language) -> Numeral | None:
    """Return the number that starts at a token, or None where none does.

    A letter that hangs on it and that is the `unit` asked for does not multiply it.
    """
    part = _fraction(line, first)
    if part is not None:
        return Numeral(first + 2, part, False, line.tokens[first + 2 : first + 2 + LONGEST * 2])
    last = _end(line, first, language)
    digits = "".join(line.tokens[first:last])
    if len(digits) > LONGEST_NUMERAL:
        return None
    minus, value, glued = _parsed(digits, language)
    if value is None:
        return None
    if not glued and value == value.to_integral_value():
        part = _fraction(line, last)
        if part is not None and line.gap(last) in _WHOLE_AND_PART:
            value, last = value + part, last + 2
    after = ([glued] if glued else []) + list(line.tokens[last : last + LONGEST * 2])
    if not after or (len(unit) == 1 and unit[0] == glued):
        return Numeral(last, value, minus, after)
    scale, scaling = _scale(line, first, last, after, glued, language)
    return Numeral(last, value * 10**scale if scale else value, minus, after[scaling:])


@lru_cache(maxsize=8192)
def _parsed(digits: str, language: Language) -> tuple[bool, Decimal | None, str]:
    """Return whether a minus stands before a number, its value, and the letters that hang on it."""
    match = DIGITS.fullmatch(digits)
    if match is None or match[3] in _ORDINAL:
        return False, None, ""
    return bool(match[1]), read_number(match[2].rstrip(".,'"), language), match[3]


def _end(line: Line, place: int, language: Language) -> int:
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


def _fraction(line: Line, first: int) -> Decimal | None:
    """Return the value of a common fraction (`½`, `1/2`) at a place; a date or ratio is none."""
    tokens = line.tokens
    if first + 1 >= len(tokens) or tokens[first + 1] not in _DENOMINATORS:
        return None
    above, below = tokens[first], tokens[first + 1]
    if not (above.isdecimal() and len(above) < 3 and 0 < int(above) < int(below)):
        return None
    if line.spans[first] != line.spans[first + 1]:
        joints = [line.gap(place) for place in (first, first + 1, first + 2)]
        if joints[1] not in _SLASHES or joints[0] in _SLASHES or joints[2] in _SLASHES:
            return None
    return Decimal(above) / Decimal(below)


def _scale(
    line: Line, first: int, last: int, after: Sequence[str], glued: str, language: Language
) -> tuple[int, int]:
    """Return the power of ten that words after a number multiply it by, and how many words do."""
    if glued in _SCALING:
        letter = line.text[line.spans[last - 1][1] - 1]
        if letter in GLUED_SCALES:
            return GLUED_SCALES[letter], 1
    if after[0] in MONEY_SCALES and (
        _is_money(line.tokens[first - 1 : first]) or _is_money(after[1:2])
    ):
        return MONEY_SCALES[after[0]], 1
    table = SCALES.get(language.code, SCALES["en"])
    power = scaling = 0
    for word in after[:2]:
        if word not in table:
            break
        power += table[word]
        scaling += 1
    return power, scaling


def _is_money(row: Sequence[str]) -> bool:
    return not CURRENCIES.isdisjoint(unit_names(row))
