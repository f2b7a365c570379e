"""Where an answer mentions a leaf of a point, and how: asserted, negated, quoted or asked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from aal_engine.measure.answer.prose import Prose
from aal_engine.measure.answer.source import address
from aal_engine.measure.leaf import Date, Leaf, Number, Pattern, Phrase
from aal_engine.measure.point import AllOf, AnyOf, AtLeast, Point
from aal_engine.measure.text.calendar import find_date
from aal_engine.measure.text.denial import is_denied
from aal_engine.measure.text.markup import Span, within
from aal_engine.measure.text.normal import token_spans, tokens
from aal_engine.measure.text.number import find_number
from aal_engine.measure.text.pattern import compiled

State: TypeAlias = Literal["asserted", "negated", "quoted", "asked"]


class Hit(NamedTuple):
    """One mention: the tokens from `first` to before `last` of a unit, or a link in it."""

    unit: int
    first: int
    last: int
    negated: bool
    link: Span | None = None


_Place: TypeAlias = tuple[int, int, int]
"""A unit, and a range of its tokens."""


def hits(leaf: Leaf, prose: Prose) -> list[Hit]:
    """Return every mention of a leaf in an answer, in order."""
    return sorted(mentions(leaf, prose), key=itemgetter(0, 1, 2))


def mentions(leaf: Leaf, prose: Prose) -> Iterator[Hit]:
    """Yield every mention of a leaf in an answer, in no order, each as soon as it is found."""
    for unit, first, last in _places(leaf, prose):
        denied = prose.may_deny(unit) and is_denied(prose.line(unit), first, last, prose.language)
        yield Hit(unit, first, last, denied)
    if isinstance(leaf, Phrase) and prose.links:
        yield from _linked(leaf, prose)


def _places(leaf: Leaf, prose: Prose) -> Iterable[_Place]:
    if isinstance(leaf, Phrase):
        return _phrases(leaf, prose)
    if isinstance(leaf, Pattern):
        return _patterns(leaf, prose)
    return _amounts(leaf, prose)


@lru_cache(maxsize=65_536)
def _needles(forms: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Return each form as it stands on a page, and how many tokens it has; links aside."""
    rows = [tokens(form) for form in forms if "://" not in form]
    return tuple((f" {' '.join(row)} ", len(row)) for row in rows)


def _phrases(leaf: Phrase, prose: Prose) -> Iterator[_Place]:
    needles = _needles(leaf.forms)
    seen = set()
    for needle, length in needles:
        for unit, first in _seek(prose.page, needle):
            seen.add((unit, first, first + length))
            yield unit, first, first + length
    for needle, length in needles if prose.rereadings else ():
        for at, first in _seek(prose.reread_page, needle):
            place = _reread_place(prose, at, first, first + length)
            if place not in seen:
                seen.add(place)
                yield place


def _seek(page: str, needle: str) -> Iterator[tuple[int, int]]:
    """Yield the line and the token where each occurrence of a row of tokens starts on a page."""
    line = first = seen = 0
    place = page.find(needle)
    while place >= 0:
        ends = page.count("\n", seen, place)
        if ends:
            line += ends
            first = 0
            seen = page.rfind("\n", seen, place) + 1
        first += page.count(" ", seen, place)
        seen = place
        yield line, first
        place = page.find(needle, place + 1)


def _reread_place(prose: Prose, at: int, first: int, last: int) -> _Place:
    """Return the tokens of a unit that cover those of a rereading of it."""
    unit, reading = prose.rereadings[at]
    start, end = reading.spans[first][0], reading.spans[last - 1][1]
    spans = prose.line(unit).spans
    return (
        unit,
        bisect_right(spans, start, key=itemgetter(1)),
        bisect_left(spans, end, key=itemgetter(0)),
    )


def _linked(leaf: Phrase, prose: Prose) -> Iterator[Hit]:
    """Find the forms that are addresses, each as a whole."""
    wanted = {address(form) for form in leaf.forms if "://" in form}
    for start, end in prose.links:
        if wanted and address(prose.text[start:end]) in wanted:
            unit = next(at for at, unit in enumerate(prose.units) if start < unit.end)
            yield Hit(unit, 0, 0, negated=False, link=(start, end))


def _patterns(leaf: Pattern, prose: Prose) -> Iterator[_Place]:
    expression = compiled(leaf.regex)
    for unit, text in enumerate(prose.tidy):
        spans: list[Span] | None = None
        for match in expression.finditer(text):
            if match.start() == match.end():
                continue
            spans = token_spans(text) if spans is None else spans
            first = bisect_right(spans, match.start(), key=itemgetter(1))
            last = bisect_left(spans, match.end(), key=itemgetter(0))
            # What lies between two tokens is told by the one after it, or the last of the unit.
            first = min(first, len(spans) - 1)
            yield (unit, first, max(last, first + 1)) if spans else (unit, 0, 0)


def _amounts(leaf: Number | Date, prose: Prose) -> Iterator[_Place]:
    for unit in prose.numbered:
        line = prose.line(unit)
        found = (
            find_number(leaf, line, prose.language)
            if isinstance(leaf, Number)
            else find_date(leaf.value, line, prose.language)
        )
        for first, last in found:
            yield unit, first, last


def state(hit: Hit, prose: Prose) -> State:
    """Return how a hit is made; where several are true, the first of negated, quoted, asked."""
    if hit.negated:
        return "negated"
    if is_quoted(hit, prose):
        return "quoted"
    return "asked" if prose.asks(hit.unit) else "asserted"


def is_quoted(hit: Hit, prose: Prose) -> bool:
    """Return whether a hit stands within one quotation, or in a block quotation."""
    if prose.units[hit.unit].quoted:
        return True
    start, end = span(hit, prose)
    return within(prose.quotations, start) and within(prose.quotations, end - 1)


def span(hit: Hit, prose: Prose) -> Span:
    """Return where in the answer a hit stands."""
    if hit.link is not None:
        return hit.link
    start = prose.units[hit.unit].start
    spans = prose.line(hit.unit).spans[hit.first : hit.last]
    if not spans:
        return start, prose.units[hit.unit].end
    return start + spans[0][0], start + spans[-1][1]


def holds(point: Point, counts: Callable[[Leaf], bool]) -> bool:
    """Return whether a tree is true where its leaves are what `counts` says."""
    if isinstance(point, AllOf):
        return all(holds(part, counts) for part in point.of)
    if isinstance(point, AnyOf):
        return any(holds(part, counts) for part in point.of)
    if isinstance(point, AtLeast):
        return sum(holds(part, counts) for part in point.of) >= point.least
    return counts(point)


def leaves(point: Point) -> Iterator[Leaf]:
    """Yield the leaves of a tree, from left to right."""
    if isinstance(point, AllOf | AnyOf | AtLeast):
        for part in point.of:
            yield from leaves(part)
    else:
        yield point
