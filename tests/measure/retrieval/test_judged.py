"""Building `Judged`: the run's order, ties, and lists that cannot be used."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.judged import Judged, judge


def ranks(qrels, ranking):
    """Return the ranks of one query's judged documents in the order of the qrels' ids."""
    found = judge(["q"], [dict.fromkeys(qrels, 1)], [ranking])
    places = {doc: judge(["q"], [{doc: 1}], [ranking]).rank.item() for doc in qrels}
    assert sorted(found.rank.tolist()) == sorted(places.values())
    return places


def same(left: Judged, right: Judged) -> bool:
    return all(
        np.array_equal(getattr(left, name), getattr(right, name))
        for name in ("offsets", "grade", "rank", "retrieved", "ties")
    )


def test_scores_decide_whatever_the_order_of_the_rows():
    for rows in permutations([("a", 3.0), ("b", 2.0), ("c", 1.0)]):
        docs, scores = zip(*rows, strict=True)
        assert ranks("abc", (docs, scores)) == {"a": 1, "b": 2, "c": 3}


def test_without_scores_the_given_order_is_the_rank():
    assert ranks("abc", (["c", "a", "b"], None)) == {"c": 1, "a": 2, "b": 3}
    assert judge(["q"], [{"a": 1}], [(["c", "a", "b"], None)]).ties.tolist() == [0]


def test_equal_scores_rank_by_falling_id():
    assert ranks("abc", (["a", "b", "c"], [1.0, 1.0, 1.0])) == {"c": 1, "b": 2, "a": 3}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("b", "a"),
        ("a", "B"),
        ("ab", "a"),
        ("9", "10"),
        ("7", "007"),
        ("é", "z"),
        # U+FF5E sorts before U+1F600 by code point and by UTF-8 byte, after it by UTF-16 unit.
        ("\U0001f600", "\uff5e"),
    ],
)
def test_ids_compare_by_their_bytes(earlier, later):
    assert earlier.encode() > later.encode()
    assert ranks([earlier, later], ([later, earlier], [0.5, 0.5])) == {earlier: 1, later: 2}


def test_scores_are_told_apart_as_float64():
    apart = 0.12345678900000001
    assert apart > 0.123456789
    assert ranks("az", (["z", "a"], [0.123456789, apart])) == {"a": 1, "z": 2}
    # 2^53 and 2^53 + 1 are one float64.
    assert ranks("az", (["z", "a"], [2**53, 2**53 + 1])) == {"z": 1, "a": 2}


def test_minus_zero_is_zero():
    assert ranks("ab", (["a", "b"], [0.0, -0.0])) == {"b": 1, "a": 2}


def test_ties_counts_the_judged_documents_whose_rank_rests_on_ids():
    ranking = (["a", "b", "c", "d", "e"], [3.0, 2.0, 2.0, 1.0, 1.0])
    assert judge(["q"], [{"a": 1}], [ranking]).ties.tolist() == [0]
    assert judge(["q"], [{"a": 1, "b": 1, "d": 0, "e": 2, "x": 1}], [ranking]).ties.tolist() == [3]


def test_queries_without_a_list_and_with_an_empty_one():
    found = judge(
        ["absent", "empty", "there"],
        [{"a": 1}, {"a": 1, "b": 0}, {"a": 1}],
        [None, ([], None), (["a"], [0.1])],
    )
    assert found.offsets.tolist() == [0, 1, 3, 4]
    assert found.rank.tolist() == [0, 0, 0, 1]
    assert found.retrieved.tolist() == [0, 0, 1]
    assert found.query.tolist() == [0, 1, 1, 2]


def test_a_query_without_judgments_keeps_its_place():
    found = judge(["none", "some"], [{}, {"a": 2}], [(["a"], None), (["b", "a"], None)])
    assert found.offsets.tolist() == [0, 0, 1]
    assert found.retrieved.tolist() == [1, 2]
    assert found.rank.tolist() == [2]


def test_no_queries_at_all():
    found = judge([], [], [])
    assert found.offsets.tolist() == [0]
    assert found.rank.shape == found.retrieved.shape == (0,)


def test_retrieved_documents_stand_first_by_rank_and_the_others_by_falling_grade():
    found = judge(["q"], [{"x": 0, "y": 3, "n": -1, "a": 1, "b": 2}], [(["b", "u", "a"], None)])
    assert found.rank.tolist() == [1, 3, 0, 0, 0]
    assert found.grade.tolist() == [2, 1, 3, 0, -1]


def test_every_document_listed_twice_is_named_with_its_query():
    with pytest.raises(InputError) as caught:
        judge(
            ["q-1", "q-2", "q-3"],
            [{"a": 1}] * 3,
            [(["a", "x", "a"], [3.0, 2.0, 1.0]), (["x"], None), (["y", "y", "z", "z"], None)],
        )
    assert [(fault.case, fault.problem) for fault in caught.value.faults] == [
        ("q-1", "document a is listed twice"),
        ("q-3", "document y is listed twice"),
        ("q-3", "document z is listed twice"),
    ]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_is_named(score):
    with pytest.raises(InputError) as caught:
        judge(["q-1"], [{"a": 1}], [(["x", "a", "b"], [2.0, score, 1.0])])
    assert str(caught.value) == "case q-1: document a has a score that is not a finite number"


def test_a_document_id_is_shown_short_and_on_one_line():
    with pytest.raises(InputError) as caught:
        judge(["q"], [{}], [(["a\n" + "b" * 200] * 2, None)])
    assert len(str(caught.value)) < 150
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "qrels", "rankings"),
    [
        (["q"], [], [None]),
        (["q"], [{}], []),
        (["q"], [{}], [(["a"], [])]),
        (["q"], [{}], [([], [1.0])]),
    ],
)
def test_sequences_of_unequal_length_are_refused(ids, qrels, rankings):
    with pytest.raises(ValueError, match="zip"):
        judge(ids, qrels, rankings)


DOCS = st.text("ab7é\U0001f600", min_size=1, max_size=3)
SCORES = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 1e300, 5e-324])
LISTS = st.dictionaries(DOCS, SCORES, max_size=8)
JUDGMENTS = st.dictionaries(DOCS, st.integers(-2, 4), max_size=6)


@settings(deadline=None)
@given(JUDGMENTS, LISTS, st.randoms())
def test_ranks_are_those_of_the_sorted_list(judgments, scored, chance):
    rows = list(scored.items())
    chance.shuffle(rows)
    found = judge(["q"], [judgments], [([doc for doc, _ in rows], [s for _, s in rows])])
    ordered = sorted(scored, key=lambda doc: (scored[doc], doc.encode()), reverse=True)
    expected = sorted(
        (ordered.index(doc) + 1, grade) for doc, grade in judgments.items() if doc in scored
    )
    listed = len(expected)
    assert list(zip(found.rank.tolist(), found.grade.tolist(), strict=True))[:listed] == expected
    assert not found.rank[listed:].any()
    assert found.grade[listed:].tolist() == sorted(
        (grade for doc, grade in judgments.items() if doc not in scored), reverse=True
    )
    assert found.retrieved.tolist() == [len(scored)]
    shared = [doc for doc in judgments if list(scored.values()).count(scored.get(doc, None)) > 1]
    assert found.ties.tolist() == [len(shared)]


def test_the_order_of_the_judgments_changes_nothing():
    judgments = {f"d{n}": n % 4 - 1 for n in range(12)}
    ranking = ([f"d{n}" for n in range(0, 24, 2)], [1.0, 1.0, 0.5] * 4)
    whole = judge(["q"], [judgments], [ranking])
    for seed in range(10):
        items = list(judgments.items())
        random.Random(seed).shuffle(items)
        assert same(whole, judge(["q"], [dict(items)], [ranking]))
