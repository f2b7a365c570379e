"""The blocks of an answer, read line by line: prose, headings, rows, code, lists of sources."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from aal_engine.measure.text.markup import Span

Kind: TypeAlias = Literal["prose", "heading", "row", "code", "sources"]


class Block(NamedTuple):
    """A stretch of whole lines, `text[start:end]`, without the marks that make it what it is.

    `quoted` tells a line of a block quotation. The first row of a table is a heading.
    """

    start: int
    end: int
    kind: Kind
    quoted: bool = False


class _Line(NamedTuple):
    """A line without its marks; `lead` is where the whole line starts."""

    kind: str
    start: int
    end: int
    lead: int
    quoted: bool = False


WRAPPED: Final = range(50, 121)
"""How many characters a line has that may go on in the next without any other sign of it."""

TITLE_WORDS: Final = 9
"""The most words of a line that is read as a title."""

_INDENT: Final = re.compile(r"[ \t\r\f\v]*")
_QUOTE: Final = re.compile(r"(?:>[ \t]*)+")
_MARK: Final = re.compile(
    r"(?P<heading>#{1,6}[ \t]+)"
    r"|(?P<rule>(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={2,}[ \t]*)$)"
    r"|(?P<item>(?![0-9]{1,2}\.[ \t]+(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober"
    r"|November|Dezember)\b)"
    r"(?:[-*+•‣◦▪●·–—]|[0-9]{1,3}[.)]|\([0-9]{1,3}\)|\(?[a-z]\)|[a-z]\.)[ \t]+"
    r"(?:\[[ xX]\][ \t]+)?)"
)
_EDGE: Final = re.compile(r"[ \t:|-]*-[ \t:|-]*")
_BOLD: Final = re.compile(r"(\*\*|__)(?=\S)(.+?)\1[:：]?")
_SOURCES: Final = re.compile(
    r"(?:sources?(?: used| cited)?|references?|citations?|bibliography|works cited|footnotes"
    r"|further reading|quellen(?:angaben|verzeichnis)?|literatur(?:verzeichnis)?|belege"
    r"|einzelnachweise|références?|bibliographie|fuentes?|referencias?|bibliografía)",
    re.IGNORECASE,
)
_STOPS: Final = frozenset(".!?…:;。！？：；")
_CLOSERS: Final = " \t\r\"'”’»*_)]"
_DECORATION: Final = "#*_:： \t\r"

_KINDS: Final[Mapping[str, Kind]] = {
    "plain": "prose",
    "item": "prose",
    "row": "row",
    "heading": "heading",
    "code": "code",
}


def blocks(text: str, mask: str, fenced: Sequence[Span], marked: Collection[int]) -> list[Block]:
    """Return the blocks of a text in order; between them stand white space and marks alone.

    `mask` is the text with its markers blanked and its code and links filled with letters, as long
    as the text; `marked` are the places where a marker starts.
    """
    found: list[Block] = []
    last: _Line | None = None
    for line in _lines(text, mask, fenced):
        if line.kind == "plain" and last is not None and _goes_on(mask, last, line, marked):
            found[-1] = found[-1]._replace(end=line.end)
        elif line.kind in _KINDS:
            found.append(Block(line.start, line.end, _KINDS[line.kind], line.quoted))
        elif last is not None and last.kind == {"rule": "plain", "edge": "row"}.get(line.kind):
            found[-1] = found[-1]._replace(kind="heading")
        last = line if line.kind in _KINDS else None
    _set_titles(text, mask, found)
    _set_sources(text, found, marked)
    return found


def _lines(text: str, mask: str, fenced: Sequence[Span]) -> Iterator[_Line]:
    ends = dict(fenced)
    tables = "|" in mask
    start = done = 0
    for line in mask.split("\n"):
        end = start + len(line)
        if start in ends:
            done = ends[start]
            first = _past(_INDENT, text, start, end)
            yield _Line("code", first, first + len(text[first:done].rstrip()), start)
        elif start == end and start >= done:
            yield _Line("blank", start, end, start)
        elif start >= done:
            yield _read_line(text, mask, start, end, tables)
        start = end + 1


def _read_line(text: str, mask: str, start: int, end: int, tables: bool) -> _Line:
    first, kind, quoted = start, "plain", False
    if not text[start : start + 1].isalpha() or text[start + 1 : start + 2] in (".", ")"):
        first = indented = _past(_INDENT, text, start, end)
        first = _past(_QUOTE, text, first, end)
        quoted = first > indented
        mark = _MARK.match(text, first, end)
        if mark is not None and mark.lastgroup is not None:
            kind, first = mark.lastgroup, mark.end()
        elif first == end:
            kind = "blank"
    if kind == "plain" and text[first : first + 1].isspace():
        first = end - len(text[first:end].lstrip())
    if tables and kind == "plain":
        pipes = mask.count("|", first, end)
        if pipes and _EDGE.fullmatch(mask, first, end):
            kind = "edge"
        elif pipes > 1 or (pipes and mask[first] == "|"):
            kind = "row"
    end = first + len(text[first:end].rstrip())
    if kind == "row":
        end = first + len(text[first:end].rstrip("| \t"))
        first = end - len(text[first:end].lstrip("| \t"))
    elif kind == "heading":
        end = first + len(text[first:end].rstrip("# \t"))
    return _Line("blank" if end <= first and kind in _KINDS else kind, first, end, start, quoted)


def _past(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    match = pattern.match(text, start, end)
    return start if match is None else match.end()


def _goes_on(mask: str, last: _Line, line: _Line, marked: Collection[int]) -> bool:
    """Return whether a plain line continues the paragraph or item that the last line is part of."""
    if last.kind not in ("plain", "item") or last.quoted != line.quoted:
        return False
    head = mask[line.start : line.end].lstrip()[:1]
    if not head:
        return True
    tail = mask[last.start : last.end].rstrip(_CLOSERS)[-1:]
    if tail in (":", "：") or (line.start in marked and last.start in marked):
        return False
    return head.islower() or (tail not in _STOPS and last.end - last.lead in WRAPPED)


def _set_titles(text: str, mask: str, found: list[Block]) -> None:
    """Make headings of lines that are bold as a whole, and of short ones in capitals."""
    for place, block in enumerate(found):
        line = mask[block.start : block.end]
        if block.kind != "prose" or "\n" in line or line[-1:] in ".!?":
            continue
        bold = _BOLD.fullmatch(line)
        if bold is not None:
            title = bold[2].rstrip()[-1:] not in _STOPS - {":"}
        else:
            title = (
                line[-1] not in _STOPS
                and place + 1 < len(found)
                and (block.start == 0 or text[block.start - 1] == "\n")
                and line == text[block.start : block.end]
                and len(words := line.split()) <= TITLE_WORDS
                and all(word[0].isupper() for word in words if len(word) > 3)
            )
        if title:
            found[place] = block._replace(kind="heading")


def _set_sources(text: str, found: list[Block], marked: Collection[int]) -> None:
    """Find lists of sources: below a title that says so, on its line, or closing the text."""
    listing = False
    for place, block in enumerate(found):
        if block.kind not in ("prose", "heading"):
            continue
        title = _SOURCES.match(line := text[block.start : block.end].lstrip(_DECORATION))
        rest = "" if title is None else line[title.end() :]
        if title is not None and not rest.strip(_DECORATION):
            listing = True
            found[place] = block._replace(kind="heading")
        elif title is not None and rest.lstrip("*_ ")[:1] in (":", "："):
            found[place] = block._replace(kind="sources")
        elif block.kind == "heading":
            listing = False
        elif listing:
            listing = found[place - 1].kind == "heading" or _is_entry(text, found, place, marked)
            if listing:
                found[place] = block._replace(kind="sources")
    _set_closing_sources(text, found, marked)


def _is_entry(text: str, found: list[Block], place: int, marked: Collection[int]) -> bool:
    """Return whether a block below a list of sources is one more of them."""
    block = found[place]
    bullet = text[text.rfind("\n", 0, block.start) + 1 : block.start].strip()
    gap = text.count("\n", found[place - 1].end, block.start) > 1
    linked = "://" in text[block.start : block.end]
    return bool(bullet) or block.start in marked or linked or not gap


def _set_closing_sources(text: str, found: list[Block], marked: Collection[int]) -> None:
    """Make sources of the last lines where each starts with a marker and names a source.

    A line names one by its address or a colon after the marker; two lines or more below a gap need
    neither.
    """
    first = len(found)
    while first and found[first - 1].kind == "prose" and found[first - 1].start in marked:
        first -= 1
    lines = [text[block.start : block.end] for block in found[first:]]
    named = all("://" in line or "]:" in line[:12] for line in lines)
    gap = bool(first and lines) and text.count("\n", found[first - 1].end, found[first].start) > 1
    if first and (named or (gap and len(lines) > 1)):
        for place in range(first, len(found)):
            found[place] = found[place]._replace(kind="sources")
