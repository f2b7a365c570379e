"""How far a log file was read, and how it is known again: by what was read of it.

A name and an inode do not tell a file: files are renamed, copied, truncated, written anew, and
inodes are used again. So a position also holds a hash of the file's first bytes and one of the last
bytes before it. What bears both holds what was read, wherever it stands.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from aal_engine.store.live_output import MAX_OUTPUT

MARK: Final = 1024
"""Bytes of each of the two marks."""


@dataclass(slots=True)
class Position:
    """A place in a file, behind a whole line unless a line is being skipped.

    `first_size` is how many bytes `first` is the hash of; `last` is that of those before `offset`.
    """

    device: int
    inode: int
    first_size: int
    first: str
    offset: int
    last: str
    skipping: bool = False

    @classmethod
    def start(cls, descriptor: int) -> Position:
        """Return the beginning of an open file."""
        about = os.fstat(descriptor)
        size, first = _marked(descriptor, 0, MARK)
        return cls(about.st_dev, about.st_ino, size, first, 0, _marked(descriptor, 0, 0)[1])

    def holds(self, descriptor: int) -> bool:
        """Say whether an open file holds what was read up to this place."""
        size = min(self.offset, MARK)
        return _marked(descriptor, 0, self.first_size) == (self.first_size, self.first) and (
            _marked(descriptor, self.offset - size, size) == (size, self.last)
        )

    def advance(self, descriptor: int, data: bytes) -> tuple[list[bytes], int]:
        """Take the whole lines off what was read here, and move behind them.

        Returns the lines without their ends, and how many were too long and are left out.
        """
        start, too_long = 0, 0
        if self.skipping:
            start = data.find(b"\n") + 1
            if not start:
                self._move(descriptor, len(data))
                return [], 0
            self.skipping = False
        end = data.rfind(b"\n") + 1
        lines = data[start:end].split(b"\n")[:-1] if end > start else []
        rest = data[end:]
        if len(rest) > MAX_OUTPUT:
            self.skipping, too_long, end = True, 1, len(data)
        elif _is_whole(rest):
            # No beginning of a JSON object is one, so this line lacks nothing but its end.
            lines.append(rest)
            end = len(data)
        self._move(descriptor, max(start, end))
        return [line for line in lines if line and not line.isspace()], too_long

    def _move(self, descriptor: int, by: int) -> None:
        if by == 0:
            return
        self.offset += by
        if self.first_size < MARK:
            self.first_size, self.first = _marked(descriptor, 0, MARK)
        size = min(self.offset, MARK)
        self.last = _marked(descriptor, self.offset - size, size)[1]


def _marked(descriptor: int, offset: int, size: int) -> tuple[int, str]:
    data = os.pread(descriptor, size, offset) if size else b""
    return len(data), hashlib.blake2b(data, digest_size=16).hexdigest()


def _is_whole(line: bytes) -> bool:
    if not line.rstrip().endswith(b"}"):
        return False
    with suppress(msgspec.MsgspecError, RecursionError, ValueError):
        return isinstance(msgspec.json.decode(line), dict)
    return False
