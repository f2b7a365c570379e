"""Judging runs in columns: the same as in memory, whatever the order, the batches and the types."""

from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.columns import Columns
from aal_engine.measure.retrieval.judged import judge
from aal_engine.measure.retrieval.reading import judge_columns

FIELDS = ("offsets", "grade", "rank", "retrieved", "ties")
NAMES = ("query_id", "doc_id", "score")


PLAIN = (pa.string(), pa.string(), pa.float64())


def batches(rows, sizes=(), types=PLAIN):
    """Lay (query, doc, score) rows out as record batches of the sizes given and one of the rest."""
    columns = [pa.array([row[place] for row in rows], kind) for place, kind in enumerate(types)]
    table = pa.record_batch(columns, names=list(NAMES[: len(types)]))
    cut, at = [], 0
    for size in sizes:
        cut.append(table.slice(at, size))
        at += size
    return [*cut, table.slice(at)]


def as_lists(found):
    return {name: getattr(found, name).tolist() for name in FIELDS}


def in_memory(ids, qrels, rows):
    """Judge the same rows through `judge`, scores or not."""
    lists = {query: ([], []) for query in dict.fromkeys(row[0] for row in rows)}
    for query, doc, *score in rows:
        lists[query][0].append(doc)
        lists[query][1].extend(score)
    rankings = [lists.get(query) for query in ids]
    return judge(ids, qrels, [r and (r[0], r[1] or None) for r in rankings])


def assert_as_in_memory(ids, qrels, rows, laid):
    found, unknown = judge_columns(ids, qrels, lambda: iter(laid))
    assert as_lists(found) == as_lists(in_memory(ids, qrels, rows))
    assert unknown == len({row[0] for row in rows} - set(ids))


QUERIES = ["1", "2", "33", "q", "é"]
DOCS = [
    "",
    "a",
    "b",
    "é",
    "\U0001f600",
    "a longer id",
    "ab" * 8,
    "ab" * 8 + "c",
    "7",
    "007",
    "x" * 40,
]
SCORES = st.sampled_from([0.0, -0.0, 1.0, 1.5, -3.0, 1e-300])
ROWS = st.dictionaries(
    st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCS)), SCORES, max_size=40
).map(lambda scored: [(query, doc, score) for (query, doc), score in scored.items()])
JUDGED = st.dictionaries(
    st.sampled_from([*QUERIES[:3], "absent"]),
    st.dictionaries(st.sampled_from([*DOCS, "z"]), st.integers(-1, 3), max_size=8),
)
SIZES = st.lists(st.integers(0, 7), max_size=8)
TEXT = (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()))


@settings(deadline=None)
@given(JUDGED, ROWS, SIZES, st.sampled_from(TEXT), st.sampled_from(TEXT), st.randoms())
def test_any_run_is_judged_as_in_memory(qrels, rows, sizes, query_type, doc_type, chance):
    ids = list(qrels)
    types = (query_type, doc_type, pa.float64())
    layouts = (
        rows,
        chance.sample(rows, len(rows)),
        sorted(rows),
        sorted(rows, key=lambda row: (row[0], -row[2])),
        sorted(rows, key=lambda row: row[1]),
    )
    for laid in layouts:
        assert_as_in_memory(ids, list(qrels.values()), rows, batches(laid, sizes, types))


@settings(deadline=None)
@given(JUDGED, ROWS, SIZES, st.randoms())
def test_without_scores_the_order_of_the_rows_is_the_rank(qrels, rows, sizes, chance):
    unscored = [row[:2] for row in chance.sample(rows, len(rows))]
    laid = batches(unscored, sizes, (pa.string(), pa.string()))
    found, _ = judge_columns(
        list(qrels), list(qrels.values()), lambda: iter(laid), Columns(score=None)
    )
    assert as_lists(found) == as_lists(in_memory(list(qrels), list(qrels.values()), unscored))
    assert not found.ties.any()


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int64(), pa.uint64(), pa.dictionary(pa.int8(), pa.int32())]
)
@settings(deadline=None)
@given(
    rows=st.dictionaries(st.tuples(st.integers(1, 3), st.integers(5, 12)), SCORES),
    grades=st.dictionaries(
        st.sampled_from(["5", "7", "9", "10", "11", "07", "x"]), st.integers(0, 2)
    ),
    chance=st.randoms(),
)
def test_whole_numbers_are_ids_by_their_decimals(kind, rows, grades, chance):
    numbered = [(query, doc, score) for (query, doc), score in rows.items()]
    chance.shuffle(numbered)
    spelled = [(str(query), str(doc), score) for query, doc, score in numbered]
    laid = batches(numbered, (3, 4), (kind, kind, pa.float64()))
    assert_as_in_memory(["1", "2", "02"], [grades] * 3, spelled, laid)


@pytest.mark.parametrize(
    "kind",
    [
        pa.float16(),
        pa.float32(),
        pa.float64(),
        pa.int8(),
        pa.int64(),
        pa.uint32(),
        pa.decimal128(9, 2),
    ],
)
def test_scores_are_numbers_of_any_width(kind):
    rows = [("q", "a", 1), ("q", "b", 3), ("q", "c", 3), ("q", "d", 2)]
    table = pa.record_batch(
        [pa.array(list(column)) for column in zip(*rows, strict=True)], names=list(NAMES)
    )
    laid = [
        table.set_column(
            2, "score", pa.array([1, 3, 3, 2], pa.int64()).cast(pa.float64()).cast(kind)
        )
    ]
    assert_as_in_memory(["q"], [dict.fromkeys("abcd", 1)], rows, laid)


def test_whole_scores_are_compared_as_float64():
    rows = [("q", "a", 2**53 + 1), ("q", "b", 2**53), ("q", "c", 2**53 + 4)]
    laid = batches(rows, (), (pa.string(), pa.string(), pa.int64()))
    found, _ = judge_columns(["q"], [{"a": 1, "b": 2, "c": 3}], lambda: laid)
    # 2^53 + 1 rounds to 2^53, so that ids settle the order of a and b.
    assert found.grade.tolist() == [3, 2, 1]
    assert found.ties.tolist() == [2]


def test_the_scores_of_other_queries_are_no_ties():
    rows = [(query, "a", 1.0) for query in "1234"]
    found, _ = judge_columns(list("1234"), [{"a": 1}] * 4, lambda: batches(rows))
    assert found.rank.tolist() == [1] * 4
    assert found.ties.tolist() == [0] * 4


def large(chance, queries=40, depth=1500, scores=50):
    """Make a run of long lists with many ties, deeper than a block of rows is."""
    docs = [f"doc-{n:07}" for n in range(depth * 2)]
    rows, qrels = [], []
    for query in range(queries):
        listed = chance.sample(docs, depth)
        rows += [(f"q{query}", doc, float(chance.randrange(scores))) for doc in listed]
        qrels.append({doc: chance.randrange(-1, 4) for doc in chance.sample(docs, 20)})
    return [f"q{query}" for query in range(queries)], qrels, rows


ORDERS = {
    "by query, best first": lambda row: (row[0], -row[2]),
    "by query, worst first": lambda row: (row[0], row[2]),
    "by query and document": lambda row: row[:2],
    "best first, queries interleaved": lambda row: -row[2],
    "by document": lambda row: row[1],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_long_lists_are_judged_as_in_memory(order):
    ids, qrels, rows = large(random.Random(3))
    laid = batches(sorted(rows, key=order), [9973] * 5)
    assert_as_in_memory(ids, qrels, rows, laid)


def test_a_list_longer_than_several_batches():
    ids, qrels, rows = large(random.Random(4), queries=3, depth=20_000, scores=10**9)
    rows.sort(key=ORDERS["by query, best first"])
    assert_as_in_memory(ids, qrels, rows, batches(rows, [7001] * 8))


def test_queries_that_are_not_asked_for_are_counted_and_passed_over():
    rows = [
        ("x", "a", 1.0),
        ("q", "b", 3.0),
        ("y", "a", float("nan")),
        ("y", "a", 2.0),
        ("q", "a", 2.0),
    ]
    found, unknown = judge_columns(["q"], [{"a": 1}], lambda: batches(rows, (2, 1)))
    assert unknown == 2
    assert found.rank.tolist() == [2]
    assert found.retrieved.tolist() == [2]


def test_a_run_without_rows():
    for laid in ([], batches([]), batches([("x", "a", 1.0)])):
        found, _ = judge_columns(["q"], [{"a": 1}], lambda laid=laid: laid)
        assert found.rank.tolist() == found.retrieved.tolist() == [0]


def test_no_queries_and_no_judgments():
    laid = batches([("q", "a", 1.0)])
    assert judge_columns([], [], lambda: laid)[0].offsets.tolist() == [0]
    found, _ = judge_columns(["q"], [{}], lambda: laid)
    assert found.offsets.tolist() == [0, 0]
    assert found.retrieved.tolist() == [1]


def test_rows_are_read_again_only_where_queries_are_interleaved():
    ids, qrels, rows = large(random.Random(5), queries=8, depth=60)
    for name, order in ORDERS.items():
        readings = []

        def read(order=order, readings=readings):
            readings.append(None)
            return batches(sorted(rows, key=order), [100] * 4)

        judge_columns(ids, qrels, read)
        assert len(readings) == (1 if name.startswith("by query") else 2), name
        judge_columns(ids[:1], qrels[:1], read)
        assert len(readings) == (2 if name.startswith("by query") else 3), name


TWICE = {
    "side by side": ["q1 a", "q1 b", "q1 b", "q2 b"],
    "in one stretch": ["q1 b", "q1 a", "q1 b", "q2 b"],
    "across batches": ["q1 a", "q1 b", "q1 c", "q1 d", "q1 b", "q2 b"],
    "in interleaved queries": ["q1 b", "q2 b", "q1 a", "q2 a", "q1 b", "q2 c"],
    "across batches, interleaved": ["q1 b", "q2 b", "q2 a", "q2 d", "q1 a", "q1 b"],
}


@pytest.mark.parametrize("named", TWICE.values(), ids=TWICE)
@pytest.mark.parametrize("judgments", [{}, {"b": 1}, {"a": 1}], ids=str)
def test_a_document_listed_twice_is_named_with_its_query(named, judgments):
    rows = [(*name.split(), -float(place)) for place, name in enumerate(named)]
    with pytest.raises(InputError) as caught:
        judge_columns(["q1", "q2"], [judgments] * 2, lambda: batches(rows, (3,)))
    assert str(caught.value) == "case q1: document b is listed twice"


def test_a_document_listed_twice_does_no_harm_where_nobody_asks():
    rows = [("x", "a", 1.0), ("x", "a", 1.0), ("q", "a", 1.0), ("x", "a", 1.0)]
    assert judge_columns(["q"], [{"a": 1}], lambda: batches(rows))[0].rank.tolist() == [1]


def test_equal_keys_of_different_documents_do_no_harm(monkeypatch):
    import aal_engine.measure.retrieval.pool as pool

    monkeypatch.setattr(pool, "keys", lambda ids, salt: salt & np.uint64(0))
    ids, qrels, rows = large(random.Random(6), queries=5, depth=40)
    for order in ORDERS.values():
        assert_as_in_memory(ids, qrels, rows, batches(sorted(rows, key=order), [30] * 3))
    with pytest.raises(InputError, match=r"case q3: document doc-[0-9]+ is listed twice"):
        judge_columns(ids, qrels, lambda: batches([*rows, rows[120]]))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("interleaved", [False, True])
def test_a_score_that_is_not_finite_is_named(score, interleaved):
    rows = [("q1", "a", 3.0), ("q1", "b", score), ("q2", "c", 1.0)]
    if interleaved:
        rows.append(rows.pop(0))
    with pytest.raises(InputError) as caught:
        judge_columns(["q1", "q2"], [{}, {}], lambda: batches(rows))
    assert str(caught.value) == "case q1: document b has a score that is not a finite number"


@pytest.mark.parametrize("field", NAMES)
def test_a_row_without_a_value_is_named(field):
    rows = [["q", "a", 3.0], ["q", "b", 2.0], ["q", "c", 1.0]]
    rows[2][NAMES.index(field)] = None
    with pytest.raises(InputError) as caught:
        judge_columns(["q"], [{}], lambda: batches(rows, (1,)))
    assert str(caught.value) == f"{field}: row 3 has no value"


@pytest.mark.parametrize("field", NAMES[:2])
def test_a_dictionary_may_not_hold_a_null(field):
    batch = batches([("q", "a", 1.0), ("q", "b", 2.0)])[0]
    coded = pa.DictionaryArray.from_arrays([0, 1], ["q", None])
    batch = batch.set_column(NAMES.index(field), field, coded)
    with pytest.raises(InputError) as caught:
        judge_columns(["q"], [{}], lambda: [batch])
    assert str(caught.value) == f"{field}: row 2 has no value"


@pytest.mark.parametrize(
    ("types", "told"),
    [
        ((pa.float64(), pa.string(), pa.float64()), "query_id: holds double, neither text nor"),
        ((pa.string(), pa.binary(), pa.float64()), "doc_id: holds binary, neither text nor"),
        ((pa.string(), pa.string(), pa.string()), "score: holds string, not numbers"),
        ((pa.string(), pa.string(), pa.bool_()), "score: holds bool, not numbers"),
        ((pa.string(), pa.string()), "score: is not among the run's columns"),
    ],
)
def test_a_column_of_another_type_is_named(types, told):
    sample = {pa.string(): "1", pa.float64(): 1.0, pa.binary(): b"1", pa.bool_(): True}
    laid = batches([[sample[kind] for kind in types]], (), types)
    with pytest.raises(InputError) as caught:
        judge_columns(["1"], [{}], lambda: laid)
    assert told in str(caught.value)


def test_a_run_that_changes_between_two_readings_is_refused():
    rows = [("q1", "a", 1.0), ("q2", "a", 1.0), ("q1", "b", 1.0)]
    for other in (rows[:2], [*rows, ("q1", "c", 1.0)], []):
        readings = iter([batches(rows), batches(other)])
        with pytest.raises(InputError, match="other rows when it is read again"):
            judge_columns(["q1", "q2"], [{"a": 1}] * 2, lambda readings=readings: next(readings))


def test_a_query_given_twice_is_refused():
    with pytest.raises(ValueError, match="given twice"):
        judge_columns(["q", "q"], [{}, {}], list)


def test_columns_may_have_other_names_and_stand_in_any_order():
    batch = pa.record_batch({"s": [1.0, 2.0], "d": ["a", "b"], "x": [0, 0], "q": ["q", "q"]})
    found, _ = judge_columns(["q"], [{"a": 1}], lambda: [batch], Columns("q", "d", "s"))
    assert found.rank.tolist() == [2]


def synthetic(queries, depth):
    """Make batches one at a time, so that none is held."""
    for query in range(queries):
        docs = [f"{query:05}-{place:05}" for place in range(depth)]
        scores = np.linspace(1, 0, depth)
        yield pa.record_batch([pa.array([str(query)] * depth), docs, scores], names=list(NAMES))


def test_memory_does_not_grow_with_the_rows():
    ids = [str(query) for query in range(100)]
    qrels = [{f"{query:05}-00007": 1} for query in range(100)]
    peaks = []
    for queries in (10, 100):
        tracemalloc.start()
        arrow = pa.total_allocated_bytes()
        found, _ = judge_columns(ids, qrels, lambda queries=queries: synthetic(queries, 1000))
        assert found.rank.tolist() == [8] * queries + [0] * (100 - queries)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert pa.total_allocated_bytes() - arrow < 1 << 20
    assert peaks[1] < 1.5 * peaks[0]


def test_pandas_is_not_imported(tmp_path):
    ids, qrels, rows = large(random.Random(7), queries=4, depth=30)
    path = tmp_path / "run.parquet"
    pq.write_table(pa.Table.from_batches(batches(rows)), path)
    program = f"""
import sys
import pyarrow.parquet as pq
from aal_engine.measure.retrieval.reading import judge_columns
from aal_engine.measure.retrieval.metrics import retrieval_metric
read = lambda: pq.ParquetFile({str(path)!r}).iter_batches()
found, _ = judge_columns({ids!r}, {qrels!r}, read)
retrieval_metric("ndcg@10")(found)
assert found.ties.any()
sys.exit("pandas" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
