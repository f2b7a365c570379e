"""Dates in a text, in figures and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from aal_engine.measure.text.date import is_date
from aal_engine.measure.text.language import Language
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.markup import Span

_MONTH_NAMES: Final = (
    "january jan januar jänner janvier janv enero ene",
    "february feb februar février févr febrero",
    "march mar märz mrz mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug août agosto ago",
    "september sep sept septembre septiembre setiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre déc diciembre dic",
)
_MONTHS: Final = {
    name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()
}
_DAY: Final = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|er|º|o)?")
_SHORT: Final = re.compile(r"[0-9]{1,2}")
_ISO_DAY: Final = re.compile(r"([0-9]{1,2})(?:t[0-9]{2})?")
_YEAR: Final = re.compile(r"[12][0-9]{3}")
_DOTTED: Final = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([12][0-9]{3})")
_DOTTED_ISO: Final = re.compile(r"([12][0-9]{3})\.([0-9]{1,2})\.([0-9]{1,2})")
_LINKS: Final = frozenset(("of", "de", "del", "the"))
_JOINTS: Final = frozenset("-/.")


class _Found(NamedTuple):
    """A date in tokens `first` to `last`; month and day are 0 where it does not give them."""

    first: int
    last: int
    year: int
    month: int = 0
    day: int = 0


def find_date(value: str, line: Line, language: Language) -> Iterator[Span]:
    """Yield the ranges of tokens that are a date at least as precise as an ISO one, and agree."""
    wanted = [int(part) for part in value.split("-")]
    for found in _dates(line, language):
        if list(found[2 : 2 + len(wanted)]) == wanted:
            yield found.first, found.last


def _dates(line: Line, language: Language) -> Iterator[_Found]:
    for place, token in enumerate(line.tokens):
        if token in _MONTHS:
            yield from _around_month(line.tokens, place)
        elif not token[0].isdigit():
            continue
        elif _YEAR.fullmatch(token):
            yield _from_year(line, place)
        elif _SHORT.fullmatch(token):
            yield from _from_short(line, place, language)
        elif match := _DOTTED.fullmatch(token):
            one, two, year = map(int, match.groups())
            yield from _ordered(place, place + 1, one, two, year, language)
        elif match := _DOTTED_ISO.fullmatch(token):
            yield _Found(place, place + 1, *map(int, match.groups()))


def _around_month(tokens: Sequence[str], place: int) -> Iterator[_Found]:
    """Read `31 January 2026`, `January 31, 2026`, `31 de enero de 2026`, `January 2026`."""
    month = _MONTHS[tokens[place]]
    first = place - 1
    while first >= 0 and tokens[first] in _LINKS:
        first -= 1
    before = _DAY.fullmatch(tokens[first]) if first >= 0 else None
    after = [at for at in range(place + 1, min(place + 5, len(tokens))) if tokens[at] not in _LINKS]
    for at in after[:1]:
        if _YEAR.fullmatch(tokens[at]):
            start, day = (place, 0) if before is None else (first, int(before[1]))
            yield _Found(start, at + 1, int(tokens[at]), month, day)
    if len(after) > 1:
        day_after = _DAY.fullmatch(tokens[after[0]])
        if day_after and _YEAR.fullmatch(tokens[after[1]]):
            yield _Found(place, after[1] + 1, int(tokens[after[1]]), month, int(day_after[1]))


def _joined(line: Line, place: int, pattern: re.Pattern[str]) -> bool:
    """Return whether the token at a place fits and hangs on the one before it by `-`, `/`, `.`."""
    return (
        place < len(line.tokens)
        and pattern.fullmatch(line.tokens[place]) is not None
        and line.gap(place).rstrip() in _JOINTS
    )


def _from_year(line: Line, place: int) -> _Found:
    """Read `2026-01-31T09:30`, `2026-01-31`, `2026-01`, `2026`."""
    year, last, month, day = int(line.tokens[place]), place + 1, 0, 0
    if _joined(line, last, _SHORT):
        month, last = int(line.tokens[last]), last + 1
        if _joined(line, last, _ISO_DAY):
            day, last = int(line.tokens[last].partition("t")[0]), last + 1
    return _Found(place, last, year, month, day)


def _from_short(line: Line, place: int, language: Language) -> Iterator[_Found]:
    """Read `31/01/2026`, `31. 1. 2026`, `01/2026`."""
    number = int(line.tokens[place])
    if _joined(line, place + 1, _YEAR):
        yield _Found(place, place + 2, int(line.tokens[place + 1]), number)
    elif _joined(line, place + 1, _SHORT) and _joined(line, place + 2, _YEAR):
        second, year = map(int, line.tokens[place + 1 : place + 3])
        yield from _ordered(place, place + 3, number, second, year, language)


def _ordered(
    first: int, last: int, one: int, two: int, year: int, language: Language
) -> Iterator[_Found]:
    """Tell day and month apart; the order that the language does not write serves if it alone fits."""
    pairs = [(two, one), (one, two)]
    if language.month_first:
        pairs.reverse()
    for month, day in pairs:
        if is_date(year, month, day):
            yield _Found(first, last, year, month, day)
            return
