"""Code and links in an answer: what is not prose, and where it stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

Span: TypeAlias = tuple[int, int]
"""A half-open range of characters."""

_FENCE: Final = re.compile(r"^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_BACKTICKS: Final = re.compile(r"`+")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*(?=\n)")
_LINK: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>\"`\[\]{}|\\^“”‘’«»【】。、，；！？]+", re.IGNORECASE
)
_NOT_LINK: Final = frozenset(".,;:!?'*_)")


class Markup(NamedTuple):
    """Where code and bare addresses stand in a text, each list in order.

    `code` holds fenced blocks and inline code, `fenced` the blocks alone; fences and backticks are
    part of them. Of `links` the punctuation that follows them is no part.
    """

    code: list[Span]
    fenced: list[Span]
    links: list[Span]


def read_markup(text: str) -> Markup:
    """Return where code and bare addresses stand.

    Code as CommonMark reads it (0.31, sections 4.5 and 6.1): an open fence runs to the end of the
    text, an inline span ends at as many backticks as it began with and within its paragraph.

    >>> read_markup("Call `f(x)[0]`, see https://example.org/f.").code
    [(5, 14)]
    """
    fenced: list[Span] = []
    code: list[Span] = []
    if "`" in text or "~~~" in text:
        fenced = _fenced(text)
        code = list(fenced)
        edges = [0, *(edge for span in fenced for edge in span), len(text)]
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            code += _inline(text, start, end)
        code.sort()
    return Markup(code, fenced, _links(text))


def _fenced(text: str) -> list[Span]:
    spans: list[Span] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        mark, rest = line[1], line[2]
        if opened is None:
            if mark[0] == "~" or "`" not in rest:
                opened = line
        elif mark.startswith(opened[1]) and not rest.strip():
            spans.append((opened.start(), line.end()))
            opened = None
    if opened is not None:
        spans.append((opened.start(), len(text)))
    return spans


def _inline(text: str, start: int, end: int) -> list[Span]:
    runs = [run.span() for run in _BACKTICKS.finditer(text, start, end)]
    blanks = [blank.start() for blank in _BLANK_LINE.finditer(text, start, end)] if runs else []
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, (left, right) in enumerate(runs):
        places[right - left].append(place)
    spans: list[Span] = []
    place = 0
    while place < len(runs):
        left, right = runs[place]
        equal = places[right - left]
        at = bisect_right(equal, place)
        escaped = left > start and text[left - 1] == "\\"
        if not escaped and at < len(equal):
            close = runs[equal[at]]
            blank = bisect_left(blanks, right)
            if blank == len(blanks) or blanks[blank] >= close[0]:
                spans.append((left, close[1]))
                place = equal[at]
        place += 1
    return spans


def _links(text: str) -> list[Span]:
    if "://" not in text and "www." not in text:
        return []
    spans = []
    for match in _LINK.finditer(text):
        link = match[0]
        closing = link.count(")") - link.count("(")
        end = len(link)
        while link[end - 1] in _NOT_LINK and (link[end - 1] != ")" or closing > 0):
            closing -= link[end - 1] == ")"
            end -= 1
        spans.append((match.start(), match.start() + end))
    return spans


def within(spans: Sequence[Span], place: int) -> bool:
    """Return whether a character stands in one of the spans, which are in order."""
    at = bisect_right(spans, place, key=itemgetter(0)) - 1
    return at >= 0 and place < spans[at][1]


def blanked(text: str, spans: Iterable[Span], fill: str = " ") -> str:
    """Return the text with the spans, which are in order, overwritten; its length stays.

    >>> blanked("as said [1].", [(8, 11)])
    'as said    .'
    """
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            pieces += (text[done:start], fill * (end - start))
            done = end
    return "".join((*pieces, text[done:])) if pieces else text
