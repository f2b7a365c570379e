"""Rows from Arrow columns, and their grouping by whole queries."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.measure.retrieval import columns
from aal_engine.measure.retrieval.columns import Columns, Rows, rows_of, whole

NUMBER = {"a": 0, "b": 1, "c": 2}


def batch(queries, read=0):
    """Make a batch of the queries named by letters; every row has a document of its own."""
    rows = range(read, read + len(queries))
    return pa.record_batch(
        {
            "query_id": pa.array(list(queries), pa.string()),
            "doc_id": pa.array([f"d{row}" for row in rows], pa.string()),
            "score": pa.array([-float(row) for row in rows], pa.float64()),
        }
    )


def batches(pieces):
    read = 0
    for piece in pieces:
        yield batch(piece, read)
        read += len(piece)


def listed(rows: Rows):
    """Spell rows out as (query, document, score)."""
    queries = rows.spread(rows.queries).tolist()
    return list(zip(queries, rows.docs.to_pylist(), rows.scores.tolist(), strict=True))


def read(pieces, unknown=None, names=None):
    return rows_of(
        batches(pieces), names or Columns(), NUMBER, set() if unknown is None else unknown
    )


def test_rows_stand_in_stretches_of_one_query():
    (rows,) = read(["aabcca"])
    assert rows.queries.tolist() == [0, 1, 2, 0]
    assert rows.bounds.tolist() == [0, 2, 3, 5, 6]
    assert rows.stretch(np.array([0, 1, 2, 4, 5])).tolist() == [0, 0, 1, 2, 3]
    assert listed(rows)[3] == (2, "d3", -3.0)


def test_rows_of_unknown_queries_are_left_out():
    unknown = set()
    first, last = read(["xaxxby", "", "zz", "ac"], unknown)
    assert [doc for _, doc, _ in listed(first)] == ["d1", "d4"]
    assert [doc for _, doc, _ in listed(last)] == ["d8", "d9"]
    assert unknown == {"x", "y", "z"}


def test_without_scores_rows_fall_from_the_first_to_the_last_of_all_batches():
    rows = list(read(["aa", "b", "xa"], names=Columns(score=None)))
    assert [score for piece in rows for _, _, score in listed(piece)] == [0.0, -1.0, -2.0, -4.0]


def test_cutting_and_choosing_stretches():
    (rows,) = read(["aabbbc"])
    assert listed(rows.cut(1, 2)) == listed(rows)[2:5]
    assert listed(rows.cut(0, 0)) == []
    assert listed(rows.cut(1, 3).cut(1, 2)) == listed(rows)[5:]
    assert listed(rows.only(np.array([True, False, True]))) == listed(rows)[:2] + listed(rows)[5:]
    assert rows.only(np.ones(3, np.bool_)) is rows
    (rows,) = read(["aabaac"])
    apart = rows.only(np.array([True, False, True, True]))
    assert apart.queries.tolist() == [0, 2]
    assert apart.bounds.tolist() == [0, 4, 5]


@settings(deadline=None)
@given(st.lists(st.text("abcx", max_size=9), max_size=6), st.integers(1, 5))
def test_regrouped_rows_are_the_same_and_cut_between_queries_alone(pieces, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_BLOCK", block)
        blocks = list(whole(read(pieces)))
    assert [row for rows in blocks for row in listed(rows)] == [
        row for rows in read(pieces) for row in listed(rows)
    ]
    for earlier, later in pairwise(blocks):
        assert earlier.queries[-1] != later.queries[0]
    for rows in blocks:
        # Without its last query, a block has less than the rows that it is to have.
        assert rows.bounds[-2] < block
