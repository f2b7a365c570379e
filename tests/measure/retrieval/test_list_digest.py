"""The digest of a run of retrieval alone."""

from __future__ import annotations

import hashlib
import json
import struct
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.retrieval.list_digest import ListDigest, lists_digest
from aal_engine.measure.run import Output, Passage, run_of

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["q", "é", "r"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    max_size=30,
)


def digest(lists, family):
    return lists_digest(family, lists.digests())


def told(rows, cuts, kind="string") -> ListDigest:
    lists = ListDigest()
    ends = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    for low, high in pairwise(ends):
        piece = rows[low:high]
        starts = [n for n, row in enumerate(piece) if n == 0 or row[0] != piece[n - 1][0]]
        lists.add(
            [piece[n][0] for n in starts],
            np.array([*starts, len(piece)]),
            # A slice, so that the array does not begin where its buffers do.
            pa.array(["no", *(row[1] for row in piece)], kind)[1:],
            np.array([row[2] for row in piece]),
        )
    return lists


def by_definition(rows, family) -> str:
    """As the module's docstring has it, without numpy or Arrow."""
    lists: dict[str, list] = {}
    for case, doc, score in rows:
        lists.setdefault(case, []).append((doc.encode(), score + 0.0))
    digests = []
    for case, listed in sorted(lists.items()):
        parts = (
            b"".join(doc for doc, _ in listed),
            b"".join(struct.pack("<I", len(doc)) for doc, _ in listed),
            b"".join(struct.pack("<d", score) for _, score in listed),
        )
        whole = b"".join(hashlib.sha256(part).digest() for part in parts)
        digests.append([case, hashlib.sha256(whole).hexdigest()])
    value = {"lists": digests, "model_family": family, "schema": "aal/lists/1"}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@given(ROWS, st.lists(st.integers(0, 30), max_size=4), st.sampled_from([None, "f"]))
def test_the_digest_is_the_documented_one_however_the_rows_are_cut(rows, cuts, family):
    expected = by_definition(rows, family)
    assert digest(told(rows, cuts), family) == expected
    assert digest(told(rows, [], "large_string"), family) == expected


@given(ROWS.filter(bool), st.sampled_from([None, "f"]))
def test_a_run_in_memory_has_the_same_digest(rows, family):
    lists: dict[str, list[Passage]] = {}
    for case, doc, score in rows:
        lists.setdefault(case, []).append(Passage(doc, score=score))
    outputs = [Output(case, 1, family, tuple(listed)) for case, listed in lists.items()]
    assert run_of(family, outputs).digest == by_definition(rows, family)


def test_the_order_of_the_cases_does_not_matter_and_that_of_a_list_does():
    a, b, c = ("a", "d1", 2.0), ("a", "d2", 1.0), ("b", "d1", 1.0)
    whole = digest(told([a, b, c], []), None)
    assert digest(told([c, a, b], []), None) == digest(told([a, c, b], []), None) == whole
    assert digest(told([b, a, c], []), None) != whole


def test_each_part_of_a_row_shows_in_the_digest():
    rows = [("a", "d1", 2.0), ("a", "d2", 1.0)]
    changed = [
        rows,
        [("b", "d1", 2.0), ("b", "d2", 1.0)],
        [("a", "d1d", 2.0), ("a", "2", 1.0)],
        [("a", "d1", 2.0), ("a", "d2", np.nextafter(1.0, 2.0))],
        [("a", "d1", 2.0)],
    ]
    digests = {digest(told(each, []), None) for each in changed}
    assert len(digests | {digest(told(rows, []), "f")}) == 6
    assert digest(told([("a", "d", 0.0)], []), None) == digest(told([("a", "d", -0.0)], []), None)
