"""Citation markers in an answer: where they stand, what they name, what they invent.

Read are `[1]`, `[1][2]`, `[1, 2 and 4]`, `[1-3]`, `[[1]]`, `[^1]`, `[Source 1]`, `(Source 1)`,
`[1, p. 5]`, `[kb-12]`, `(see kb-12)`, `【4:0†name】`, `【1】`, `［1］`, superscripts after a stop, and
links to known addresses, whatever their emphasis, width and digits; where the pack cites links, all
links are. Code holds none. Numbers that were not retrieved and that years, intervals, arrays or headings explain are none either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from aal_engine.measure.answer.reference import Reading, read, read_ids, read_malformed
from aal_engine.measure.answer.source import Places, Sources, plain
from aal_engine.measure.answer.surroundings import LOOK_AROUND, Counted, judge
from aal_engine.measure.text.markup import Markup, Span, within


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
_NO_SOURCE: Final = re.compile(r"#|(?:mailto|tel|sms|javascript|data):", re.IGNORECASE)
"""A target that is a place on the page or a way to reach somebody."""
_LENTICULAR: Final = re.compile(r"【([^【】\n]{1,400})】")
_FILE_SEARCH: Final = re.compile(r"([0-9]{1,9}:)?([0-9]{1,9})†(.*)|([0-9]{1,9}):([0-9]{1,9})")
_SUPER: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_PLAIN: Final = str.maketrans(f"{_SUPER}⁻˒", "0123456789-,") | {ord(" "): ","}
_SUPERSCRIPT: Final = re.compile(
    rf"(?<=[.!?…,;:\"'”’»。！？])([{_SUPER}]{{1,9}}(?:[, ˒⁻–-][{_SUPER}]{{1,9}}){{0,50}})"
)
_SUP_TAG: Final = re.compile(
    r"(?:(?<=[.!?…,;:\"'”’»])<sup>|<sup>(?=\s?\[)"
    r"|(?<=[^\W\d_]{4})(?<!inch)(?<!feet)(?<!yard)(?<!mile)(?<!miles)(?<!metre)(?<!meter)"
    r"(?<!metres)(?<!meters)<sup>)\s?\[?([0-9,; –-]{1,100})\]?\s?</sup>",
    re.IGNORECASE,
)
_AFTER_INDEX: Final = re.compile(r"[ \t]*(?:[-+*/%]?=(?!=)|\+\+|--)|\.[a-z_]|\[[a-z_]")
_ORDINAL: Final = re.compile(r"(?<![^\s(])([0-9]{1,3})[.)]([ \t]+)$")
_TITLE: Final = re.compile(r"[#*_ \t]*[^\W\d_][^\W\d_ ]{2,20}(?: [a-z]{3,8})?[*_ \t]*[:：][*_ \t]*")
_NUMBERS: Final = re.compile(
    r"[0-9]{1,3}(?:(?:[ \t]*[,;&–-][ \t]*|[ \t]+(?:and|und|et|y)[ \t]+)[0-9]{1,3}){0,50}"
)
_ENTRY_NAME: Final = re.compile(r":\s|\s[-–—(]|\s(?=\()|[ \t]*\n")
_ENTRY_END: Final = " \t\r\n.*_"
"""What names an entry of a list of sources ends with, and what parts a name from its title."""
_WIDE: Final = str.maketrans("［］〔〕〖〗", "[][][]")
_DOUBT: Final = Reading((), 0, 0, malformed=True)


def markers(text: str, sources: Sources, markup: Markup) -> list[Marker]:
    """Return the markers of a text in order; none overlaps another.

    >>> from aal_engine.measure.golden import CitationStyle
    >>> from aal_engine.measure.text.markup import read_markup
    >>> from aal_engine.measure.run import Passage
    >>> text = "Rates rose [1-3]."
    >>> sources = Sources([Passage("a"), Passage("b")], CitationStyle())
    >>> [(text[m.start : m.end], m.names, m.invented) for m in markers(text, sources, read_markup(text))]
    [('[1-3]', 3, 1)]
    """
    code = markup.code
    found: list[Marker] = []
    square = text if text.isascii() else text.translate(_WIDE)
    if "[" in square:
        found += _brackets(square, sources, code)
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
        if places or (sources.by_link and not _is_image(text, start)):
            found.append(Marker(start, end, places, 1, 0 if places else 1))
    return _settled(found, code)


def listed(text: str, entries: Iterable[Span], sources: Sources) -> Iterator[Marker]:
    """Yield the names that a list of sources has without brackets (`Sources: 1, 7`, `- kb-12: Fees`).

    `entries` are where its entries stand. Numbers alone are positions, and where ids are cited the
    ids, all of an entry or the one that it starts with.
    """
    counted = Counted(len(sources.retrieved), sources.digit_lengths)
    for start, end in entries:
        title = _TITLE.match(text, start, end)
        first = start if title is None else title.end()
        body = text[first:end].rstrip(_ENTRY_END)
        if sources.by_id:
            reading = read_ids(body, sources)
            if reading is None:
                body = _ENTRY_NAME.split(body, maxsplit=1)[0].rstrip(_ENTRY_END)
                reading = read_ids(body, sources)
            if reading is None and " " in body:
                body = body.split(" ", 1)[0]
                reading = read_ids(body, sources) if any(map(str.isdigit, body)) else None
        elif title is not None and _NUMBERS.fullmatch(body):
            reading = read(plain(body), sources)
            if reading is not None and reading.invented:
                verdict = judge("", body, "", counted)
                reading = {"citation": reading, "doubt": _DOUBT}.get(verdict)
        else:
            continue
        if reading is not None:
            yield _marker(first, first + len(body), reading)


def ordinals(text: str, entries: Iterable[int], sources: Sources) -> Iterator[Marker]:
    """Yield the numbers before entries of a list of sources (`9. Handbook`): each names one too.

    Only where the pack counts from 1, as such lists do. `entries` are where their texts start.
    """
    if sources.by_id or sources.base != 1:
        return
    for entry in entries:
        number = _ORDINAL.search(text[max(0, entry - LOOK_AROUND) : entry])
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
    counted = Counted(len(sources.retrieved), sources.digit_lengths)
    other = -1
    for match in _BRACKET.finditer(text):
        start, end = match.span()
        inside = match[1] or match[2]
        if inside[-1] == "\\" and text[start - 1 : start] == "\\":
            start -= 1
        if inside not in readings:
            readings[inside] = _read_square(inside.removesuffix("\\"), sources)
        reading = readings[inside]
        if text.startswith("(", end):
            target = _TARGET.match(text, end)
            if target is not None:
                if text[start - 1 : start] == "!":
                    continue
                places = sources.linked(target[1]) or sources.ids.get(target[1], ())
                if places or (sources.by_link and _NO_SOURCE.match(target[1]) is None):
                    # The words of a link are prose; a number there is part of the marker.
                    first = end if reading is None else start
                    yield Marker(first, target.end(), places, 1, 0 if places else 1)
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
        else:
            yield from _judged(text, (start, match.end(), end), reading, counted)
    if text.count("[") == text.count("]"):
        return
    for match in _UNCLOSED.finditer(text):
        yield _marker(*match.span(), read_malformed(match[1], sources))


def _judged(
    text: str, edges: tuple[int, int, int], reading: Reading, counted: Counted
) -> Iterator[Marker]:
    """Yield a bracket's marker unless it is prose; `edges` are its start, its end, its target's end."""
    start, close, end = edges
    if reading.invented:
        before, after = text[max(0, start - LOOK_AROUND) : start], text[close : close + LOOK_AROUND]
        verdict = judge(before, text[start + 1 : close - 1], after, counted)
        if verdict == "prose":
            return
        reading = reading if verdict == "citation" else _DOUBT
    yield _marker(start, end, reading)


def _read_square(inside: str, sources: Sources) -> Reading | None:
    search = _FILE_SEARCH.fullmatch(inside) if "†" in inside else None
    return read(inside, sources) if search is None else _read_search(search, sources)


def _is_index(text: str, start: int, end: int) -> bool:
    """Return whether a bracket is a place in an array (`a[0] = 1`) or a class in a pattern."""
    after = text[end : end + 1]
    if after in (".", " ", "\n", "") and text[start - 1 : start] == " ":
        return False
    if after and after in "+{":
        return "-" in text[start:end]
    return _is_glued(text, start) and _AFTER_INDEX.match(text, end) is not None


def _is_image(text: str, link: int) -> bool:
    """Return whether an address is the target of an image, which is no citation."""
    close = text.rfind("](", max(0, link - 4), link)
    start = text.rfind("[", max(0, close - 400), close) if close > 0 else -1
    return start > 0 and text[start - 1] == "!"


def _is_glued(text: str, start: int) -> bool:
    """Return whether a bracket hangs on a word."""
    before = text[start - 1 : start]
    return before.isalnum() or before == "_"


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
            reading = _read_search(search, sources)
        if reading is not None:
            yield _marker(*match.span(), reading)


def _read_search(search: re.Match[str], sources: Sources) -> Reading:
    name = (search[3] or "").strip()
    places = sources.ids.get(name) or sources.titles.get(name) or ()
    if not places and sources.by_id and sources.is_of_series(name):
        return Reading((), 1, 1)
    if not places and (search[1] or search[5]):
        place = int(search[5] or search[2])
        places = (place,) if place < len(sources.retrieved) else ()
    elif not places:
        places = sources.named(search[2])
    return Reading(places, 1, 0 if places else 1)


def _raised(pattern: re.Pattern[str], text: str, sources: Sources) -> Iterator[Marker]:
    """Find superscripts after a stop, in Unicode or in tags."""
    for match in pattern.finditer(text):
        number = match[1].translate(_PLAIN).strip()
        reading = read(number, sources)
        if reading is not None and reading.invented and _is_row(number, sources):
            reading = read(",".join(number), sources)
        if reading is not None:
            yield _marker(*match.span(), reading)


def _is_row(digits: str, sources: Sources) -> bool:
    """Return whether digits in a row rise and are each retrieved: `¹²³` is then 1, 2 and 3."""
    rises = len(digits) > 1 and digits.isdecimal() and all(a < b for a, b in pairwise(digits))
    return rises and all(map(sources.named, digits))
