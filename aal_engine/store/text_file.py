"""Text files read with bounds: no line, file or fault list can exhaust the memory.

A file may be plain, gzip or Zstandard (told by its first bytes), a FIFO, `-` for standard input, or
stand at an address (see `aal_engine.store.remote`). Text is UTF-8, with or without a byte order mark; lines end with LF or CRLF.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from aal_engine.errors import Fault, InputError, file_name
from aal_engine.store.remote import is_address, open_address

Source: TypeAlias = "Path | str"

MAX_LINE = 16 * 2**20
"""Bytes that one line may have; a longer one is refused before it is read."""

MAX_WHOLE = 64 * 2**20
"""Bytes that a file may have which is read as a whole (YAML, a single JSON value)."""

MAX_FAULTS = 1_000
"""Faults after which the rest of a file is not looked at."""

STDIN = "-"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BUFFER = 2**18


def source_name(source: Source) -> str:
    """Return what messages call an input: its last path component, or `standard input`."""
    return "standard input" if str(source) == STDIN else file_name(source)


class FaultList:
    """Collects what is wrong in one file, so that all of it is reported at once."""

    def __init__(self, source: Source) -> None:
        self.file = source_name(source)
        self.faults: list[Fault] = []

    def add(
        self,
        problem: str,
        *,
        line: int | None = None,
        case: str | None = None,
        field: str | None = None,
    ) -> None:
        """Note one fault of this file."""
        self.faults.append(Fault(problem, self.file, line, case, field))

    @property
    def full(self) -> bool:
        """Whether so much is wrong that reading on tells nothing new."""
        return len(self.faults) >= MAX_FAULTS

    def settle(self, *, way_out: str | None = None) -> None:
        """Do nothing if no fault was found.

        Raises:
            InputError: with every fault.
        """
        if self.faults:
            raise InputError(self.faults, way_out=way_out)


@contextmanager
def open_input(source: Source) -> Iterator[BinaryIO]:
    """Give an input to read bytes from, decompressed, and close it after.

    Raises:
        InputError: it does not exist, is a folder, or may not be read.
    """
    with ExitStack() as opened:
        if str(source) == STDIN:
            raw: BinaryIO = sys.stdin.buffer
        elif is_address(source):
            raw = opened.enter_context(open_address(str(source)))
        else:
            try:
                raw = opened.enter_context(Path(source).open("rb", buffering=_BUFFER))
            except OSError as error:
                raise unreadable(source, error) from None
        try:
            start = raw.peek(4) if isinstance(raw, io.BufferedReader) else b""
        except OSError as error:
            raise unreadable(source, error) from None
        if start.startswith(_GZIP):
            unpacked = gzip.GzipFile(fileobj=raw, mode="rb")
            yield cast("BinaryIO", opened.enter_context(unpacked))
        elif start.startswith(_ZSTD):
            import pyarrow as pa

            stream = opened.enter_context(pa.CompressedInputStream(raw, "zstd"))
            yield io.BufferedReader(stream, _BUFFER)
        else:
            yield raw


def unreadable(source: Source, error: OSError) -> InputError:
    """Return the error for an input that the system refuses, without its folder."""
    name = source_name(source)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return InputError(Fault("no such file", name))
    if isinstance(error, IsADirectoryError):
        return InputError(Fault("is a folder where a file is needed", name))
    reason = error.strerror or "the system gave no reason"
    return InputError(Fault(f"cannot be read: {reason[:1].lower()}{reason[1:]}", name))


def read_lines(file: BinaryIO, faults: FaultList) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of every line that holds more than blanks.

    A line that is not UTF-8 is a fault and left out; one that is too long, and a broken
    compressed stream, end the reading.
    """
    number = 0
    while not faults.full:
        try:
            raw = file.readline(MAX_LINE + 1)
        except (OSError, EOFError, zlib.error, ValueError):
            faults.add("cannot be read to its end: it is cut off or damaged", line=number + 1)
            return
        if not raw:
            return
        number += 1
        if len(raw) > MAX_LINE:
            faults.add(f"the line is longer than {MAX_LINE // 2**20} MiB", line=number)
            return
        if number == 1:
            if raw.startswith(_UTF16):
                faults.add("is UTF-16 text; save it as UTF-8", line=1)
                return
            raw = raw.removeprefix(BOM)
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            faults.add(f"is not UTF-8 text at byte {error.start + 1} of the line", line=number)
            continue
        if not text.isspace():
            yield number, text


def read_text(source: Source) -> str:
    """Return the text of a file of at most 64 MiB.

    Raises:
        InputError: it cannot be read.
    """
    faults = FaultList(source)
    text = read_whole(source, faults)
    faults.settle()
    return text or ""


def read_whole(source: Source, faults: FaultList) -> str | None:
    """Return the text of a file of at most 64 MiB, or None with the fault noted."""
    with open_input(source) as file:
        try:
            raw = file.read(MAX_WHOLE + 1)
        except (OSError, EOFError, zlib.error, ValueError):
            faults.add("cannot be read to its end: it is cut off or damaged")
            return None
    if len(raw) > MAX_WHOLE:
        faults.add(f"is larger than {MAX_WHOLE // 2**20} MiB")
        return None
    if raw.startswith(_UTF16):
        faults.add("is UTF-16 text; save it as UTF-8", line=1)
        return None
    try:
        return raw.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        faults.add("is not UTF-8 text", line=line)
        return None
