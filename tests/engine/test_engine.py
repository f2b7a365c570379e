"""The engine's own retriever goes through the engine's own gate, in the project's own ledger."""

from __future__ import annotations

import json
from pathlib import Path

import doors
import pytest

from aal_engine.store.golden import inspect_pack

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "golden_sets" / "engine"
LAST = PACK / "last-release.json"


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (PACK / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    done = doors.call(
        "lighthouse", folder, "evals", "run", "--pack", PACK, "--index", PACK / "corpus.jsonl",
        "--agent", PACK / "agent.yaml", "--version", "candidate", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_the_retriever_is_no_worse_than_its_last_release(evaluated):
    done = doors.call(
        "gate", evaluated, "--current", "out/retrieval.json", "--current", "out/answers.json",
        "--baseline", LAST, "--policy", ROOT / "policies" / "engine.yaml",
        "--ledger", ROOT / "ledger", "--record", "decision.json", "--dry-run",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "RELEASED" in done.stdout


def test_an_index_that_finds_worse_is_blocked(evaluated, tmp_path):
    blind = tmp_path / "blind.jsonl"
    held = [{**row, "text": row["text"][::-1]} for row in rows("corpus.jsonl")]
    blind.write_text("".join(json.dumps(row) + "\n" for row in held))
    done = doors.call(
        "lighthouse", evaluated, "evals", "run", "--pack", PACK, "--index", blind,
        "--agent", PACK / "agent.yaml", "--version", "blind", "--out", "blind",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = doors.call(
        "gate", evaluated, "--current", "blind/retrieval.json", "--current", "blind/answers.json",
        "--baseline", LAST, "--policy", ROOT / "policies" / "engine.yaml",
        "--ledger", ROOT / "ledger", "--record", "blind.json", "--dry-run",
    )  # fmt: skip
    assert done.returncode == 1
    assert "the index changed since the last release: corpus@" in done.stdout


def test_the_last_release_stands_in_the_project_s_ledger():
    done = doors.call("ledger", ROOT, "show", "--pack", "engine", "--format", "json")
    assert done.returncode == 0, done.stderr
    decision = json.loads(LAST.read_text())
    assert decision["verdict"] == "released" and decision["pack"] == "engine"
    assert decision["version"] in done.stdout


def test_the_corpus_holds_what_the_cases_ask_for():
    inspected = inspect_pack(PACK)
    assert not inspected.faults and not inspected.warnings
    held = {row["id"] for row in rows("corpus.jsonl")}
    cases = rows("questions.jsonl")
    assert len(held) == 348 and len(cases) == 68
    for case in cases:
        assert case["relevant"].keys() <= held, case["id"]
    assert sum(path.stat().st_size for path in PACK.iterdir()) < 300_000
