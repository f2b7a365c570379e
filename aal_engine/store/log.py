"""The log's segments on disk: `log/00000000.jsonl` and on, 4,096 lines each.

A full segment is a perfect subtree of the Merkle tree.

Reading takes an extent first, the number of segments and the length of the last, and reads no
further: what a writer adds meanwhile is left for the next time. Writing is one `write` and one
`fsync` a segment; whatever fails, the log is cut back to its old length.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from aal_engine.decide.entry import MAX_LINE
from aal_engine.decide.merkle import leaf_hash
from aal_engine.errors import AppendRefused, ChainBroken, LedgerUnreadable

NAME = "log"
LINES = 4_096

_SEGMENT = re.compile(r"(\d{8})\.jsonl")
_CHUNK = 1 << 20
_MAX_TAIL = 64 * 2**20
"""Bytes without a line feed that are read at the end of the log: more than any append may leave."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How far the log reaches: `segments` files, the last of them `last` bytes long."""

    segments: int
    last: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line starts: the segment's number and the offset in it, in bytes."""

    segment: int
    offset: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line that was verified: its number, where it starts in its segment, its bytes, its leaf.

    `length` is without the line feed; `leaf` is the line's hash, 32 bytes.
    """

    seq: int
    offset: int
    length: int
    leaf: bytes


def segment_name(number: int) -> str:
    """Return a segment's file name.

    >>> segment_name(7)
    '00000007.jsonl'
    """
    return f"{number:08d}.jsonl"


def extent(log: int) -> Extent:
    """Return how far the log in this open folder reaches.

    Raises:
        ChainBroken: a segment before the last is missing.
    """
    numbers = sorted(int(m[1]) for m in map(_SEGMENT.fullmatch, os.listdir(log)) if m)
    for expected, number in enumerate(numbers):
        if number != expected:
            raise ChainBroken(expected * LINES, f"{segment_name(expected)} is missing")
    if not numbers:
        return Extent(0, 0)
    last = os.stat(segment_name(numbers[-1]), dir_fd=log, follow_symlinks=False)
    return Extent(len(numbers), last.st_size)


class Reading:
    """The whole lines of a log from a place on, without line feeds.

    Once they have been read, `end` is the place after the last of them and `torn` what follows it:
    bytes without a line feed, left by an append that was cut off. `last` is the last whole line.
    """

    def __init__(self, log: int, reach: Extent, start: Place = Place(0, 0), seq: int = 0) -> None:
        self.end = start
        self.torn = b""
        self.last = b""
        self._log = log
        self._reach = reach
        self._seq = seq

    def __iter__(self) -> Iterator[bytes]:
        while self.end.segment < self._reach.segments:
            yield from self._segment()
            if self.end.segment + 1 == self._reach.segments:
                return
            self._require_whole()
            self.end = Place(self.end.segment + 1, 0)

    def _segment(self) -> Iterator[bytes]:
        number, offset = self.end.segment, self.end.offset
        left = None
        if number + 1 == self._reach.segments:
            left = self._reach.last - offset
        segment = open_segment(self._log, number, os.O_RDONLY)
        rest = b""
        try:
            os.lseek(segment, offset, os.SEEK_SET)
            while chunk := os.read(segment, _CHUNK if left is None else min(left, _CHUNK)):
                if left is not None:
                    left -= len(chunk)
                *lines, rest = (rest + chunk).split(b"\n")
                if lines:
                    self.last = lines[-1]
                yield from lines
                self._seq += len(lines)
                offset += len(chunk)
                if len(rest) > MAX_LINE and (left is None or not _is_unwritten(rest)):
                    raise ChainBroken(self._seq, f"is longer than {MAX_LINE:,} bytes")
        finally:
            os.close(segment)
        self.torn = rest
        self.end = Place(number, offset - len(rest))
        if self._seq > (number + 1) * LINES:
            raise ChainBroken(
                (number + 1) * LINES, f"stands in {segment_name(number)}, which was full before it"
            )

    def _require_whole(self) -> None:
        number = self.end.segment
        if self.torn:
            raise ChainBroken(self._seq, f"is cut off at the end of {segment_name(number)}")
        if self._seq != (number + 1) * LINES:
            raise ChainBroken(
                self._seq, f"is missing: {segment_name(number)} does not hold {LINES:,} lines"
            )


def _is_unwritten(rest: bytes) -> bool:
    """Say whether a tail is what a file system may leave of an append: grown, and not yet filled."""
    return len(rest) <= _MAX_TAIL and len(rest.rstrip(b"\0")) <= MAX_LINE


def open_segment(log: int, number: int, flags: int) -> int:
    """Open one segment; never through a symbolic link.

    Raises:
        LedgerUnreadable: it cannot be opened.
    """
    name = segment_name(number)
    try:
        return open_plain(name, flags, log)
    except FileNotFoundError:
        raise LedgerUnreadable(f"{name} is not there any more") from None


def open_plain(name: str, flags: int, folder: int) -> int:
    """Open a plain file of a folder; never through a symbolic link, and never a pipe.

    Raises:
        FileNotFoundError: it is not there.
        LedgerUnreadable: it cannot be opened, or is no plain file.
    """
    # Without O_NONBLOCK a pipe in a file's place would keep us waiting for its other end.
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        file = os.open(name, flags, 0o666, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LedgerUnreadable(f"{name} cannot be opened: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise LedgerUnreadable(f"{name} is not a plain file")
    return file


def holds(log: int, reach: Extent, end: Place, line: bytes) -> bool:
    """Say whether a line that was read before still ends at this place."""
    # The start of a segment is the end of the line before it.
    number = end.segment if end.offset else end.segment - 1
    if number >= reach.segments:
        return False
    segment = open_segment(log, number, os.O_RDONLY)
    try:
        start = (end.offset or os.fstat(segment).st_size) - len(line) - 1
        return start >= 0 and os.pread(segment, len(line) + 1, start) == line + b"\n"
    finally:
        os.close(segment)


def picked(log: int, lines: Iterable[Line]) -> Iterator[bytes]:
    """Yield the bytes of lines that were verified before.

    Raises:
        ChainBroken: another line stands there now.
        LedgerUnreadable: a segment cannot be opened.
    """
    for number, group in groupby(lines, key=lambda line: line.seq // LINES):
        segment = open_segment(log, number, os.O_RDONLY)
        try:
            for line in group:
                raw = os.pread(segment, line.length, line.offset)
                if leaf_hash(raw) != line.leaf:
                    raise ChainBroken(line.seq, "is not what was verified before: it was changed")
                yield raw
        finally:
            os.close(segment)


def append(log: int, reach: Extent, lines: Sequence[bytes], seq: int) -> Place:
    """Add lines (without line feeds) after the last, durably, and return where the log ends now.

    `seq` is the place of the first of them, and there is at least one.

    Raises:
        AppendRefused: a write or a sync failed, or the disk is full. The log is as it was.
    """
    undo: list[tuple[int, int | None]] = []
    try:
        while lines:
            number, room = seq // LINES, LINES - seq % LINES
            old = reach.last if number + 1 == reach.segments else None
            undo.append((number, old))
            data = b"".join(line + b"\n" for line in lines[:room])
            _write(log, number, old, data)
            end = Place(number, (old or 0) + len(data))
            lines, seq = lines[room:], seq + room
    except BaseException as error:
        _cut_back(log, undo)
        if isinstance(error, OSError):
            raise AppendRefused(
                f"nothing was added to the ledger: {error.strerror}; the log is as it was"
            ) from None
        raise
    return end


def _write(log: int, number: int, old: int | None, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_EXCL if old is None else 0)
    segment = open_segment(log, number, flags)
    try:
        if os.write(segment, data) != len(data):
            raise OSError(errno.ENOSPC, "the disk is full or at a limit, and took only a part")
        os.fsync(segment)
    finally:
        os.close(segment)
    if old is None:
        os.fsync(log)


def _cut_back(log: int, undo: Sequence[tuple[int, int | None]]) -> None:
    try:
        for number, old in reversed(undo):
            if old is None:
                with suppress(FileNotFoundError):
                    os.unlink(segment_name(number), dir_fd=log)
                os.fsync(log)
            else:
                cut(log, number, old)
    except OSError as error:
        raise AppendRefused(
            "an entry was written, not synced, and could not be taken back: "
            f"{error.strerror or error}",
            way_out="mend the disk, then run: aal ledger verify",
        ) from None


def cut(log: int, number: int, length: int) -> None:
    """Cut a segment to a length, durably."""
    segment = open_segment(log, number, os.O_WRONLY)
    try:
        os.ftruncate(segment, length)
        os.fsync(segment)
    finally:
        os.close(segment)
