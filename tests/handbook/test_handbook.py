from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aal_engine.decide.decision import worse
from aal_engine.decide.entry import stamp
from aal_engine.measure.golden import Case, GoldenSet
from aal_engine.measure.metric import DEFAULT_RETRIEVAL_METRICS, Kind, metric
from aal_engine.measure.record import EvalRecord, summarise
from aal_engine.measure.run import Output, run_of
from aal_engine.measure.score import score
from aal_engine.measure.table import floats
from aal_engine.store.golden import inspect_pack, load_golden
from aal_engine.store.policy import load_policy
from aal_engine.store.run import load_run

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "golden_sets" / "handbook"
RECORDER = Path(__file__).with_name("record.py")
VERSIONS = ("1.0.0", "1.1.0", "1.1.1")
FAMILIES = {"extractive-lead", "extractive-overlap", "extractive-salience"}
KINDS: tuple[Kind, ...] = ("retrieval", "answers")
TOLERANCE = 0.05
NOW = stamp(datetime(2026, 1, 1, tzinfo=UTC))

Records = Mapping[tuple[str, str | None, Kind], EvalRecord]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def corpus() -> list[dict[str, Any]]:
    return lines(PACK / "corpus.jsonl")


@pytest.fixture(scope="module")
def golden() -> GoldenSet:
    return load_golden(PACK, "questions")


@pytest.fixture(scope="module")
def records(golden: GoldenSet) -> Records:
    return {
        (version, family, kind): summarise(
            score(kind, golden, run, version=version, engine="test"), NOW
        )
        for version in VERSIONS
        for family, run in load_run(PACK / "runs" / f"{version}.jsonl").runs.items()
        for kind in KINDS
    }


def test_recordings_are_what_the_recorder_writes() -> None:
    done = subprocess.run(
        [sys.executable, RECORDER, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_pack_is_valid_without_a_warning() -> None:
    found = inspect_pack(PACK)
    assert found.pack is not None
    assert (found.faults, found.warnings) == ((), ())


def test_corpus_has_distinct_passages_of_a_few_sentences(corpus: list[dict[str, Any]]) -> None:
    assert 90 <= len(corpus) <= 130
    assert len({row["passage_id"] for row in corpus}) == len({row["text"] for row in corpus})
    for row in corpus:
        assert set(row) == {"doc_id", "passage_id", "title", "text"}
        assert 1 <= row["text"].count(". ") <= 4, row["passage_id"]


def test_every_relevant_document_is_in_the_corpus(
    golden: GoldenSet, corpus: list[dict[str, Any]]
) -> None:
    documents = {row["doc_id"] for row in corpus}
    assert {doc for case in golden.cases for doc in case.relevant} <= documents


def test_cases_cover_the_slices(golden: GoldenSet) -> None:
    least = {"basics": 20, "metrics": 20, "gate": 20, "ledger": 15, "hard": 40, "abstain": 8}
    for name, size in least.items():
        assert sum(name in case.slices for case in golden.cases) >= size, name
    assert {name for case in golden.cases for name in case.slices} == set(least)


def test_abstain_cases_name_nothing_to_find_or_to_say(golden: GoldenSet) -> None:
    for case in golden.cases:
        assert (case.expect == "abstain") == ("abstain" in case.slices), case.id
        assert (case.expect == "answer") == bool(case.relevant) == bool(case.must_mention), case.id


def judged(golden: GoldenSet, name: str, write: Callable[[Case], str]) -> dict[str, float]:
    """Score an answer to every case that wants one, and return a metric by case id."""
    wanted = [case for case in golden.cases if case.expect == "answer"]
    outputs = [Output(case.id, answer=write(case), retrieved=()) for case in wanted]
    table = score("answers", golden, run_of("probe", outputs), version="0", engine="test")
    values = dict(zip(table.column("case_id").to_pylist(), floats(table, name), strict=True))
    return {case.id: float(values[case.id]) for case in wanted}


def test_relevant_passages_support_every_point(
    golden: GoldenSet, corpus: list[dict[str, Any]]
) -> None:
    def relevant(case: Case) -> str:
        return "\n\n".join(row["text"] for row in corpus if row["doc_id"] in case.relevant)

    met = judged(golden, "point_recall", relevant)
    assert {case: value for case, value in met.items() if value != 1} == {}
    claimed = judged(golden, "forbidden_claims", relevant)
    assert {case: value for case, value in claimed.items() if value != 0} == {}


def test_no_question_gives_a_point_away(golden: GoldenSet) -> None:
    met = judged(golden, "point_recall", lambda case: case.question.replace("?", "."))
    assert {case: value for case, value in met.items() if value != 0} == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_hold_passages_of_the_corpus(
    version: str, golden: GoldenSet, corpus: list[dict[str, Any]]
) -> None:
    path = PACK / "runs" / f"{version}.jsonl"
    assert path.stat().st_size < 2_000_000
    known = {row["passage_id"]: row for row in corpus}
    rows = lines(path)
    for row in rows:
        assert set(row) == {"id", "attempt", "model_family", "retrieved", "answer"}
        scores = [passage.pop("score") for passage in row["retrieved"]]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) <= 10
        assert all(passage == known[passage["passage_id"]] for passage in row["retrieved"])
    asked = {(row["id"], row["model_family"]) for row in rows}
    assert len(rows) == len(asked)
    assert asked == {(case.id, family) for case in golden.cases for family in FAMILIES}


def test_families_answer_differently(golden: GoldenSet) -> None:
    answers: dict[str, set[str]] = {}
    for row in lines(PACK / "runs" / "1.0.0.jsonl"):
        answers.setdefault(row["id"], set()).add(row["answer"])
    assert sum(len(found) > 1 for found in answers.values()) > len(golden.cases) / 2


@pytest.mark.parametrize("version", ["1.0.0", "1.1.1"])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_good_versions_keep_the_floors(version: str, family: str, records: Records) -> None:
    record = records[version, family, "answers"]
    assert (record.counts["invented_citations"], record.counts["forbidden_claims"]) == (0, 0)
    assert record.passed


def falls(records: Records, version: str) -> set[tuple[str, str]]:
    """Return the families and metrics that got worse since 1.0.0 by more than the tolerance."""
    found = set()
    for family in FAMILIES:
        for kind in KINDS:
            new, old = (records[v, family, kind].metrics for v in (version, "1.0.0"))
            assert new.keys() == old.keys()
            for name, mean in new.items():
                before = old[name].value
                assert mean.value is not None
                assert before is not None
                if worse(metric(name).direction, mean.value, before, TOLERANCE):
                    found.add((family, name))
    return found


def test_bad_version_breaks_both_floors_and_falls(records: Records) -> None:
    for floor in ("invented_citations", "forbidden_claims"):
        assert any(records["1.1.0", family, "answers"].counts[floor] for family in FAMILIES)
    fallen = {name for _, name in falls(records, "1.1.0")}
    assert fallen & set(DEFAULT_RETRIEVAL_METRICS)
    assert fallen & {"complete", "point_recall", "weak_support"}


def test_fix_falls_nowhere_and_gains_somewhere(records: Records) -> None:
    assert falls(records, "1.1.1") == set()
    for family in FAMILIES:
        new, old = (records[v, family, "retrieval"].metrics for v in ("1.1.1", "1.0.0"))
        for name in ("mrr", "ndcg@10"):
            assert new[name].value > old[name].value  # type: ignore[operator]


def test_readme_says_how_much_there_is(golden: GoldenSet, corpus: list[dict[str, Any]]) -> None:
    readme = (PACK / "README.md").read_text(encoding="utf-8")
    assert f"{len(corpus)} passages" in readme
    assert f"{len(golden.cases)} cases" in readme
    assert all(f"| {version} |" in readme for version in VERSIONS)
    assert all(f"| `{family}` |" in readme for family in FAMILIES)


def test_policy_allows_the_recorded_families() -> None:
    policy = load_policy(ROOT / "policies" / "handbook.yaml")
    assert set(policy.families) == FAMILIES
    assert float(policy.tolerance) == TOLERANCE
