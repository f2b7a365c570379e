"""The retrieval kernels: values worked out by hand, and laws that every metric keeps."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.measure.retrieval import ranking
from aal_engine.measure.retrieval.judged import judge
from aal_engine.measure.retrieval.metrics import RETRIEVAL, retrieval_metric

# R = 3 relevant (one of them not found), N = 2 of grade 0 (one not found), one of grade -1.
WORKED = judge(
    ["worked"],
    [{"a": 2, "b": 1, "c": 1, "n": 0, "m": 0, "g": -1}],
    [(["n", "a", "u", "b", "g", "v"], None)],
)
DCG = 2 / log2(3) + 1 / log2(5)
IDEAL = 2 + 1 / log2(3) + 1 / log2(4)
VALUES = {
    "recall@1": 0,
    "recall@2": Fraction(1, 3),
    "recall@10": Fraction(2, 3),
    "precision@2": Fraction(1, 2),
    "precision@3": Fraction(1, 3),
    "precision@10": Fraction(2, 10),
    "success@1": 0,
    "success@2": 1,
    "best_first": 0,
    "mrr": Fraction(1, 2),
    "mrr@1": 0,
    "mrr@2": Fraction(1, 2),
    "map": (Fraction(1, 2) + Fraction(2, 4)) / 3,
    "map@3": Fraction(1, 2) / 3,
    "r_precision": Fraction(1, 3),
    "ndcg": DCG / IDEAL,
    "ndcg@1": 0,
    "ndcg@2": (2 / log2(3)) / (2 + 1 / log2(3)),
    "ndcg@10": DCG / IDEAL,
    "ndcg_exp": (3 / log2(3) + 1 / log2(5)) / (3 + 1 / log2(3) + 1 / log2(4)),
    "ndcg_exp@2": (3 / log2(3)) / (3 + 1 / log2(3)),
    # a and b both stand below n: each keeps 1 - min(1, 3) / min(2, 3).
    "bpref": (Fraction(1, 2) + Fraction(1, 2)) / 3,
    "judged@3": Fraction(2, 3),
    "judged@10": Fraction(4, 6),
    "hole@2": 0,
    "hole@3": Fraction(1, 3),
    "hole@10": Fraction(2, 10),
    "rbp": Fraction(2, 10) * (Fraction(8, 10) + Fraction(8, 10) ** 3),
    "rbp@0.5": Fraction(1, 2) * (Fraction(1, 2) + Fraction(1, 8)),
    # Grade 2 satisfies with 3/16, grade 1 with 1/16.
    "err@1": 0,
    "err@3": Fraction(3, 16) / 2,
    "err@10": Fraction(3, 16) / 2 + Fraction(13, 16) * Fraction(1, 16) / 4,
}


def value(name, qrels, docs):
    return retrieval_metric(name)(judge(["q"], [qrels], [(docs, None)])).item()


@pytest.mark.parametrize(("name", "expected"), VALUES.items())
def test_values_worked_out_by_hand(name, expected):
    assert retrieval_metric(name)(WORKED).item() == pytest.approx(float(expected), abs=1e-15)


def test_every_metric_has_a_value_worked_out_by_hand():
    assert {name.partition("@")[0] for name in VALUES} == set(RETRIEVAL)


def test_best_first_asks_for_the_top_grade():
    qrels = {"a": 2, "b": 1, "c": 2}
    assert value("best_first", qrels, ["a", "b"]) == 1
    assert value("best_first", qrels, ["c"]) == 1
    assert value("best_first", qrels, ["b", "a"]) == 0
    assert value("success@1", qrels, ["b", "a"]) == 1
    assert value("best_first", {"a": 0}, ["a"]) == 0
    assert value("best_first", {"a": -1}, ["a"]) == 0


def test_bpref_counts_no_more_judged_documents_than_there_are_relevant_ones():
    qrels = {"a": 1, "m": 0, "n": 0, "o": 0}
    assert value("bpref", qrels, ["a", "m"]) == 1
    assert value("bpref", qrels, ["m", "a"]) == 0
    assert value("bpref", qrels, ["m", "n", "o", "a"]) == 0


def test_bpref_without_documents_of_grade_0():
    assert value("bpref", {"a": 1, "b": 1}, ["u", "a", "b"]) == 1
    assert value("bpref", {"a": 1, "n": -1}, ["n", "a"]) == 1


def test_err_takes_grades_above_4_as_4():
    assert value("err@5", {"a": 4}, ["a"]) == 15 / 16
    assert value("err@5", {"a": 9}, ["a"]) == 15 / 16
    assert value("err@5", {"a": 9, "b": 4}, ["a", "b"]) == 15 / 16 + 1 / 16 * 15 / 16 / 2


def test_no_grade_is_too_large_for_ndcg():
    qrels = {"a": 2**62, "b": 2**62 - 1, "c": 1}
    assert value("ndcg_exp", qrels, ["a", "b", "c"]) == 1
    assert 0 < value("ndcg_exp", qrels, ["c", "b", "a"]) < 1
    assert value("ndcg", qrels, ["a", "b", "c"]) == 1


def test_rbp_of_nothing_but_relevant_documents_keeps_to_its_range():
    docs = [f"d{n}" for n in range(5000)]
    found = judge(["q"], [dict.fromkeys(docs, 1)], [(docs, None)])
    for p in (0.1, 0.5, 0.8, 0.9, 0.95, 0.99):
        assert ranking.rbp(found, p).item() == pytest.approx(1)
        assert ranking.rbp(found, p).item() <= 1


@pytest.mark.parametrize("k", [0, -1])
def test_a_cutoff_below_1_is_refused(k):
    for metric in RETRIEVAL.values():
        if "cutoff" in metric.parameter:
            with pytest.raises(ValueError, match="at least 1"):
                metric.kernel(WORKED, k)


# Laws. A metric that joins the table is held to every one of them.

SUFFIXES = {
    "none": ("",),
    "cutoff": ("@1", "@3", "@99"),
    "optional cutoff": ("", "@1", "@3", "@99"),
    "persistence": ("", "@0.95"),
}
METRICS = {
    stem + suffix: retrieval_metric(stem + suffix)
    for stem, metric in RETRIEVAL.items()
    for suffix in SUFFIXES[metric.parameter]
}
# These say how well a list is judged, not how good it is.
COVERAGE = {name for name in METRICS if name.startswith(("judged@", "hole@"))}

DOCS = [f"d{n:02}" for n in range(14)]
JUDGMENTS = st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 5), max_size=8)
LISTS = st.permutations(DOCS).flatmap(lambda docs: st.integers(0, 12).map(lambda n: docs[:n]))
CASES = st.lists(st.tuples(JUDGMENTS, st.one_of(st.none(), LISTS)), max_size=4)


def arrays(cases):
    """Compute every metric over (judgments, list) pairs, each of shape (len(cases),)."""
    found = judge(
        [f"q{n}" for n in range(len(cases))],
        [qrels for qrels, _ in cases],
        [None if docs is None else (docs, None) for _, docs in cases],
    )
    return {name: kernel(found) for name, kernel in METRICS.items()}


def scored(qrels, docs):
    """Compute every metric for one query."""
    return {name: result.item() for name, result in arrays([(qrels, docs)]).items()}


def effectiveness(qrels, docs):
    return {name: one for name, one in scored(qrels, docs).items() if name not in COVERAGE}


@settings(deadline=None)
@given(cases=CASES)
def test_one_finite_value_per_query_within_the_range(cases):
    for name, result in arrays(cases).items():
        low, high = RETRIEVAL[name.partition("@")[0]].range
        assert result.dtype == np.float64, name
        assert result.shape == (len(cases),), name
        assert ((result >= low) & (result <= high)).all(), name


@settings(deadline=None)
@given(cases=CASES)
def test_a_query_s_values_do_not_depend_on_the_other_queries(cases):
    alone = [scored(*case) for case in cases]
    for name, result in arrays(cases).items():
        assert result.tolist() == [one[name] for one in alone], name
    for name, result in arrays(cases[::-1]).items():
        assert result.tolist() == [one[name] for one in alone[::-1]], name


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS, chance=st.randoms())
def test_the_order_of_rows_and_judgments_changes_no_bit(qrels, docs, chance):
    rows = [(doc, -float(place)) for place, doc in enumerate(docs)]
    judgments = list(qrels.items())
    chance.shuffle(rows)
    chance.shuffle(judgments)
    ranking = ([doc for doc, _ in rows], [score for _, score in rows])
    shuffled = judge(["q"], [dict(judgments)], [ranking])
    assert {name: m(shuffled).item() for name, m in METRICS.items()} == scored(qrels, docs)


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS)
def test_the_names_of_documents_change_nothing(qrels, docs):
    renamed = dict(zip(DOCS, reversed(DOCS), strict=True))
    other = {renamed[doc]: grade for doc, grade in qrels.items()}
    assert scored(other, [renamed[doc] for doc in docs]) == scored(qrels, docs)


@settings(deadline=None)
@given(qrels=JUDGMENTS)
def test_no_list_and_an_empty_one_score_0(qrels):
    assert scored(qrels, None) == scored(qrels, []) == dict.fromkeys(METRICS, 0.0)


@settings(deadline=None)
@given(docs=LISTS, qrels=st.dictionaries(st.sampled_from(DOCS), st.integers(-3, 0), max_size=8))
def test_a_query_without_a_relevant_document_scores_0(qrels, docs):
    assert not any(effectiveness(qrels, docs).values())


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS)
def test_putting_the_better_of_two_neighbours_first_never_lowers(qrels, docs):
    gains = [max(qrels.get(doc, 0), 0) for doc in docs]
    before = effectiveness(qrels, docs)
    for place in range(1, len(docs)):
        if gains[place] > gains[place - 1]:
            better = docs.copy()
            better[place - 1 : place + 1] = docs[place], docs[place - 1]
            after = effectiveness(qrels, better)
            assert not [name for name in before if after[name] < before[name] - 1e-15]


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS, more=st.integers(1, 200))
def test_an_unjudged_tail_changes_nothing(qrels, docs, more):
    longer = docs + [f"unjudged{n}" for n in range(more)]
    assert effectiveness(qrels, longer) == effectiveness(qrels, docs)


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS)
def test_only_bpref_tells_not_relevant_from_not_judged(qrels, docs):
    kept = {doc: grade for doc, grade in qrels.items() if grade > 0}
    without = effectiveness(kept, docs)
    for filled in (qrels, dict.fromkeys(docs, 0) | qrels):
        assert effectiveness(filled, docs) | {"bpref": without["bpref"]} == without


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS)
def test_a_negative_grade_is_as_no_judgment(qrels, docs):
    kept = {doc: grade for doc, grade in qrels.items() if grade >= 0}
    assert effectiveness(kept, docs) == effectiveness(qrels, docs)


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS, data=st.data())
def test_coverage_does_not_look_at_grades(qrels, docs, data):
    other = {doc: data.draw(st.integers(-2, 4)) for doc in qrels}
    before, after = scored(qrels, docs), scored(other, docs)
    assert {name: after[name] for name in COVERAGE} == {name: before[name] for name in COVERAGE}


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS, k=st.integers(1, 14))
def test_judged_and_holes_share_the_top_k(qrels, docs, k):
    top = docs[:k]
    known = sum(doc in qrels for doc in top)
    assert value(f"judged@{k}", qrels, docs) == (known / len(top) if top else 0)
    assert value(f"hole@{k}", qrels, docs) == (len(top) - known) / k


@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS)
def test_a_cutoff_beyond_every_list_and_judgment_is_none(qrels, docs):
    result = scored(qrels, docs)
    optional = [stem for stem, m in RETRIEVAL.items() if m.parameter == "optional cutoff"]
    assert [result[f"{stem}@99"] for stem in optional] == [result[stem] for stem in optional]


@pytest.mark.parametrize("stem", ["recall", "success", "mrr", "map", "err"])
@settings(deadline=None)
@given(qrels=JUDGMENTS, docs=LISTS)
def test_a_deeper_cutoff_never_lowers(stem, qrels, docs):
    found = judge(["q"], [qrels], [(docs, None)])
    deeper = [RETRIEVAL[stem].kernel(found, k).item() for k in range(1, 15)]
    assert deeper == sorted(deeper)


@settings(deadline=None)
@given(qrels=JUDGMENTS, tail=st.integers(0, 3))
def test_the_best_order_scores_exactly_1(qrels, tail):
    best = sorted(qrels, key=lambda doc: -qrels[doc]) + [f"u{n}" for n in range(tail)]
    names = ("best_first", "bpref", "map", "mrr", "mrr@1", "ndcg", "ndcg@3", "ndcg_exp@3")
    names += ("r_precision", "recall@99", "success@1")
    top = float(any(grade > 0 for grade in qrels.values()))
    result = scored(qrels, best)
    assert {name: result[name] for name in names} == dict.fromkeys(names, top)


@settings(deadline=None)
@given(
    qrels=st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), max_size=8),
    docs=LISTS,
)
def test_with_a_single_grade_gains_agree_and_the_first_is_the_best(qrels, docs):
    result = scored(qrels, docs)
    for cutoff in SUFFIXES["optional cutoff"]:
        assert result["ndcg" + cutoff] == result["ndcg_exp" + cutoff]
    assert result["best_first"] == result["success@1"]
