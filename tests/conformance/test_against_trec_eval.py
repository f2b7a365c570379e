"""Retrieval values against trec_eval, through pytrec_eval, its own outputs, and ir_measures."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from math import isfinite
from pathlib import Path

import ir_measures
import pyarrow as pa
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.measure.golden import Case
from aal_engine.measure.retrieval.judged import judge
from aal_engine.measure.retrieval.metrics import retrieval_metric
from aal_engine.measure.retrieval.reading import judge_columns
from aal_engine.store.long_run import open_lists
from aal_engine.store.run import load_run

NAMES = {
    "map": "map",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "recip_rank": "mrr",
    "ndcg": "ndcg",
    "P": "precision",
    "recall": "recall",
    "ndcg_cut": "ndcg",
    "map_cut": "map",
    "success": "success",
    "unj": "hole",
}
MEASURES = {
    "map",
    "Rprec",
    "bpref",
    "recip_rank",
    "ndcg",
    "P.1,3,10,1000",
    "recall.1,3,10,1000",
    "ndcg_cut.1,3,10,1000",
    "map_cut.1,3,10,1000",
    "success.1,3,10,1000",
}


def name_of(measure: str) -> str | None:
    """Return our name for a measure of trec_eval, None for one that is not ours."""
    if measure == "rbp":
        return "rbp@0.9"  # the persistence that trec_eval does not print
    stem, cutoff = re.fullmatch(r"(.+?)(?:_(\d+))?", measure).groups()
    name = NAMES.get(stem)
    return name if name is None or cutoff is None else f"{name}@{cutoff}"


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels = defaultdict(dict)
    for line in path.read_text().splitlines():
        query, _, doc, grade = line.split()[:4]
        assert doc not in qrels[query]
        qrels[query][doc] = int(grade)
    return dict(qrels)


def read_run(path: Path) -> dict[str, dict[str, float]]:
    run = defaultdict(dict)
    for line in path.read_text().splitlines():
        query, _, doc, _, score = line.split()[:5]
        assert doc not in run[query]
        run[query][doc] = float(score)
    return dict(run)


def read_out(path: Path) -> dict[str, dict[str, str]]:
    """Read what trec_eval printed: query (or `all`) -> our name -> value, to four decimals."""
    values = defaultdict(dict)
    for line in path.read_text().splitlines():
        measure, query, printed = line.split()
        name = name_of(measure)
        if name is not None:
            values[query][name] = printed
    return dict(values)


def ours(qrels, run, names) -> dict[str, dict[str, float]]:
    """Compute metrics: name -> query -> value, over all the queries of the qrels."""
    queries = list(qrels)
    lists = [(list(run[q]), list(run[q].values())) if q in run else None for q in queries]
    found = judge(queries, list(qrels.values()), lists)
    return {
        name: dict(zip(queries, retrieval_metric(name)(found).tolist(), strict=True))
        for name in names
    }


def assert_as_pytrec_eval(qrels, run) -> None:
    theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    assert theirs
    measures = next(iter(theirs.values()))
    values = ours(qrels, run, [name_of(measure) for measure in measures])
    for measure in measures:
        expected = {query: theirs.get(query, {}).get(measure, 0.0) for query in qrels}
        assert values[name_of(measure)] == pytest.approx(expected, abs=1e-9, rel=0), measure


RUNS = {
    "results.test": ("trec_eval/qrels.test", "trec_eval/results.test"),
    "results.trunc": ("trec_eval/qrels.test", "trec_eval/results.trunc"),
    "results.test, grades": ("trec_eval/qrels.rel_level", "trec_eval/results.test"),
    "results-302.test": ("trec_eval/qrels-302.test", "trec_eval/results-302.test"),
    "results.comment.test": ("trec_eval/qrels.comment.test", "trec_eval/results.comment.test"),
    "cacm": ("cacm/qrels.cacm.txt", "cacm/cacm-bm25.run.txt"),
    "compat": ("ir_measures/compat.qrels", "ir_measures/compat.run"),
    "cwl": ("ir_measures/cwl.qrels", "ir_measures/cwl.run"),
    "ranx": ("ranx/qrels.trec", "ranx/run.trec"),
}
VARIANTS = {
    "as it is": lambda rows: rows,
    "shuffled": lambda rows: dict(random.Random(7).sample(sorted(rows.items()), len(rows))),
    "whole scores": lambda rows: {doc: float(int(score)) for doc, score in rows.items()},
    "all tied": lambda rows: dict.fromkeys(rows, 1.0),
    "backwards": lambda rows: {doc: -score for doc, score in rows.items()},
}


@pytest.mark.parametrize("files", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_public_runs_against_pytrec_eval(shared, files, variant):
    qrels, run = (shared / "data/ir" / file for file in files)
    varied = {query: variant(rows) for query, rows in read_run(run).items()}
    assert_as_pytrec_eval(read_qrels(qrels), varied)


@pytest.mark.parametrize("files", RUNS.values(), ids=RUNS)
def test_public_runs_in_columns_are_judged_as_in_memory(shared, files):
    qrels, run = (shared / "data/ir" / file for file in files)
    qrels, run = read_qrels(qrels), read_run(run)
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    names = ["query_id", "doc_id", "score"]
    lists = [(list(run[q]), list(run[q].values())) if q in run else None for q in qrels]
    memory = judge(list(qrels), list(qrels.values()), lists)
    for laid in (rows, random.Random(1).sample(rows, len(rows))):
        table = pa.table(dict(zip(names, zip(*laid, strict=True), strict=True)))
        columns, unknown = judge_columns(
            list(qrels), list(qrels.values()), lambda table=table: table.to_batches(333)
        )
        assert unknown == len(run.keys() - qrels.keys())
        for part in ("offsets", "grade", "rank", "retrieved", "ties"):
            assert getattr(columns, part).tolist() == getattr(memory, part).tolist(), part


@pytest.mark.parametrize("name", ["run.trec", "run.trec.gz", "run.parquet"])
def test_a_public_run_is_streamed_as_it_is_held(shared, name):
    path = shared / "data/ir/ranx" / name
    qrels = read_qrels(shared / "data/ir/ranx/qrels.trec")
    cases = [Case(query, "?", judgments) for query, judgments in qrels.items()]
    streamed = open_lists([path], None)
    held = load_run(path).runs[None]
    lists = {
        output.case_id: ([p.doc_id for p in output.retrieved], [p.score for p in output.retrieved])
        for output in held.outputs
    }
    ranks = judge(list(qrels), list(qrels.values()), [lists.get(query) for query in qrels])
    assert streamed.judge(cases).rank.tolist() == ranks.rank.tolist()
    assert streamed.digest == held.digest


DOCS = st.sampled_from(["a", "b", "c", "d", "e", "f", "10", "9", "é", "\uff5e", "\U0001f600"])
# pytrec_eval breaks down over a query all of whose grades are negative.
JUDGMENTS = st.dictionaries(DOCS, st.integers(-2, 4), min_size=1).filter(
    lambda grades: max(grades.values()) >= 0
)
LISTS = st.dictionaries(DOCS, st.sampled_from([-1.0, -0.0, 0.0, 0.5, 3.0]), min_size=1)
QUERIES = st.sampled_from("1234")


@settings(deadline=None)
@given(st.dictionaries(QUERIES, JUDGMENTS, min_size=1), st.dictionaries(QUERIES, LISTS, min_size=1))
def test_any_run_against_pytrec_eval(qrels, run):
    if qrels.keys() & run.keys():
        assert_as_pytrec_eval(qrels, run)


def test_scores_that_float32_cannot_tell_apart_are_told_apart():
    # Up to version 9, and so in pytrec_eval, trec_eval keeps scores as float32; 10 does as we do.
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 16777217.0, "b": 16777216.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert theirs["1"]["recip_rank"] == 0.5
    assert ours(qrels, run, ["mrr"])["mrr"]["1"] == 1.0


def first(run, depth):
    """Cut every list as trec_eval -M does."""
    return {
        query: dict(
            sorted(rows.items(), key=lambda row: (row[1], row[0].encode()), reverse=True)[:depth]
        )
        for query, rows in run.items()
    }


OUTPUTS = {
    "out.test.aq": ("results.test", 10**9),
    "out.test.aqc": ("results.trunc", 10**9),
    "out.test.aqcM": ("results.trunc", 100),
}


@pytest.mark.parametrize(("out", "source"), OUTPUTS.items(), ids=OUTPUTS)
def test_trec_eval_s_own_outputs(shared, out, source):
    folder = shared / "data/ir/trec_eval"
    printed = read_out(folder / out)
    run = first(read_run(folder / source[0]), source[1])
    values = ours(read_qrels(folder / "qrels.test"), run, printed["all"])
    assert len(values) > 40
    for name, by_query in values.items():
        by_query["all"] = sum(by_query.values()) / len(by_query)
        shown = {query: f"{one:.4f}" for query, one in by_query.items()}
        assert shown == {query: printed[query][name] for query in shown}, name


def test_trec_eval_s_own_output_at_relevance_level_2(shared):
    folder = shared / "data/ir/trec_eval"
    printed = read_out(folder / "out.test.aql")
    qrels, run = read_qrels(folder / "qrels.rel_level"), read_run(folder / "results.test")
    # Its rbp is graded, and a negative grade is no judgment to its unj.
    names = [name for name in printed["all"] if not name.startswith(("rbp", "hole"))]
    values = at_level(2, qrels, run, names)
    for name, by_query in values.items():
        shown = {query: f"{one:.4f}" for query, one in by_query.items()}
        assert shown == {query: printed[query][name] for query in shown}, name


def test_trec_eval_s_own_means_over_a_large_run(shared):
    folder = shared / "data/ir/trec_eval"
    printed = read_out(folder / "out.comment.test")["all"]
    qrels, run = (
        read_qrels(folder / "qrels.comment.test"),
        read_run(folder / "results.comment.test"),
    )
    common = {query: grades for query, grades in qrels.items() if query in run}
    for name, by_query in ours(common, run, printed).items():
        assert f"{sum(by_query.values()) / len(common):.4f}" == printed[name], name


def at_level(level, qrels, run, names):
    """Compute metrics with only grades from `level` on relevant; nDCG does not heed it."""
    lowered = {
        query: {doc: grade if grade >= level else min(grade, 0) for doc, grade in grades.items()}
        for query, grades in qrels.items()
    }
    return {
        name: ours(qrels if name.startswith("ndcg") else lowered, run, [name])[name]
        for name in names
    }


EDGE_MEASURES = ("map", "Rprec", "bpref", "recip_rank", "P_3", "P_10", "recall_3", "recall_10")
EDGE_MEASURES += ("ndcg", "ndcg_cut_3", "ndcg_cut_10", "map_cut_3", "success_1", "success_3")


def edges(shared):
    return json.loads((shared / "cases/retrieval-edges.json").read_text())


def edge_inputs(edge):
    """Return a tiny input's qrels and lists, None for qrels that hold a document twice."""
    qrels, lists = defaultdict(dict), defaultdict(lambda: ([], []))
    for query, doc, grade in edge["qrels"]:
        if doc in qrels[query]:
            return None
        qrels[query][doc] = int(grade)
    for query, doc, _, score in edge["run"]:
        lists[query][0].append(doc)
        lists[query][1].append(float(score))
    return dict(qrels), dict(lists)


def edge_means(edge):
    qrels, lists = edge_inputs(edge)
    level = edge["relevance_level"]
    queries = list(qrels)
    runs = [lists.get(query) for query in queries]
    means = {}
    for measure in EDGE_MEASURES:
        heeds = not measure.startswith("ndcg")
        grades = [
            {doc: g if g >= level or not heeds else min(g, 0) for doc, g in qrels[query].items()}
            for query in queries
        ]
        found = judge(queries, grades, runs)
        means[measure] = retrieval_metric(name_of(measure))(found).mean().item()
    return means


def test_tiny_inputs_have_trec_eval_s_values_or_a_rule_of_ours(shared):
    agreed, refused, zero, no_run = [], [], [], []
    for edge in edges(shared):
        theirs = edge["outputs"]["trec_eval 9.0.8 -c"]
        inputs = edge_inputs(edge)
        if inputs is None:  # the golden set's readers refuse it before anything is measured
            no_run.append(edge["name"])
            continue
        scores = [score for _, given_scores in inputs[1].values() for score in given_scores]
        twice = any(len(set(docs)) < len(docs) for docs, _ in inputs[1].values())
        if twice or not all(map(isfinite, scores)):
            with pytest.raises(InputError, match=r"case 1: document [axy] "):
                edge_means(edge)
            refused.append(edge["name"])
        elif "values" in theirs:
            assert edge_means(edge) == pytest.approx(theirs["values"], abs=5.0001e-5), edge["name"]
            agreed.append(edge["name"])
        else:
            assert edge_means(edge) == dict.fromkeys(EDGE_MEASURES, 0.0), edge["name"]
            zero.append(edge["name"])
    assert len(agreed) == 16
    assert [name.partition(":")[0] for name in refused] == [
        "dup doc in run",
        "dup doc in run identical rows",
        "NaN score on rel",
        "NaN first",
        "inf",
    ]
    assert zero == [
        "only negative: n=-1",
        "only neg2: n=-2",
        "only qrels query absent from run (empty for qrels)",
    ]
    assert no_run == ["dup doc in qrels a=1 then a=0"]


IR_MEASURES = {
    "mrr@10": (ir_measures.RR @ 10, 1e-9),
    "judged@10": (ir_measures.Judged @ 10, 1e-9),
    "judged@1000": (ir_measures.Judged @ 1000, 1e-9),
    # gdeval prints five decimals.
    "err@20": (ir_measures.ERR @ 20, 5.01e-6),
    "err@3": (ir_measures.ERR @ 3, 5.01e-6),
    "ndcg_exp@10": (ir_measures.nDCG(dcg="exp-log2") @ 10, 5.01e-6),
    "ndcg_exp@1000": (ir_measures.nDCG(dcg="exp-log2") @ 1000, 5.01e-6),
    "recall@10": (ir_measures.R @ 10, 1e-9),
    "map": (ir_measures.AP, 1e-9),
}
GRADED = {
    "results.test": ("trec_eval/qrels.rel_level", "trec_eval/results.test"),
    "results.trunc": ("trec_eval/qrels.rel_level", "trec_eval/results.trunc"),
    "cacm": ("cacm/qrels.cacm.txt", "cacm/cacm-bm25.run.txt"),
    "large": ("trec_eval/qrels.comment.test", "trec_eval/results.comment.test"),
}


def untied(rows):
    """Give every document a score of its own: providers of ir_measures break ties differently."""
    order = sorted(rows.items(), key=lambda row: (row[1], row[0].encode()))
    return {doc: float(place) for place, (doc, _) in enumerate(order)}


@pytest.mark.parametrize("files", GRADED.values(), ids=GRADED)
def test_public_runs_against_ir_measures(shared, files):
    qrels = read_qrels(shared / "data/ir" / files[0])
    run = {query: untied(rows) for query, rows in read_run(shared / "data/ir" / files[1]).items()}
    # gdeval reads queries by number.
    numbers = {query: str(number) for number, query in enumerate(dict.fromkeys([*qrels, *run]), 1)}
    qrels = {numbers[query]: grades for query, grades in qrels.items()}
    run = {numbers[query]: rows for query, rows in run.items()}
    asked = {measure: name for name, (measure, _) in IR_MEASURES.items()}
    theirs = defaultdict(dict)
    for found in ir_measures.iter_calc(list(asked), qrels, run):
        theirs[asked[found.measure]][found.query_id] = found.value
    for name, by_query in ours(qrels, run, IR_MEASURES).items():
        assert by_query == pytest.approx(theirs[name], abs=IR_MEASURES[name][1], rel=0), name
