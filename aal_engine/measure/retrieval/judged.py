"""What a run found of the judged documents: their grades and their ranks, query by query.

Every retrieval measure follows from the ranks of the judged documents and the lengths of the
lists, so this is all that is kept of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aal_engine.errors import Fault, InputError, shown

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

Qrels: TypeAlias = Mapping[str, int]
"""One query's judgments: a grade under each document's id."""

Ranking: TypeAlias = tuple[Sequence[str], Sequence[float] | None]
"""One query's list: document ids, and their scores or None where the order given is the rank."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The judged documents of Q queries, J in all, in compressed rows.

    Within a query the retrieved documents stand first, by rank; the others follow by falling
    grade. `arrange` sees to it, and the kernels build on it.
    """

    offsets: IntArray
    """(Q + 1,): query q owns the documents from offsets[q] up to offsets[q + 1]."""
    grade: IntArray
    """(J,): above 0 relevant, 0 judged and not relevant, below 0 so too, and no matter to bpref."""
    rank: IntArray
    """(J,): rank in the run from 1, or 0 where the run does not have the document."""
    retrieved: IntArray
    """(Q,): length of the run's list."""
    ties: IntArray
    """(Q,): judged documents that share their score, so that ids alone settle their rank."""

    @classmethod
    def arrange(
        cls,
        query: IntArray,
        grade: IntArray,
        rank: IntArray,
        *,
        retrieved: IntArray,
        ties: IntArray,
    ) -> Judged:
        """Bring judged documents, each with its query's number from 0, into their order.

        The result depends on the values alone, not on the order in which they are given.
        """
        order = np.lexsort((-grade, rank, rank == 0, query))
        held = np.bincount(query, minlength=retrieved.size)
        offsets = np.concatenate(([0], np.cumsum(held)))
        return cls(offsets, grade[order], rank[order], retrieved, ties)

    @property
    def query(self) -> IntArray:
        """(J,): the number of the query that each document is judged for."""
        return np.repeat(np.arange(self.retrieved.size), np.diff(self.offsets))


def doc_fault(case: str, doc: str, problem: str) -> Fault:
    """Say what is wrong with a document in a query's list."""
    return Fault(f"document {shown(doc)} {problem}", case=case)


def judge(ids: Sequence[str], qrels: Sequence[Qrels], rankings: Sequence[Ranking | None]) -> Judged:
    """Rank the judged documents of Q queries in a run held in memory.

    The three sequences run in parallel, one entry a query; a ranking is None where the run lacks
    the query. Documents are ordered by falling score, compared as float64, and those of equal
    score by falling id, compared by their UTF-8 bytes: the order of trec_eval 10. Version 9 has
    the same but for scores that differ by less than a float32 can hold, which it takes as equal.

    Raises:
        InputError: a document stands twice in a query's list, or a score is not a finite number.
            Every such query is named with the document.

    >>> found = judge(["q"], [{"a": 1, "z": 2}], [(["a", "b", "c"], [1.0, 1.0, 0.5])])
    >>> found.grade, found.rank
    (array([1, 2]), array([2, 0]))
    """
    query: list[int] = []
    grade: list[int] = []
    rank: list[int] = []
    retrieved = np.zeros(len(ids), np.int64)
    ties = np.zeros(len(ids), np.int64)
    faults: list[Fault] = []
    for number, (case, judgments, ranking) in enumerate(zip(ids, qrels, rankings, strict=True)):
        listed = _Listed(*ranking) if ranking is not None else _NOTHING
        faults += listed.faults(case)
        ranks = [listed.rank(doc) for doc in judgments]
        query += [number] * len(ranks)
        grade += judgments.values()
        rank += [place for place, _ in ranks]
        retrieved[number] = len(listed.ordered)
        ties[number] = sum(tied for _, tied in ranks)
    if faults:
        raise InputError(faults)
    return Judged.arrange(
        np.array(query, np.int64),
        np.array(grade, np.int64),
        np.array(rank, np.int64),
        retrieved=retrieved,
        ties=ties,
    )


class _Listed:
    """One query's list in the run's order, ready to be asked for ranks."""

    def __init__(self, docs: Sequence[str], scores: Sequence[float] | None) -> None:
        falling = range(0, -len(docs), -1) if scores is None else scores
        # Strings compare by code points, and so do their UTF-8 bytes.
        self.ordered = sorted(zip(map(float, falling), docs, strict=True), reverse=True)
        self.place = {doc: place for place, (_, doc) in enumerate(self.ordered)}

    def faults(self, case: str) -> list[Fault]:
        """Return what makes the list unusable: documents listed twice, scores out of range."""
        listed = Counter(doc for _, doc in self.ordered) if self._repeats() else {}
        return [
            *(
                doc_fault(case, doc, "is listed twice")
                for doc, times in listed.items()
                if times > 1
            ),
            *(
                doc_fault(case, doc, "has a score that is not a finite number")
                for score, doc in self.ordered
                if not isfinite(score)
            ),
        ]

    def rank(self, doc: str) -> tuple[int, bool]:
        """Return a document's rank, 0 if it is not listed, and whether it shares its score."""
        place = self.place.get(doc)
        if place is None:
            return 0, False
        neighbours = self.ordered[max(place - 1, 0) : place + 2]
        tied = sum(score == self.ordered[place][0] for score, _ in neighbours) > 1
        return place + 1, tied

    def _repeats(self) -> bool:
        return len(self.place) < len(self.ordered)


_NOTHING = _Listed((), None)
