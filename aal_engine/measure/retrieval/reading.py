"""The judged documents of a run in columns, in memory that does not grow with its rows.

Metrics need the ranks of the judged documents alone, so nothing is sorted and nothing is joined
over all rows. Rows are read once, a whole query at a time. A document's key, a hash of its query
and id, is looked up in a map of the judged ones, and what passes is compared by text. The rank is
the place in the query where scores never rise; a query where they do is put in order first.
Where a judged document shares its score, ids settle the order, there alone. The keys also show
documents listed twice.

The places say nothing in a run whose queries are interleaved. Its rows are read again, and those
that stand before each judged document are counted, at 8 bytes for every row of such a query.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.columns import Columns, Rows, rows_of, whole
from aal_engine.measure.retrieval.ids import taken
from aal_engine.measure.retrieval.judged import BoolArray, FloatArray, IntArray, Judged, Qrels
from aal_engine.measure.retrieval.pool import Pool, repeated

Read: TypeAlias = Callable[[], Iterable[pa.RecordBatch]]
"""Reads a run from its beginning; called again where one reading is not enough."""


def judge_columns(
    ids: Sequence[str], qrels: Sequence[Qrels], read: Read, columns: Columns | None = None
) -> tuple[Judged, int]:
    """Rank the judged documents of Q queries in a run given as Arrow record batches.

    As `judge`, for rows in any order and batches cut anywhere; `ids` are distinct. Ids in columns
    are strings, whole numbers or dictionaries of them, scores are numbers of any width, compared
    as float64. Also returns how many of the run's queries are not among `ids`; their rows are
    passed over.

    Raises:
        InputError: a document stands twice in a query's list, a score is not a finite number, or
            a column is missing, has nulls or is of another type.
    """
    pool = Pool(ids, qrels)
    unknown: set[str] = set()

    def reading() -> Iterable[Rows]:
        return rows_of(read(), columns or Columns(), pool.number, unknown)

    stretches = np.zeros(len(ids), np.int64)
    for rows in whole(reading()):
        np.add.at(stretches, rows.queries, 1)
        _place(pool, rows)
    if (stretches > 1).any():
        _count(pool, stretches > 1, reading)
    return pool.judged(), len(unknown)


def _place(pool: Pool, rows: Rows) -> None:
    """Rank the judged among rows of whole queries by their places."""
    pool.refuse_scores(rows)
    np.add.at(pool.retrieved, rows.queries, np.diff(rows.bounds))
    rows = _ordered(rows)
    key = pool.keys(rows)
    hits, judged = pool.hits(rows, key)
    suspects = repeated(key)
    if suspects.size:
        pool.refuse_twice([rows], suspects)
    stretch = rows.stretch(hits)
    first, end = rows.bounds[stretch], rows.bounds[stretch + 1]
    score = rows.scores[hits]
    # A neighbour beyond the query's ends stands in for itself and is told apart by its place.
    above, below = np.maximum(hits - 1, first), np.minimum(hits + 1, end - 1)
    tied = ((above < hits) & (rows.scores[above] == score)) | (
        (below > hits) & (rows.scores[below] == score)
    )
    pool.rank[judged] = hits - first + 1
    pool.score[judged] = score
    pool.tied[judged] = tied
    _settle(pool, rows, hits[tied], judged[tied], first[tied], end[tied])


def _ordered(rows: Rows) -> Rows:
    """Put the rows of each query in order of falling scores, if they are not."""
    rises = rows.scores[1:] > rows.scores[:-1]
    rises[rows.bounds[1:-1] - 1] = False
    if not rises.any():
        return rows
    stretch = rows.spread(np.arange(rows.queries.size))
    order = np.lexsort((-rows.scores, stretch))
    return replace(rows, docs=taken(rows.docs, order), scores=rows.scores[order])


def _settle(
    pool: Pool, rows: Rows, hits: IntArray, judged: IntArray, first: IntArray, end: IntArray
) -> None:
    """Rank judged documents that share their scores, in queries from `first` up to `end`."""
    groups: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for at, (hit, low, high) in enumerate(zip(hits, first, end, strict=True)):
        falling = -rows.scores[low:high]
        alike = low + np.searchsorted(falling, -rows.scores[hit], side="left")
        after = low + np.searchsorted(falling, -rows.scores[hit], side="right")
        groups[int(low), int(alike), int(after)].append(at)
    for (low, alike, after), members in groups.items():
        order = pc.array_sort_indices(rows.docs.slice(alike, after - alike), order="descending")
        place = np.empty(after - alike, np.int64)
        place[np.frombuffer(order.buffers()[1], np.uint64)] = np.arange(after - alike)
        pool.rank[judged[members]] = alike - low + 1 + place[hits[members] - alike]


def _count(pool: Pool, scattered: BoolArray, reading: Callable[[], Iterable[Rows]]) -> None:
    """Rank the judged of scattered queries by the rows that stand before them."""

    def again() -> Iterable[Rows]:
        return (rows.only(scattered[rows.queries]) for rows in reading())

    # In each query the worst comes first, as `searchsorted` and `bisect` want it.
    hits = np.flatnonzero((pool.rank > 0) & scattered[pool.query])
    hits = np.array(sorted(hits.tolist(), key=pool.docs.__getitem__), np.int64)
    hits = hits[np.lexsort((pool.score[hits], pool.query[hits]))]
    docs = [pool.docs[hit] for hit in hits]
    bounds = np.searchsorted(pool.query[hits], np.arange(len(pool.ids) + 1))
    ahead = np.zeros(hits.size, np.int64)
    alike = np.zeros(hits.size, np.int64)
    key = np.empty(pool.retrieved[scattered].sum(), np.uint64)
    filled = 0
    for rows in again():
        fresh = pool.keys(rows)
        if filled + fresh.size > key.size:
            break
        key[filled : filled + fresh.size] = fresh
        filled += fresh.size
        low = rows.spread(bounds[rows.queries])
        high = rows.spread(bounds[rows.queries + 1])
        beaten = _searched(pool.score[hits], low, high, rows.scores, "left")
        upto = _searched(pool.score[hits], low, high, rows.scores, "right")
        even = np.flatnonzero(beaten < upto)
        for row, doc in zip(even, taken(rows.docs, even).to_pylist(), strict=True):
            alike[beaten[row] : upto[row]] += 1
            beaten[row] = bisect_left(docs, doc, beaten[row], upto[row])
        ahead += np.bincount(beaten[beaten > low] - 1, minlength=hits.size)
    if filled != key.size:
        raise InputError.at("the run has other rows when it is read again")
    suspects = repeated(key)
    if suspects.size:
        pool.refuse_twice(again(), suspects)
    passed = np.append(0, np.cumsum(ahead))
    pool.rank[hits] = 1 + passed[bounds[pool.query[hits] + 1]] - passed[:-1]
    pool.tied[hits] = alike > 1


def _searched(
    values: FloatArray,
    low: IntArray,
    high: IntArray,
    wanted: FloatArray,
    side: Literal["left", "right"],
) -> IntArray:
    """Find each of `wanted` among the rising values from `low` up to `high`, as `searchsorted`."""
    low, high = low.copy(), high.copy()
    while (wide := np.flatnonzero(low < high)).size:
        middle = (low[wide] + high[wide]) >> 1
        value = values[middle]
        under = value < wanted[wide] if side == "left" else value <= wanted[wide]
        low[wide[under]] = middle[under] + 1
        high[wide[~under]] = middle[~under]
    return low
