"""The passages that an answer may cite, under every name that a marker can give them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.language import words
from aal_engine.measure.run import Passage

Places: TypeAlias = tuple[int, ...]
"""Positions in the retrieved list, counted from 0; empty where nothing retrieved has the name."""

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_DIGITS: Final = re.compile(r"[0-9]+")
_RUN: Final = re.compile(r"[^\W_]+")
_LETTERS_THEN_DIGITS: Final = re.compile(r"[^\W\d_]+[0-9]+")
_EDITORIAL: Final = words("sic added emphasis edit edited ed eds translation redacted")


def address(link: str) -> str:
    """Return an address as two writings of it agree: no scheme, `www.`, fragment or last slash.

    >>> address("https://www.Example.org/Terms/#fees")
    'example.org/Terms'
    """
    bare = link.partition("#")[0].partition("://")[2] or link.partition("#")[0]
    host, slash, path = bare.partition("/")
    return (host.lower().removeprefix("www.") + slash + path).rstrip("/")


class Sources:
    """What was retrieved for one output, and how the pack's agent names it."""

    def __init__(self, retrieved: Sequence[Passage], style: CitationStyle) -> None:
        self.retrieved = retrieved
        self.base = style.base
        self.by_id = style.mode == "id"

    @cached_property
    def ids(self) -> Mapping[str, Places]:
        """The places of each document id and passage id."""
        ids: dict[str, Places] = {}
        for place, passage in enumerate(self.retrieved):
            for name in {passage.doc_id, passage.passage_id}:
                if name is not None:
                    ids[name] = (*ids.get(name, ()), place)
        return ids

    @cached_property
    def links(self) -> Mapping[str, Places]:
        """The places of each address, an id that is one included."""
        links: dict[str, Places] = {}
        for place, passage in enumerate(self.retrieved):
            for link in {passage.url, passage.doc_id, passage.passage_id}:
                if link is not None and (link is passage.url or "://" in link):
                    links[address(link)] = (*links.get(address(link), ()), place)
        return links

    @cached_property
    def titles(self) -> Mapping[str, Places]:
        """The places of each title."""
        titles: dict[str, Places] = {}
        for place, passage in enumerate(self.retrieved):
            if passage.title:
                titles[passage.title] = (*titles.get(passage.title, ()), place)
        return titles

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(map(_shape, self.ids))

    @cached_property
    def _series(self) -> frozenset[str]:
        return frozenset(_DIGITS.sub("0", name) for name in self.ids)

    def position(self, number: int) -> Places:
        """Return the passage at a position, counted as the pack counts."""
        place = number - self.base
        return (place,) if 0 <= place < len(self.retrieved) else ()

    def named(self, name: str) -> Places:
        """Return what a name in the text stands for: an id, or a position where it is a number.

        Where ids are cited a number is an id too.
        """
        if self.by_id or not _NUMBER.fullmatch(name):
            return self.ids.get(name, ())
        return self.position(int(name))

    def linked(self, link: str) -> Places:
        """Return the passages at an address."""
        return self.links.get(address(link), ())

    def structured(self, citation: str | int) -> Places:
        """Return what a citation given beside the text names: an id, an address or a position.

        Where it could be an id and a position, a number is a position unless the pack cites ids,
        and a string is an id.
        """
        name = str(citation)
        position = self.position(int(name)) if _NUMBER.fullmatch(name) else ()
        if isinstance(citation, int) and not self.by_id:
            return position or self.ids.get(name, ())
        return self.ids.get(name) or self.linked(name) or position

    def is_shaped_as_id(self, name: str) -> bool:
        """Return whether a bracketed name that is no known id is one by its make.

        Letters and digits alternate as in some known id; where nothing was retrieved, it has a
        digit and no space. Lone words that editors put in brackets are none.
        """
        if " " in name and name.replace(" ", "").isalpha():
            return False
        if not self.ids:
            return " " not in name and any(map(str.isdigit, name)) and not name.isdigit()
        return _shape(name) in self._shapes and len(name) > 1 and name.lower() not in _EDITORIAL

    def is_of_series(self, name: str) -> bool:
        """Return whether a name differs from some known id in digits alone (`kb-99`, `kb-12`)."""
        return any(map(str.isdigit, name)) and _DIGITS.sub("0", name) in self._series


def _shape(name: str) -> str:
    """Return the make of an id: `a` for letters, `0` for digits, `a0` and `x` for both."""

    def make(run: re.Match[str]) -> str:
        if run[0].isalpha():
            return "a"
        if run[0].isdecimal():
            return "0"
        return "a0" if _LETTERS_THEN_DIGITS.fullmatch(run[0]) else "x"

    return _RUN.sub(make, name)
