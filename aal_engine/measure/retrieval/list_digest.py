"""The digest of a run of retrieval alone, taken of its rows as they come.

A case's list is digested as three strings of bytes, each in the order of the list: the documents'
ids in UTF-8, one behind the other; the length of each id in bytes, as an unsigned 32-bit number;
and the scores, as float64, zero without a sign. Numbers are little-endian. The SHA-256 digests of
the three stand one behind the other, and the SHA-256 of those 96 bytes is the list's digest.

The run's digest is the SHA-256 of the canonical JSON (RFC 8785) of
`{"schema": "aal/lists/1", "model_family": F, "lists": [[CASE, DIGEST], …]}`, the cases in the
order of their ids and the digests in hexadecimal. The file's format and the order in which it has
the cases do not change it.
"""

from __future__ import annotations

import hashlib
from collections.abc import KeysView, Mapping, Sequence

import numpy as np
import pyarrow as pa

from aal_engine.canonical import digest
from aal_engine.measure.retrieval.ids import taken
from aal_engine.measure.retrieval.judged import FloatArray, IntArray

LISTS_SCHEMA = "aal/lists/1"


class ListDigest:
    """Digests lists of documents and scores that are told piece by piece, in 3 states a case."""

    def __init__(self) -> None:
        self._lists: dict[str, tuple[hashlib._Hash, hashlib._Hash, hashlib._Hash]] = {}

    @property
    def cases(self) -> KeysView[str]:
        """The cases that were told, in the order of their first rows."""
        return self._lists.keys()

    def add(
        self, cases: Sequence[str], bounds: IntArray, docs: pa.Array, scores: FloatArray
    ) -> None:
        """Take rows in S stretches of one case each.

        `bounds`, (S + 1,), is where the stretches begin and the last one ends; `docs`, (n,), are
        Arrow strings.
        """
        cases, bounds, docs, scores = _gathered(cases, bounds, docs, scores)
        _, starts, data = docs.buffers()
        wide = pa.types.is_large_string(docs.type)
        offsets = np.frombuffer(starts, np.int64 if wide else np.int32)
        offsets = offsets[docs.offset : docs.offset + len(docs) + 1]
        text = memoryview(b"" if data is None else data)
        lengths = np.diff(offsets).astype("<u4")
        values = (scores + 0.0).astype("<f8", copy=False)
        ends = bounds.tolist()
        cuts = offsets[bounds].tolist()
        for place, case in enumerate(cases):
            states = self._lists.get(case)
            if states is None:
                states = self._lists[case] = (hashlib.sha256(), hashlib.sha256(), hashlib.sha256())
            low, high = ends[place], ends[place + 1]
            states[0].update(text[cuts[place] : cuts[place + 1]])
            states[1].update(lengths[low:high].data)
            states[2].update(values[low:high].data)

    def digests(self) -> Mapping[str, str]:
        """Return the digest of each case's list as it was told, in hexadecimal."""
        return {
            case: hashlib.sha256(b"".join(state.digest() for state in states)).hexdigest()
            for case, states in self._lists.items()
        }


def lists_digest(model_family: str | None, digests: Mapping[str, str]) -> str:
    """Return the digest of a run of this family that has these lists, in hexadecimal."""
    lists = [[case, held] for case, held in sorted(digests.items())]
    return digest({"schema": LISTS_SCHEMA, "model_family": model_family, "lists": lists})


def _gathered(
    cases: Sequence[str], bounds: IntArray, docs: pa.Array, scores: FloatArray
) -> tuple[Sequence[str], IntArray, pa.Array, FloatArray]:
    """Bring the rows of each case together, in the order in which they stand."""
    number = {case: place for place, case in enumerate(dict.fromkeys(cases))}
    if len(number) == len(cases):
        return cases, bounds, docs, scores
    code = np.repeat(np.array([number[case] for case in cases], np.int64), np.diff(bounds))
    order = np.argsort(code, kind="stable")
    held = np.bincount(code, minlength=len(number))
    return list(number), np.append(0, np.cumsum(held)), taken(docs, order), scores[order]
