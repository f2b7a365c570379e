"""Runs of retrieval alone are scored as if they were held in memory, and are not."""

from __future__ import annotations

import gzip
import io
import json
import random
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.service import evaluate as service
from aal_engine.store import list_file, long_run, trec_batch
from aal_engine.store.golden import load_golden
from aal_engine.store.long_run import open_lists
from aal_engine.store.text_file import FaultList, read_lines
from aal_engine.store.trec import trec_rows

PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: internal
suites:
  core: {file: core.jsonl, metrics: ["recall@2", mrr, map, bpref, "judged@3", "ndcg@3"]}
  more: {file: more.jsonl, kinds: [retrieval]}
"""
NOW = datetime(2026, 1, 31, tzinfo=UTC)


def run_rows(queries=30, docs=12) -> list[tuple[str, str, float]]:
    drawn = random.Random(5)
    rows = []
    for query in range(queries):
        listed = drawn.sample(range(40), docs)
        scores = sorted(
            (drawn.choice([1.5, 2.25, -1e-7, 0.1 + 0.2, 7]) for _ in listed), reverse=True
        )
        rows += [(str(query), str(doc), score) for doc, score in zip(listed, scores, strict=True)]
    return rows


ROWS = run_rows()
SHUFFLED = random.Random(6).sample(ROWS, len(ROWS))


@pytest.fixture(scope="module")
def pack(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    (folder / "pack.yaml").write_text(PACK)
    drawn = random.Random(7)

    def cases(ids):
        for id_ in ids:
            relevant = {str(doc): drawn.choice([-1, 0, 1, 2]) for doc in drawn.sample(range(40), 9)}
            slices = ["odd"] if id_ % 2 else []
            yield json.dumps(
                {"id": str(id_), "question": "q", "relevant": relevant, "slices": slices}
            )

    # The run has cases that neither suite has, and the suites have some that the run lacks.
    (folder / "core.jsonl").write_text("\n".join(cases(range(20))))
    (folder / "more.jsonl").write_text("\n".join(cases(range(15, 40, 3))))
    return folder


def text(rows, form="{} Q0 {} {} {} tag\n") -> bytes:
    return "".join(
        form.format(query, doc, rank, repr(score)) for rank, (query, doc, score) in enumerate(rows)
    ).encode()


def parquet(
    rows, ids: pa.DataType | None = None, names=("query_id", "doc_id", "score"), group=50, **more
):
    ids = ids or pa.string()
    query, doc, scores = zip(*rows, strict=True)
    whole = pa.types.is_integer(ids)
    arrays = [
        pa.array(map(int, column) if whole else column, ids if whole else pa.string()).cast(ids)
        for column in (query, doc)
    ]
    table = pa.table([*arrays, pa.array(scores)], names=names)
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=group, **more)
    return sink.getvalue()


def listed(rows, kind=pa.list_, ids: pa.DataType | None = None, group=7) -> bytes:
    """Write rows of a case each, with a list of documents and one of scores."""
    cases: dict[str, tuple[list[str], list[float]]] = {}
    for query, doc, score in rows:
        docs, scores = cases.setdefault(query, ([], []))
        docs.append(doc)
        scores.append(score)
    docs, scores = zip(*cases.values(), strict=True)
    columns = {
        "query_id": pa.array(list(cases)).cast(ids or pa.string()),
        "doc_id": pa.array(docs, kind(pa.string())),
        "score": pa.array(scores, kind(pa.float64())),
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=group)
    return sink.getvalue()


FORMS = {
    "text": text(ROWS),
    "rows in any order": text(SHUFFLED),
    "five columns": text(ROWS, "{} Q0 {} {} {}\n"),
    "tabs": text(ROWS, "{}\tQ0\t{}\t{}\t{}\ttag\n"),
    "padded, with CRLF": text(ROWS, "  {}   Q0 \t{} {}  {} tag \r\n\r\n"),
    "a byte order mark and comments": b"\xef\xbb\xbf# made by hand\n" + text(ROWS) + b"# end",
    "some rows with a tag": text(ROWS[:99]) + text(ROWS[99:], "{} Q0 {} {} {}\n"),
    "a plus sign": text(ROWS, "{} Q0 {} {} {} tag\n").replace(b" 2.25 ", b" +2.25 "),
    "gzip": gzip.compress(text(ROWS)),
    "zstd": pa.compress(text(ROWS), "zstd", asbytes=True),
    "Parquet": parquet(ROWS),
    "Parquet in any order": parquet(SHUFFLED),
    "Parquet of whole numbers": parquet(ROWS, pa.int64()),
    "Parquet of large strings": parquet(ROWS, pa.large_string()),
    "Parquet of dictionaries": parquet(ROWS, pa.dictionary(pa.int32(), pa.string())),
    "Parquet without dictionaries": parquet(ROWS, use_dictionary=False),
    "Parquet of lists": listed(ROWS),
    "Parquet of lists in any order": listed(SHUFFLED),
    "Parquet of large lists": listed(ROWS, pa.large_list, pa.int64()),
    "Parquet of other names": parquet(ROWS, names=("qid", "docno", "score")),
}


def evaluated(pack: Path, out: Path, *runs: Path, **more) -> dict[str, bytes]:
    done = service.evaluate(pack, runs, out, version="1.0.0", now=NOW, **more)
    written = {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    return written | {"notes": "\n".join(done.notes).encode()}


def in_memory(monkeypatch) -> None:
    monkeypatch.setattr(service, "open_lists", lambda *_: None)


@pytest.mark.parametrize("form", FORMS)
def test_tables_and_records_are_those_of_a_run_in_memory(pack, tmp_path, monkeypatch, form):
    # Pieces so small that lists are cut, by pieces of text and by batches of Parquet.
    monkeypatch.setattr(trec_batch, "_PIECE", 700)
    path = tmp_path / "run"
    path.write_bytes(FORMS[form])
    assert open_lists([path], None) is not None
    streamed = evaluated(pack, tmp_path / "streamed", path)
    with monkeypatch.context() as patched:
        in_memory(patched)
        assert evaluated(pack, tmp_path / "held", path) == streamed
    record = json.loads(streamed["retrieval.json"])["records"][0]
    assert record["counts"]["foreign_outputs"] == 7
    assert b"say nothing of answers" in streamed["notes"]


def test_several_files_are_one_run_and_their_formats_may_differ(pack, tmp_path, monkeypatch):
    parts = [text(ROWS[:60]), gzip.compress(text(ROWS[60:240])), parquet(ROWS[240:])]
    for number, data in enumerate(parts):
        (tmp_path / f"part-{number}").write_bytes(data)
    (tmp_path / "whole").write_bytes(text(ROWS))
    whole = evaluated(pack, tmp_path / "a", tmp_path / "whole", family="claude")
    assert evaluated(pack, tmp_path / "b", tmp_path / "part-*", family="claude") == whole
    in_memory(monkeypatch)
    assert evaluated(pack, tmp_path / "c", tmp_path / "part-*", family="claude") == whole


def uneven(docs, scores, ids=("0", "1")) -> bytes:
    sink = io.BytesIO()
    columns = {"query_id": ids, "doc_id": docs, "score": scores}
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


FAULTS = {
    "too few columns": b"0 Q0 d1 1 0.5\n\n1 Q0 d2\n2 Q0 d1 1 0.5 t\n",
    "a score that is no number": b"0 Q0 d1 1 1_0 t\n0 Q0 d2 1 abc t\n",
    "NaN": b"0 Q0 d1 1 0.5 t\n0 Q0 d2 2 nan t\n",
    "NaN in a case of no suite": b"0 Q0 d1 1 0.5 t\nzz Q0 d2 2 NaN t\n",
    "beyond all numbers": b"0 Q0 d1 1 1e999 t\n0 Q0 d2 1 -inf t\n",
    "nothing but a bad row": b"0 Q0 d2 2 nan t\n",
    "a document twice": b"0 Q0 d1 1 0.5 t\n1 Q0 d1 1 0.5 t\n0 Q0 d1 2 0.25 t\n",
    "a document twice in a case of no suite": b"zz Q0 d1 1 0.5 t\nzz Q0 d1 2 0.25 t\n",
    "an id that no case may have": b"0 Q0 d1 1 0.5 t\na/b Q0 d1 1 0.5 t\n",
    "not UTF-8": b"0 Q0 d1 1 0.5 t\n0 Q0 \xff 1 0.5 t\n",
    "UTF-16": "0 Q0 d1 1 0.5 t\n".encode("utf-16"),
    "a cut gzip": gzip.compress(text(ROWS))[:-200],
    "a damaged gzip": gzip.compress(text(ROWS))[:100] + b"xxxx",
    "Parquet with a null": parquet([("0", "d1", 1.0), ("0", "d2", None)]),
    "Parquet with a null id": parquet([("0", "d1", 1.0), ("0", None, 0.5)]),
    "Parquet with NaN": parquet([("0", "d1", 1.0), ("1", "d2", float("nan"))]),
    "Parquet with a document twice": parquet([("0", "d1", 1.0), ("0", "d1", 0.5)]),
    "Parquet of lists with a null": listed([("0", "d1", 1.0), ("0", "d2", None)]),
    "Parquet of lists with a null id": listed([("0", "d1", 1.0), (None, "d2", 0.5)]),
    "Parquet of lists with NaN": listed([("0", "d1", 1.0), ("1", "d2", float("nan"))]),
    "Parquet of lists with a document twice": listed([("0", "d1", 1.0), ("0", "d1", 0.5)]),
    "Parquet of lists of other lengths": uneven([["d1"], ["d2"]], [[1.0, 2.0], [0.5]]),
    "Parquet of lists, one of them null": uneven([["d1"], None], [[1.0], [0.5]]),
    "Parquet of lists, a query in two rows": uneven([["d1"], ["d2"]], [[1.0], [0.5]], ["0", "0"]),
    "cut Parquet": parquet(ROWS)[:-20],
    "damaged Parquet": parquet(ROWS)[:60] + b"\xff" * 200 + parquet(ROWS)[260:],
}


def told(pack: Path, *runs: Path) -> list[str]:
    with pytest.raises(InputError) as error:
        service.evaluate(pack, runs, runs[0].parent / "out", version="1.0.0", now=NOW)
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return [str(fault) for fault in error.value.faults]


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_as_for_a_run_in_memory(pack, tmp_path, monkeypatch, fault):
    path = tmp_path / "run"
    path.write_bytes(FAULTS[fault])
    threads = threading.active_count()
    streamed = told(pack, path)
    assert threading.active_count() == threads
    in_memory(monkeypatch)
    assert streamed == told(pack, path)
    assert all(each.startswith("run") for each in streamed)


def test_rows_are_told_before_what_only_whole_lists_show(pack, tmp_path):
    (tmp_path / "run").write_bytes(b"0 Q0 d1 1 0.5 t\n0 Q0 d1 2 0.25 t\n1 Q0 x\n")
    assert told(pack, tmp_path / "run") == ["run:3: has 3 columns where a TREC run has 6 or 5"]


@pytest.mark.parametrize("same", [True, False])
def test_a_case_of_two_files_is_told(pack, tmp_path, monkeypatch, same):
    (tmp_path / "a").write_bytes(b"0 Q0 d1 1 0.5 t\n1 Q0 d1 1 0.5 t\n")
    (tmp_path / "b").write_bytes(b"1 Q0 d%d 1 0.5 t\n" % (1 if same else 2))
    files = tmp_path / "a", tmp_path / "b"
    assert told(pack, *files) == ["case 1: attempt 1 is there twice"]
    in_memory(monkeypatch)
    assert told(pack, *files) == ["case 1: attempt 1 is there twice"]


@pytest.mark.parametrize(
    "data",
    [
        b'{"id": "0", "retrieved": []}\n',
        b"# nothing\n",
        b"",
        parquet(ROWS, names=("query_id", "doc_id", "rank")),
        parquet(ROWS, names=("query_id", "doc_id", "grade")),
    ],
)
def test_other_files_are_not_taken_for_lists(tmp_path, data):
    (tmp_path / "run").write_bytes(data)
    (tmp_path / "lists").write_bytes(text(ROWS))
    assert open_lists([tmp_path / "run"], None) is None
    assert open_lists([tmp_path / "lists", tmp_path / "run"], None) is None


def test_no_list_is_held_but_those_under_suspicion(pack, tmp_path, monkeypatch):
    held = []
    lists = long_run.ListFile.check

    def watched(file, suspects):
        held.append(suspects)
        return lists(file, suspects)

    monkeypatch.setattr(long_run.ListFile, "check", watched)
    (tmp_path / "run").write_bytes(text([*ROWS, ROWS[3]]))
    assert told(pack, tmp_path / "run") == ["run:361: case 0: has the document of line 4 again"]
    assert held == [{"0"}]


BLANKS = st.text(" \t\v\f", min_size=1, max_size=2)
IDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\v\f\r"),
    min_size=1,
    max_size=9,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.from_regex(
    r"[-+]?[0-9]{1,20}(\.[0-9]{0,25})?([eE][-+]?[0-9]{1,2})?", fullmatch=True
)


@given(
    st.lists(
        st.tuples(
            IDS,
            IDS,
            NUMBERS,
            BLANKS,
            st.sampled_from(["", "t", "t"]),
            st.sampled_from(["\n", "\r\n", " \n", "\n\n"]),
        ),
        max_size=8,
    )
)
def test_text_in_columns_says_what_its_rows_say(lines):
    data = "".join(
        blank.join([query, "Q0", doc, "1", score, *filter(None, [tag])]) + end
        for query, doc, score, blank, tag, end in lines
    ).encode()
    faults = FaultList("run")
    expected = [row[1:] for row in trec_rows(read_lines(io.BytesIO(data), faults), faults)]
    found = []
    for batch in trec_batch.trec_batches(io.BytesIO(data)):
        found += zip(*(column.to_pylist() for column in batch.columns), strict=True)
    assert found == expected
    assert not faults.faults


@pytest.mark.parametrize("make", [text, partial(parquet, group=4_096)])
def test_the_memory_does_not_grow_with_the_rows(pack, tmp_path, monkeypatch, make):
    monkeypatch.setattr(trec_batch, "_PIECE", 2**16)
    monkeypatch.setattr(list_file, "_ROWS", 2**11)
    cases = load_golden(pack, "core").cases
    rows = [(str(q), str(doc), -float(doc)) for q in range(400) for doc in range(1_000)]
    (tmp_path / "run").write_bytes(make(rows))
    run = open_lists([tmp_path / "run"], None)
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        assert run.judge(cases).retrieved.tolist() == [1_000] * len(cases)
    finally:
        pa.set_memory_pool(before)
    # An id of up to three bytes and where it begins, and a score: what holding the rows would take.
    assert 0 < pool.max_memory() < len(rows) * (3 + 4 + 8) / 6
