"""Follows a log of lines, one file or a folder of them, over rotation, truncation and restarts.

A file that is renamed or removed while it is followed is read to its end first. The copy that
`copytruncate` leaves goes on where its original stood. Every reading gives whole lines and moves the
positions behind them; what is done with the lines and the positions belong in one commit.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from aal_engine.errors import InputError
from aal_engine.store.position import Position
from aal_engine.store.text_file import unreadable

CHUNK: Final = 2**21
"""Bytes read at once; more than the longest line."""

MOST_OPEN: Final = 64
MOST_LEFT: Final = 64
"""Positions kept of files that are not there, in case that they show up under another name."""

_LOG: Final = re.compile(r"[^.].*\.(?:jsonl|ndjson|json|log)(?:[.-].+)?")
_NOT_READ: Final = re.compile(r".*\.(?:gz|zst|bz2|xz|lz4|tmp|swp)")

_Inode: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines without their ends, and how many were too long and are left out."""

    lines: list[bytes]
    too_long: int


@dataclass(slots=True)
class _File:
    """A file that is followed. `there` says whether it still stands in its place."""

    descriptor: int
    position: Position
    modified: int
    there: bool = True


class Tail:
    """A reader of the lines of `path`: a log file with its rotated siblings, or a folder of logs.

    In a folder, files are read whose names have `.jsonl`, `.ndjson`, `.json` or `.log` in them;
    hidden and compressed ones are not. `torn` counts files that ended within a line and are gone.
    """

    def __init__(self, path: Path, positions: Iterable[Position] = ()) -> None:
        self._path = path
        self._left = list(positions)
        self._files: dict[_Inode, _File] = {}
        self._rested: dict[_Inode, tuple[int, int, Position]] = {}
        self.torn = 0

    def positions(self) -> list[Position]:
        """Return how far everything was read, for the next process to go on with."""
        rested = (position for _, _, position in self._rested.values())
        known = [*self._left, *(file.position for file in self._files.values()), *rested]
        return [position for position in known if position.offset]

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            os.close(file.descriptor)
        self._files.clear()

    def read(self) -> Chunk | None:
        """Return the next whole lines, oldest file first, or None where all was read.

        Raises:
            InputError: the path, or a file in it, cannot be read.
        """
        full = True
        while full:
            full = self._scan()
            order = sorted(self._files.items(), key=lambda item: item[1].modified)
            for key, file in order:
                chunk = self._read(file)
                if chunk is not None:
                    return chunk
                if full or not file.there:
                    self._rest(key, file)
        del self._left[:-MOST_LEFT]
        return None

    def _scan(self) -> bool:
        """Find the files that are there; say whether there are more than may be open."""
        full = False
        found: set[_Inode] = set()
        for path in self._paths():
            try:
                about = path.stat()
            except OSError:
                continue
            key = about.st_dev, about.st_ino
            if key in found or not stat.S_ISREG(about.st_mode):
                continue
            found.add(key)
            if key in self._files:
                self._files[key].modified = about.st_mtime_ns
            elif about.st_size and self._rested.get(key, ())[:2] != (
                about.st_size,
                about.st_mtime_ns,
            ):
                if len(self._files) < MOST_OPEN:
                    self._open(path)
                else:
                    full = True
        for key, file in self._files.items():
            file.there = key in found
        for key in self._rested.keys() - found:
            self._left.append(self._rested.pop(key)[2])
        return full

    def _paths(self) -> list[Path]:
        folder = self._path if self._path.is_dir() else self._path.parent
        own = self._path.name
        try:
            paths = sorted(folder.iterdir())
        except OSError as error:
            raise unreadable(self._path, error) from None
        if folder is self._path:
            wanted = [path for path in paths if _LOG.fullmatch(path.name)]
        else:
            siblings = (f"{own}.", f"{own}-")
            wanted = [p for p in paths if p.name == own or p.name.startswith(siblings)]
        return [path for path in wanted if not _NOT_READ.fullmatch(path.name)]

    def _open(self, path: Path) -> None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        except OSError as error:
            raise unreadable(path, error) from None
        about = os.fstat(descriptor)
        key = about.st_dev, about.st_ino
        if not stat.S_ISREG(about.st_mode) or key in self._files:
            os.close(descriptor)
            return
        if key in self._rested:
            self._left.append(self._rested.pop(key)[2])
        position = self._known(descriptor, key) or Position.start(descriptor)
        self._files[key] = _File(descriptor, position, about.st_mtime_ns)

    def _known(self, descriptor: int, key: _Inode) -> Position | None:
        """Return the position of a file that was read before, here or where it was copied from."""
        left = [position for position in self._left if position.holds(descriptor)]
        if left:
            position = max(left, key=lambda each: ((each.device, each.inode) == key, each.offset))
            self._left.remove(position)
            position.device, position.inode = key
            return position
        for file in self._files.values():
            other = file.position
            if other.offset and other.holds(descriptor):
                return Position(
                    *key, other.first_size, other.first, other.offset, other.last, other.skipping
                )
        return None

    def _read(self, file: _File) -> Chunk | None:
        descriptor = file.descriptor
        try:
            if not file.position.holds(descriptor):
                # Truncated or written anew. A copy may hold what was not read of the old content.
                self._left.append(file.position)
                file.position = Position.start(descriptor)
            before = file.position.offset
            data = os.pread(descriptor, CHUNK, before)
            lines, too_long = file.position.advance(descriptor, data)
        except OSError as error:
            raise unreadable(self._path, error) from None
        return None if file.position.offset == before else Chunk(lines, too_long)

    def _rest(self, key: _Inode, file: _File) -> None:
        """Close a file that was read to its end."""
        about = os.fstat(file.descriptor)
        os.close(file.descriptor)
        del self._files[key]
        if file.there:
            self._rested[key] = about.st_size, about.st_mtime_ns, file.position
        else:
            self.torn += about.st_size > file.position.offset
            self._left.append(file.position)


def require_path(path: Path) -> None:
    """Do nothing if there is a folder, or a file whose lines can be followed, at the path.

    Raises:
        InputError: there is none.
    """
    if not path.exists():
        raise InputError.at("no such file", file=path)
    if path.is_dir():
        return
    if not path.is_file() or _NOT_READ.fullmatch(path.name):
        raise InputError.at(
            "is no plain file of lines",
            file=path,
            way_out="hand its lines to: aal monitor - --once",
        )
