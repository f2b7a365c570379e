"""The names of the retrieval metrics."""

from __future__ import annotations

import inspect

import pytest

from aal_engine.errors import InputError
from aal_engine.measure.retrieval import ranking
from aal_engine.measure.retrieval.judged import judge
from aal_engine.measure.retrieval.metrics import RETRIEVAL, parse, retrieval_metric

GOOD = {
    "recall@10": ("recall", 10),
    "precision@10": ("precision", 10),
    "mrr": ("mrr", None),
    "mrr@10": ("mrr", 10),
    "ndcg": ("ndcg", None),
    "ndcg@10": ("ndcg", 10),
    "ndcg_exp": ("ndcg_exp", None),
    "ndcg_exp@10": ("ndcg_exp", 10),
    "success@1": ("success", 1),
    "best_first": ("best_first", None),
    "map": ("map", None),
    "map@100": ("map", 100),
    "r_precision": ("r_precision", None),
    "bpref": ("bpref", None),
    "judged@10": ("judged", 10),
    "hole@10": ("hole", 10),
    "rbp": ("rbp", None),
    "rbp@0.95": ("rbp", 0.95),
    "err@20": ("err", 20),
    "recall@999999999": ("recall", 999_999_999),
}


@pytest.mark.parametrize(("name", "parts"), GOOD.items())
def test_documented_names_are_read(name, parts):
    assert parse(name) == parts
    assert retrieval_metric(name)(judge(["q"], [{"a": 1}], [(["a"], None)])).shape == (1,)


def test_every_metric_of_the_table_has_a_documented_name():
    assert {stem for stem, _ in GOOD.values()} == set(RETRIEVAL)


def test_a_parameter_reaches_its_kernel():
    found = judge(["q"], [{"a": 1}], [(["x", "a"], None)])
    assert retrieval_metric("mrr")(found).tolist() == [0.5]
    assert retrieval_metric("mrr@1")(found).tolist() == [0.0]
    assert retrieval_metric("rbp")(found) == pytest.approx([0.2 * 0.8])
    assert retrieval_metric("rbp@0.5")(found).tolist() == [0.25]


@pytest.mark.parametrize(
    "name", ["", "recal@10", "@10", "NDCG@10", "ndcg_cut@10", "recall 10", "ﬁ"]
)
def test_an_unknown_name_is_told_with_those_there_are(name):
    with pytest.raises(InputError) as caught:
        parse(name)
    assert f"no retrieval metric {name}" in caught.value.message
    assert all(stem in caught.value.way_out for stem in RETRIEVAL)
    assert "recall@k, success@k" in caught.value.way_out


@pytest.mark.parametrize(
    "name",
    [
        "recall",
        "recall@",
        "recall@0",
        "recall@010",
        "recall@-1",
        "recall@+1",
        "recall@1.5",
        "recall@1e3",
        "recall@1000000000",
        "recall@1_0",
        "recall@10@10",
        "recall@10 ",
        "recall@10\n",
        "recall@１０",
        "map@",
        "map@0",
        "bpref@10",
        "best_first@1",
        "r_precision@5",
        "rbp@0",
        "rbp@1",
        "rbp@10",
        "rbp@1.0",
        "rbp@0.0",
        "rbp@0.90",
        "rbp@.9",
        "rbp.9",
    ],
)
def test_a_malformed_parameter_is_told_with_the_form(name):
    with pytest.raises(InputError) as caught:
        parse(name)
    stem = parse_stem(name)
    assert f"is not written as {stem}" in caught.value.message
    assert caught.value.way_out


def parse_stem(name):
    return next(stem for stem in sorted(RETRIEVAL, key=len, reverse=True) if name.startswith(stem))


def test_the_table_holds_every_kernel_once_and_says_what_it_takes():
    kernels = [metric.kernel for metric in RETRIEVAL.values()]
    public = [
        value
        for name, value in vars(ranking).items()
        if inspect.isfunction(value)
        and value.__module__ == ranking.__name__
        and not name.startswith("_")
    ]
    assert sorted(map(id, kernels)) == sorted(map(id, public))
    for metric in RETRIEVAL.values():
        takes = list(inspect.signature(metric.kernel).parameters.values())[1:]
        spelled = {
            "none": [],
            "cutoff": [("k", inspect.Parameter.empty)],
            "optional cutoff": [("k", None)],
            "persistence": [("p", 0.8)],
        }[metric.parameter]
        assert [(taken.name, taken.default) for taken in takes] == spelled


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        RETRIEVAL["mine"] = RETRIEVAL["map"]
