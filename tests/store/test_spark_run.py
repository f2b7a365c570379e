"""Runs in a Spark frame are scored where they are, as a file of the same rows is."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aal_engine.errors import InputError
from aal_engine.service.evaluate import evaluate

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

from aal_engine.service.spark import evaluate_frame

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

NOW = datetime(2026, 1, 31, tzinfo=UTC)
PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: internal
suites:
  core: {file: core.jsonl, kinds: [retrieval], metrics: ["recall@2", mrr, map, bpref, "ndcg@3"]}
  more: {file: more.jsonl, kinds: [retrieval]}
"""
SCHEMA = "query_id string, doc_id array<string>, score array<double>"


@pytest.fixture(scope="module")
def spark():
    """A local Spark of two workers."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
        .getOrCreate()
    )
    yield session
    session.stop()
    del os.environ["PYSPARK_PYTHON"]


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pack")
    (folder / "pack.yaml").write_text(PACK)
    drawn = random.Random(7)
    for name, ids in (("core", range(20)), ("more", range(15, 60, 3))):
        with (folder / f"{name}.jsonl").open("w") as cases:
            for id_ in ids:
                relevant = {
                    str(doc): drawn.choice([-1, 0, 1, 2]) for doc in drawn.sample(range(40), 9)
                }
                cases.write(
                    json.dumps({"id": str(id_), "question": "q", "relevant": relevant}) + "\n"
                )
    return folder


def lists(queries=45, docs=12):
    drawn = random.Random(5)
    return [
        (
            str(query),
            [str(doc) for doc in drawn.sample(range(40), docs)],
            [drawn.choice([1.5, 2.25, -1e-7, 0.1 + 0.2, 7.0]) for _ in range(docs)],
        )
        for query in range(queries)
    ]


def files(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_frame_gives_the_bytes_of_a_local_run(spark, pack, tmp_path):
    rows = lists()
    frame = spark.createDataFrame(random.Random(1).sample(rows, len(rows)), SCHEMA).repartition(5)
    evaluate_frame(pack, frame, tmp_path / "away", version="1.0.0", now=NOW)
    flat = [
        (query, doc, score)
        for query, docs, scores in rows
        for doc, score in zip(docs, scores, strict=True)
    ]
    columns = dict(
        zip(("query_id", "doc_id", "score"), map(list, zip(*flat, strict=True)), strict=True)
    )
    pq.write_table(pa.table(columns), tmp_path / "run.parquet")
    evaluate(pack, [tmp_path / "run.parquet"], tmp_path / "here", version="1.0.0", now=NOW)
    assert files(tmp_path / "away") == files(tmp_path / "here")


def test_nothing_is_shuffled(spark, pack):
    from functools import partial

    from aal_engine.measure.retrieval.lists import placed

    frame = spark.createDataFrame(lists(), SCHEMA)
    plan = frame.mapInArrow(partial(placed, qrels={}), "`case` string")
    assert "Exchange" not in plan._jdf.queryExecution().executedPlan().toString()


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("1", ["a", "a"], [1.0, 2.0])], "case 1: document a is listed twice"),
        ([("99", ["a", "a"], [1.0, 2.0])], "case 99: document a is listed twice"),
        ([("1", ["a"], [float("nan")])], "case 1: document a has a score that is not a finite"),
        ([("1", ["a"], [1.0, 2.0])], "row 1 has not one score for each document"),
        ([("1", None, [1.0])], "row 1 has no list"),
        ([(None, ["a"], [1.0])], "has no value"),
        ([("1", ["a"], [1.0]), ("1", ["b"], [1.0])], "case 1: attempt 1 is there twice"),
    ],
)
def test_what_cannot_be_used_is_told_as_of_a_file(spark, pack, tmp_path, rows, told):
    frame = spark.createDataFrame(rows, SCHEMA)
    with pytest.raises(InputError) as error:
        evaluate_frame(pack, frame, tmp_path / "out", version="1.0.0", now=NOW)
    assert told in str(error.value)
    assert not (tmp_path / "out" / "retrieval.json").exists()


def test_a_frame_without_the_columns_is_refused(spark, pack, tmp_path):
    frame = spark.createDataFrame([("1", ["a"])], "query_id string, doc_id array<string>")
    with pytest.raises(InputError, match="score: is not among the frame's columns"):
        evaluate_frame(pack, frame, tmp_path / "out", version="1.0.0", now=NOW)
