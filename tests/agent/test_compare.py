"""The door that sets evaluations against each other."""

from __future__ import annotations

import json
from pathlib import Path

import doors
import pytest

MARKER = "Zanzibar-marker"
PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: internal
suites:
  core: {file: core.jsonl, metrics: [success@1, ndcg@10, judged@1]}
"""
CASES = 8


def lay(folder: Path) -> None:
    (folder / "support").mkdir()
    (folder / "support" / "pack.yaml").write_text(PACK)
    cases = [
        {
            "id": f"case-{n}",
            "question": f"What of {MARKER}?",
            "relevant": {"good": 1},
            "must_mention": ["fine"],
        }
        for n in range(CASES)
    ]
    (folder / "support" / "core.jsonl").write_text("\n".join(map(json.dumps, cases)))


def evaluate(folder: Path, version: str, right: int, family: str = "claude") -> None:
    """Score a version that finds and says the right thing in the first `right` cases."""
    rows = [
        {
            "id": f"case-{n}",
            "model_family": family,
            "retrieved": [{"doc_id": "good" if n < right else "bad", "score": 1.0, "text": MARKER}],
            "answer": f"All of it is {'fine' if n < right else 'lost'} today {MARKER} [1].",
        }
        for n in range(CASES)
    ]
    with (folder / f"{version}.jsonl").open("a") as run:
        run.writelines(json.dumps(row) + "\n" for row in rows)
    done = doors.call(
        "evaluate",
        folder,
        *("--pack", "support", "--run", f"{version}.jsonl", "--version", version, "--out", version),
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / MARKER
    home.mkdir()
    lay(home)
    evaluate(home, "1.0", 2)
    evaluate(home, "1.1", 8)
    return home


def compare(folder: Path, *arguments: str) -> doors.Done:
    done = doors.call("compare", folder, *arguments)
    assert MARKER not in done.stdout + done.stderr
    return done


def compared(folder: Path, *arguments: str) -> list[dict]:
    done = compare(folder, *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["comparisons"]


def test_two_evaluations_are_told_metric_by_metric(folder):
    answers, retrieval = compared(folder, "1.0", "1.1")
    assert (answers["kind"], retrieval["kind"]) == ("answers", "retrieval")
    assert retrieval["first"] == {"place": 1, "version": "1.0", "model_family": "claude"}
    assert retrieval["other"] == {"place": 2, "version": "1.1", "model_family": "claude"}
    assert (retrieval["cases"], retrieval["left_out"]) == (CASES, 0)
    success = retrieval["metrics"]["success@1"]
    assert (success["first"], success["value"], success["difference"]) == (0.25, 1.0, 0.75)
    assert success["test"] == "mcnemar"
    assert success["p"] == success["p_holm"] == pytest.approx(2 / 2**6, abs=1e-4)
    assert success["higher"] == [f"case-{n}" for n in range(2, CASES)]
    assert success["lower"] == []
    assert success["interval"][0] < 0.75 <= success["interval"][1]
    assert 0 < success["detectable"] <= 1
    assert retrieval["metrics"]["ndcg@10"]["test"] == "sign_flip"
    assert answers["metrics"]["complete"]["difference"] == 0.75


def test_the_text_says_better_and_worse_and_names_cases(folder):
    done = compare(folder, "1.0/retrieval.json", "1.1/retrieval.json")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "retrieval core: 1.0 claude [1] -> 1.1 claude [2], 8 cases"
    assert lines[1].split() == [
        "metric",
        "first",
        "other",
        "difference",
        "95%",
        "interval",
        "p",
        "detects",
    ]
    assert lines[2].split()[:4] == ["success@1", "0.2500", "1.0000", "+0.7500"]
    assert lines[3].strip() == f"6 better: {', '.join(f'case-{n}' for n in range(2, CASES))}"
    assert "6 up: case-2" in done.stdout
    back = compare(folder, "1.1/retrieval.json", "1.0/retrieval.json").stdout
    assert "6 worse: case-2" in back


def test_more_than_two_are_set_against_the_first_and_adjusted(folder):
    evaluate(folder, "1.2", 7)
    found = compared(folder, "1.0/retrieval.json", "1.1/retrieval.json", "1.2/retrieval.json")
    assert [each["other"]["version"] for each in found] == ["1.1", "1.2"]
    told = [each["metrics"]["success@1"] for each in found]
    assert [each["p"] for each in told] == pytest.approx([2 / 2**6, 2 / 2**5], abs=1e-4)
    assert [each["p_holm"] for each in told] == pytest.approx([4 / 2**6, 2 / 2**5], abs=2e-4)
    assert compare(folder, "1.0", "1.1", "1.2").stdout.count("Holm") == 4


def test_families_are_compared_within_one_evaluation(folder):
    evaluate(folder, "1.1", 3, "gpt")
    (retrieval,) = compared(folder, "1.1/retrieval.json", "--families")
    sides = retrieval["first"]["model_family"], retrieval["other"]["model_family"]
    assert sides == ("claude", "gpt")
    assert retrieval["metrics"]["success@1"]["difference"] == -0.625


def test_what_has_no_counterpart_is_noted(folder):
    evaluate(folder, "1.1", 3, "gpt")
    done = compare(folder, "1.0", "1.1")
    assert done.returncode == 0
    assert "retrieval core of gpt in evaluation 2 has nothing to be compared with" in done.stderr


def forged(folder: Path) -> None:
    path = folder / "1.1" / "retrieval.json"
    value = json.loads(path.read_text())
    value["records"][0]["metrics"]["ndcg@10"]["value"] = 0.875
    path.write_text(json.dumps(value))


def without_tables(folder: Path) -> None:
    for path in (folder / "1.1" / "tables").iterdir():
        path.unlink()


def other_cases(folder: Path) -> None:
    path = folder / "support" / "core.jsonl"
    path.write_text(path.read_text().replace("What of", "And what of"))
    (folder / "1.1.jsonl").unlink()
    evaluate(folder, "1.1", 8)


@pytest.mark.parametrize(
    ("change", "arguments", "told"),
    [
        (forged, ("1.0", "1.1"), "retrieval.json: the record of suite core does not follow"),
        (without_tables, ("1.0", "1.1"), "the per-case table of suite core is not beside it"),
        (other_cases, ("1.0", "1.1"), "have no case in common"),
        (None, ("1.0",), "there is nothing to compare"),
        (None, ("1.0", "nowhere.json"), "nowhere.json: no such file"),
        (None, ("1.0", "support"), "support: holds neither retrieval.json nor answers.json"),
    ],
)
def test_what_cannot_be_compared_is_told(folder, change, arguments, told):
    if change is not None:
        change(folder)
    done = compare(folder, *arguments)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_the_door_is_one_of_aals(folder):
    done = doors.call("cli", folder, "compare", "1.0", "1.1", "--format", "json")
    assert len(json.loads(done.stdout)["comparisons"]) == 2
