"""Entries as the rows of a ledger's index (see `ledger_query` for its tables).

A body may have any shape: what a row cannot hold of it is left out, and found by no filter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from aal_engine.decide.entry import Entry

_TEXTS = ("agent", "pack", "version", "verdict", "decision")
_NUMBER = 2**53


def take_up(rows: sqlite3.Connection, entry: Entry, offset: int) -> None:
    """Add the next entry, which starts at this offset of its segment, in bytes.

    A decision is complete once its last part is taken up and all before it stand before it.
    """
    body = entry.body
    part, parts = _place(body) if entry.kind == "decision" else (None, None)
    first = None
    if part is not None and parts is not None and part == parts:
        first = _first(rows, entry.seq, parts, body.get("decision"))
    told = (_text(body.get(name)) for name in _TEXTS)
    place = (entry.seq, offset, len(entry.line), entry.leaf, entry.kind, entry.at)
    rows.execute(
        f"INSERT INTO entry VALUES ({', '.join('?' * 14)})",  # noqa: S608
        (*place, *told, part, parts, first),
    )
    if part is not None:
        end = None if first is None else entry.seq
        rows.executemany(
            "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((entry.seq, number, end, *row) for number, row in _records(body)),
        )
    if first is not None:
        rows.execute("UPDATE record SET decision = ? WHERE entry >= ?", (entry.seq, first))


def _place(body: Mapping[str, Any]) -> tuple[int, int] | tuple[None, None]:
    """Return which part of how many of a decision a body is."""
    told = body.get("part", [1, 1])
    if isinstance(told, list) and len(told) == 2 and all(_is_whole(each) for each in told):
        return told[0], told[1]
    return None, None


def _first(rows: sqlite3.Connection, seq: int, parts: int, decision: Any) -> int | None:
    """Return the number of a decision's first part if all before the last stand before it."""
    first = seq - parts + 1
    if parts == 1:
        return seq
    held = rows.execute(
        "SELECT count(*) FROM entry WHERE seq BETWEEN ? AND ? AND decision = ? AND parts = ?"
        " AND part = seq - ? + 1",
        (first, seq - 1, _text(decision), parts, first),
    ).fetchone()
    return first if held[0] == parts - 1 else None


def _records(body: Mapping[str, Any]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    held = body.get("records")
    for place, record in enumerate(held if isinstance(held, list) else ()):
        if isinstance(record, dict):
            names = ("kind", "suite", "model_family")
            told = (_text(record.get(name)) for name in names)
            yield place, (*told, record.get("passed") is True, _text(record.get("record")))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < _NUMBER
