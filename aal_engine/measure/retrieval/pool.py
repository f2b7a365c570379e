"""The judged documents as a pool that a run's rows are looked up in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.columns import Rows
from aal_engine.measure.retrieval.ids import KeyArray, keys, packed, salts, taken
from aal_engine.measure.retrieval.judged import (
    BoolArray,
    FloatArray,
    IntArray,
    Judged,
    Qrels,
    doc_fault,
)

_SPARE_BITS = 8
"""The map has 2^8 places or more for each judged document, so that few rows pass by chance."""


class Pool:
    """The J judged documents of Q queries, and what a run's rows have told of them so far."""

    def __init__(self, ids: Sequence[str], qrels: Sequence[Qrels]) -> None:
        self.ids = ids
        self.number = {query: number for number, query in enumerate(ids)}
        if len(self.number) < len(ids):
            raise ValueError("a query is given twice")
        self.docs = [doc for judgments in qrels for doc in judgments]
        self.query: IntArray = np.repeat(np.arange(len(ids)), [len(held) for held in qrels])
        self.grade = np.array([grade for held in qrels for grade in held.values()], np.int64)
        self.rank = np.zeros(len(self.docs), np.int64)
        self.score: FloatArray = np.zeros(len(self.docs))
        self.tied: BoolArray = np.zeros(len(self.docs), np.bool_)
        self.retrieved = np.zeros(len(ids), np.int64)

        self._judged: list[dict[str, int]] = [{} for _ in ids]
        for judged, (query, doc) in enumerate(zip(self.query.tolist(), self.docs, strict=True)):
            self._judged[query][doc] = judged
        self._salts = salts(len(ids))
        bits = max(len(self.docs).bit_length() + _SPARE_BITS, 16)
        self._shift = np.uint64(64 - bits)
        self._map = np.zeros(1 << bits, np.bool_)
        self._map[self._place(keys(packed(self.docs), self._salts[self.query]))] = True

    def keys(self, rows: Rows) -> KeyArray:
        """Return a key for each row's query and document, (n,)."""
        return keys(rows.docs, rows.spread(self._salts[rows.queries]))

    def hits(self, rows: Rows, key: KeyArray) -> tuple[IntArray, IntArray]:
        """Return which rows are of judged documents, and of which."""
        passed = np.flatnonzero(self._map.take(self._place(key)))
        judged = np.array(
            [self._judged[query].get(doc, -1) for query, doc in _named(rows, passed)], np.int64
        )
        return passed[judged >= 0], judged[judged >= 0]

    def refuse_scores(self, rows: Rows) -> None:
        """Raise InputError if a score is not a finite number."""
        wrong = np.flatnonzero(~np.isfinite(rows.scores))
        if wrong.size:
            raise InputError(
                doc_fault(self.ids[query], doc, "has a score that is not a finite number")
                for query, doc in _named(rows, wrong)
            )

    def refuse_twice(self, pieces: Iterable[Rows], suspects: KeyArray) -> None:
        """Raise InputError if rows whose keys are among `suspects` are of the same document."""
        listed: Counter[tuple[int, str]] = Counter()
        for rows in pieces:
            listed.update(_named(rows, np.flatnonzero(np.isin(self.keys(rows), suspects))))
        twice = [named for named, times in listed.items() if times > 1]
        if twice:
            raise InputError(
                doc_fault(self.ids[query], doc, "is listed twice") for query, doc in twice
            )

    def judged(self) -> Judged:
        """Return the judged documents with the ranks that were told."""
        ties = np.bincount(self.query[self.tied], minlength=self.retrieved.size)
        return Judged.arrange(
            self.query, self.grade, self.rank, retrieved=self.retrieved, ties=ties
        )

    def _place(self, key: KeyArray) -> IntArray:
        """Return where in the map a key stands, by its upper bits."""
        return (key >> self._shift).view(np.int64)


def repeated(key: KeyArray) -> KeyArray:
    """Return the keys that stand more than once; sorts `key` in place."""
    key.sort()
    again: BoolArray = key[1:] == key[:-1]
    return key[1:][again]


def _named(rows: Rows, some: IntArray) -> Iterator[tuple[int, str]]:
    """Return the numbers of the queries and the ids of the documents of some rows."""
    queries = rows.queries[rows.stretch(some)].tolist()
    return zip(queries, taken(rows.docs, some).to_pylist(), strict=True)
