"""The door that scores a run."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import doors
import pyarrow.parquet as pq
import pytest

MARKER = "Zanzibar-marker"
PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: internal
citations: {mode: index, base: 1}
suites:
  core: {file: core.jsonl, kinds: [retrieval, answers]}
"""
CASES = [
    {
        "id": "refund",
        "question": f"How long do refunds take, {MARKER}?",
        "relevant": {"doc-1": 2, "doc-2": 1},
        "must_mention": ["30 days"],
        "must_not_claim": ["refunds are instant"],
        "slices": ["billing"],
    },
    {"id": "lottery", "question": "Do you sell tickets?", "relevant": {}, "expect": "abstain"},
]
GOOD = [
    {
        "id": "refund",
        "model_family": "claude",
        "retrieved": [
            {"doc_id": "doc-1", "score": 2.0, "text": f"Refunds take 30 days {MARKER}."},
            {"doc_id": "doc-9", "score": 1.0, "text": "Opening hours are nine to five."},
        ],
        "answer": "Refunds take up to 30 days [1].",
    },
    {
        "id": "lottery",
        "model_family": "claude",
        "retrieved": [],
        "answer": "I do not know: the documents do not say.",
    },
]

call = partial(doors.call, "evaluate")
ARGUMENTS = ("--pack", "support", "--run", "run.jsonl", "--version", "1.0.0", "--out", "out")
AT = ("--at", "2026-01-31T09:30:00Z")


def lay(folder: Path, rows: list[dict], cases: list[dict] | None = None) -> Path:
    (folder / "support").mkdir(exist_ok=True)
    (folder / "support" / "pack.yaml").write_text(PACK)
    (folder / "support" / "core.jsonl").write_text(
        "".join(json.dumps(case) + "\n" for case in cases or CASES)
    )
    (folder / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return lay(tmp_path, GOOD)


def records(folder: Path, kind: str) -> list[dict]:
    return json.loads((folder / "out" / f"{kind}.json").read_text())["records"]


def test_records_hold_what_was_measured(good):
    done = call(good, *ARGUMENTS, *AT)
    assert done.returncode == 0, done.stderr
    (retrieval,), (answers,) = records(good, "retrieval"), records(good, "answers")
    assert retrieval["metrics"]["recall@10"] == {"value": 0.5, "n": 1}
    assert retrieval["metrics"]["success@1"] == {"value": 1.0, "n": 1}
    assert answers["metrics"]["complete"] == {"value": 1.0, "n": 2}
    assert answers["metrics"]["grounded"] == {"value": 1.0, "n": 2, "passed": True}
    assert answers["metrics"]["abstention"] == {"value": 1.0, "n": 2}
    assert answers["passed"]
    assert retrieval["passed"]
    assert answers["scored_at"] == "2026-01-31T09:30:00.000Z"
    assert answers["slices"]["billing"]["cases"] == 1


def test_the_tables_hold_ids_and_numbers(good):
    call(good, *ARGUMENTS)
    files = sorted((good / "out" / "tables").glob("*.parquet"))
    assert [path.name.rpartition("-")[0] for path in files] == [
        "answers-core-claude",
        "retrieval-core-claude",
    ]
    for path in files:
        table = pq.ParquetFile(path).read()
        assert table.column("case_id").to_pylist() == ["lottery", "refund"]
        texts = {str(kind) for kind in table.schema.types} - {"double", "int64"}
        assert texts == {"string"}
        assert MARKER.encode() not in path.read_bytes()


def test_the_same_inputs_give_the_same_bytes(good, tmp_path_factory):
    other = lay(tmp_path_factory.mktemp("other"), GOOD[::-1], CASES[::-1])
    for folder in (good, other):
        assert call(folder, *ARGUMENTS, *AT).returncode == 0
    written = {path.relative_to(good) for path in (good / "out").rglob("*") if path.is_file()}
    assert written == {
        path.relative_to(other) for path in (other / "out").rglob("*") if path.is_file()
    }
    assert len(written) == 4
    for path in written:
        assert (good / path).read_bytes() == (other / path).read_bytes()


def test_no_text_reaches_any_output(tmp_path):
    folder = lay(tmp_path / MARKER, GOOD) if (tmp_path / MARKER).mkdir() is None else tmp_path
    done = call(folder, *ARGUMENTS, "--format", "json")
    assert done.returncode == 0
    assert MARKER not in done.stdout + done.stderr
    for path in (folder / "out").rglob("*"):
        assert not path.is_file() or MARKER.encode() not in path.read_bytes()


def test_a_case_without_an_output_is_scored_zero_and_never_skipped(tmp_path):
    done = call(lay(tmp_path, GOOD[1:]), *ARGUMENTS)
    assert done.returncode == 0
    (retrieval,), (answers,) = records(tmp_path, "retrieval"), records(tmp_path, "answers")
    assert retrieval["metrics"]["recall@10"] == {"value": 0.0, "n": 1}
    assert answers["metrics"]["complete"] == {"value": 0.5, "n": 2}
    assert answers["counts"]["missing_outputs"] == 1
    assert not answers["passed"]


def test_an_output_for_a_case_that_the_pack_does_not_have_is_counted(tmp_path):
    stranger = {**GOOD[0], "id": "stranger"}
    call(lay(tmp_path, [*GOOD, stranger]), *ARGUMENTS)
    (answers,) = records(tmp_path, "answers")
    assert answers["counts"]["foreign_outputs"] == 1
    assert answers["passed"]


def test_a_run_of_another_pack_is_refused(tmp_path):
    rows = [{**row, "id": f"other-{n}"} for n, row in enumerate(GOOD)]
    done = call(lay(tmp_path, rows), *ARGUMENTS)
    assert done.returncode == 2
    assert "none of the run's 2 cases is in pack support" in done.stderr
    assert not (tmp_path / "out").exists()


def test_floors_look_at_every_attempt(tmp_path):
    second = {**GOOD[0], "attempt": 2, "answer": "Refunds are instant [7]. It takes 30 days."}
    call(lay(tmp_path, [*GOOD, second]), *ARGUMENTS)
    (answers,) = records(tmp_path, "answers")
    assert answers["counts"]["invented_citations"] == 1
    assert answers["counts"]["forbidden_claims"] == 1
    assert answers["metrics"]["grounded"] == {"value": 0.75, "n": 2, "passed": False}
    assert answers["metrics"]["complete"] == {"value": 1.0, "n": 2}


def test_each_family_has_its_own_records(tmp_path):
    other = [{**row, "model_family": "gpt"} for row in GOOD]
    call(lay(tmp_path, GOOD + other), *ARGUMENTS)
    assert [record["model_family"] for record in records(tmp_path, "answers")] == ["claude", "gpt"]


def test_a_run_of_retrieval_alone_makes_retrieval_records_alone(tmp_path):
    lay(tmp_path, [])
    (tmp_path / "run.jsonl").write_text("refund Q0 doc-2 1 3.5 bm25\nrefund Q0 doc-7 2 3.1 bm25\n")
    done = call(tmp_path, *ARGUMENTS)
    assert done.returncode == 0, done.stderr
    assert "say nothing of answers" in done.stderr
    (retrieval,) = records(tmp_path, "retrieval")
    assert retrieval["model_family"] is None
    assert retrieval["metrics"]["recall@10"] == {"value": 0.5, "n": 1}
    assert not (tmp_path / "out" / "answers.json").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--suite", "nope"), "has no suite nope"),
        (("--run", "nowhere.jsonl"), "nowhere.jsonl: no such file"),
        (("--pack", "nowhere"), "pack.yaml: no such file"),
        (("--version", "a b"), "not a version name"),
        (("--out", "run.jsonl"), "run.jsonl is a file where a folder is needed"),
    ],
)
def test_what_cannot_be_used_is_told(good, arguments, told):
    done = call(good, *ARGUMENTS, *arguments)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not (good / "out").exists() or not list((good / "out").rglob("*.json"))


def test_a_fault_in_a_run_names_its_line_and_case_and_no_text(tmp_path):
    doubled = {**GOOD[0], "answer": MARKER}
    done = call(lay(tmp_path, [*GOOD, doubled]), *ARGUMENTS)
    assert done.returncode == 2
    assert "run.jsonl:3: case refund" in done.stderr
    assert MARKER not in done.stderr
    assert not (tmp_path / "out").exists()
