import dataclasses
import gzip
import io
import json
import os
import random
import subprocess
import sys
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.canonical import digest
from aal_engine.errors import InputError
from aal_engine.measure.answer.citation import markers
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Output, Passage, outputs_digest
from aal_engine.measure.text.markup import read_markup
from aal_engine.store.run import load_run

MARK = "MARKER"
ROWS = (
    {
        "id": "b",
        "model_family": "claude",
        "retrieved": [
            {"doc_id": "d1", "passage_id": "p1", "score": 2, "text": f"{MARK} text", "title": "t"},
            {"doc_id": "d1", "passage_id": "p2", "score": 1.5, "url": "https://x.invalid/"},
            {"doc_id": 7, "score": -1e-7},
        ],
        "answer": f"{MARK} answer [1].",
        "citations": ["d1", 1],
        "latency_ms": 12,
    },
    {"id": 7, "model_family": "gpt", "attempt": 2, "answer": "x", "error": "timeout"},
    {"id": 7, "model_family": "gpt", "attempt": 1, "answer": None, "retrieved": []},
)


def jsonl(rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def put(tmp_path):
    def write(data: bytes | str, name: str = "run.jsonl"):
        folder = tmp_path / MARK
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


def faults(path, **options) -> list[str]:
    """The faults of a run, in which no text and no folder may appear."""
    with pytest.raises(InputError) as caught:
        load_run(path, **options)
    assert MARK not in str(caught.value)
    assert caught.value.__cause__ is None
    return [str(fault) for fault in caught.value.faults]


def outputs(path, **options):
    return [o for run in load_run(path, **options).runs.values() for o in run.outputs]


# JSON Lines


def test_rows_become_runs_by_family_case_and_attempt(put):
    found = load_run(put(jsonl(ROWS)))
    assert (found.format, list(found.runs), found.unread) == ("jsonl", ["claude", "gpt"], {})
    assert found.runs["claude"].outputs == (
        Output(
            "b",
            1,
            "claude",
            (
                Passage("d1", "p1", 2.0, f"{MARK} text", "t"),
                Passage("d1", "p2", 1.5, url="https://x.invalid/"),
                Passage("7", None, -1e-7),
            ),
            f"{MARK} answer [1].",
            ("d1", 1),
            12.0,
        ),
    )
    assert found.runs["gpt"].outputs == (
        Output("7", 1, "gpt", ()),
        Output("7", 2, "gpt", None, "x", error="timeout"),
    )


def test_nothing_retrieved_and_nothing_said_of_it_differ(put):
    said, unsaid, null = outputs(
        put(jsonl([{"id": "1", "retrieved": []}, {"id": "2"}, {"id": "3", "retrieved": None}]))
    )
    assert (said.retrieved, unsaid.retrieved, null.retrieved) == ((), None, None)


def test_keys_that_are_no_fields_are_counted_not_refused(put):
    rows = [
        {"id": "1", "trace": 1, f"{MARK} it": 2},
        {"id": "2", "trace": 1, "retrieved": [{"doc_id": "d", "rank": 1}, {"doc_id": "e"}]},
        {"id": "3", "cost": float("nan")},
    ]
    assert load_run(put(jsonl(rows))).unread == {
        "(not shown)": 1,
        "cost": 1,
        "retrieved.rank": 1,
        "trace": 2,
    }


def test_keys_without_end_are_counted_together(put):
    found = load_run(put(jsonl([{"id": "1", **{f"k{n}": n for n in range(500)}}]))).unread
    assert len(found) == 101
    assert found["(other keys)"] == 400


def test_an_error_is_kept_as_a_short_word_alone(put):
    rows = [{"id": str(n), "error": e} for n, e in enumerate(["http_500", f"{MARK} it", "", None])]
    assert [o.error for o in outputs(put(jsonl(rows)))] == ["http_500", "error", None, None]


def test_a_default_family_takes_the_rows_that_name_none(put):
    path = put(jsonl([{"id": "1", "answer": "x"}, {"id": "1", "model_family": "b"}]))
    found = load_run(path, default_family="a")
    assert {f: [o.model_family for o in r.outputs] for f, r in found.runs.items()} == {
        "a": ["a"],
        "b": ["b"],
    }
    named = load_run(put(jsonl([{"id": "1", "answer": "x", "model_family": "a"}])))
    assert named.runs["a"].digest == found.runs["a"].digest


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            [{"id": "1", "answer": MARK}, {"id": "2"}],
            ["run.jsonl:1: model_family: is missing in 2 rows; name the family with --family"],
        ),
        (
            [{"id": "1", "model_family": "a"}, {"id": "2"}],
            ["run.jsonl:2: model_family: is missing in a row; name the family with --family"],
        ),
        ([{"id": "1"}, {"id": "2", "retrieved": []}], []),
    ],
)
def test_only_a_run_of_retrieval_alone_may_name_no_family(put, rows, found):
    path = put(jsonl(rows))
    if found:
        assert faults(path) == found
    else:
        assert list(load_run(path).runs) == [None]


def test_a_default_family_must_be_a_name(put):
    assert faults(put(jsonl(ROWS)), default_family="a b") == [
        (
            "family: must be a name: an ASCII letter, digit or underscore, then up to 127 of "
            "these and . : + @ / -"
        )
    ]


def test_every_fault_is_told_at_once(put):
    rows = [
        {"id": "1", "model_family": "a", "answer": MARK},
        {"id": "1", "model_family": "a", "answer": MARK},
        {"id": "1", "model_family": "b", "answer": [MARK]},
        {"model_family": "a"},
        {"id": "2", "model_family": "a", "retrieved": [{"doc_id": MARK.lower(), "score": "1"}]},
        {"id": "a/b", "model_family": "a"},
        {"id": "3", "attempt": 0, "model_family": f"{MARK} a", "citations": [1.5]},
        [MARK],
    ]
    assert faults(put(jsonl(rows) + b'{"id": "MARKER\n')) == [
        "run.jsonl:2: case 1: is attempt 1 of the same case and family as line 1",
        "run.jsonl:3: case 1: answer: must be text or null, not a list",
        "run.jsonl:4: id: is missing",
        "run.jsonl:5: case 2: retrieved[0].score: must be a number or null, not text",
        (
            "run.jsonl:6: id: must be an id: no path separators, control characters or blanks at its "
            "ends, not . or .."
        ),
        "run.jsonl:7: case 3: attempt: must be at least 1",
        (
            "run.jsonl:7: case 3: citations[0]: must be text or a whole number, not a number; put it "
            "in quotes"
        ),
        (
            "run.jsonl:7: case 3: model_family: must be a name: an ASCII letter, digit or "
            "underscore, then up to 127 of these and . : + @ / -"
        ),
        "run.jsonl:8: must be a mapping, not a list",
        "run.jsonl:9: ends before its JSON value is complete",
    ]


@pytest.mark.parametrize(
    ("passages", "found"),
    [
        (
            [{"doc_id": "d", "score": 1}, {"doc_id": "d", "score": 2}],
            "retrieved[1]: is the same passage as retrieved[0]",
        ),
        (
            [{"doc_id": "d", "passage_id": 1}, {"doc_id": "e"}, {"doc_id": "d", "passage_id": "1"}],
            "retrieved[2]: is the same passage as retrieved[0]",
        ),
        (
            [{"doc_id": "d", "score": 1}, {"doc_id": "e", "score": float("nan")}],
            "retrieved[1]: has a score that is not a finite number",
        ),
        (
            [{"doc_id": "d", "score": float("-inf")}],
            "retrieved[0]: has a score that is not a finite number",
        ),
        (
            [{"doc_id": "d", "score": 1}, {"doc_id": "e"}],
            "retrieved[1]: has no score, while other passages of the list have one",
        ),
        ([{"doc_id": ""}], "retrieved[0].doc_id: must not be empty"),
        ([{"doc_id": True}], "retrieved[0].doc_id: must be text or a whole number, not true or f"),
        ([{"passage_id": "p"}], "retrieved[0].doc_id: is missing"),
    ],
)
def test_lists_that_cannot_be_ranked_name_their_case(put, passages, found):
    row = {"id": "q1", "model_family": "a", "retrieved": passages}
    (fault,) = faults(put(jsonl([row])))
    assert fault.startswith(f"run.jsonl:1: case q1: {found}")


def test_a_latency_is_a_finite_number(put):
    rows = [{"id": "1", "latency_ms": float("inf")}, {"id": "2", "latency_ms": -1}]
    assert faults(put(jsonl(rows))) == [
        "run.jsonl:1: case 1: latency_ms: is not a finite number",
        "run.jsonl:2: case 2: latency_ms: must be at least 0",
    ]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "run.jsonl: holds no output"),
        (b"\n \n", "run.jsonl: holds no output"),
        (b'[{"id": 1}]', "run.jsonl:1: starts a JSON list; a run has one JSON object a line"),
        (
            b'{\n"id": 1}',
            (
                "run.jsonl:1: starts an object that goes on over lines; a run has one JSON object a "
                "line"
            ),
        ),
        (b'{"id": 1, "id": 2}', "run.jsonl:1: has the key id twice in one object"),
        (b'{"id": "\\ud800"}', "run.jsonl:1: holds half a surrogate pair, which is not Unicode te"),
    ],
)
def test_files_that_are_no_runs_are_told(put, data, found):
    assert [fault[: len(found)] for fault in faults(put(data))] == [found]


def test_an_empty_file_is_an_empty_run_of_a_family_that_is_known(put):
    (run,) = load_run(put(b""), default_family="a").runs.values()
    assert (run.model_family, run.outputs) == ("a", ())


def test_what_cannot_be_opened_is_told(tmp_path):
    folder = tmp_path / MARK
    assert faults(folder / "run.jsonl") == ["run.jsonl: no such file"]
    (folder / "run.jsonl").mkdir(parents=True)
    assert faults(folder / "run.jsonl") == ["run.jsonl: is a folder where a file is needed"]


# The digest


TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(
        st.builds(
            dict,
            answer=TEXTS,
            latency_ms=st.none() | st.floats(0, 1e25),
            citations=st.none() | st.lists(st.integers(-3, 3) | st.just("é"), max_size=3),
            retrieved=st.none()
            | st.lists(
                st.builds(dict, score=NUMBERS, text=TEXTS, passage_id=st.none() | st.just("p")),
                max_size=1,
            ),
        ),
        max_size=3,
    )
)
def test_the_digest_is_that_of_the_outputs_canonical_form(tmp_path_factory, rows):
    for number, row in enumerate(rows):
        row["id"] = number
        for place, passage in enumerate(row["retrieved"] or ()):
            passage["doc_id"] = str(place)
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    path.write_bytes(jsonl(rows))
    (run,) = load_run(path, default_family="e").runs.values()
    written = [dataclasses.asdict(output) for output in run.outputs]
    assert outputs_digest(run.outputs) == digest(written)


def test_the_digest_knows_neither_order_nor_format(put, tmp_path):
    plain = {family: run.digest for family, run in load_run(put(jsonl(ROWS))).runs.items()}
    shuffled = [*ROWS]
    random.Random(7).shuffle(shuffled)
    rows = [{**row, "id": str(row["id"])} for row in shuffled]
    for row in rows:
        if row.get("retrieved"):
            row["retrieved"] = [{**p, "doc_id": str(p["doc_id"])} for p in row["retrieved"]]
        if row.get("citations"):
            row["citations"] = ["d1", 1]
    again = load_run(put("\n\n".join(json.dumps(row, indent=None) for row in rows)))
    assert {family: run.digest for family, run in again.runs.items()} == plain
    packed = load_run(put(gzip.compress(jsonl(rows)), "run.jsonl.gz"))
    assert {family: run.digest for family, run in packed.runs.items()} == plain


# TREC runs


def test_a_trec_run_is_read_by_score_with_any_blanks(put):
    path = put(
        "# a comment\n"
        "q2 Q0 d9 1 0.5 tag\n"
        "q1\tQ0  d1\t2   1.5e1\n"
        "q1 Q0 d2 1 -2 tag\r\n"
        "07 Q0 d2 1 .5 tag\n",
        "run.txt",
    )
    found = load_run(path)
    assert found.format == "trec"
    assert list(found.runs) == [None]
    assert found.runs[None].outputs == (
        Output("07", retrieved=(Passage("d2", None, 0.5),)),
        Output("q1", retrieved=(Passage("d1", None, 15.0), Passage("d2", None, -2.0))),
        Output("q2", retrieved=(Passage("d9", None, 0.5),)),
    )


def test_a_trec_run_names_every_bad_row(put):
    path = put(
        "q1 Q0 d1 1 0.5 tag\n"
        f"q1 Q0 {MARK} 1\n"
        f"q1 Q0 {MARK} 2 high tag\n"
        f"q1 Q0 {MARK} 3 nan tag\n"
        f"q1 Q0 {MARK} 4 1_0 tag\n"
        f"q1 Q0 {MARK} 4 1e999 tag\n"
        "q1 Q0 d1 5 0.1 tag\n"
        "a/b Q0 d1 1 0.1 tag\n"
        "one two three four five six seven\n",
        "run.txt",
    )
    assert faults(path) == [
        "run.txt:2: has 4 columns where a TREC run has 6 or 5",
        "run.txt:3: has a score that is not a number",
        "run.txt:4: case q1: has a score that is not a finite number",
        "run.txt:5: has a score that is not a number",
        "run.txt:6: case q1: has a score that is not a finite number",
        "run.txt:8: has a query id that cannot be a case id",
        "run.txt:9: has 7 columns where a TREC run has 6 or 5",
        "run.txt:7: case q1: has the document of line 1 again",
    ]


def test_real_trec_runs_are_read(shared):
    ir = shared / "data" / "ir"
    run = load_run(ir / "cacm" / "cacm-bm25.run.txt", default_family="bm25").runs["bm25"]
    assert len(run.outputs) == 64
    first = next(output for output in run.outputs if output.case_id == "1")
    assert first.retrieved is not None
    assert first.retrieved[0] == Passage("CACM-1938", None, 12.033)
    plain = load_run(ir / "ranx" / "run.trec", default_family="x").runs["x"]
    for name in ("run.trec.gz", "run.parquet"):
        assert load_run(ir / "ranx" / name, default_family="x").runs["x"] == plain
    rows = load_run(ir / "trec_eval" / "results.test").runs[None].outputs
    assert sum(len(output.retrieved or ()) for output in rows) == 1500


# TREC RAG answers


RAG24 = {
    "run_id": "x",
    "topic_id": "2024-1",
    "topic": MARK,
    "references": ["doc#1", "doc#2"],
    "response_length": 7,
    "answer": [
        {"text": " It rose.", "citations": [0, 1]},
        {"text": "It fell", "citations": [1]},
        {"text": "Why?", "citations": []},
        {"text": "No idea!", "citations": [5]},
    ],
}
RAG25 = {
    "metadata": {"run_id": "x", "narrative_id": 12, "narrative": MARK},
    "references": ["doc#1", "doc#2"],
    "answer": [
        {"text": "It rose.", "citations": ["doc#2", "other#3"]},
        {"text": "It fell."},
    ],
}


@pytest.mark.parametrize(
    ("style", "answers"),
    [
        (
            CitationStyle("index", 1),
            ("It rose [2]. It fell.", "It rose [1][2]. It fell [2] Why? No idea!"),
        ),
        (
            CitationStyle("index", 0),
            ("It rose [1]. It fell.", "It rose [0][1]. It fell [1] Why? No idea!"),
        ),
        (
            CitationStyle("id", 1),
            ("It rose [doc#2]. It fell.", "It rose [doc#1][doc#2]. It fell [doc#2] Why? No idea!"),
        ),
    ],
)
def test_trec_rag_answers_are_written_out_as_the_pack_cites(put, style, answers):
    found = load_run(put(jsonl([RAG24, RAG25])), default_family="a", citations=style)
    assert (found.format, list(found.runs)) == ("trec-rag", ["a"])
    passages = (Passage("doc#1"), Passage("doc#2"))
    assert found.runs["a"].outputs == (
        Output("12", 1, "a", passages, answers[0], ("references[other#3]",)),
        Output("2024-1", 1, "a", passages, answers[1], ("references[5]",)),
    )
    sources = Sources(passages, style)
    for output in found.runs["a"].outputs:
        assert output.answer is not None
        assert output.citations is not None
        read = markers(output.answer, sources, read_markup(output.answer))
        assert sum(marker.invented for marker in read) == 0
        assert {place for marker in read for place in marker.places} <= {0, 1}
        assert not any(sources.structured(citation) for citation in output.citations)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"topic_id": None}, "has no usable topic_id or narrative_id"),
        ({"references": ["d", "d"]}, "case 2024-1: references: names a reference twice"),
        (
            {"answer": [{"text": MARK, "citations": [-1]}]},
            "case 2024-1: answer[0].citations[0]: must be at least 0",
        ),
        (
            {"answer": [{"text": MARK, "citations": [0.0]}]},
            (
                "case 2024-1: answer[0].citations[0]: must be a whole number or text, not a number; "
                "put it in quotes"
            ),
        ),
        ({"answer": [{"citations": []}]}, "case 2024-1: answer[0].text: is missing"),
        ({"references": MARK}, "case 2024-1: references: must be a list, not text"),
    ],
)
def test_a_wrong_trec_rag_row_is_told(put, changes, found):
    rows = [RAG25, {**RAG24, **changes}]
    assert faults(put(jsonl(rows)), default_family="a") == [f"run.jsonl:2: {found}"]


def test_a_trec_rag_topic_answered_twice_is_told(put):
    assert faults(put(jsonl([RAG24, RAG24])), default_family="a") == [
        "run.jsonl:2: case 2024-1: is attempt 1 of the same case and family as line 1"
    ]


# Parquet


def parquet(path, table):
    pq.write_table(table, path)
    return path


def test_parquet_with_a_row_an_output_is_the_same_run(put, tmp_path):
    keys = {key: None for row in ROWS for key in row}
    rows = [{**keys, **row, "id": str(row["id"]), "more": 1} for row in ROWS]
    rows[0]["retrieved"] = [{**p, "doc_id": str(p["doc_id"])} for p in rows[0]["retrieved"]]
    rows[0]["citations"] = ["d1", "1"]
    plain = load_run(put(jsonl(rows)))
    found = load_run(parquet(tmp_path / "run.parquet", pa.Table.from_pylist(rows)))
    assert (found.format, found.runs, found.unread) == ("parquet", plain.runs, {"more": 3})


def test_parquet_with_a_row_a_document_is_read(tmp_path):
    table = pa.table(
        {
            "qid": pa.array([2, 1, 1]),
            "docno": pa.array(["a", "b", "c"]).dictionary_encode(),
            "score": pa.array([1, 5, 9]),
            "rank": pa.array([1, 2, 1]),
        }
    )
    found = load_run(parquet(tmp_path / "run.parquet", table))
    assert found.unread == {"rank": 3}
    assert found.runs[None].outputs == (
        Output("1", retrieved=(Passage("b", None, 5.0), Passage("c", None, 9.0))),
        Output("2", retrieved=(Passage("a", None, 1.0),)),
    )


def test_a_rank_is_used_where_there_is_no_score(tmp_path):
    table = pa.table({"query": ["1"] * 3, "doc": ["b", "c", "a"], "rank": [20, 3, 10]})
    (run,) = load_run(parquet(tmp_path / "run.parquet", table)).runs.values()
    assert run.outputs == (Output("1", retrieved=(Passage("c"), Passage("a"), Passage("b"))),)
    table = pa.table({"query": ["1"] * 2, "doc": ["b", "c"], "rank": [2, 2]})
    assert faults(parquet(tmp_path / "run.parquet", table)) == [
        "run.parquet:2: case 1: has the rank of line 1 again"
    ]


def test_wrong_rows_of_parquet_are_told_by_their_number(tmp_path):
    table = pa.table(
        {
            "id": ["1", "2", None, "4"],
            "model_family": ["a"] * 4,
            "retrieved": [
                [{"doc_id": "d", "score": 1.0}, {"doc_id": "d", "score": 1.0}],
                [{"doc_id": "d", "score": float("nan")}],
                [],
                [{"doc_id": "d", "score": 1.0}, {"doc_id": "e", "score": None}],
            ],
        }
    )
    assert faults(parquet(tmp_path / "run.parquet", table)) == [
        "run.parquet:1: case 1: retrieved[1]: is the same passage as retrieved[0]",
        "run.parquet:2: case 2: retrieved[0]: has a score that is not a finite number",
        "run.parquet:3: id: must be text or a whole number, not null; put it in quotes",
        (
            "run.parquet:4: case 4: retrieved[1]: has no score, while other passages of the list have "
            "one"
        ),
    ]
    table = pa.table(
        {
            "query": ["1", None, "1", "1"],
            "doc": ["d", "e", "f", "d"],
            "score": [1.0, 1.0, None, 2.0],
        }
    )
    assert faults(parquet(tmp_path / "run.parquet", table)) == [
        "run.parquet:2: has no query or document id that is text or a number",
        "run.parquet:3: case 1: has a score that is not a finite number",
        "run.parquet:4: case 1: has the document of line 1 again",
    ]


def test_parquet_of_other_columns_is_told(tmp_path):
    path = parquet(tmp_path / "run.parquet", pa.table({MARK: [1], "doc": ["d"]}))
    with pytest.raises(InputError) as caught:
        load_run(path)
    assert MARK not in str(caught.value)
    assert str(caught.value).startswith(
        "run.parquet: has neither the columns of a run nor a query, a document and a score column"
    )
    assert faults(parquet(path, pa.table({"id": ["1"], "answer": [MARK.encode()]}))) == [
        "run.parquet:1: case 1: answer: must be text or null, not a value of another kind"
    ]


def test_broken_parquet_is_told(put, tmp_path):
    path = parquet(tmp_path / "run.parquet", pa.table({"id": ["1"] * 999, "answer": ["x"] * 999}))
    whole = path.read_bytes()
    for broken in (whole[:-8], whole[:4], whole[:20] + b"\xff" * 40 + whole[60:]):
        assert faults(put(broken, "run.parquet")) == [
            "run.parquet: is not Parquet that can be read"
        ]


def test_parquet_that_holds_no_text_where_it_says_so_is_told(tmp_path):
    broken = pa.array([MARK.encode() + b"\xff"]).cast(pa.string(), safe=False)
    for table in (
        pa.table({"id": ["1"], "answer": broken}),
        pa.table({"query": ["1"], "doc": broken, "score": [1.0]}),
    ):
        assert faults(parquet(tmp_path / "run.parquet", table)) == [
            "run.parquet: is not Parquet that can be read"
        ]


def test_parquet_needs_neither_pandas_nor_the_dataset_module(tmp_path):
    path = parquet(tmp_path / "run.parquet", pa.Table.from_pylist([{"id": "1", "answer": "x"}]))
    code = (
        "import sys; from aal_engine.store.run import load_run\n"
        "load_run(sys.argv[1], default_family='a')\n"
        "print({'pandas', 'pyarrow.dataset', 'jsonschema'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")


# Pipes


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(jsonl(ROWS))))
    assert list(load_run("-").runs) == ["claude", "gpt"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": 1}\n{"id": 1}\n')))
    assert faults("-") == [
        "standard input:2: case 1: is attempt 1 of the same case and family as line 1"
    ]


def through_fifo(path, data, read):
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(data))
    writer.start()
    try:
        return read(path)
    finally:
        writer.join()


def test_a_fifo_is_read(tmp_path):
    read = through_fifo(tmp_path / "pipe", jsonl(ROWS), load_run)
    assert list(read.runs) == ["claude", "gpt"]


def test_parquet_in_a_pipe_is_told(tmp_path):
    path = parquet(tmp_path / "run.parquet", pa.table({"id": ["1"], "answer": ["x"]}))
    assert through_fifo(tmp_path / "pipe", path.read_bytes(), faults) == [
        "pipe: Parquet is not read from a pipe; name a file"
    ]


# Real answers


def expertqa(path):
    """The rows of a run from ExpertQA's answers: its systems as model families."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passages: dict[int, dict] = {}
        for claim in row["claims"]:
            for evidence in claim["evidence"]:
                marker, _, text = evidence.partition("]")
                url, _, text = text.strip().partition("\n")
                number = int(marker.strip("[")) if marker.strip("[").isdigit() else 0
                passages.setdefault(
                    number, {"doc_id": f"{number}", "url": url, "text": text.strip()}
                )
        yield {
            "id": row["id"],
            "model_family": row["system"],
            "answer": row["answer_string"],
            "retrieved": [passages[number] for number in sorted(passages)],
            "field": row["field"],
        }


def test_expertqa_is_read_by_system(shared, put):
    rows = list(expertqa(shared / "data" / "answers" / "expertqa" / "answers.jsonl"))
    found = load_run(put(jsonl(rows)))
    assert len(found.runs) == 6
    assert sum(len(run.outputs) for run in found.runs.values()) == len(rows) == 479
    assert found.unread == {"field": 479}
