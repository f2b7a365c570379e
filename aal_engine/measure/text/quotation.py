"""Quotations: what an answer says in somebody else's words."""

from __future__ import annotations

import re
from typing import Final

from aal_engine.measure.text.markup import Span

_MARK: Final = re.compile(r"[\"“”„‟«»「」『』]|\n[ \t]*(?=\n)")
_CLOSING: Final = {
    '"': '"',
    "“": '”"',
    "”": "”",
    "„": '“”‟"',
    "‟": "”",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
}
"""What ends a quotation that a mark opens. Single quotes are apostrophes and open none."""

_ALWAYS_OPENING: Final = frozenset("“„‟「『")
_BEFORE_OPENING: Final = frozenset(" \t\n\u00a0\u202f([{-–—/*_>:")


def quotations(text: str) -> list[Span]:
    r"""Return where quotations stand, marks included, in order; each ends within its paragraph.

    >>> text = 'The 27" screen isn\'t "ready".'
    >>> [text[start:end] for start, end in quotations(text)]
    ['"ready"']
    """
    spans: list[Span] = []
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        char = mark[0]
        if char[0] == "\n":
            opened = None
        elif opened is not None:
            if char in _CLOSING[opened[0]]:
                spans.append((opened.start(), mark.end()))
                opened = None
        elif char in _CLOSING and _opens(text, mark.start()):
            opened = mark
    return spans


def _opens(text: str, place: int) -> bool:
    """Return whether a mark stands as one that opens: behind a gap and before a word."""
    if text[place] in _ALWAYS_OPENING:
        return True
    before = text[place - 1 : place]
    after = text[place + 1 : place + 2]
    guillemet = text[place] == "«"
    return (not before or before in _BEFORE_OPENING) and (guillemet or not after.isspace())
