"""Per-case tables on disk: one Parquet file each, found again by the digest of its content."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aal_engine.errors import InputError, file_name
from aal_engine.measure.table import Source as TableSource
from aal_engine.measure.table import check_table, source_of, table_digest
from aal_engine.store.atomic import write_atomic

FOLDER = "tables"
SHOWN = 16
"""Hexadecimal digits of the digest that a file's name ends with."""

_UNSAFE = re.compile(r"[^\w.-]+")


def table_name(source: TableSource, digest: str) -> str:
    """Return the name of a table's file: readable, and ending with the digest's start."""
    parts = (source.kind, source.suite, source.model_family or "any")
    readable = "-".join(_UNSAFE.sub("_", part)[:40] for part in parts)
    return f"{readable}-{digest[:SHOWN]}.parquet"


def save_table(table: pa.Table, folder: Path) -> Path:
    """Write a table as Parquet into a folder; the same table gives the same bytes."""
    path = folder / table_name(source_of(table), table_digest(table))
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    write_atomic(path, sink.getvalue())
    return path


def load_table(path: Path) -> pa.Table:
    """Read a per-case table.

    Raises:
        InputError: the file cannot be read or is not a per-case table as this engine makes them.
    """
    try:
        table = pq.ParquetFile(path).read()
        table.validate(full=True)
        check_table(table)
    except InputError as error:
        fault = replace(error.faults[0], file=file_name(path))
        raise InputError(fault, way_out=error.way_out) from None
    except (OSError, pa.ArrowException, UnicodeDecodeError, RecursionError):
        raise InputError.at("is not a readable Parquet file", file=path) from None
    return table


def find_tables(
    digests: Iterable[str], beside: Iterable[Path], named: Iterable[Path] = ()
) -> dict[str, pa.Table]:
    """Return the tables at hand for these digests, from the folders `beside` and those `named`.

    A file that goes under a digest's name is returned under that digest whatever it holds: whether
    it is that table is for the gate to judge.

    Raises:
        InputError: a named folder does not exist, or a file under a digest's name is no table.
    """
    named = list(named)
    for folder in named:
        if not folder.is_dir():
            raise InputError.at("no such folder", file=folder)
    wanted = {digest[:SHOWN]: digest for digest in digests}
    found: dict[str, pa.Table] = {}
    for folder in dict.fromkeys((*named, *beside)):
        for path in sorted(folder.glob("*-*.parquet")) if folder.is_dir() else ():
            digest = wanted.get(path.stem.rpartition("-")[2])
            if digest is not None and digest not in found:
                found[digest] = load_table(path)
    return found
