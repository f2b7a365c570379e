"""The monitor's memory on disk: numbers, names and digests, never a text.

```
snapshot.json   all of it, replaced as a whole
journal         what was committed since: a line each, `CRC-32 of the JSON` and the JSON
.lock           held by the one process that writes here
```

A commit is one line, synced. What a process that dies leaves of a line has no right checksum, and is
cut off when the next one opens the journal. A line says what stands after it, not what changed, and
has a number, so that lines which the snapshot holds already do no harm.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from aal_engine.canonical import JSON
from aal_engine.errors import Conflict, InputError, WriteError, file_name
from aal_engine.store.atomic import write_atomic
from aal_engine.store.folder import make_folder
from aal_engine.store.seen import Seen, pack

SNAPSHOT: Final = "snapshot.json"
JOURNAL: Final = "journal"
LOCK: Final = ".lock"
VERSION: Final = 1
MOST_JOURNAL: Final = 4 * 2**20
"""Bytes after which the journal is folded into a new snapshot."""


class MonitorState:
    """The state in one folder, held by one process until it is closed.

    `value` is what was committed last, None before the first commit; `seen` the trace ids counted.
    """

    def __init__(self, folder: Path, *, most_journal: int = MOST_JOURNAL) -> None:
        """Open the folder, and make it where it is not there.

        Raises:
            Conflict: another process holds it.
            InputError: what stands there is not such a state.
            WriteError: the folder or a file in it cannot be made.
        """
        make_folder(folder)
        self._folder = folder
        self._most = most_journal
        self._sequence = 0
        self.value: Mapping[str, Any] | None = None
        self.seen = Seen()
        try:
            self._lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise _failed(folder / LOCK, error) from None
        try:
            self._hold()
            self._load()
        except BaseException:
            os.close(self._lock)
            raise

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._journal)
        os.close(self._lock)

    def commit(self, value: Mapping[str, JSON], keys: Iterable[int]) -> None:
        """Make a value, and the ids added to `seen` since the last commit, what a later process finds.

        Raises:
            WriteError: it could not be written; the commit before stands.
        """
        self._sequence += 1
        line = {"v": VERSION, "seq": self._sequence, "value": value, "ids": pack(keys)}
        text = json.dumps(line, separators=(",", ":"), allow_nan=False).encode()
        self._append(b"%08x %b\n" % (zlib.crc32(text), text))
        self.value = value
        if self._size > self._most:
            self._fold()

    def _hold(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(
                f"another process watches with the state in {file_name(self._folder)}",
                way_out="stop it, or give this one a folder of its own with --state",
            ) from None

    def _load(self) -> None:
        snapshot = self._folder / SNAPSHOT
        try:
            if snapshot.exists():
                self._take(json.loads(snapshot.read_bytes()))
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._journal = os.open(self._folder / JOURNAL, flags, 0o666)
            self._size = self._replay((self._folder / JOURNAL).read_bytes())
            os.ftruncate(self._journal, self._size)
        except (ValueError, KeyError, TypeError):
            raise InputError.at(
                "is not the state of a monitor",
                file=snapshot,
                way_out="name another folder with --state; this one stays as it is",
            ) from None
        except OSError as error:
            raise _failed(snapshot, error) from None

    def _replay(self, journal: bytes) -> int:
        """Take up the whole lines of a journal, and return how many bytes they have."""
        size = 0
        for line in journal.splitlines(keepends=True):
            checksum, _, text = line.partition(b" ")
            if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text[:-1]):
                break
            size += len(line)
            self._take(json.loads(text))
        return size

    def _take(self, line: Mapping[str, Any]) -> None:
        if line["v"] != VERSION:
            raise ValueError
        if line["seq"] > self._sequence:
            self._sequence, self.value = line["seq"], line["value"]
            self.seen.restore(line["ids"])

    def _append(self, line: bytes) -> None:
        try:
            if os.write(self._journal, line) != len(line):
                raise OSError(0, "the disk is full")
            os.fdatasync(self._journal)
        except OSError as error:
            self._sequence -= 1
            with suppress(OSError):
                os.ftruncate(self._journal, self._size)
            raise _failed(self._folder / JOURNAL, error) from None
        self._size += len(line)

    def _fold(self) -> None:
        whole = {
            "v": VERSION,
            "seq": self._sequence,
            "value": self.value,
            "ids": self.seen.packed(),
        }
        write_atomic(self._folder / SNAPSHOT, json.dumps(whole, separators=(",", ":")).encode())
        try:
            os.ftruncate(self._journal, 0)
        except OSError as error:
            raise _failed(self._folder / JOURNAL, error) from None
        self._size = 0


def _failed(path: Path, error: OSError) -> WriteError:
    reason = error.strerror or type(error).__name__
    return WriteError(f"{file_name(path)} was not written: {reason}")
