"""What readers ask of a ledger's index, and the SQL that answers it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCHEMA = """
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY, offset INTEGER, length INTEGER, leaf BLOB, kind TEXT, at TEXT,
  agent TEXT, pack TEXT, version TEXT, verdict TEXT, decision TEXT,
  part INTEGER, parts INTEGER, first INTEGER
) STRICT;
CREATE INDEX entry_kind ON entry (kind, seq);
CREATE INDEX entry_agent ON entry (agent, seq);
CREATE INDEX entry_pack ON entry (pack, seq);
CREATE INDEX entry_decision ON entry (decision, seq);
CREATE INDEX entry_act ON entry (agent, pack, seq) WHERE kind <> 'decision';
CREATE INDEX entry_subject ON entry (agent, pack, seq) WHERE first IS NOT NULL;
CREATE TABLE record (
  entry INTEGER, place INTEGER, decision INTEGER, kind TEXT, suite TEXT, family TEXT,
  passed INTEGER, record TEXT, PRIMARY KEY (entry, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_family ON record (family, entry, place);
CREATE INDEX record_suite ON record (suite, entry, place);
CREATE INDEX record_decision ON record (decision);
CREATE INDEX record_record ON record (record);
"""
"""`entry.first` is the first part's number in the row of a complete decision's last part, and
`record.decision` that last part's, both NULL where parts are missing."""

_ENTRY = {
    "agent": "e.agent = ?",
    "pack": "e.pack = ?",
    "version": "e.version = ?",
    "verdict": "e.verdict = ?",
    "decision": "e.decision = ?",
    "since": "e.at >= ?",
    "until": "e.at < ?",
}
_RECORD = {
    "suite": "r.suite = ?",
    "family": "r.family = ?",
    "passed": "r.passed = ?",
    "scored": "r.kind = ?",
    "record": "r.record = ?",
}
_LINE = "e.seq, e.offset, e.length, e.leaf"


@dataclass(frozen=True, slots=True)
class Filters:
    """What entries have to be; None asks for nothing.

    `kinds` are kinds of entries, `since` (inclusive) and `until` are times as entries hold them
    (`entry.stamp`). Of a decision's records, `scored` is `retrieval` or `answers`, `family` the
    model family, and `record` the record's digest; one record of the decision has to be all that.
    """

    kinds: tuple[str, ...] = ()
    agent: str | None = None
    pack: str | None = None
    version: str | None = None
    verdict: str | None = None
    decision: str | None = None
    since: str | None = None
    until: str | None = None
    suite: str | None = None
    family: str | None = None
    passed: bool | None = None
    scored: str | None = None
    record: str | None = None

    def clauses(self) -> tuple[list[str], list[Any]]:
        """Return the conditions on an entry `e` and their values."""
        clauses, values = self._asked(_ENTRY)
        if self.kinds:
            clauses.append(f"e.kind IN ({', '.join('?' * len(self.kinds))})")
            values += self.kinds
            if "decision" not in self.kinds:
                clauses.append("e.kind <> 'decision'")  # so that the index of these alone is used
        return clauses, values

    def of_record(self) -> tuple[list[str], list[Any]]:
        """Return the conditions on a record `r` and their values."""
        return self._asked(_RECORD)

    def _asked(self, table: Mapping[str, str]) -> tuple[list[str], list[Any]]:
        asked = {name: getattr(self, name) for name in table}
        given = {name: value for name, value in asked.items() if value is not None}
        return [table[name] for name in given], list(given.values())


def entries(
    rows: sqlite3.Connection, asked: Filters, before: int | None, limit: int
) -> list[tuple[Any, ...]]:
    """Return where matching entries stand (number, offset, length, leaf), the newest first."""
    return _entries(rows, _LINE, (), asked, before, limit)


def decisions(
    rows: sqlite3.Connection, asked: Filters, before: int | None, limit: int
) -> list[list[tuple[Any, ...]]]:
    """Return where the parts of matching complete decisions stand, the newest decision first."""
    whole = ("e.kind = 'decision'", "e.first IS NOT NULL")
    found = _entries(rows, "e.first, e.seq", whole, asked, before, limit)
    parts = f"SELECT {_LINE} FROM entry e WHERE e.seq BETWEEN ? AND ? ORDER BY e.seq"  # noqa: S608
    return [rows.execute(parts, span).fetchall() for span in found]


def subjects(
    rows: sqlite3.Connection, after: tuple[str, str] | None, limit: int
) -> list[tuple[str, str]]:
    """Return the agents and packs of complete decisions, by name."""
    return rows.execute(
        "SELECT agent, pack FROM entry WHERE first IS NOT NULL AND pack IS NOT NULL"
        " AND (agent, pack) > (?, ?) GROUP BY agent, pack ORDER BY agent, pack LIMIT ?",
        (*(after or ("", "")), limit),
    ).fetchall()


def leaves(rows: sqlite3.Connection) -> list[bytes]:
    """Return the leaf hashes of all entries, in order."""
    return [leaf for (leaf,) in rows.execute("SELECT leaf FROM entry ORDER BY seq")]


def parts(rows: sqlite3.Connection, seq: int) -> list[tuple[Any, ...]]:
    """Return where the parts of the complete decision stand that an entry belongs to."""
    return rows.execute(
        f"SELECT {_LINE} FROM entry last JOIN entry e ON e.seq BETWEEN last.first AND last.seq"  # noqa: S608
        " WHERE last.seq = (SELECT min(seq) FROM entry WHERE seq >= ? AND first IS NOT NULL)"
        " AND last.first <= ? ORDER BY e.seq",
        (seq, seq),
    ).fetchall()


def records(
    rows: sqlite3.Connection, asked: Filters, before: tuple[int, int] | None, limit: int
) -> list[tuple[Any, ...]]:
    """Return matching records of complete decisions, the newest first.

    A row is where the entry stands that holds it, its place in that entry, and the number of the
    entry that ends its decision.
    """
    clauses, values = asked.clauses()
    more, rest = asked.of_record()
    clauses += [*more, "r.decision IS NOT NULL"]
    values += rest
    if before is not None:
        clauses.append("(r.entry, r.place) < (?, ?)")
        values += before
    return rows.execute(
        f"SELECT {_LINE}, r.place, r.decision FROM record r JOIN entry e ON e.seq = r.entry"  # noqa: S608
        f" WHERE {' AND '.join(clauses)} ORDER BY r.entry DESC, r.place DESC LIMIT ?",
        (*values, limit),
    ).fetchall()


def _entries(
    rows: sqlite3.Connection,
    columns: str,
    more: Sequence[str],
    asked: Filters,
    before: int | None,
    limit: int,
) -> list[tuple[Any, ...]]:
    clauses, values = asked.clauses()
    clauses += more
    of_record, rest = asked.of_record()
    if of_record:
        inner = " AND ".join(("r.decision = e.seq", *of_record))
        clauses.append(f"EXISTS (SELECT 1 FROM record r WHERE {inner})")  # noqa: S608
        values += rest
    if before is not None:
        clauses.append("e.seq < ?")
        values.append(before)
    where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
    return rows.execute(
        f"SELECT {columns} FROM entry e{where} ORDER BY e.seq DESC LIMIT ?",  # noqa: S608
        (*values, limit),
    ).fetchall()
