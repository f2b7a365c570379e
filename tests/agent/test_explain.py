"""`aal explain`: what decided each verdict, to the eyes that asked and to nobody else's."""

from __future__ import annotations

import io
import json
from pathlib import Path

import doors
import pytest

PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: restricted
suites:
  core: {file: core.jsonl, kinds: [answers]}
  lists: {file: lists.jsonl, kinds: [retrieval]}
"""
CASE = {
    "id": "refund-1",
    "question": "How long do refunds take?",
    "must_mention": ["30 days", "original payment method"],
    "must_not_claim": ["instant", {"phrase": "free of charge", "negation": "allow"}],
}
ANSWER = (
    "Refunds take 45 days to arrive [1]. They are never free of charge [7]. Are they instant? "
    "Refunds cost thirty lions \x1b[31mZq [3-1]."
)
PASSAGE = {"doc_id": "doc-12", "score": 1.0, "text": "Refunds take 30 days to arrive."}


def row(attempt: int = 1, **fields) -> dict:
    return {
        "id": "refund-1",
        "attempt": attempt,
        "model_family": "claude",
        "retrieved": [PASSAGE],
        "answer": ANSWER,
    } | fields


@pytest.fixture
def home(tmp_path: Path) -> Path:
    pack = tmp_path / "golden_sets" / "support"
    pack.mkdir(parents=True)
    (pack / "pack.yaml").write_text(PACK)
    (pack / "core.jsonl").write_text(json.dumps(CASE) + "\n")
    listed = {"id": "list-1", "question": "?", "relevant": {"d": 1}}
    (pack / "lists.jsonl").write_text(json.dumps(listed) + "\n")
    write(tmp_path, row())
    return tmp_path


def write(home: Path, *rows: dict) -> None:
    (home / "run.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))


def explain(home: Path, *arguments: str, case: str = "refund-1") -> doors.Done:
    return doors.call("explain", home, case, "--run", "run.jsonl", *arguments)


def test_each_verdict_is_shown_with_what_decided_it(home):
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    done = explain(home, "--text")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "case refund-1, suite core, claude, attempt 1"
    for line in (
        "grounded 0.0000",
        "forbidden_claims 1.0000",
        'cites doc-12 31-34 "[1]"',
        'INVENTED: not among the passages retrieved (1) 66-69 "[7]"',
        "must_mention[0] NOT MET not mentioned",
        'must_not_claim[0] MADE asked at 80-87 "instant"',
        'must_not_claim[1] not made negated at 51-65 "free of charge"',
        'question 71-88 "Are they instant?"',
        'claim cites doc-12, support 0.80 WEAK: numbers that no cited passage has: 45 0-35 "'
        + ANSWER[:35]
        + '"',
    ):
        assert line in lines, line
    assert any("cannot be read" in line and '"[3-1]"' in line for line in lines)
    assert any(line.startswith("claim cites nothing that was retrieved") for line in lines)
    # What could steer a terminal is shown as a gap.
    assert "\x1b" not in done.stdout
    assert before == {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_text_goes_where_nobody_watches(home, form):
    done = explain(home, "--format", form)
    assert done.returncode == 0
    for word in ("Refunds", "instant", "charge", "lions", "45", "[7]"):
        assert word not in done.stdout + done.stderr
    assert "31" in done.stdout


def test_a_terminal_shows_text(home, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(doors.io, "StringIO", Terminal)
    assert "Refunds take 45 days" in explain(home).stdout
    assert "Refunds take" not in explain(home, "--no-text").stdout


def test_json_has_every_place_and_its_text(home):
    write(home, row(2), row(1, answer=None, error="timeout"))
    value = json.loads(explain(home, "--format", "json", "--text").stdout)
    failed, answered = value["attempts"]
    assert (failed["attempt"], failed["error"], failed["values"]["complete"]) == (1, "timeout", 0.0)
    assert "markers" not in failed
    assert answered["counts"]["invented_citations"] == 2
    assert answered["values"]["abstention"] == 1.0
    spans = [*answered["markers"], *answered["sentences"]]
    spans += [mention for each in answered["must_not_claim"] for mention in each["mentions"]]
    assert spans
    for span in spans:
        assert ANSWER[span["start"] : span["end"]] == span["text"]
    assert answered["sentences"][0]["support"]["numbers_absent"] == ["45"]


def test_a_failed_attempt_says_so(home):
    write(home, row(answer=None, error="timeout"))
    assert "  no answer: timeout\n" in explain(home).stdout


def test_a_citation_beside_the_text_is_named_by_its_place(home):
    write(home, row(citations=["doc-12", "doc-99"]))
    assert "  INVENTED  " in explain(home).stdout
    assert "citations[1], given beside the text" in explain(home).stdout


def test_long_lists_are_cut_in_words_alone(home):
    write(home, row(answer="Refunds take days and weeks [1]. " * 150))
    assert "… 50 more; --format json tells them all" in explain(home).stdout
    value = json.loads(explain(home, "--format", "json").stdout)
    assert len(value["attempts"][0]["markers"]) == 150


@pytest.mark.parametrize(
    ("arguments", "case", "says"),
    [
        ((), "refund-2", "no suite has a case refund-2\n  did you mean refund-1?"),
        ((), "zzz", "no suite has a case zzz\n  `aal golden show PACK` lists the cases"),
        ((), "list-1", "case list-1 is in no suite of kind answers"),
        (("--pack", "nowhere"), "refund-1", "pack.yaml"),
    ],
)
def test_what_cannot_be_explained_says_why(home, arguments, case, says):
    done = explain(home, *arguments, case=case)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_case_that_the_run_lacks(home):
    write(home, row(id="other"))
    done = explain(home)
    assert done.returncode == 2
    assert "the run has no output for case refund-1" in done.stderr


def test_a_broken_run_is_told_without_its_text(home):
    (home / "run.jsonl").write_text(json.dumps(row()).replace('"answer": ', '"answer" '))
    done = explain(home, "--text")
    assert done.returncode == 2
    assert "run.jsonl:1" in done.stderr
    assert "Refunds" not in done.stderr


def test_the_pack_is_found_by_the_case_where_only_one_has_it(home, tmp_path):
    assert explain(home, "--pack", "golden_sets/support").stdout == explain(home).stdout
    other = home / "golden_sets" / "second"
    other.mkdir()
    for file in (home / "golden_sets" / "support").iterdir():
        text = file.read_text().replace("name: support", "name: second")
        (other / file.name).write_text(text)
    done = explain(home)
    assert done.returncode == 2
    assert "several packs have case refund-1: second, support" in done.stderr
    for file in (home / "golden_sets").rglob("*"):
        if file.is_file():
            file.unlink()
    done = explain(home)
    assert done.returncode == 2
    assert "no pack is named" in done.stderr
