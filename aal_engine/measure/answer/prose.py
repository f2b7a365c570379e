"""An answer made ready for the measures: cut into units, markers and links out of its text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Final

from aal_engine.measure.answer.citation import Marker, listed, markers, ordinals
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.text.denial import denying
from aal_engine.measure.text.language import Language
from aal_engine.measure.text.line import Line
from aal_engine.measure.text.markup import Span, blanked, read_markup
from aal_engine.measure.text.normal import tidy, token_lines
from aal_engine.measure.text.quotation import quotations
from aal_engine.measure.text.sentence import Unit, last_sign, units
from aal_engine.measure.text.shown import reread, shown

ASKING: Final = frozenset("?？؟")
LEADING_IN: Final = frozenset(":：")
_REREAD: Final = ("-\n", "-\r\n", "\u200b", "\u2060", "\ufeff", "\u2010\n", "\u2010\r\n")
"""What makes a text one that can be read in another way; the first two alone are ASCII."""

_DIGIT: Final = re.compile(r"\d|[^\x00-\x7f]")
"""What a number or date has one of: a digit, or a character that stands for one (`½`)."""


def _page(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([f" {' '.join(row)} " for row in rows])


class Prose:
    """One answer's markers and units, and of each unit its tokens and what else is asked for.

    `plain` is the text as it shows, with markers and links blanked. Code stays in it: a command may be what must
    be mentioned. `mask` has code and links filled with letters instead. Both are as long as the
    text, so that a place in one is a place in all. `cites`: markers stand in it, lists of sources
    without brackets aside.
    """

    def __init__(self, text: str, sources: Sources, language: Language) -> None:
        markup = read_markup(text)
        self.text = text
        self.language = language
        self.sources = sources
        self.code = markup.code
        self.links = markup.links
        self.markers: list[Marker] = markers(text, sources, markup)
        spans = [(marker.start, marker.end) for marker in self.markers]
        bare = blanked(text, spans)
        self.plain = shown(blanked(bare, markup.links), markup.code)
        self.mask = blanked(blanked(bare, markup.code, "x"), markup.links, "x")
        marked = {start for start, _ in spans}
        self.units: list[Unit] = units(text, self.mask, markup.fenced, marked, language)
        self.cites = bool(self.markers)
        starts = sorted(marked)
        bare_entries = [
            (unit.start, unit.end)
            for unit in self.units
            if unit.kind == "sources"
            and bisect_left(starts, unit.start) == bisect_left(starts, unit.end)
        ]
        if bare_entries:
            numbered = list(ordinals(text, [start for start, _ in bare_entries], sources))
            self.markers += numbered
            self.markers += listed(text, bare_entries, sources)
            self.markers.sort()
        self.tokens = token_lines([self.plain[unit.start : unit.end] for unit in self.units])

    def may_deny(self, place: int) -> bool:
        """Return whether a unit has a word of which a denial has one."""
        may = self._may_deny.get(place)
        if may is None:
            may = not denying(self.language).isdisjoint(self.tokens[place])
            self._may_deny[place] = may
        return may

    @cached_property
    def _may_deny(self) -> dict[int, bool]:
        return {}

    @cached_property
    def page(self) -> str:
        """The tokens of every unit, a line each, every token between spaces."""
        return _page(self.tokens)

    @cached_property
    def rereadings(self) -> list[tuple[int, Line]]:
        """The units that can be read in another way too, each with that reading."""
        signs = _REREAD[:2] if self.plain.isascii() else _REREAD
        if not any(map(self.plain.__contains__, signs)):
            return []
        found = [
            (place, text)
            for place, unit in enumerate(self.units)
            for text in reread(self.plain[unit.start : unit.end])
        ]
        rows = token_lines([text for _, text in found])
        return [(place, Line(text, row)) for (place, text), row in zip(found, rows, strict=True)]

    @cached_property
    def reread_page(self) -> str:
        """The tokens of every rereading, as `page` has those of every unit."""
        return _page(line.tokens for _, line in self.rereadings)

    @cached_property
    def tidy(self) -> list[str]:
        """The tidy text of each unit; halves of surrogate pairs, which RE2 cannot read, as `?`."""
        return [
            tidy(self.plain[unit.start : unit.end]).encode(errors="replace").decode()
            for unit in self.units
        ]

    @cached_property
    def quotations(self) -> list[Span]:
        """Where quotations stand in the text."""
        return quotations(shown(self.mask, ()))

    @cached_property
    def _lines(self) -> dict[int, Line]:
        return {}

    def line(self, place: int) -> Line:
        """Return a unit's tokens with what stands between them."""
        line = self._lines.get(place)
        if line is None:
            unit = self.units[place]
            first = bisect_right(self.code, unit.start, key=itemgetter(1))
            last = bisect_left(self.code, unit.end, key=itemgetter(0))
            line = Line(
                self.plain[unit.start : unit.end],
                self.tokens[place],
                [(start - unit.start, end - unit.start) for start, end in self.code[first:last]],
            )
            self._lines[place] = line
        return line

    @cached_property
    def numbered(self) -> list[int]:
        """The units that may hold a number or a date."""
        found = []
        digit = _DIGIT.search(self.plain)
        for place, unit in enumerate(self.units):
            if digit is not None and digit.start() < unit.start:
                digit = _DIGIT.search(self.plain, unit.start)
            if digit is None:
                break
            if digit.start() < unit.end:
                found.append(place)
        return found

    def sign(self, place: int) -> str:
        """Return what a unit ends with: `ASKING` makes a question of it, `LEADING_IN` a lead-in."""
        return last_sign(self.mask, self.units[place])

    def asks(self, place: int) -> bool:
        """Return whether a unit is a question."""
        return self.sign(place) in ASKING
