"""Document ids that answers cannot cite as the pack says, or that readers take for others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from aal_engine.errors import shown
from aal_engine.measure.answer.source import plain
from aal_engine.measure.golden import CitationStyle

_NOT_IN_MARKERS: Final = re.compile(r"[\[\]【】\n]")
_PARTS_LISTS: Final = re.compile(r"[,;|&、]")


def naming_doubts(ids: Collection[str], style: CitationStyle) -> Iterator[str]:
    """Yield what is surprising in document ids, given how the pack's agent cites.

    >>> list(naming_doubts(["7", "12"], CitationStyle("index")))[0][:54]
    'all document ids are whole numbers, and citations are '
    """
    if not ids:
        return
    if style.mode != "id":
        if all(map(str.isdecimal, ids)):
            yield (
                "all document ids are whole numbers, and citations are positions: [7] is the seventh "
                "passage and never document 7; say mode: id if answers cite ids"
            )
        return
    bracketed = [name for name in ids if _NOT_IN_MARKERS.search(name)]
    if bracketed:
        yield f"{_counted(bracketed)} hold a bracket or a line break: no marker can hold them"
    listed = [name for name in ids if _PARTS_LISTS.search(name)]
    if listed:
        yield (
            f"{_counted(listed)} hold a mark that parts lists (, ; | &): two of them in one marker "
            "are not told apart"
        )
    alike: dict[str, list[str]] = {}
    for name in ids:
        alike.setdefault(plain(name).casefold(), []).append(name)
    for names in alike.values():
        if len(names) > 1:
            told = " and ".join(map(shown, sorted(names)[:2]))
            yield f"{told} look alike: case, dashes and emphasis are not told apart in answers"


def _counted(names: Collection[str]) -> str:
    return f"{len(names)} document ids ({shown(min(names))} is one)"
