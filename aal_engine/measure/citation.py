"""Citation markers in an answer: where they stand, what they name, what they invent.

Read are `[1]`, `[1][2]`, `[1,2]`, `[1-3]`, `[[1]]`, `[^1]`, `[Source 1]`, `[1, p. 5]`, `[kb-12]`,
`(kb-12)`, `【4:0†name】`, `【1】`, superscripts after a stop, and links to known addresses. Code
holds none. Nor is a year after an author's name one, an interval, or an index into an array.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from aal_engine.measure.markup import Markup, Span, within
from aal_engine.measure.source import Places, Sources

MAX_RANGE: Final = 100
"""A range of more numbers than this is malformed: only its ends are looked up."""


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


class _Reading(NamedTuple):
    """What the inside of a marker names: see `Marker`."""

    places: Places
    names: int
    invented: int
    malformed: bool = False

    def at(self, start: int, end: int) -> Marker:
        return Marker(start, end, self.places, self.names, self.invented, self.malformed)


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

_LABEL: Final = re.compile(
    r"(?:\^|#|(?:sources?|src|docs?|documents?|passages?|refs?|references?|citations?|cite|contexts?"
    r"|chunks?|excerpts?|results?|ids?|quellen?|dokumente?|fuentes?|documentos?|extraits?|来源|文档)"
    r"(?![^\W\d_])[ \t]*[.:#№]?)[ \t]*",
    re.IGNORECASE,
)
_PARTED: Final = re.compile(r"[ \t]*(?:[,;|&]|\b(?:and|und|et|y)\b)[ \t]*")
_SEVERAL: Final = re.compile(r"[,;|&:]")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_RANGE: Final = re.compile(r"([0-9]{1,18})[ \t]*[-‐‑‒–—−][ \t]*([0-9]{1,18})")
_ONLY_NUMBERS: Final = re.compile(r"[ \t^,;‐‑‒–—−-]*[0-9][0-9 \t^,;‐‑‒–—−-]*")
_LOCATOR: Final = re.compile(
    r"(?:pp?|pages?|s|seiten?|sec|section|§|ch|chapter|fig|figure|table|lines?|para|art|abs)\.?"
    r"[ \t]*[0-9ivx]{1,9}(?:[ \t]*[-–—][ \t]*[0-9ivx]{1,9})?",
    re.IGNORECASE,
)
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")
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
_LOOK_BACK: Final = 100
"""How many characters before a bracket are read to see what it belongs to."""

_SHORT_NUMBER: Final = 5
"""A number in round brackets with fewer digits is no id: it is a year, a count or a list's."""


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
    readings: dict[str, _Reading | None] = {}
    other = -1
    for match in _BRACKET.finditer(text):
        start, end = match.span()
        inside = match[1] or match[2]
        if inside[-1] == "\\" and text[start - 1 : start] == "\\":
            start -= 1
        if inside not in readings:
            readings[inside] = _read(inside.removesuffix("\\"), sources)
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
            other = end
        elif not reading.invented or not _is_prose(
            text[max(0, start - _LOOK_BACK) : start], inside
        ):
            yield reading.at(start, end)
    if text.count("[") == text.count("]"):
        return
    for match in _UNCLOSED.finditer(text):
        yield _malformed(match[1], sources).at(*match.span())


def _is_index(text: str, start: int, end: int) -> bool:
    """Return whether a bracket is a place in an array (`a[0] = 1`) or a class in a pattern."""
    after = text[end : end + 1]
    if after in "+{":
        return after != ""
    before = text[start - 1 : start]
    return (before.isalnum() or before == "_") and _AFTER_INDEX.match(text, end) is not None


def _is_prose(before: str, inside: str) -> bool:
    """Return whether what stands before a bracket makes it a year after a name or an interval."""
    if _PAIR.fullmatch(inside):
        return _BEFORE_INTERVAL.search(before) is not None
    if _YEARS.fullmatch(inside):
        return True
    years = all(map(_YEAR.fullmatch, _PARTED.split(inside.strip())))
    return years and _AUTHOR.search(before) is not None


def _read(inside: str, sources: Sources) -> _Reading | None:
    """Return what the inside of square brackets names, or None where it is no citation."""
    if _NUMBER.fullmatch(inside):
        places = sources.named(inside)
        return _Reading(places, 1, 0 if places else 1)
    name = " ".join(inside.split())
    if name in sources.ids:
        return _Reading(sources.ids[name], 1, 0)
    label = _LABEL.match(name)
    body = name if label is None else name[label.end() :]
    if not body or _ISO_DATE.fullmatch(body):
        return None
    if label is None and not sources.by_id and not _NUMBER.search(body):
        return None
    reading = _read_list(body, sources)
    if reading is None and label is not None and label[0].strip()[-1:] in ("^", ":"):
        places = sources.titles.get(body, ())
        reading = _Reading(places, 1, 0) if places else _Reading((), 0, 0, malformed=True)
    return reading


def _read_list(body: str, sources: Sources) -> _Reading | None:
    places: list[int] = []
    names = invented = 0
    strange: list[str] = []
    for part in _PARTED.split(body):
        label = _LABEL.match(part)
        name = part if label is None else part[label.end() :]
        bounds = _RANGE.fullmatch(name)
        if name in sources.ids or _NUMBER.fullmatch(name):
            numbers = [name]
        elif bounds is not None and 0 <= int(bounds[2]) - int(bounds[1]) < MAX_RANGE:
            numbers = [str(number) for number in range(int(bounds[1]), int(bounds[2]) + 1)]
        elif names and _LOCATOR.fullmatch(name):
            continue
        else:
            strange.append(name)
            continue
        for number in numbers:
            known = sources.named(number)
            places += known
            invented += not known
        names += len(numbers)
    if not strange:
        return _Reading(tuple(places), names, invented)
    is_id = sources.is_shaped_as_id if sources.by_id else sources.is_of_series
    if all(map(is_id, strange)):
        return _Reading(tuple(places), names + len(strange), invented + len(strange))
    return _malformed(body, sources) if _ONLY_NUMBERS.fullmatch(body) else None


def _malformed(body: str, sources: Sources) -> _Reading:
    unknown = {digits for digits in _NUMBER.findall(body) if not sources.named(digits)}
    return _Reading((), len(unknown), len(unknown), malformed=True)


def _parentheses(text: str, sources: Sources) -> Iterator[Marker]:
    """Find round brackets that hold known ids, and in a pack that cites ids, ids of their series."""
    start = text.find("(")
    while start >= 0:
        end = text.find(")", start, start + 400) + 1
        if end:
            reading = _read_ids(text[start + 1 : end - 1], sources)
            if reading is not None:
                yield reading.at(start, end)
        start = text.find("(", start + 1)


def _read_ids(inside: str, sources: Sources) -> _Reading | None:
    if inside in sources.ids:
        names = [inside]
    elif sources.by_id or _SEVERAL.search(inside):
        label = _LABEL.match(inside)
        names = _PARTED.split(inside if label is None else inside[label.end() :])
    else:
        return None
    places: list[int] = []
    invented = 0
    for name in names:
        known = sources.ids.get(name, ())
        if not known and not (sources.by_id and sources.is_of_series(name)):
            return None
        if (name.isalpha() and not sources.by_id) or (
            name.isdecimal() and len(name) < _SHORT_NUMBER
        ):
            return None
        places += known
        invented += not known
    return _Reading(tuple(places), len(names), invented)


def _lenticular(text: str, sources: Sources) -> Iterator[Marker]:
    """Find `【4:0†name】` (the second number counts from 0), `【1†name】` and `【1】`."""
    for match in _LENTICULAR.finditer(text):
        inside = match[1].strip()
        search = _FILE_SEARCH.fullmatch(inside)
        if search is None:
            reading = _read(inside, sources)
            if reading is None and "†" in inside:
                reading = _Reading((), 0, 0, malformed=True)
        else:
            name = (search[3] or "").strip()
            places = sources.ids.get(name) or sources.titles.get(name) or ()
            if not places and (search[1] or search[5]):
                place = int(search[5] or search[2])
                places = (place,) if place < len(sources.retrieved) else ()
            elif not places:
                places = sources.named(search[2])
            reading = _Reading(places, 1, 0 if places else 1)
        if reading is not None:
            yield reading.at(*match.span())


def _raised(pattern: re.Pattern[str], text: str, sources: Sources) -> Iterator[Marker]:
    """Find superscripts after a stop, in Unicode or in tags."""
    for match in pattern.finditer(text):
        reading = _read(match[1].translate(_PLAIN).strip(), sources)
        if reading is not None:
            yield reading.at(*match.span())
