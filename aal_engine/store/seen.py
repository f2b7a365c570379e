"""Trace ids that were counted, the last so many of them, so that none counts twice."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import Final

LIMIT: Final = 200_000
"""Ids that are remembered at least; twice as many at most."""


def key_of(trace_id: str) -> int:
    """Return the 64 bits by which a trace id is remembered.

    Of 400,000 ids the chance that any two share them is 4e-9.
    """
    digest = hashlib.blake2b(trace_id.encode(), digest_size=8, person=b"aal-seen").digest()
    return int.from_bytes(digest)


class Seen:
    """A memory of two generations: when the young one is full, the old one is forgotten."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._young: dict[int, None] = {}
        self._old: dict[int, None] = {}

    def __contains__(self, key: int) -> bool:
        return key in self._young or key in self._old

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def add(self, key: int) -> None:
        """Remember an id."""
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, {}
        self._young[key] = None

    def packed(self) -> str:
        """Return all that is remembered, oldest first, as text."""
        return pack((*self._old, *self._young))

    def restore(self, packed: str) -> None:
        """Remember what `packed` or `pack` gave."""
        for key in unpack(packed):
            self.add(key)


def pack(keys: Iterable[int]) -> str:
    """Return ids as text: base64 of 8 bytes each.

    >>> unpack(pack([1, 2**64 - 1]))
    [1, 18446744073709551615]
    """
    return base64.b64encode(b"".join(key.to_bytes(8) for key in keys)).decode()


def unpack(text: str) -> list[int]:
    """Return the ids that `pack` made a text of.

    Raises:
        ValueError: it is no such text.
    """
    raw = base64.b64decode(text, validate=True)
    return [int.from_bytes(raw[place : place + 8]) for place in range(0, len(raw), 8)]
