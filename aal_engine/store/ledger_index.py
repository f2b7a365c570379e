"""An index over a ledger's entries for readers: rebuilt at will, the truth is the log's alone.

It says where the entries are that a reader asks for. What they say is read from the log, and held
against the hash that each line had when the chain was verified. So an index that is stale is caught
up, and one whose ledger was cut or written anew is built again; `aal ledger verify` reads none.

Between processes it is kept in `cache/index` of the ledger's folder: a line with the hash of the
rest, a line of JSON that says how far it reaches, and the bytes of an SQLite database. A file of
which a bit has changed is thrown away, and one that another user wrote, or could, is passed over: it
could leave entries out.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from aal_engine.decide.entry import Entry
from aal_engine.decide.ledger import Head
from aal_engine.errors import LedgerUnreadable, WriteError
from aal_engine.store import ledger_query as query
from aal_engine.store.atomic import replacing_at
from aal_engine.store.audit import Seen
from aal_engine.store.audit_state import read_head, told_head
from aal_engine.store.ledger import Ledger
from aal_engine.store.ledger_folder import opened
from aal_engine.store.ledger_query import SCHEMA, Filters
from aal_engine.store.ledger_row import take_up
from aal_engine.store.log import LINES, Line, Place, open_plain

FOLDER = "cache"
NAME = "index"
FORMAT = "aal-ledger-index/1"
WORTH_KEEPING = 1_000
"""Entries below which an index is built sooner than it is read."""

_MAX_BYTES = 2**30
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class LedgerIndex:
    """The index of one ledger; used by one thread at a time.

    `rebuilt` says why an index that stood here was thrown away, None if none was. Without `keep`
    nothing is written into the ledger's folder.
    """

    def __init__(self, folder: Path, *, keep: bool = True) -> None:
        self.rebuilt: str | None = None
        self._folder = folder
        self._keep = keep
        self._ledger = Ledger.open(folder)
        self._rows = _new()
        self._seen: Seen | None = None
        self._kept = 0
        if keep:
            self._load()

    def catch_up(self) -> Head:
        """Take in what was appended since, or all where the ledger is not what it was.

        Raises:
            ChainBroken: what was added does not follow.
            LedgerUnreadable: the ledger cannot be opened.
        """
        seen = self._followed()
        if seen is None:
            self._forget("the ledger no longer holds what was indexed: it was cut or written anew")
            seen = self._followed()
        assert seen is not None
        self._seen = seen
        if self._keep and seen.head.size >= max(WORTH_KEEPING, self._kept + self._kept // 8):
            self._save(seen)
        return seen.head

    def entries(self, asked: Filters, before: int | None, limit: int) -> list[Entry]:
        """Return matching entries with a number below `before`, the newest first.

        Raises:
            ChainBroken: one of them was changed since it was indexed.
        """
        return self._picked(query.entries(self._rows, asked, before, limit))

    def decisions(self, asked: Filters, before: int | None, limit: int) -> list[list[Entry]]:
        """Return matching complete decisions, the newest first, each as its parts in order.

        A decision stands where its last part does; `before` is about that part's number.

        Raises:
            ChainBroken: as `entries`.
        """
        found = query.decisions(self._rows, asked, before, limit)
        picked = iter(self._picked([part for parts in found for part in parts]))
        return [[next(picked) for _ in parts] for parts in found]

    def subjects(self, after: tuple[str, str] | None, limit: int) -> list[tuple[str, str]]:
        """Return the agents and packs of complete decisions, by name, those after one."""
        return query.subjects(self._rows, after, limit)

    def leaves(self) -> list[bytes]:
        """Return the leaf hashes of all entries, 32 bytes each, in order."""
        return query.leaves(self._rows)

    def parts(self, seq: int) -> list[Entry] | None:
        """Return the entries of the complete decision that an entry belongs to, None if of none.

        Raises:
            ChainBroken: as `entries`.
        """
        found = query.parts(self._rows, seq)
        return self._picked(found) if found else None

    def records(
        self, asked: Filters, before: tuple[int, int] | None, limit: int
    ) -> list[tuple[Entry, int, int]]:
        """Return matching records of complete decisions, the newest first.

        Each is the entry that holds it, its place among that entry's records, and the number of the
        entry that ends its decision. `before` is an entry's number and such a place.

        Raises:
            ChainBroken: as `entries`.
        """
        found = query.records(self._rows, asked, before, limit)
        lines = {row[0]: row[:4] for row in found}
        entries = dict(zip(lines, self._picked(list(lines.values())), strict=True))
        return [(entries[row[0]], row[4], row[5]) for row in found]

    def _picked(self, rows: list[tuple[Any, ...]]) -> list[Entry]:
        return self._ledger.pick([Line(*row) for row in rows])

    def _followed(self) -> Seen | None:
        offset = 0 if self._seen is None else self._seen.end.offset

        def take(entry: Entry) -> None:
            nonlocal offset
            if entry.seq % LINES == 0:
                offset = 0
            take_up(self._rows, entry, offset)
            offset += len(entry.line) + 1

        with self._rows:  # A chain that breaks on the way leaves what was indexed before.
            return self._ledger.follow(self._seen, take)

    def _forget(self, why: str) -> None:
        self.rebuilt = why
        self._ledger = Ledger.open(self._folder)
        self._rows, self._seen, self._kept = _new(), None, 0

    def _load(self) -> None:
        try:
            with (
                opened(self._folder) as root,
                opened(FOLDER, root) as cache,
                os.fdopen(open_plain(NAME, os.O_RDONLY, cache), "rb") as file,
            ):
                about = os.fstat(file.fileno())
                if about.st_uid != os.geteuid() or about.st_mode & _OTHERS_WRITE:
                    return
                raw = file.read(_MAX_BYTES + 1)
        except (OSError, LedgerUnreadable):
            return
        try:
            mark, _, rest = raw.partition(b"\n")
            if mark != _mark(rest):
                raise ValueError
            line, _, database = rest.partition(b"\n")
            told = json.loads(line)
            seen = Seen(read_head(told["head"]), Place(*told["end"]), bytes.fromhex(told["last"]))
            self._rows.deserialize(database)
            if _schema(self._rows) != _schema(_new()):
                raise ValueError
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, sqlite3.Error):
            self._forget("the index's file is not what was written")
        else:
            self._seen, self._kept = seen, seen.head.size

    def _save(self, seen: Seen) -> None:
        told = {
            "head": told_head(seen.head),
            "end": [seen.end.segment, seen.end.offset],
            "last": seen.last.hex(),
        }
        rest = json.dumps(told).encode() + b"\n" + self._rows.serialize()
        # Who may not write here reads without.
        with suppress(OSError, WriteError, LedgerUnreadable), opened(self._folder) as root:
            with suppress(FileExistsError):
                os.mkdir(FOLDER, dir_fd=root)
            with opened(FOLDER, root) as cache:
                with replacing_at(cache, ".gitignore") as file:
                    file.write(b"*\n")
                with replacing_at(cache, NAME) as file:
                    os.fchmod(file.fileno(), 0o600)
                    file.write(_mark(rest) + b"\n" + rest)
        self._kept = seen.head.size


def _mark(rest: bytes) -> bytes:
    return f"{FORMAT} {hashlib.sha256(rest).hexdigest()}".encode()


def _new() -> sqlite3.Connection:
    rows = sqlite3.connect(":memory:", check_same_thread=False)
    rows.execute("PRAGMA trusted_schema = OFF")
    rows.executescript(SCHEMA)
    return rows


def _schema(rows: sqlite3.Connection) -> list[Any]:
    return rows.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
