"""Retrieval measures as kernels: `Judged` in, one value per query out, shape (Q,).

A document is relevant if its grade is above 0. Values are those of trec_eval 9.0.8 with `-c`: a
query without a relevant document, or without a list, has the value 0, and averages over queries
are the caller's. Cutoffs `k` are at least 1 and may exceed the list. A measure that trec_eval
does not have names its own source.
"""

from __future__ import annotations

import numpy as np

from aal_engine.measure.retrieval.judged import BoolArray, FloatArray, IntArray, Judged

ERR_TOP_GRADE = 4
"""The highest grade that `err` tells apart, as in the TREC Web track's gdeval."""


def recall(judged: Judged, k: int) -> FloatArray:
    """Return the relevant documents in the top k over all relevant ones: trec_eval `recall.k`.

    Shape (Q,), range 0 to 1.
    """
    return _ratio(_count(judged, _hits(judged, k)), _relevant(judged))


def precision(judged: Judged, k: int) -> FloatArray:
    """Return the relevant documents in the top k over k, however short the list: trec_eval `P.k`.

    Shape (Q,), range 0 to 1.
    """
    return _count(judged, _hits(judged, k)) / k


def success(judged: Judged, k: int) -> FloatArray:
    """Return 1 where a relevant document is in the top k, else 0: trec_eval `success.k`.

    Shape (Q,).
    """
    return (_count(judged, _hits(judged, k)) > 0).astype(np.float64)


def best_first(judged: Judged) -> FloatArray:
    """Return 1 where the first document has the query's top grade and is relevant, else 0.

    Shape (Q,). With a single grade this is `success` at 1.
    """
    first = (judged.rank == 1) & (judged.grade > 0)
    return _count(judged, first & (judged.grade == _top(judged))).astype(np.float64)


def reciprocal_rank(judged: Judged, k: int | None = None) -> FloatArray:
    """Return 1 / rank of the first relevant document, 0 if there is none in the top k.

    Shape (Q,), range 0 to 1: trec_eval `recip_rank`, cut off as MS MARCO does.
    """
    hits = _hits(judged, k)
    values = np.zeros(judged.retrieved.size)
    np.maximum.at(values, judged.query[hits], 1.0 / judged.rank[hits])
    return values


def average_precision(judged: Judged, k: int | None = None) -> FloatArray:
    """Return the mean over all relevant documents of the precision at their ranks.

    Shape (Q,), range 0 to 1: trec_eval `map` and `map_cut.k`. One that is not in the top k adds
    0, and the divisor stays the number of all relevant documents.
    """
    hits = _hits(judged, k)
    precisions = _ratio(_running(judged, hits), judged.rank, where=hits)
    return _ratio(_sum(judged, precisions), _relevant(judged))


def r_precision(judged: Judged) -> FloatArray:
    """Return the precision at rank R, the number of relevant documents: trec_eval `Rprec`.

    Shape (Q,), range 0 to 1.
    """
    relevant = _relevant(judged)
    hits = _hits(judged, None) & (judged.rank <= relevant[judged.query])
    return _ratio(_count(judged, hits), relevant)


def ndcg(judged: Judged, k: int | None = None) -> FloatArray:
    """Return the discounted cumulative gain of the top k over that of the best top k.

    Shape (Q,), range 0 to 1: trec_eval `ndcg` and `ndcg_cut.k`. The gain is the grade, no less
    than 0, the discount log2(rank + 1), and the best order is of all judged documents.
    """
    return _normalised(judged, np.maximum(judged.grade, 0).astype(np.float64), k)


def ndcg_exp(judged: Judged, k: int | None = None) -> FloatArray:
    """Return `ndcg` with the gain 2^grade - 1 (Burges et al. 2005), as gdeval computes it.

    Shape (Q,), range 0 to 1.
    """
    # Divided by 2^top, which the quotient does not see, no grade is too large for a float.
    top = _top(judged).astype(np.float64)
    gain = np.exp2(judged.grade - top) - np.exp2(-top)
    return _normalised(judged, np.where(judged.grade > 0, gain, 0.0), k)


def bpref(judged: Judged) -> FloatArray:
    """Return how seldom documents of grade 0 stand above relevant ones: trec_eval `bpref`.

    Shape (Q,), range 0 to 1 (Buckley and Voorhees 2004). With R relevant documents and N of grade
    0, a relevant document below n of the latter adds (1 - min(n, R) / min(N, R)) / R. Documents
    of negative grade and those without judgment are passed over.
    """
    relevant = _relevant(judged)
    refused = judged.grade == 0
    above = np.minimum(_running(judged, refused), relevant[judged.query])
    worst = np.minimum(_count(judged, refused), relevant)[judged.query]
    kept = np.where(_hits(judged, None), 1.0 - _ratio(above, worst), 0.0)
    return _ratio(_sum(judged, kept), relevant)


def judged_share(judged: Judged, k: int) -> FloatArray:
    """Return the share of the top k that is judged, whatever the grade: `Judged@k` of ir_measures.

    Shape (Q,), range 0 to 1. A shorter list is measured by its length; an empty one has 0.
    """
    return _ratio(_count(judged, _within(judged, k)), np.minimum(judged.retrieved, k))


def hole(judged: Judged, k: int) -> FloatArray:
    """Return the documents in the top k without a judgment over k, however short the list.

    Shape (Q,), range 0 to 1. Lower is better known, not better found.
    """
    return (np.minimum(judged.retrieved, k) - _count(judged, _within(judged, k))) / k


def rbp(judged: Judged, p: float = 0.8) -> FloatArray:
    """Return the rank-biased precision, (1 - p) times the sum of p^(rank - 1) over relevant ones.

    Shape (Q,), range 0 to 1 (Moffat and Zobel 2008). Grades above 0 count alike, as in ir_measures
    with `rel=1`. `p`, above 0 and below 1, is how readily a reader goes on to the next document.
    """
    hits = _hits(judged, None)
    weights = np.where(hits, p ** np.maximum(judged.rank - 1.0, 0.0), 0.0)
    # Rounding carries the sum of a thousand relevant documents in a row past its limit.
    return np.minimum((1.0 - p) * _sum(judged, weights), 1.0)


def err(judged: Judged, k: int) -> FloatArray:
    """Return the expected reciprocal rank at which a reader of the top k is satisfied.

    Shape (Q,), range 0 to 1 (Chapelle et al. 2009, as gdeval computes it): a document of grade g
    satisfies with probability (2^g - 1) / 16, and grades above 4 count as 4.
    """
    grade = np.where(_within(judged, k), np.clip(judged.grade, 0, ERR_TOP_GRADE), 0)
    satisfied = (np.exp2(np.arange(ERR_TOP_GRADE + 1)) - 1.0) / 2.0**ERR_TOP_GRADE
    unsatisfied = np.ones(grade.size)
    for step in range(1, ERR_TOP_GRADE + 1):
        here = grade == step
        unsatisfied *= (1.0 - satisfied[step]) ** (_running(judged, here) - here)
    return _sum(judged, _ratio(satisfied[grade] * unsatisfied, judged.rank, where=grade > 0))


def _within(judged: Judged, k: int | None) -> BoolArray:
    """(J,): whether the document is in the top k, or in the list at all."""
    if k is None:
        return judged.rank > 0
    if k < 1:
        raise ValueError("a cutoff is at least 1")
    return (judged.rank > 0) & (judged.rank <= k)


def _hits(judged: Judged, k: int | None) -> BoolArray:
    """(J,): whether the document is relevant and in the top k, or in the list at all."""
    return _within(judged, k) & (judged.grade > 0)


def _count(judged: Judged, chosen: BoolArray) -> IntArray:
    """(Q,): how many of a query's documents are chosen."""
    return np.bincount(judged.query[chosen], minlength=judged.retrieved.size)


def _sum(judged: Judged, values: FloatArray) -> FloatArray:
    """(Q,): the sum of a query's values, taken in the order of ranks."""
    sums = np.bincount(judged.query, weights=values, minlength=judged.retrieved.size)
    return sums.astype(np.float64, copy=False)


def _running(judged: Judged, chosen: BoolArray) -> IntArray:
    """(J,): how many of the query's documents are chosen up to and with this one."""
    total = np.concatenate(([0], np.cumsum(chosen)))
    return total[1:] - total[judged.offsets[:-1]][judged.query]


def _relevant(judged: Judged) -> IntArray:
    """(Q,): how many relevant documents the query has."""
    return _count(judged, judged.grade > 0)


def _top(judged: Judged) -> IntArray:
    """(J,): the highest grade of the document's query, no less than 0."""
    top = np.zeros(judged.retrieved.size, np.int64)
    np.maximum.at(top, judged.query, judged.grade)
    return top[judged.query]


def _ratio(
    part: FloatArray | IntArray,
    whole: FloatArray | IntArray,
    *,
    where: BoolArray | None = None,
) -> FloatArray:
    """Divide element by element, with 0 where the divisor is 0 or `where` does not hold."""
    fit = whole > 0 if where is None else where
    return np.divide(part, whole, out=np.zeros(whole.shape), where=fit)


def _normalised(judged: Judged, gain: FloatArray, k: int | None) -> FloatArray:
    """(Q,): discounted gain of the top k over that of the best order; `gain` is (J,), 0 or more."""
    within = _within(judged, k)
    found = _sum(judged, _ratio(gain, np.log2(judged.rank + 1.0), where=within))
    query = judged.query
    best = gain[np.lexsort((-gain, query))]
    place = np.arange(1, gain.size + 1) - judged.offsets[:-1][query]
    allowed = place <= (place.size if k is None else k)
    ideal = _sum(judged, _ratio(best, np.log2(place + 1.0), where=allowed))
    return _ratio(found, ideal)
