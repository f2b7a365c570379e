"""Words and meaning together: tantivy and an embedding model, fused by rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from aal_engine.measure.origin import Identity
from aal_engine.store.corpus import Corpus, key_of
from aal_engine.store.index.embedder import Embedder, Vectors, unit
from aal_engine.store.index.hit import Hit, Index

RANK_CONSTANT = 60
"""The k of reciprocal-rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

DEPTH = 100
"""How far down each list is read before the two are fused."""


def fused_ranks(lists: Iterable[Sequence[str]], constant: int = RANK_CONSTANT) -> dict[str, float]:
    """Return the fused score of every id: the sum over the lists of 1 / (constant + rank).

    >>> fused_ranks([["a", "b"], ["b"]], 1)
    {'a': 0.5, 'b': 0.8333333333333333}
    """
    scores: dict[str, float] = {}
    for ranked in lists:
        for rank, one in enumerate(ranked, 1):
            scores[one] = scores.get(one, 0.0) + 1.0 / (constant + rank)
    return scores


class Dense:
    """Exact search by cosine over the vectors of a corpus, all of them in memory."""

    def __init__(self, corpus: Corpus, embedder: Embedder) -> None:
        self._embedder = embedder
        # Greatest id first, so that the stable sort breaks ties as everything else does.
        self._passages = sorted(corpus.passages, key=lambda one: key_of(one).encode(), reverse=True)
        texts = [
            f"{one.title}\n{one.text}" if one.title else str(one.text) for one in self._passages
        ]
        self._vectors: Vectors = unit(embedder.embed(texts))
        self._identity = Identity(
            f"{corpus.name}@{corpus.digest[:12]}", len(self._passages), embedder.model
        )

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return the k nearest passages of each query, best first; scores are cosines."""
        if not queries:
            return []
        # NumPy's matrix product sums in an order of its own: what differs by it is a tie.
        scores = np.round(unit(self._embedder.embed(queries)) @ self._vectors.T, 6)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return [
            [self._hit(place, float(row[place])) for place in order]
            for row, order in zip(scores, best.tolist(), strict=True)
        ]

    def identity(self) -> Identity:
        """Say which passages and which model these are."""
        return self._identity

    def _hit(self, place: int, score: float) -> Hit:
        passage = self._passages[place]
        doc_id = None if passage.passage_id is None else passage.doc_id
        return Hit(key_of(passage), score, doc_id, passage.text, passage.title)


class Fused:
    """Several indexes over the same passages, as one."""

    def __init__(self, parts: Sequence[Index], depth: int = DEPTH) -> None:
        self._parts = parts
        self._depth = depth

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to k passages for each query by the sum of their reciprocal ranks."""
        depth = max(k, self._depth)
        found = [part.search(queries, depth) for part in self._parts]
        return [self._one(lists, k) for lists in zip(*found, strict=True)]

    def identity(self) -> Identity:
        """Say which passages these are, under the models of every part."""
        told = [part.identity() for part in self._parts]
        models = "+".join(str(one.model) for one in told)
        return Identity(told[0].name, told[0].count, f"{models}/rrf{RANK_CONSTANT}")

    def _one(self, lists: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
        hits = {hit.id: hit for found in lists for hit in found}
        scores = fused_ranks([[hit.id for hit in found] for found in lists])
        order = sorted(scores, key=lambda one: (scores[one], one.encode()), reverse=True)
        return [
            Hit(one, scores[one], hits[one].doc_id, hits[one].text, hits[one].title)
            for one in order[:k]
        ]
