"""The per-case table: case ids and numbers, never text; one row per case and attempt.

Columns: `case_id`, `case_digest`, `attempt` (0 where the run has no output for the case),
`missing` (0 or 1), `slice.NAME` (0 or 1), `count.NAME` (whole numbers), and one float64 column per
metric, null where the metric does not apply to the row. Rows stand in order of case id, then
attempt. What the table was made from stands in its schema's metadata under `aal`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aal_engine.canonical import JSON, canonical
from aal_engine.errors import Fault, InputError
from aal_engine.measure.metric import Kind, metric
from aal_engine.measure.origin import Identity

TABLE_SCHEMA = "aal/table/1"
COUNT = "count."
SLICE = "slice."
FIXED = ("case_id", "case_digest", "attempt", "missing")

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Source:
    """What a table was made from: names, digests and whole numbers only.

    `golden_cases` is the size of the whole golden set; `foreign_outputs` counts outputs for cases
    that the set does not have. `index` is the index that a live run searched.
    """

    kind: Kind
    pack: str
    agent: str
    version: str
    model_family: str | None
    suite: str
    golden_set: str
    golden_cases: int
    run: str
    engine: str
    foreign_outputs: int = 0
    index: Identity | None = None

    def canonical(self) -> dict[str, JSON]:
        """Return the source as JSON; an index that is not known is left out."""
        told = {"schema": TABLE_SCHEMA, **asdict(self)}
        if self.index is None:
            del told["index"]
        return told


def case_table(
    source: Source,
    case_ids: Sequence[str],
    case_digests: Sequence[str],
    attempts: Sequence[int],
    missing: Sequence[bool],
    slices: Mapping[str, Sequence[bool]],
    counts: Mapping[str, Sequence[int]],
    metrics: Mapping[str, Floats],
) -> pa.Table:
    """Assemble the per-case table; every argument has one item per row, NaN means null.

    Returns:
        A table of `len(case_ids)` rows whose metadata holds `source`.
    """
    columns: dict[str, pa.Array] = {
        "case_id": _strings(case_ids),
        "case_digest": _strings(case_digests),
        "attempt": _whole_numbers(attempts),
        "missing": _whole_numbers(missing),
    }
    for name, flags in sorted(slices.items()):
        columns[SLICE + name] = _whole_numbers(flags)
    for name, numbers in counts.items():
        columns[COUNT + name] = _whole_numbers(numbers)
    for name, values in metrics.items():
        columns[name] = _nullable(values)
    schema = pa.schema(
        [(name, column.type) for name, column in columns.items()],
        metadata={"aal": canonical(source.canonical())},
    )
    return pa.Table.from_arrays(list(columns.values()), schema=schema)


# Columns are made from their buffers: `pa.array` would import pandas to look at what it is given.
def _strings(values: Sequence[str]) -> pa.Array:
    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def _whole_numbers(values: Sequence[int] | Sequence[bool]) -> pa.Array:
    data = pa.py_buffer(np.asarray(values, dtype=np.int64))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, data])


def _nullable(values: Floats) -> pa.Array:
    known = ~np.isnan(values)
    validity = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
    data = pa.py_buffer(np.where(known, values, 0.0))
    return pa.Array.from_buffers(pa.float64(), len(values), [validity, data])


def source_of(table: pa.Table) -> Source:
    """Return what a table was made from.

    Raises:
        InputError: the table carries no such metadata, or it is not of this schema.
    """
    try:
        told = json.loads((table.schema.metadata or {})[b"aal"])
        if told.pop("schema") != TABLE_SCHEMA:
            raise ValueError
        index = told.pop("index", None)
        source = Source(**told, index=None if index is None else Identity(**index))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise _strange() from None
    sizes: tuple[object, ...] = (source.golden_cases, source.foreign_outputs)
    names = [value for value in told.values() if not isinstance(value, int)]
    if source.index is not None:
        sizes += (source.index.count or 0,)
        names += [source.index.name, source.index.model]
    if not all(type(value) is int for value in sizes) or not all(
        isinstance(value, str | None) for value in names
    ):
        raise _strange()
    return source


def _strange() -> InputError:
    return InputError(
        Fault("is not a per-case table of this engine"), way_out="make it with `aal evaluate`"
    )


def check_table(table: pa.Table) -> None:
    """Hold a table from a file against what `case_table` makes.

    Raises:
        InputError: a column is missing, of another type, unknown, null or out of its range, or
            the rows are not in order.
    """
    source = source_of(table)
    for name in ("case_id", "case_digest"):
        if name not in table.column_names or table.schema.field(name).type != pa.string():
            raise _strange()
        if table.column(name).null_count:
            raise InputError(Fault("is null where text belongs", field=name))
    if len(set(table.column_names)) != len(table.column_names):
        raise _strange()
    for name in ("attempt", "missing", *_under(table, COUNT), *_under(table, SLICE)):
        if name not in table.column_names:
            raise _strange()
        most = 1 if name == "missing" or name.startswith(SLICE) else None
        whole = integers(table, name)
        if whole.size and (whole.min() < 0 or (most is not None and whole.max() > most)):
            raise InputError(Fault("holds a number out of its range", field=name))
    for name in metric_names(table):
        if metric(name).kind != source.kind:
            raise InputError(Fault(f"is not a metric of {source.kind}", field=name))
        values = floats(table, name)
        if not (np.isnan(values) | ((values >= 0) & (values <= 1))).all():
            raise InputError(Fault("holds a number out of its range", field=name))
    case_starts(table)


def _under(table: pa.Table, prefix: str) -> list[str]:
    return [name for name in table.column_names if name.startswith(prefix)]


def metric_names(table: pa.Table) -> tuple[str, ...]:
    """Return the names of the table's metric columns, in their order."""
    return tuple(
        name
        for name in table.column_names
        if name not in FIXED and not name.startswith((COUNT, SLICE))
    )


def prefixed(table: pa.Table, prefix: str) -> dict[str, Integers]:
    """Return the whole-number columns under a prefix, by the rest of their names."""
    return {name[len(prefix) :]: integers(table, name) for name in _under(table, prefix)}


def floats(table: pa.Table, name: str) -> Floats:
    """Return a metric column as float64, shape (rows,), NaN where it is null."""
    data, valid = _buffers(table, name, pa.float64())
    values = np.frombuffer(data, np.float64)
    return values if valid is None else np.where(valid, values, np.nan)


def integers(table: pa.Table, name: str) -> Integers:
    """Return a whole-number column as int64, shape (rows,)."""
    data, valid = _buffers(table, name, pa.int64())
    if valid is not None and not valid.all():
        raise InputError(Fault("is null where a whole number belongs", field=name))
    return np.frombuffer(data, np.int64)


def _buffers(
    table: pa.Table, name: str, kind: pa.DataType
) -> tuple[memoryview, npt.NDArray[np.bool_] | None]:
    """Return a column's 8-byte values and its validity; `to_numpy` would import pandas for this."""
    column = table.column(name)
    if column.type != kind:
        raise InputError(Fault("has another type than this engine writes", field=name))
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    size, start = len(array), array.offset
    if not size:
        return memoryview(b""), None
    validity, data = array.buffers()
    values = memoryview(data)[8 * start : 8 * (start + size)]
    if validity is None:
        return values, None
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    return values, bits[start : start + size].astype(np.bool_)


def table_digest(table: pa.Table) -> str:
    """Return the SHA-256 of a table's content, in hexadecimal.

    Covers the metadata, the names and types of the columns and every value; the way in which the
    file is compressed or cut into row groups does not change it.
    """
    hashed = hashlib.sha256()
    hashed.update((table.schema.metadata or {}).get(b"aal", b"") + b"\n")
    hashed.update(canonical([table.num_rows, table.column_names]) + b"\n")
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_string(kind):
            hashed.update(canonical(table.column(name).to_pylist()))
        elif pa.types.is_float64(kind):
            values = floats(table, name)
            hashed.update(np.where(np.isnan(values), np.nan, values).astype("<f8").tobytes())
        else:
            hashed.update(integers(table, name).astype("<i8").tobytes())
    return hashed.hexdigest()


def case_starts(table: pa.Table) -> tuple[list[str], Integers]:
    """Return the table's case ids, each once, and the row at which each begins, shape (cases,).

    Raises:
        InputError: the rows are not in order of case id and attempt, or one stands twice.
    """
    ids = table.column("case_id").to_pylist()
    keys = list(zip(ids, integers(table, "attempt").tolist(), strict=True))
    if any(a >= b for a, b in pairwise(keys)):
        raise InputError(Fault("has rows out of order or twice", field="case_id"))
    starts = [row for row, case in enumerate(ids) if row == 0 or ids[row - 1] != case]
    return [ids[row] for row in starts], np.asarray(starts, np.int64)


def per_case(values: Floats, starts: Integers) -> Floats:
    """Average rows to one value per case over the attempts that apply, shape (cases,).

    NaN where no attempt of the case applies.
    """
    if not len(starts):
        return np.empty(0, np.float64)
    known = ~np.isnan(values)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts)
    counts = np.add.reduceat(known.astype(np.int64), starts)
    averages: Floats = np.full(len(starts), np.nan)
    np.divide(sums, counts, out=averages, where=counts > 0)
    return averages
