"""Files that hold nothing but ranked lists, a row for each retrieved document, read in batches."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.columns import Columns
from aal_engine.measure.retrieval.ids import text
from aal_engine.measure.retrieval.lists import is_listed, long_rows
from aal_engine.store.json_text import named
from aal_engine.store.output import RowReader
from aal_engine.store.parquet_run import (
    MAGIC,
    is_wide,
    list_columns,
    open_parquet,
    read_parquet_run,
)
from aal_engine.store.remote import is_address
from aal_engine.store.text_file import FaultList, Source, open_input, read_lines
from aal_engine.store.trec import read_trec_run
from aal_engine.store.trec_batch import trec_batches

_NAMES = Columns()
_ROWS = 2**16
"""Rows of Parquet in a batch, where each has a document."""
_LISTS = 2**6
"""Rows of Parquet in a batch, where each has a list of documents."""


@dataclass(frozen=True, slots=True)
class ListFile:
    """A file of ranked lists that can be read again.

    `columns` are those that are read of a Parquet file, None for a TREC run; `unread` has the
    number of rows under the name of each column that is not. With `listed`, a row is a case's, and
    has a list of documents and one of scores.
    """

    path: Source
    columns: tuple[str, str, str] | None = None
    unread: Mapping[str, int] = field(default_factory=dict)
    listed: bool = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows: `query_id`, `doc_id` as strings, and `score` as float64.

        Raises:
            InputError: a row or the whole file cannot be used; `check` tells more.
        """
        try:
            if self.columns is not None:
                yield from _parquet(self.path, self.columns, listed=self.listed)
                return
            with open_input(self.path) as file:
                yield from trec_batches(file)
        except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError):
            raise InputError.at("cannot be read", file=self.path) from None

    def check(self, suspects: Collection[str]) -> Iterator[str]:
        """Read row by row, hold the lists of these cases alone, and yield those that are there.

        Raises:
            InputError: with every fault that was found.
        """
        faults = FaultList(self.path)
        with open_input(self.path) as file:
            if self.columns is not None:
                found = read_parquet_run(self.path, RowReader(faults), faults, only=suspects)
            else:
                found = read_trec_run(read_lines(file, faults), faults, only=suspects)
            cases = [output.case_id for _, output in found]
        faults.settle()
        yield from cases


def list_file(source: Source) -> ListFile | None:
    """Return what is needed to read a file in batches, None for one that is not of this kind."""
    if not (is_address(source) or Path(source).is_file()):
        return None
    try:
        with open_input(source) as file:
            start = file.read(len(MAGIC))
    except (OSError, EOFError, zlib.error):
        return None
    return _parquet_lists(source) if start == MAGIC else _trec_lists(source)


def _trec_lists(path: Source) -> ListFile | None:
    faults = FaultList(path)
    with open_input(path) as file:
        for _, line in read_lines(file, faults):
            start = line.lstrip()
            if not start.startswith("#"):
                return None if start.startswith(("{", "[")) else ListFile(path)
    return None


def _parquet_lists(path: Source) -> ListFile | None:
    try:
        with open_parquet(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError):
        return None
    query, doc, value = list_columns(schema.names)
    if query is None or doc is None or value != "score" or is_wide(schema.names) or rows == 0:
        return None
    columns = (query, doc, value)
    kinds = [schema.field(name).type for name in columns if schema.names.count(name) == 1]
    if len(kinds) < len(columns):
        return None
    if listed := all(map(is_listed, kinds[1:])):
        kinds[1:] = [kind.value_type for kind in kinds[1:]]
    if not (all(map(_is_id, kinds[:2])) and _is_number(kinds[2])):
        return None
    unread = {named(name): rows for name in schema.names if name not in columns}
    return ListFile(path, columns, unread, listed)


def _is_id(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _parquet(
    path: Source, columns: tuple[str, str, str], *, listed: bool
) -> Iterator[pa.RecordBatch]:
    query, doc, score = columns
    coded = [] if listed else [query]
    with open_parquet(path, read_dictionary=coded, pre_buffer=False) as file:
        batches = file.iter_batches(_LISTS if listed else _ROWS, columns=list(columns))
        for batch in _unlisted(batches, Columns(query, doc, score)) if listed else batches:
            docs = text(batch.column(doc), doc).cast(pa.string())
            docs.validate(full=True)
            arrays = [batch.column(query), docs, batch.column(score).cast(pa.float64(), safe=False)]
            yield pa.RecordBatch.from_arrays(arrays, [_NAMES.query, _NAMES.doc, _NAMES.score])


def _unlisted(batches: Iterable[pa.RecordBatch], columns: Columns) -> Iterator[pa.RecordBatch]:
    """Make rows of a document each of rows of a case each, every case of which is there once."""
    seen: set[object] = set()
    read = 0
    for batch in batches:
        cases = batch.column(columns.query).to_pylist()
        seen.update(cases)
        read += len(cases)
        if len(seen) < read:
            raise InputError.at("has the lists of a query in two rows")
        yield long_rows(batch, columns)
