"""The passages that an answer may cite, under every name that a marker can give them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage

Places: TypeAlias = tuple[int, ...]
"""Positions in the retrieved list, counted from 0; empty where nothing retrieved has the name."""

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_LISTED: Final = re.compile(r"\[?\s*([0-9]{1,18}(?:\s*[,;]\s*[0-9]{1,18}){0,100})\s*\]?")
_DIGITS: Final = re.compile(r"[0-9]+")
_RUN: Final = re.compile(r"[^\W_]+")
_LETTERS_THEN_DIGITS: Final = re.compile(r"[^\W\d_]+[0-9]+")
_HEX: Final = re.compile(r"(?=.*[0-9])[0-9a-f](?:-?[0-9a-f]){7,}")
_HEX_DIGIT: Final = re.compile(r"[0-9a-f]")
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_DASH: Final = re.compile("[‐‑‒–—−]")
_EMPHASIS: Final = re.compile("[*`\"'“”„‘’«»]")
_FOREIGN_DIGIT: Final = re.compile(r"(?![0-9])\d")


def plain(inside: str) -> str:
    """Return what stands in a marker without its looks: emphasis, quotes, width, invisible marks.

    Dashes are hyphens and the digits of every script are `0` to `9`.

    >>> plain("**kb‑９**, “２”")
    'kb-9, 2'
    """
    if not inside.isascii():
        inside = _INVISIBLE.sub("", unicodedata.normalize("NFKC", inside))
        inside = _FOREIGN_DIGIT.sub(lambda digit: str(int(digit[0])), _DASH.sub("-", inside))
    return " ".join(_EMPHASIS.sub("", inside).split()).strip("_~ ")


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
        self._linking = style.mode == "link"

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
    def by_link(self) -> bool:
        """Whether every link is a citation: the pack says so, or the ids it cites are addresses."""
        return self._linking or (self.by_id and any("://" in name for name in self.ids))

    @cached_property
    def titles(self) -> Mapping[str, Places]:
        """The places of each title."""
        titles: dict[str, Places] = {}
        for place, passage in enumerate(self.retrieved):
            if passage.title:
                titles[passage.title] = (*titles.get(passage.title, ()), place)
        return titles

    @cached_property
    def _plain_ids(self) -> Mapping[str, Places]:
        """The places of each id, however it is written; lone words are ids as they stand alone."""
        plain_ids: dict[str, Places] = {}
        for name, places in self.ids.items():
            key = plain(name).casefold()
            if not key.isalpha():
                plain_ids[key] = (*plain_ids.get(key, ()), *places)
        return plain_ids

    @cached_property
    def digit_lengths(self) -> frozenset[int]:
        """How long the ids that are numbers are, in a pack that cites ids."""
        return frozenset(len(name) for name in self.ids if self.by_id and name.isdecimal())

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(map(_shape, self.ids)) | frozenset(map(_shape, self._plain_ids))

    @cached_property
    def _series(self) -> frozenset[str]:
        return frozenset(map(_serial, self._plain_ids))

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

    def known(self, name: str) -> Places:
        """Return the passages with an id, written as it is or with other case, dashes or marks."""
        return self.ids.get(name) or self._plain_ids.get(plain(name).casefold(), ())

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
        return self.ids.get(name) or self.linked(name) or position or self._listed(name)

    def _listed(self, text: str) -> Places:
        """Return what numbers given as text (`[1]`, `1, 2`) name, or nothing if any is unknown."""
        listed = _LISTED.fullmatch(plain(text))
        if listed is None:
            return ()
        places = list(map(self.position, map(int, _NUMBER.findall(listed[1]))))
        return tuple(place for named in places for place in named) if all(places) else ()

    def is_shaped_as_id(self, name: str) -> bool:
        """Return whether a bracketed name that is no known id is one by its make.

        Letters and digits alternate as in some known id; where nothing was retrieved, it has a
        digit and no space. Lone words are none: `[optional]` is prose, whatever the ids are.
        """
        if name.replace(" ", "").isalpha():
            return False
        if not self.ids:
            return " " not in name and any(map(str.isdigit, name)) and not name.isdigit()
        return self.is_of_series(name) or (len(name) > 1 and _shape(name) in self._shapes)

    def is_of_series(self, name: str) -> bool:
        """Return whether a name differs from some known id in digits alone (`kb-99`, `kb-12`).

        A name of digits alone has to be as long as that id, and so does a hexadecimal one.
        """
        return any(map(str.isdigit, name)) and _serial(plain(name).casefold()) in self._series


def _serial(name: str) -> str:
    """Return a name with its digits left out; one of hexadecimal digits keeps their number."""
    if name.isdecimal():
        return "0" * len(name)
    return _HEX_DIGIT.sub("h", name) if _HEX.fullmatch(name) else _DIGITS.sub("#", name)


def _shape(name: str) -> str:
    """Return the make of an id: `a` for letters, `0` for digits, `a0` and `x` for both."""

    def make(run: re.Match[str]) -> str:
        if run[0].isalpha():
            return "a"
        if run[0].isdecimal():
            return "0"
        return "a0" if _LETTERS_THEN_DIGITS.fullmatch(run[0]) else "x"

    return _RUN.sub(make, name)
