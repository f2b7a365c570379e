"""Ways around the gate, each closed; and what a decision rests on when tables are at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from specimen import AT, KEY, gate, policy, record, released, replayed, slices

from aal_engine.decide.decision import Decision
from aal_engine.decide.gate import decide
from aal_engine.decide.question import Question
from aal_engine.decide.release import AgentKey
from aal_engine.measure.record import EvalRecord, Mean, contradictions, summarise
from aal_engine.measure.table import Source, case_table


def failing(decision: Decision) -> set[str]:
    return {check.name for check in decision.checks if check.blocks}


def noted(decision: Decision) -> str:
    return "\n".join(decision.notes)


BEFORE = (record(version="1.0.0"), record("retrieval", None, "1.0.0"))


@pytest.mark.parametrize(
    ("baseline", "why"),
    [
        ([record(version="1.0.0", metrics={"complete": 0.1}), BEFORE[1]], "does not agree"),
        ([record(version="1.0.0")], "it lacks the retrieval record on core"),
        ([record(version="1.0.0", family="stranger")], "it lacks the answers record of claude"),
        ([record(version="1.0.0", run="d" * 64), BEFORE[1]], "not scored from the run"),
        (
            [record(version="1.0.0", counts={"missing_outputs": 1}), BEFORE[1]],
            "would count as its failures: pass its decision and --unchanged-cases",
        ),
        (
            [record(version="1.0.0"), record("retrieval", None, "1.0.0", without=("ndcg@10",))],
            "lacks metrics",
        ),
    ],
)
def test_baseline_records_must_be_the_releases_own(baseline, why):
    worse = record(metrics={"complete": 0.1})
    decision = gate(worse, record("retrieval", None), before=BEFORE, baseline=tuple(baseline))
    assert "baseline" in failing(decision)
    assert any(why in str(check.note) for check in decision.checks)


def test_baseline_records_scored_by_a_newer_engine_may_differ_and_it_is_noted():
    again = tuple(replace(each, engine="aal-engine@1") for each in BEFORE)
    changed = (replace(again[0], metrics={**again[0].metrics, "complete": Mean(0.8, 40)}), again[1])
    current = record(metrics={"complete": 0.8}, engine="aal-engine@1")
    decision = gate(current, record("retrieval", None), before=BEFORE, baseline=changed)
    assert decision.verdict == "released"
    assert "2 versions of the engine" in noted(decision)


def test_a_version_compared_with_itself_is_none():
    itself = record(version="1.0.0", metrics={"complete": 0.05}, run="e" * 64)
    assert {"baseline", "same_subject"} <= failing(gate(itself, baseline=(itself,)))


def test_a_released_version_may_be_gated_again_for_another_family():
    both = policy(families=("claude", "gpt"))
    decision = gate(record(version="1.0.0"), record(version="1.0.0", family="gpt"), policy=both)
    assert decision.verdict == "released"
    assert "gpt is new" in noted(decision)


def test_a_measure_on_fewer_cases_blocks():
    assert failing(gate(record(metrics={"complete": Mean(1.0, 1)}))) == {"coverage"}


def test_a_family_is_not_let_through_on_the_easiest_suite():
    both = policy(families=("claude", "gpt"))
    hard = record(suite="hard")
    before = (record(version="1.0.0"), record(version="1.0.0", suite="hard"))
    decision = gate(record(), hard, record(family="gpt"), before=before, policy=both)
    assert failing(decision) == {"family_evidence"}


def test_families_are_measured_on_one_golden_set():
    both = policy(families=("claude", "gpt"))
    other = record(family="gpt", golden_set="d" * 64)
    assert failing(gate(record(), other, policy=both)) == {"same_golden_set"}


def test_a_table_speaks_for_one_record():
    both = policy(families=("claude", "gpt"))
    borrowed = replace(record(family="gpt"), table=record().table)
    assert failing(gate(record(), borrowed, policy=both)) == {"evidence"}


@pytest.mark.parametrize("now", [{}, slices(0.9, 19)])
def test_a_slice_of_one_golden_set_cannot_vanish_or_shrink(now):
    before = (record(version="1.0.0", slices=slices(0.9, 30)),)
    decision = gate(record(slices=now), before=before)
    assert failing(decision) == {"evidence"}


def test_one_golden_set_has_one_number_of_cases():
    assert "evidence" in failing(gate(record(cases=80)))


def test_a_slice_gone_blank_is_told():
    blank = slices(0.9, 30)
    part = blank["fr"]
    blank["fr"] = replace(part, metrics={**part.metrics, "complete": Mean(None, 0)})
    before = (record(version="1.0.0", slices=slices(0.9, 30)),)
    decision = gate(record(slices=blank), before=before, policy=policy(slices_block=True))
    assert failing(decision) == {"coverage"}


def test_an_agent_whose_name_differs_only_in_case_is_not_new():
    question = Question(
        (record(),), None, policy(first_release="allow"), None, near=AgentKey("Desk", "support")
    )
    assert failing(decide(question, at=AT, engine="e")) == {"baseline"}


def test_what_the_reader_should_know_is_noted():
    lacking = record(counts={"missing_attempts": 3, "foreign_outputs": 500})
    decision = gate(lacking, policy=policy(tolerance=policy().tolerance * 2))
    told = noted(decision)
    assert "the policy is not the one that version 1.0.0 was released by" in told
    assert "3 attempts have no output" in told
    assert "500 outputs are for cases" in told
    assert "1 of 1 records have no per-case table at hand" in told


def test_a_family_that_is_no_longer_allowed_is_noted():
    decision = gate(record(family="gpt"), policy=policy(families=("gpt",)))
    assert "claude was released and is no longer allowed" in noted(decision)


def test_an_older_version_is_noted():
    first, _ = released(record(version="1.0.0"))
    second = gate(record(version="1.1.0"))
    live = replayed(first, second).releases[KEY]
    third = decide(Question((record(version="1.0.0"),), second, policy(), live), at=AT, engine="e")
    assert "version 1.0.0 was released before" in noted(third)


CONTRADICTIONS = {
    "value above 1": {"metrics": {"complete": 5.0}},
    "value below 0": {"metrics": {"weak_support": -3.0}},
    "a value of no case": {"metrics": {"complete": Mean(0.5, 0)}},
    "no value of some cases": {"metrics": {"complete": Mean(None, 7)}},
    "more cases than there are": {"metrics": {"complete": Mean(0.5, 41)}},
    "grounded without the floor": {"metrics": {"grounded": 0.2}},
    "forbidden without the floor": {"metrics": {"forbidden_claims": 0.9}},
    "the floor without its metric": {
        "counts": {"forbidden_claims": 1},
        "metrics": {"forbidden_claims": 0.0},
    },
    "nothing measured": {"without": ("grounded", "complete", "forbidden_claims")},
    "no rows": {"rows": 0},
    "no attempts": {"counts": {"attempts": 0}},
    "a slice larger than the set": {"slices": slices(0.9, 900)},
    "metrics of another kind": {"metrics": {"recall@10": 0.5}},
    "an unheard of metric": {"metrics": {"finesse": 0.5}},
}


@pytest.mark.parametrize("fault", CONTRADICTIONS)
def test_a_record_that_contradicts_itself_is_told(fault):
    assert list(contradictions(record(**CONTRADICTIONS[fault])))


def test_a_sound_record_contradicts_nothing():
    for sound in (
        record(),
        record("retrieval", None),
        record(counts={"invented_citations": 3, "missing_outputs": 2}, rows=40),
        record(slices=slices(0.9, 30)),
    ):
        assert list(contradictions(sound)) == []


CASES = 60


def table(version: str, complete: np.ndarray, *, digests=None, golden="a" * 64) -> pa.Table:
    """A table of answers in which every other case is in the slice `odd`."""
    cases = len(complete)
    return case_table(
        Source(
            "answers", "support", "desk", version, "claude", "core", golden, cases, "b" * 64, "e"
        ),
        [f"case-{n:02}" for n in range(cases)],
        digests or [f"{n:064x}" for n in range(cases)],
        [1] * cases,
        [False] * cases,
        {"odd": [bool(n % 2) for n in range(cases)]},
        {"invented_citations": [0] * cases, "forbidden_claims": [0] * cases},
        {
            "grounded": np.ones(cases),
            "complete": complete,
            "forbidden_claims": np.zeros(cases),
        },
    )


def ask(new: pa.Table, old: pa.Table, *, claimed: EvalRecord | None = None, **changes) -> Decision:
    """Gate a table against a released one, both at hand."""
    before, now = summarise(old, AT), claimed or summarise(new, AT)
    baseline, release = released(before)
    question = Question(
        (now,),
        baseline,
        changes.pop("policy", policy()),
        release,
        {before.table: old, now.table: new},
        **changes,
    )
    return decide(question, at=AT, engine="e")


ONES = np.ones(CASES)
FEWER = np.r_[np.zeros(6), np.ones(CASES - 6)]


def test_statistics_stand_beside_a_comparison_of_tables():
    decision = ask(table("1.1.0", FEWER), table("1.0.0", ONES))
    (check,) = [c for c in decision.checks if c.metric == "complete" and c.slice is None]
    assert check.blocks
    assert check.evidence is not None
    told = dict(check.evidence)
    assert (told["n"], told["difference"], told["test"], told["p"]) == (60, -0.1, "mcnemar", 0.0312)
    assert told["interval"][0] < -0.1 < told["interval"][1] <= 0
    assert told["underpowered"] is True
    (odd,) = [c for c in decision.checks if c.metric == "complete" and c.slice == "odd"]
    assert odd.evidence is not None
    assert odd.evidence["n"] == 30
    assert odd.evidence["p_holm"] == odd.evidence["p"]


def test_the_cases_that_fell_are_named():
    decision = ask(table("1.1.0", FEWER), table("1.0.0", ONES))
    (check,) = [c for c in decision.checks if c.metric == "complete" and c.slice is None]
    assert check.evidence is not None
    assert check.evidence["cases"] == [f"case-{n:02}" for n in range(5)]


def test_a_record_must_be_what_its_table_amounts_to():
    honest = summarise(table("1.1.0", FEWER), AT)
    better = replace(honest, metrics={**honest.metrics, "complete": Mean(1.0, CASES)})
    decision = ask(table("1.1.0", FEWER), table("1.0.0", ONES), claimed=better)
    assert failing(decision) == {"evidence"}


def test_tables_of_one_golden_set_hold_the_same_cases():
    other = [f"{n:064x}" for n in range(1, CASES + 1)]
    decision = ask(table("1.1.0", ONES, digests=other), table("1.0.0", ONES))
    assert failing(decision) == {"evidence"}


def changed(share: int) -> tuple[pa.Table, pa.Table]:
    """Two tables whose golden sets share so many cases, on which they differ."""
    digests = [f"{n if n < share else n + 1000:064x}" for n in range(CASES)]
    return table("1.1.0", FEWER, digests=digests, golden="d" * 64), table("1.0.0", ONES)


def test_unchanged_cases_are_compared_when_asked_for():
    new, old = changed(40)
    assert failing(ask(new, old)) == {"same_golden_set"}
    decision = ask(new, old, unchanged_cases=True)
    (check,) = [c for c in decision.checks if c.metric == "complete" and c.slice is None]
    assert (check.baseline, check.current, check.current_n) == (1.0, 0.85, 40)
    assert check.blocks
    (odd,) = [c for c in decision.checks if c.metric == "complete" and c.slice == "odd"]
    assert (odd.current, odd.current_n) == (0.85, 20)
    assert decision.unchanged_cases


@pytest.mark.parametrize(("share", "verdict"), [(29, "blocked"), (30, "released")])
def test_too_few_unchanged_cases_are_no_comparison(share, verdict):
    new, old = changed(share)
    tolerant = policy(tolerances={"complete": policy().tolerance * 10})
    assert ask(new, old, unchanged_cases=True, policy=tolerant).verdict == verdict
