"""Citation markers in an answer: where they stand, what they name, what they invent.

Read are `[1]`, `[1][2]`, `[1,2]`, `[1-3]`, `[[1]]`, `[^1]`, `[Source 1]`, `[1, p. 5]`, `[kb-12]`,
`(kb-12)`, `【4:0†name】`, `【1】`, superscripts after a stop, and links to known addresses. Code
holds none. Nor is a year after an author's name one, an interval, or an index into an array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from aal_engine.measure.markup import Markup, Span, within
from aal_engine.measure.reference import PARTED, Reading, read, read_ids, read_malformed
from aal_engine.measure.source import Places, Sources


class Marker(NamedTuple):
    """One marker: `text[start:end]`, exactly.

    `places` are the retrieved passages that it names, `names` counts the sources that it names and
    `invented` those of them that were not retrieved. A `malformed` marker (`[3-1]`, `[1,,2]`) names
    nothing but the numbers in it that were not retrieved.
    """

    start: int
    end: int
    places: Places
    names: int
    invented: int
    malformed: bool = False


_BRACKET: Final = re.compile(r"\[(?:\[([^\[\]]{1,400})\]\]|([^\[\]]{1,400})\])")
_UNCLOSED: Final = re.compile(r"\[\^?([0-9][0-9,; \t–—-]{0,100})$", re.MULTILINE)
_TARGET: Final = re.compile(
    r"\([ \t]*<?([^()\s<>]{1,2000}(?:\([^()\s]{0,200}\)[^()\s<>]{0,200})?)>?"
    r"(?:[ \t]+\"[^\"\n]{0,400}\")?[ \t]*\)"
)
_LENTICULAR: Final = re.compile(r"【([^【】\n]{1,400})】")
_FILE_SEARCH: Final = re.compile(r"([0-9]{1,9}:)?([0-9]{1,9})†(.*)|([0-9]{1,9}):([0-9]{1,9})")
_SUPER: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_PLAIN: Final = str.maketrans(f"{_SUPER}⁻˒", "0123456789-,")
_SUPERSCRIPT: Final = re.compile(
    rf"(?<=[.!?…,;:\"'”’»。！？])([{_SUPER}]{{1,9}}(?:[,˒⁻–-][{_SUPER}]{{1,9}}){{0,50}})"
)
_SUP_TAG: Final = re.compile(
    r"(?:(?<=[.!?…,;:\"'”’»])<sup>|<sup>(?=\s?\[))\s?\[?([0-9,; –-]{1,100})\]?\s?</sup>",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"(?:1[5-9]|20)[0-9]{2}")
_YEARS: Final = re.compile(rf"{_YEAR.pattern}[ \t]*[-–—][ \t]*{_YEAR.pattern}")

_AUTHOR: Final = re.compile(
    r"(?:\bet al\.?|[A-ZÀ-ÖØ-Þ][\w'’-]{1,40}(?: (?:and|&|und|et|y) [A-ZÀ-ÖØ-Þ][\w'’-]{1,40})?),? ?$"
)
_BEFORE_INTERVAL: Final = re.compile(
    r"(?:∈|\\in|\b(?:range|interval|domain|bereich|intervall|intervalle|intervalo|rango)"
    r"(?: (?:of|from|von|de))?) ?$",
    re.IGNORECASE,
)
_PAIR: Final = re.compile(r"[ \t]*[0-9]+[ \t]*,[ \t]*[0-9]+[ \t]*")
_AFTER_INDEX: Final = re.compile(r"[ \t]*(?:[-+*/%]?=(?!=)|\+\+|--)|\.[a-z_]|\[[a-z_]")
_ORDINAL: Final = re.compile(r"(?<![^\s(])([0-9]{1,3})[.)]([ \t]+)$")
_LOOK_BACK: Final = 100
"""How many characters before a bracket are read to see what it belongs to."""


def markers(text: str, sources: Sources, markup: Markup) -> list[Marker]:
    """Return the markers of a text in order; none overlaps another.

    >>> from aal_engine.measure.golden import CitationStyle
    >>> from aal_engine.measure.markup import read_markup
    >>> from aal_engine.measure.run import Passage
    >>> text = "Rates rose [1-3]."
    >>> sources = Sources([Passage("a"), Passage("b")], CitationStyle())
    >>> [(text[m.start : m.end], m.names, m.invented) for m in markers(text, sources, read_markup(text))]
    [('[1-3]', 3, 1)]
    """
    code = markup.code
    found: list[Marker] = []
    if "[" in text:
        found += _brackets(text, sources, code)
    if "【" in text:
        found += _lenticular(text, sources)
    if "(" in text:
        found += _parentheses(text, sources)
    if "<sup>" in text:
        found += _raised(_SUP_TAG, text, sources)
    if not text.isascii() and any(map(text.__contains__, _SUPER)):
        found += _raised(_SUPERSCRIPT, text, sources)
    for start, end in markup.links:
        places = sources.linked(text[start:end])
        if places:
            found.append(Marker(start, end, places, 1, 0))
    return _settled(found, code)


def ordinals(text: str, entries: Iterable[int], sources: Sources) -> Iterator[Marker]:
    """Yield the numbers before entries of a list of sources (`9. Handbook`): each names one too.

    Only where the pack counts from 1, as such lists do. `entries` are where their texts start.
    """
    if sources.by_id or sources.base != 1:
        return
    for entry in entries:
        number = _ORDINAL.search(text[max(0, entry - _LOOK_BACK) : entry])
        if number is not None:
            end = entry - len(number[2])
            places = sources.named(number[1])
            yield Marker(end - len(number[1]) - 1, end, places, 1, 0 if places else 1)


def _marker(start: int, end: int, reading: Reading) -> Marker:
    return Marker(start, end, reading.places, reading.names, reading.invented, reading.malformed)


def _settled(found: list[Marker], code: Sequence[Span]) -> list[Marker]:
    """Put markers in order and keep the outermost of those that overlap."""
    if code or any(one.end > other.start for one, other in pairwise(found)):
        found.sort(key=lambda marker: (marker.start, -marker.end))
    else:
        return found
    kept = []
    done = 0
    for marker in found:
        if marker.start >= done and not (code and within(code, marker.start)):
            kept.append(marker)
            done = marker.end
    return kept


def _brackets(text: str, sources: Sources, code: Sequence[Span]) -> Iterator[Marker]:
    readings: dict[str, Reading | None] = {}
    other = -1
    for match in _BRACKET.finditer(text):
        start, end = match.span()
        inside = match[1] or match[2]
        if inside[-1] == "\\" and text[start - 1 : start] == "\\":
            start -= 1
        if inside not in readings:
            readings[inside] = read(inside.removesuffix("\\"), sources)
        reading = readings[inside]
        if text.startswith("(", end):
            target = _TARGET.match(text, end)
            if target is not None:
                if text[start - 1 : start] == "!":
                    continue
                places = sources.linked(target[1]) or sources.ids.get(target[1], ())
                if places:
                    # The words of a link are prose; a number there is part of the marker.
                    first = end if reading is None else start
                    yield Marker(first, target.end(), places, 1, 0)
                    continue
                end = target.end()
        if (
            reading is None
            or start == other
            or (code and within(code, start))
            or _is_index(text, start, end)
        ):
            # `m[i][0]` goes on being an index, `[the terms][1]` is a link to a definition.
            other = end if start == other or _is_glued(text, start) else -1
        elif not reading.invented or not _is_prose(
            text[max(0, start - _LOOK_BACK) : start], inside
        ):
            yield _marker(start, end, reading)
    if text.count("[") == text.count("]"):
        return
    for match in _UNCLOSED.finditer(text):
        yield _marker(*match.span(), read_malformed(match[1], sources))


def _is_index(text: str, start: int, end: int) -> bool:
    """Return whether a bracket is a place in an array (`a[0] = 1`) or a class in a pattern."""
    after = text[end : end + 1]
    if after in "+{":
        return after != ""
    return _is_glued(text, start) and _AFTER_INDEX.match(text, end) is not None


def _is_glued(text: str, start: int) -> bool:
    """Return whether a bracket hangs on a word."""
    before = text[start - 1 : start]
    return before.isalnum() or before == "_"


def _is_prose(before: str, inside: str) -> bool:
    """Return whether what stands before a bracket makes it a year after a name or an interval."""
    if _PAIR.fullmatch(inside):
        return _BEFORE_INTERVAL.search(before) is not None
    if _YEARS.fullmatch(inside):
        return True
    years = all(map(_YEAR.fullmatch, PARTED.split(inside.strip())))
    return years and _AUTHOR.search(before) is not None


def _parentheses(text: str, sources: Sources) -> Iterator[Marker]:
    """Find round brackets that hold known ids, and in a pack that cites ids, ids of their series."""
    start = text.find("(")
    while start >= 0:
        end = text.find(")", start, start + 400) + 1
        if end:
            reading = read_ids(text[start + 1 : end - 1], sources)
            if reading is not None:
                yield _marker(start, end, reading)
        start = text.find("(", start + 1)


def _lenticular(text: str, sources: Sources) -> Iterator[Marker]:
    """Find `【4:0†name】` (the second number counts from 0), `【1†name】` and `【1】`."""
    for match in _LENTICULAR.finditer(text):
        inside = match[1].strip()
        search = _FILE_SEARCH.fullmatch(inside)
        if search is None:
            reading = read(inside, sources)
            if reading is None and "†" in inside:
                reading = Reading((), 0, 0, malformed=True)
        else:
            name = (search[3] or "").strip()
            places = sources.ids.get(name) or sources.titles.get(name) or ()
            if not places and (search[1] or search[5]):
                place = int(search[5] or search[2])
                places = (place,) if place < len(sources.retrieved) else ()
            elif not places:
                places = sources.named(search[2])
            reading = Reading(places, 1, 0 if places else 1)
        if reading is not None:
            yield _marker(*match.span(), reading)


def _raised(pattern: re.Pattern[str], text: str, sources: Sources) -> Iterator[Marker]:
    """Find superscripts after a stop, in Unicode or in tags."""
    for match in pattern.finditer(text):
        reading = read(match[1].translate(_PLAIN).strip(), sources)
        if reading is not None:
            yield _marker(*match.span(), reading)
