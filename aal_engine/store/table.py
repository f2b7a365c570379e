"""Per-case tables on disk: one Parquet file each, found again by the digest of its content."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aal_engine.errors import InputError
from aal_engine.measure.table import Source as TableSource
from aal_engine.measure.table import source_of, table_digest
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
        InputError: the file cannot be read or is not a per-case table.
    """
    try:
        table = pq.ParquetFile(path).read()
        source_of(table)
    except InputError as error:
        raise InputError.at(error.faults[0].problem, file=path, way_out=error.way_out) from None
    except (OSError, pa.ArrowException):
        raise InputError.at("is not a readable Parquet file", file=path) from None
    return table


def find_tables(digests: Iterable[str], folders: Iterable[Path]) -> dict[str, pa.Table]:
    """Return the tables at hand for these digests, from the `tables` folders beside the records.

    A file that goes under a digest's name is returned under that digest whatever it holds: whether
    it is that table is for the gate to judge.
    """
    wanted = set(digests)
    found: dict[str, pa.Table] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.parquet")) if folder.is_dir() else ():
            end = path.stem[-SHOWN:]
            for digest in wanted - found.keys():
                if digest.startswith(end):
                    found[digest] = load_table(path)
    return found
