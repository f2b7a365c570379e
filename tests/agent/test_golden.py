"""`aal golden` at the terminal: what it says, what it never says, and what it exits with."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from pathlib import Path

import doors
import pytest

from aal_engine.agent.terminal import exit_code

MARK = "Qx7marker"
PACK = """\
name: desk
agent: did:web:desk
autonomy: 1
sensitivity: internal
suites:
  core: {file: core.jsonl}
"""
CASES = [
    {"id": "a", "question": f"{MARK} a?", "relevant": {"d1": 2, "d2": 0}, "slices": ["fr"]},
    {"id": "b", "question": f"{MARK} b?", "must_mention": [f"{MARK} point"], "slices": ["fr"]},
    {
        "id": "c",
        "task": f"{MARK} c",
        "expect": "abstain",
        "must_not_claim": [f"{MARK} claim"],
        "relevant": {"d1": 1},
    },
]


@pytest.fixture
def home(tmp_path) -> Path:
    folder = tmp_path / MARK
    folder.mkdir()
    pack(folder / "desk")
    return folder


def pack(folder: Path, cases=CASES, declaration: str = PACK) -> Path:
    folder.mkdir()
    (folder / "pack.yaml").write_text(declaration)
    (folder / "core.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return folder


@pytest.fixture
def golden(home):
    def call(*arguments) -> doors.Done:
        done = doors.call("golden", home, *arguments)
        assert MARK not in done.stdout + done.stderr
        return done

    return call


def test_a_valid_pack_passes_and_its_warnings_are_told(golden):
    done = golden("validate", "desk")
    assert done.returncode == 0
    assert done.stdout == "pack desk: valid; cases of its suites: core 3\n"
    assert done.stderr == (
        "warning: pack desk: core.jsonl: case b: relevant: has no relevant document, so its "
        "retrieval counts as 0; if nothing should be found, say expect: nothing\n"
    )


def test_one_pack_that_cannot_be_used_fails_the_call_and_hides_no_other(golden, home):
    pack(home / "twice", [CASES[0], {**CASES[0], "questoin": MARK}])
    done = golden("validate", "nowhere", "twice", "desk")
    assert done.returncode == 2
    assert done.stdout == (
        "pack 1: cannot be used\n"
        "pack desk: cannot be used\n"
        "pack desk: valid; cases of its suites: core 3\n"
    )
    assert done.stderr.splitlines()[:3] == [
        "error: pack 1: pack.yaml: no such file",
        (
            "error: pack desk: core.jsonl:2: case a: questoin: is not a known key; did you mean "
            "question?"
        ),
        "error: pack desk: core.jsonl:2: case a: id: is the id of line 1 too",
    ]


def test_many_faults_are_cut_short_in_text_and_whole_in_json(golden, home):
    pack(home / "many", [{"id": f"c{n}", "question": ""} for n in range(50)])
    done = golden("validate", "many")
    assert done.stderr.count("error:") == 20
    assert done.stderr.endswith("pack desk: 30 more errors; --format json tells them all\n")
    done = golden("validate", "many", "--format", "json")
    assert done.returncode == 2
    (told,) = json.loads(done.stdout)
    assert (told["valid"], told["pack"], len(told["errors"])) == (False, "desk", 50)
    assert told["errors"][7] == {
        "file": "core.jsonl",
        "line": 8,
        "case": "c7",
        "field": "question",
        "problem": "must be more than blanks",
    }


def test_a_pack_is_shown_without_its_texts(golden):
    done = golden("show", "desk")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        (
            "pack desk: agent did:web:desk, autonomy 1, internal data, language en, citations by "
            "place, from 1, 0 stop rules"
        ),
        "suite core: 3 cases for retrieval, answers",
    ]
    assert lines[3:6] == [
        "  expect: abstain 1, answer 2",
        "  slices: fr 2",
        "  holds: forbidden claims 1, judged documents 3, relevant documents 2, required points 1",
    ]
    assert [line.split()[0] for line in lines[6:]] == ["a", "b", "c"]


def test_the_digests_shown_are_those_of_the_cases(golden, home):
    told = json.loads(golden("show", "desk", "--format", "json").stdout)["suites"]["core"]
    form = (
        '{"expect":"answer","id":"a","must_mention":[],"must_not_claim":[],"question":"MARK a?",'
        '"relevant":{"d1":2,"d2":0},"slices":["fr"]}'
    ).replace("MARK", MARK)
    assert told["cases"]["a"] == hashlib.sha256(form.encode()).hexdigest()
    validated = json.loads(golden("validate", "desk", "--format", "json").stdout)
    assert validated[0]["suites"]["core"] == {"cases": 3, "digest": told["digest"]}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_questions_are_shown_on_a_terminal_alone(golden, home, monkeypatch):
    from aal_engine.agent.golden import app

    done = golden("show", "desk", "--text")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --text prints questions, which do not go into files")
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    arguments = ["show", str(home / "desk"), "--text"]
    assert exit_code(lambda: app(arguments, standalone_mode=False)) == 0
    assert f"      {MARK} a?\n" in screen.getvalue()
    assert exit_code(lambda: app([*arguments, "--format", "json"], standalone_mode=False)) == 2


def test_what_changed_between_two_packs_is_told_by_id(golden, home):
    changed = {**CASES[1], "must_mention": ["other"], "slices": []}
    pack(home / "new", [CASES[0], changed, {"id": "d", "question": f"{MARK}?"}])
    done = golden("diff", "desk", "new")
    assert done.returncode == 0
    assert done.stdout == (
        "suite core: 1 added, 1 removed, 1 changed, 1 the same\n"
        "  + d\n  - c\n  ~ b: must_mention, slices\n"
    )
    done = golden("diff", "desk", "new", "--format", "json")
    assert json.loads(done.stdout) == {
        "core": {
            "added": ["d"],
            "removed": ["c"],
            "changed": {"b": ["must_mention", "slices"]},
            "same": 1,
        }
    }
    assert golden("diff", "desk", "desk").stdout == (
        "suite core: 0 added, 0 removed, 0 changed, 3 the same\n"
    )


def test_suites_that_only_one_pack_has_are_added_or_removed(golden, home):
    pack(home / "new", declaration=PACK.replace("core:", "other:"))
    assert golden("diff", "desk", "new").stdout.splitlines()[::4] == [
        "suite core: 0 added, 3 removed, 0 changed, 0 the same",
        "suite other: 3 added, 0 removed, 0 changed, 0 the same",
    ]


def test_collections_are_imported(golden, home):
    (home / "qrels").write_text("1 0 d 1\n1 0 e 2\n1 0 f 3\n")
    (home / "topics").write_text(f".I 9\n.W\n{MARK}\n.I 8\n.W\nx\n")
    done = golden(
        *("import", "trec", "--qrels", "qrels", "--topics", "topics", "--out", "sets/mine"),
        *("--qrels-number", "position", "--reverse-grades", "2", "--agent", "a", "--autonomy", "3"),
    )
    assert (done.returncode, done.stdout[:24]) == (0, "made pack mine: 1 cases,")
    assert done.stderr == "note: 1 topics that nothing judges were left out\n"
    assert json.loads((home / "sets" / "mine" / "cases.jsonl").read_text())["relevant"] == {
        "d": 2,
        "e": 1,
        "f": 0,
    }
    told = json.loads(golden("show", "sets/mine", "--format", "json").stdout)
    assert (told["pack"], told["agent"], told["autonomy"]) == ("mine", "a", 3)

    (home / "beir" / "qrels").mkdir(parents=True)
    (home / "beir" / "queries.jsonl").write_text(f'{{"_id": "1", "text": "{MARK}"}}\n')
    (home / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td\t1\n")
    done = golden("import", "beir", "beir", "--out", "sets/beir", "--name", "scifact")
    assert (done.returncode, done.stdout[:27]) == (0, "made pack scifact: 1 cases,")

    nugget = {"text": f"{MARK} nugget", "importance": "vital"}
    (home / "nuggets").write_text(json.dumps({"qid": 1, "query": MARK, "nuggets": [nugget]}))
    done = golden("import", "nuggets", "--nuggets", "nuggets", "--out", "sets/rag")
    assert (done.returncode, done.stdout[:23]) == (0, "made pack rag: 1 cases,")
    assert golden("validate", "sets/mine", "sets/beir", "sets/rag").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["validate"], "Missing argument 'PACK...'"),
        (["show", "nowhere"], "error: pack.yaml: no such file"),
        (["show", "desk/core.jsonl"], "error: pack.yaml: no such file"),
        (["diff", "desk", "nowhere"], "error: pack.yaml: no such file"),
        (["import", "beir", "nowhere", "--out", "x"], "error: test.tsv: no such file"),
        (
            ["import", "trec", "--qrels", "q", "--topics", "t", "--out", "desk"],
            "error: q: no such file",
        ),
        (["import", "trec", "--qrels", "q"], "Missing option '--topics'"),
        (["show", "desk", "--format", "xml"], "Invalid value for '--format'"),
    ],
)
def test_a_wrong_call_exits_with_2(golden, home, arguments, told):
    done = golden(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (home / "x").exists()


@pytest.mark.parametrize(
    "arguments", [[], ["import"], *(["import", name] for name in ("trec", "beir", "nuggets"))]
)
def test_help_gives_examples_that_are_not_broken_over_lines(golden, arguments):
    done = golden(*arguments, "--help")
    assert done.returncode == 0
    if len(arguments) == 2:
        assert f"  aal golden import {arguments[1]} " in done.stdout
        assert any(" --out golden_sets/" in line for line in done.stdout.splitlines())
