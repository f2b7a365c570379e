"""What an answer shows once rendered: entities, tags and emphasis within words read as a reader does.

Every replacement is as long as what it replaces, filled up with characters that normalising drops,
so that a place in what is shown is the same place in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from html.entities import html5
from itertools import pairwise
from typing import Final

from aal_engine.measure.text.markup import Span

_FILL: Final = "\u00ad"
_SEAM: Final = "\u200b"
"""A fill that may also be read as a gap (`refunds**are**instant`)."""

_BREAK: Final = "\u2028"
"""A line's end that starts no block, as `<br>` is one: no clause goes on over it."""

_ENTITY: Final = re.compile(
    r"&(?:(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6})(?:;|(?![0-9a-fA-F;]))"
    r"|(?:nbsp|shy)(?!;)|([a-zA-Z][a-zA-Z0-9]{1,31})(?:;|(?![a-zA-Z0-9=;])))"
)
"""An entity; one without its semicolon is read as browsers do, where its name has an end, and the
two that part and join words everywhere."""
_COMMENT: Final = ("<!--", "-->")
_NOTE: Final = re.compile(r"<sup>\s{0,3}[0-9]{1,3}\s{0,3}</sup>", re.IGNORECASE)
_INLINE: Final = (
    "a|abbr|b|bdi|bdo|big|cite|del|dfn|em|font|i|ins|kbd|mark|q|s|small|span|strike|strong|tt|u|wbr"
)
_BLOCK: Final = (
    "article|blockquote|br|center|dd|details|div|dl|dt|footer|h[1-6]|header|hr|li|ol|p|section|sub"
    "|summary|sup|table|tbody|td|tfoot|th|thead|tr|ul"
)
_TAG: Final = re.compile(rf"</?(?:({_INLINE})|{_BLOCK})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_EMPHASIS: Final = re.compile(r"(?:\*+|~~)(?=[^\W\d_])")
_SEAMS: Final = re.compile("[\u200b\u2060\ufeff]")
_HYPHENATED: Final = re.compile(r"(?<=[^\W\d_])[-\u2010]\r?\n[ \t>]*(?=[^\W\d_])")


def shown(text: str, code: Sequence[Span]) -> str:
    """Return the text as it shows outside code, as long as it was.

    >>> shown("in&shy;stant <b>refunds</b>", ()).replace("\u00ad", "").replace("\u200b", "")
    'instant refunds'
    """
    if not any(mark in text for mark in "&<*~"):
        return text
    edges = [0, *(edge for span in code for edge in span), len(text)]
    pieces: list[str] = []
    for place, (start, end) in enumerate(pairwise(edges)):
        piece = text[start:end]
        pieces.append(piece if place % 2 else _shown(piece))
    return "".join(pieces)


def _shown(text: str) -> str:
    if _COMMENT[0] in text:
        text = _uncommented(text)
    if "<" in text:
        text = _NOTE.sub(lambda match: " " * len(match[0]), text)
        text = _TAG.sub(_tag, text)
    if "*" in text or "~" in text:
        text = _EMPHASIS.sub(_emphasis, text)
    return _ENTITY.sub(_entity, text) if "&" in text else text


def _uncommented(text: str) -> str:
    """Return the text with its comments, which show nothing, as seams."""
    pieces: list[str] = []
    done = 0
    while (start := text.find(_COMMENT[0], done)) >= 0:
        close = text.find(_COMMENT[1], start + len(_COMMENT[0]))
        if close < 0:
            break
        end = close + len(_COMMENT[1])
        pieces += (text[done:start], _SEAM * (end - start))
        done = end
    return "".join((*pieces, text[done:]))


def _tag(match: re.Match[str]) -> str:
    # The text of a `title` is shown too.
    if "title" in match[0].casefold():
        return match[0]
    if match[1]:
        return _SEAM * len(match[0])
    return (" " if match[0].lstrip("</")[:3].casefold() in ("sub", "sup") else _BREAK).ljust(
        len(match[0])
    )


def _emphasis(match: re.Match[str]) -> str:
    start = match.start()
    inside = match.string[start - 1 : start].isalpha()
    return _SEAM * len(match[0]) if inside else match[0]


def _entity(match: re.Match[str]) -> str:
    name = match[1]
    if name is not None and not match[0].endswith(";") and name not in html5:
        return match[0]
    char = unescape(match[0])
    if len(char) > 2:
        return match[0]
    # A gap ends the word before it, fill and all; anything else starts where its entity does.
    length = len(match[0])
    return char.rjust(length, _FILL) if char.isspace() else char.ljust(length, _FILL)


def reread(text: str) -> list[str]:
    r"""Return the other ways to read a text, as long as it: seams as gaps, hyphenated words joined.

    >>> reread("refunds\u200bare"), len(reread("guaran-\nteed")), reread("plain")
    (['refunds are'], 1, [])
    """
    parted = _SEAMS.sub(" ", text)
    joined = _HYPHENATED.sub(lambda match: _FILL * len(match[0]), parted)
    return [reading for reading in dict.fromkeys((parted, joined)) if reading != text]
