"""`aal golden lint`: cases named, texts never, and an exit code that scripts can use."""

from __future__ import annotations

import json
from pathlib import Path

import doors
import pytest

PACK = """\
name: desk
agent: desk
autonomy: 1
sensitivity: internal
language: it
suites:
  core: {file: core.jsonl, kinds: [answers]}
"""
GOOD = {"id": "a", "question": "Where is Zqcity?", "must_mention": ["Zqriver"]}
BAD = {"id": "b", "question": "Is Zqcity big?", "must_mention": ["Zqcity"], "relevant": {"d9": 1}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write(tmp_path, GOOD, BAD)
    return tmp_path


def write(home: Path, *cases: dict) -> None:
    (home / "pack.yaml").write_text(PACK)
    (home / "core.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def lint(home: Path, *arguments: str) -> doors.Done:
    done = doors.call("golden", home, "lint", ".", *arguments)
    assert "Zq" not in done.stdout + done.stderr
    return done


def test_warnings_are_told_and_fail_nothing(home):
    done = lint(home)
    assert done.returncode == 0
    assert done.stdout == "pack desk: 2 cases, no corpus, 3 warnings\n"
    language, size, question = done.stderr.splitlines()
    assert language.startswith("warning: pack.yaml: language: it has no tables of its own")
    assert size == (
        "warning: core.jsonl: 2 cases that answers is measured on show no drop below 1.000 "
        "reliably, and the tolerance is 0.05: 155 cases would, at the least"
    )
    assert question.startswith("warning: core.jsonl: case b: must_mention[0]: is found in the")


def test_strict_fails_on_a_warning_and_on_nothing_else(home):
    assert lint(home, "--strict").returncode == 1
    (home / "pack.yaml").write_text(PACK.replace("language: it", "language: de"))
    cases = [GOOD | {"id": f"a{n}", "question": f"Zq {n}?"} for n in range(12)]
    (home / "core.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    done = lint(home, "--strict", "--tolerance", "0.6")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_corpus_of_the_folder_is_read(home):
    (home / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "text": "Zqcity lies."}) + "\n")
    done = lint(home)
    assert "2 cases, 1 passages, 5 warnings" in done.stdout
    assert "case a: must_mention[0]: is in no passage of the corpus" in done.stderr
    assert "case b: relevant: names 1 documents that the corpus lacks: d9" in done.stderr
    other = home / "other.jsonl"
    other.write_text(json.dumps({"_id": "d9", "title": "Zqriver", "text": "Zqcity lies."}) + "\n")
    assert "1 passages, 3 warnings" in lint(home, "--corpus", "other.jsonl").stdout


def test_json_has_every_warning(home):
    value = json.loads(lint(home, "--format", "json").stdout)
    assert (value["pack"], value["cases"], value["passages"]) == ("desk", 2, None)
    assert [each["field"] for each in value["warnings"]] == ["language", None, "must_mention[0]"]


@pytest.mark.parametrize("corpus", ["", '{"text": "Zq"}', "Zq", '{"_id": "a"}'])
def test_what_cannot_be_read_exits_with_2(home, corpus):
    (home / "corpus.jsonl").write_text(corpus + "\n")
    done = lint(home)
    assert done.returncode == 2
    assert "corpus.jsonl" in done.stderr
    write(home, BAD | {"must_mention": [{"number": "Zq"}]})
    assert lint(home).returncode == 2


def test_the_bundled_pack_tells_agents_apart():
    root = Path(__file__).resolve().parents[2]
    done = doors.call("golden", root, "lint", "golden_sets/handbook", "--format", "json")
    value = json.loads(done.stdout)
    assert [each["problem"] for each in value["warnings"] if each["case"]] == []
