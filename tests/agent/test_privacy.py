"""Nothing leaves but scores: texts planted in every input reach no output of any door."""

from __future__ import annotations

import json
from pathlib import Path

import doors
import pytest

MARKERS = {
    name: f"Qx{name}Zw"
    for name in ("question", "answer", "passage", "title", "point", "claim", "path")
}
POLICY = "model_families:\n  allow: [claude]\nfirst_release: allow\n"
PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: restricted
citations: {mode: index, base: 1}
suites:
  core: {file: core.jsonl, kinds: [retrieval, answers]}
"""


def case(number: int) -> dict:
    return {
        "id": f"case-{number}",
        "question": f"What is {MARKERS['question']}?",
        "relevant": {"doc-1": 1},
        "must_mention": [f"the {MARKERS['point']}"],
        "must_not_claim": [f"never {MARKERS['claim']}"],
    }


def row(number: int, answer: str) -> dict:
    return {
        "id": f"case-{number}",
        "model_family": "claude",
        "retrieved": [
            {
                "doc_id": "doc-1",
                "score": 1.0,
                "title": MARKERS["title"],
                "text": f"It is {MARKERS['passage']}.",
            }
        ],
        "answer": answer,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / MARKERS["path"]
    (home / "support").mkdir(parents=True)
    (home / "support" / "pack.yaml").write_text(PACK)
    (home / "support" / "core.jsonl").write_text(
        "".join(json.dumps(case(n)) + "\n" for n in range(3))
    )
    (home / "policy.yaml").write_text(POLICY)
    return home


def assert_clean(done: doors.Done, folder: Path) -> None:
    """No marker stands in what was printed, nor in any file but the inputs."""
    texts = {"printed": (done.stdout + done.stderr).encode()}
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "support" and path.name != "run.jsonl":
            texts[path.name] = path.read_bytes()
    for name, text in texts.items():
        for marker in MARKERS.values():
            assert marker.lower().encode() not in text.lower(), (name, marker)


@pytest.mark.parametrize("claims", [False, True])
def test_the_whole_path_writes_no_text(folder, claims):
    claim = f" It is never {MARKERS['claim']} [9]." if claims else ""
    answer = f"The {MARKERS['point']} is {MARKERS['answer']} [1].{claim}"
    (folder / "run.jsonl").write_text("".join(json.dumps(row(n, answer)) + "\n" for n in range(3)))
    for form in ("text", "json"):
        done = doors.call(
            "evaluate",
            folder,
            *("--pack", str(folder / "support"), "--run", str(folder / "run.jsonl")),
            *("--version", "1.0.0", "--out", str(folder / "out"), "--format", form),
        )
        assert done.returncode == 0, done.stderr
        assert_clean(done, folder)
    formats = ("text", "json", "markdown=gate.md", "junit=gate.xml", "html=gate.html")
    done = doors.call(
        "gate",
        folder,
        *("--current", str(folder / "out" / "retrieval.json")),
        *("--current", str(folder / "out" / "answers.json"), "--policy", "policy.yaml"),
        *("--record", str(folder / "decision.json")),
        *(part for each in formats for part in ("--format", each)),
        GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
    )
    assert done.returncode == int(claims), done.stdout + done.stderr
    assert (folder / "summary.md").is_file()
    assert_clean(done, folder)
    for arguments in (("verify",), ("show",), ("show", "--format", "json")):
        done = doors.call("ledger", folder, *arguments)
        assert done.returncode == 0
        assert_clean(done, folder)
    for form in ("text", "json"):
        run = ("--run", str(folder / "run.jsonl"), "--pack", str(folder / "support"))
        done = doors.call("explain", folder, "case-1", *run, "--format", form)
        assert done.returncode == 0, done.stderr
        assert_clean(done, folder)
    for arguments in (("validate", "support"), ("show", "support"), ("diff", "support", "support")):
        for form in ("text", "json"):
            done = doors.call("golden", folder, *arguments, "--format", form)
            assert done.returncode == 0, done.stderr
            assert_clean(done, folder)


FAULTS = {
    "not JSON": lambda text: text.replace('"answer": ', '"answer" '),
    "a key twice": lambda text: text.replace('"answer": ', '"id": "case-0", "answer": '),
    "an answer of another type": lambda text: text.replace('"answer": "', '"answer": ["').replace(
        '"}', '"]}'
    ),
    "a score that is text": lambda text: text.replace("1.0", f'"{MARKERS["passage"]}"'),
    "retrieved that is text": lambda text: text.replace(
        '"retrieved": [', f'"retrieved": "{MARKERS["passage"]}", "x": ['
    ),
    "half a line": lambda text: text[: len(text) // 2],
    "the same case twice": lambda text: text + text,
    "a document twice": lambda text: text.replace(
        '"retrieved": [', '"retrieved": [{"doc_id": "doc-1", "score": 2.0}, '
    ),
    "a text for an id": lambda text: text.replace('"case-0"', f'"{MARKERS["question"]}/../x"'),
    "NaN": lambda text: text.replace("1.0", "NaN"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_a_run_quotes_it(folder, fault):
    text = json.dumps(row(0, MARKERS["answer"])) + "\n"
    changed = FAULTS[fault](text)
    assert changed != text
    (folder / "run.jsonl").write_text(changed)
    done = doors.call(
        "evaluate",
        folder,
        *("--pack", str(folder / "support"), "--run", str(folder / "run.jsonl")),
        *("--version", "1.0.0", "--out", str(folder / "out")),
    )
    assert done.returncode == 2
    assert "run.jsonl" in done.stderr
    assert_clean(done, folder)


GOLDEN_FAULTS = {
    "an unknown key": ('"question"', '"qestion"'),
    "a point of another type": ('"must_mention": [', '"must_mention": [7, '),
    "a grade that is text": ('"doc-1": 1', f'"doc-1": "{MARKERS["passage"]}"'),
    "a pattern that is none": (
        '"must_mention": [',
        f'"must_mention": [{{"regex": "({MARKERS["point"]}"}}, ',
    ),
    "expects nonsense": ('"relevant"', f'"expect": "{MARKERS["answer"]}", "relevant"'),
    "a line that is not JSON": ('"relevant":', '"relevant"'),
    "an id with a path": ('"case-1"', f'"../{MARKERS["path"]}"'),
}


@pytest.mark.parametrize("fault", GOLDEN_FAULTS)
def test_no_fault_of_a_golden_set_quotes_it(folder, fault):
    path = folder / "support" / "core.jsonl"
    old, new = GOLDEN_FAULTS[fault]
    changed = path.read_text().replace(old, new)
    assert changed != path.read_text()
    path.write_text(changed)
    for form in ("text", "json"):
        done = doors.call("golden", folder, "validate", str(folder / "support"), "--format", form)
        assert done.returncode == 2
        assert "core.jsonl" in done.stdout + done.stderr
        assert_clean(done, folder)
