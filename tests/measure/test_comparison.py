"""Tables against the first of them."""

from __future__ import annotations

import numpy as np
import pytest

from aal_engine.measure.comparison import compare_tables
from aal_engine.measure.evidence import holm, mcnemar
from aal_engine.measure.table import Source, case_table


def table(rows, digests=None, metrics=("success@1", "ndcg@10")):
    """A table of `(case, attempt, *values)` rows."""
    source = Source("retrieval", "p", "a", "1", None, "core", "a" * 64, 3, "b" * 64, "e")
    ids = [row[0] for row in rows]
    values = {
        name: np.array([row[2 + place] for row in rows], np.float64)
        for place, name in enumerate(metrics)
    }
    return case_table(
        source,
        ids,
        digests or ["c" * 64] * len(ids),
        [row[1] for row in rows],
        [False] * len(ids),
        {},
        {},
        values,
    )


FIRST = table([("a", 1, 0, 0.5), ("b", 1, 1, 0.25), ("c", 1, 1, np.nan)])


def test_each_metric_tells_its_difference_and_who_moved():
    (found,) = compare_tables(
        FIRST, [table([("a", 1, 1, 0.5), ("b", 1, 0, 1.0), ("c", 1, 1, 0.5)])]
    )
    assert (found.cases, found.left_out) == (3, 0)
    success, ndcg = found.differences
    assert (success.metric, success.first) == ("success@1", round(2 / 3, 12))
    assert success.value == success.first
    assert (success.higher, success.lower, success.paired.test) == (("a",), ("b",), "mcnemar")
    assert success.paired.p == mcnemar(1, 1)
    # Case c is not measured by the first, and counts for neither mean.
    assert (ndcg.first, ndcg.value, ndcg.paired.n) == (0.375, 0.75, 2)
    assert (ndcg.higher, ndcg.lower, ndcg.paired.test) == (("b",), (), "sign_flip")
    assert (ndcg.paired.difference, ndcg.direction) == (0.375, "higher")


def test_cases_that_changed_or_that_one_lacks_are_left_out():
    digests = ["c" * 64, "d" * 64, "c" * 64]
    other = table([("a", 1, 1, 0.5), ("b", 1, 0, 1.0), ("z", 1, 1, 0.5)], digests)
    (found,) = compare_tables(FIRST, [other])
    assert (found.cases, found.left_out) == (1, 3)
    assert [each.higher + each.lower for each in found.differences] == [("a",), ()]


def test_nothing_in_common_leaves_no_metric():
    (found,) = compare_tables(FIRST, [table([("z", 1, 1, 1)])])
    assert (found.cases, found.left_out, found.differences) == (0, 4, ())
    (found,) = compare_tables(FIRST, [table([("a", 1, 1)], metrics=("map",))])
    assert (found.cases, found.differences) == (1, ())


def test_attempts_of_a_case_are_averaged_first():
    (found,) = compare_tables(
        FIRST, [table([("a", 1, 0, 1.0), ("a", 2, 1, 0.0), ("b", 1, 1, 0.25)])]
    )
    success, ndcg = found.differences
    assert (success.value, success.higher, success.paired.test) == (0.75, ("a",), "sign_flip")
    assert (ndcg.paired.difference, ndcg.higher) == (0.0, ())


@pytest.mark.parametrize("others", [1, 3])
def test_p_values_are_adjusted_for_the_number_of_tables(others):
    ids = [f"case-{number:02}" for number in range(10)]
    first = table([(case, 1, 0, 0.5) for case in ids])
    tables = [
        table([(case, 1, int(place < 7 + more), 0.5) for place, case in enumerate(ids)])
        for more in range(others)
    ]
    found = compare_tables(first, tables)
    p_values = [each.differences[0].paired.p for each in found]
    assert [each.differences[0].p_holm for each in found] == list(holm(p_values))
    assert (p_values == [each.differences[0].p_holm for each in found]) == (others == 1)
