"""Rows of a run from Arrow columns, in stretches of one query each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.ids import taken, text
from aal_engine.measure.retrieval.judged import BoolArray, FloatArray, IntArray

Value = TypeVar("Value", bound=np.generic)

_BLOCK = 1 << 15
"""Rows worked on at a time, so that what is in between stays in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of a run's columns. Without one of scores, the order of the rows is the rank."""

    query: str = "query_id"
    doc: str = "doc_id"
    score: str | None = "score"


@dataclass(frozen=True, slots=True)
class Rows:
    """Successive rows of a run, n in all, in S stretches of one query each."""

    queries: IntArray
    """(S,): the number of each stretch's query."""
    bounds: IntArray
    """(S + 1,): where the stretches begin, and where the last one ends."""
    docs: pa.Array
    """(n,) ids as Arrow strings."""
    scores: FloatArray
    """(n,): larger is better."""

    def spread(self, values: NDArray[Value]) -> NDArray[Value]:
        """Give each row, (n,), what `values`, (S,), has for its stretch."""
        return np.repeat(values, np.diff(self.bounds))

    def stretch(self, rows: IntArray) -> IntArray:
        """Return which stretches some of the rows are in, counted from 0."""
        return np.searchsorted(self.bounds, rows, side="right") - 1

    def cut(self, first: int, last: int) -> Rows:
        """Return the stretches from `first` up to `last`."""
        bounds = self.bounds[first : last + 1]
        low, high = int(bounds[0]), int(bounds[-1])
        docs = self.docs.slice(low, high - low)
        return Rows(self.queries[first:last], bounds - low, docs, self.scores[low:high])

    def only(self, kept: BoolArray) -> Rows:
        """Return the stretches of which `kept`, (S,), is true; what lay between is forgotten."""
        if kept.all():
            return self
        rows = np.flatnonzero(self.spread(kept))
        bounds = np.append(0, np.cumsum(np.diff(self.bounds)[kept]))
        queries = self.queries[kept]
        first = np.flatnonzero(np.diff(queries, prepend=-1))
        bounds = np.append(bounds[first], rows.size)
        return Rows(queries[first], bounds, taken(self.docs, rows), self.scores[rows])


def rows_of(
    batches: Iterable[pa.RecordBatch],
    columns: Columns,
    number: Mapping[str, int],
    unknown: set[str],
) -> Iterator[Rows]:
    """Read batches as rows of the queries that `number` has; ids of others go to `unknown`.

    Raises:
        InputError: a column is missing, holds nulls or something else than ids or numbers.
    """
    read = 0
    for batch in batches:
        size = batch.num_rows
        if size == 0:
            continue
        bounds, names, docs, scores = parts(batch, columns, read)
        found = np.fromiter((number.get(name, -1) for name in names), np.int64, len(names))
        unknown.update(name for name in names if name not in number)
        rows = Rows(found, bounds, docs, scores).only(found >= 0)
        if rows.queries.size:
            yield rows
        read += size


def parts(
    batch: pa.RecordBatch, columns: Columns, read: int
) -> tuple[IntArray, list[str], pa.Array, FloatArray]:
    """Return what a batch, before which `read` rows came, says in stretches of one query each.

    That is where the stretches begin and the last one ends, their queries' ids, and the documents
    and scores of all rows.

    Raises:
        InputError: as `rows_of`.
    """
    docs = text(_column(batch, columns.doc, read), columns.doc)
    if columns.score is None:
        scores = -np.arange(read, read + batch.num_rows, dtype=np.float64)
    else:
        scores = _numbers(_column(batch, columns.score, read), columns.score)
    bounds, names = _runs(_column(batch, columns.query, read), columns.query)
    return bounds, names, docs, scores


def whole(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Regroup rows so that a query is never cut where one piece ends and the next begins."""
    held: list[Rows] = []
    for rows in pieces:
        if held and rows.queries[0] != held[0].queries[0]:
            yield _joined(held)
            held = []
        if held:
            held.append(rows.cut(0, 1))
            rest = rows.cut(1, rows.queries.size)
            if rest.queries.size == 0:
                continue
            yield _joined(held)
        else:
            rest = rows
        last = rest.queries.size - 1
        yield from _blocks(rest.cut(0, last))
        held = [rest.cut(last, last + 1)]
    if held:
        yield _joined(held)


def _blocks(rows: Rows) -> Iterator[Rows]:
    """Cut rows between queries, into blocks of `_BLOCK` rows and what their last query has more."""
    first, last = 0, rows.queries.size
    while first < last:
        after = min(int(np.searchsorted(rows.bounds, rows.bounds[first] + _BLOCK)), last)
        yield rows.cut(first, after)
        first = after


def _joined(pieces: list[Rows]) -> Rows:
    """Make one stretch of pieces of the same query."""
    if len(pieces) == 1:
        return pieces[0]
    scores = np.concatenate([piece.scores for piece in pieces])
    docs = pa.concat_arrays([piece.docs for piece in pieces])
    return Rows(pieces[0].queries, np.array([0, scores.size]), docs, scores)


def _column(batch: pa.RecordBatch, name: str, read: int) -> pa.Array:
    """Return a column that has a value in every row; `read` rows came before the batch."""
    place = batch.schema.get_field_index(name)
    if place < 0:
        raise InputError.at("is not among the run's columns, or is there twice", field=name)
    column = batch.column(place)
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        column = column.dictionary_decode()
    if column.null_count:
        row = read + pc.index(pc.is_null(column), True).as_py() + 1
        raise InputError.at(f"row {row} has no value", field=name)
    return column


def _numbers(column: pa.Array, name: str) -> FloatArray:
    """Return a column of numbers as float64."""
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise InputError.at(f"holds {kind}, not numbers", field=name)
    column = column.cast(pa.float64(), safe=False)
    values = np.frombuffer(column.buffers()[1], np.float64)
    return values[column.offset : column.offset + len(column)]


def _runs(column: pa.Array, name: str) -> tuple[IntArray, list[str]]:
    """Return where runs of equal ids begin and the last one ends, and the id of each run."""
    coded = pa.types.is_dictionary(column.type)
    runs = pc.run_end_encode(column.indices if coded else column)
    values = column.dictionary.take(runs.values) if coded else runs.values
    ends = np.frombuffer(runs.run_ends.buffers()[1], np.int32)[: len(values)]
    return np.append(0, ends.astype(np.int64)), text(values, name).to_pylist()
