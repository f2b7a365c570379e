"""Every check of the gate, one behaviour a test."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from specimen import GOLDEN, gate, policy, record, released, slices

from aal_engine.decide.decision import CHECKS, Check, Decision, worse
from aal_engine.decide.gate import RULES
from aal_engine.decide.release import Measure
from aal_engine.errors import InputError
from aal_engine.measure.record import Mean


def failing(decision: Decision) -> list[tuple[str, str | None]]:
    return [(check.name, check.metric) for check in decision.checks if check.blocks]


def the(decision: Decision, name: str, metric: str | None = None) -> Check:
    (found,) = [c for c in decision.checks if c.name == name and c.metric in (metric, None)]
    return found


def test_an_unchanged_version_is_released():
    decision = gate(record())
    assert decision.verdict == "released"
    assert decision.baseline is not None
    assert decision.baseline.version == "1.0.0"


@pytest.mark.parametrize("floor", ["invented_citations", "forbidden_claims"])
def test_a_floor_blocks_whatever_else_improved(floor):
    better = record(metrics={"complete": 1.0}, counts={floor: 1})
    assert failing(gate(better))[0] == (floor, None)


def test_a_floor_blocks_in_a_family_that_is_not_even_allowed():
    stranger = record(family="other", counts={"invented_citations": 1})
    assert ("invented_citations", None) in failing(gate(record(), stranger))


def test_a_clean_floor_says_what_it_cannot_exclude():
    check = the(
        gate(record(cases=50), before=(record(cases=50, version="1.0.0"),)), "forbidden_claims"
    )
    assert check.evidence == {"answers": 50, "upper_bound": pytest.approx(0.0582, abs=1e-4)}


def test_retrieval_alone_releases_nothing():
    retrieval = record("retrieval", None)
    before = (record(version="1.0.0"), record("retrieval", None, "1.0.0"))
    assert ("answers_present", None) in failing(gate(retrieval, before=before))


def test_each_allowed_family_needs_its_own_passing_answers():
    decision = gate(record(), policy=policy(families=("claude", "gpt")))
    (check,) = [c for c in decision.checks if c.name == "family_evidence" and c.blocks]
    assert check.model_family == "gpt"


def test_a_family_whose_own_record_does_not_pass_has_no_evidence():
    decision = gate(
        record(),
        record(family="gpt", counts={"missing_outputs": 1}),
        policy=policy(families=("claude", "gpt")),
    )
    blocked = {(c.name, c.model_family) for c in decision.checks if c.blocks}
    assert ("family_evidence", "gpt") in blocked


def test_a_family_that_is_not_allowed_is_noted_and_compared_with_nothing():
    decision = gate(record(), record(family="other", metrics={"complete": 0.1}))
    assert decision.verdict == "released"
    assert "other is not allowed" in decision.notes[0]


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.85, "released"), (0.8499, "blocked"), (0.95, "released")]
)
def test_a_fall_of_exactly_the_tolerance_passes(value, verdict):
    assert gate(record(metrics={"complete": value})).verdict == verdict


def test_direction_comes_from_the_table():
    before = (record(version="1.0.0", metrics={"weak_support": 0.1}),)
    assert gate(record(metrics={"weak_support": 0.0}), before=before).verdict == "released"
    worse_now = gate(record(metrics={"weak_support": 0.1501}), before=before)
    assert failing(worse_now) == [("regression", "weak_support")]


def test_the_worst_check_decides_and_stands_first():
    names = {"complete": 0.9, "point_recall": 0.9, "citation_rate": 0.9}
    before = (record(version="1.0.0", metrics=names),)
    decision = gate(
        record(metrics={"complete": 1.0, "point_recall": 0.8, "citation_rate": 0.5}), before=before
    )
    assert failing(decision) == [("regression", "citation_rate"), ("regression", "point_recall")]
    assert decision.checks[0].metric == "citation_rate"


def test_tolerances_apply_by_full_name_then_stem():
    tolerant = policy(tolerances={"complete": Decimal("0.2"), "recall": Decimal("0.0")})
    before = (record(version="1.0.0"), record("retrieval", None, "1.0.0"))
    fell = record("retrieval", None, metrics={"recall@10": 0.79, "ndcg@10": 0.7})
    decision = gate(record(metrics={"complete": 0.75}), fell, before=before, policy=tolerant)
    assert failing(decision) == [("regression", "recall@10")]


def test_a_metric_that_vanished_blocks():
    before = (record(version="1.0.0", metrics={"citation_rate": 0.9}),)
    assert failing(gate(record(), before=before)) == [("metric_vanished", "citation_rate")]


def test_a_whole_record_that_vanished_blocks():
    before = (record(version="1.0.0"), record("retrieval", None, "1.0.0"))
    vanished = {
        metric
        for name, metric in failing(gate(record(), before=before))
        if name == "metric_vanished"
    }
    assert vanished == {"recall@10", "ndcg@10"}


def test_a_new_metric_is_compared_with_nothing():
    assert gate(record(metrics={"complete": 0.9, "citation_rate": 0.0})).verdict == "released"


def test_missing_outputs_block():
    decision = gate(record(counts={"missing_outputs": 1}))
    assert ("coverage", "answers_cases") in failing(decision)


def test_a_metric_gone_blank_blocks():
    decision = gate(record(metrics={"complete": Mean(None, 0)}))
    assert ("coverage", "complete") in failing(decision)


def test_another_golden_set_blocks_and_says_the_way_out():
    decision = gate(record(golden_set="d" * 64))
    assert failing(decision) == [("same_golden_set", "answers_set")]
    assert "--unchanged-cases" in str(decision.checks[0].note)
    assert not [c for c in decision.checks if c.name == "regression"]


def test_several_versions_in_one_call_block():
    assert ("same_subject", None) in failing(gate(record(), record("retrieval", None, "1.2.0")))


def test_two_different_records_of_one_suite_and_family_are_refused():
    with pytest.raises(InputError, match="two different answers records"):
        gate(record(), record(metrics={"complete": 0.1}))


def test_the_same_record_twice_counts_once():
    assert gate(record(), record()).records == gate(record()).records


def test_no_records_are_refused():
    with pytest.raises(InputError, match="no current record"):
        gate()


def test_a_decision_that_is_not_the_last_release_is_no_baseline():
    stale, _ = released(record(version="0.9.0"))
    decision = gate(record(), baseline=stale)
    assert failing(decision) == [("baseline", None)]
    assert "1.0.0" in str(decision.checks[0].note)


def test_records_of_the_released_version_scored_again_are_a_baseline():
    again = (record(version="1.0.0", golden_set="d" * 64, metrics={"complete": 0.5}),)
    decision = gate(record(golden_set="d" * 64, metrics={"complete": 0.5}), baseline=again)
    assert decision.verdict == "released"
    assert decision.baseline is not None
    assert decision.baseline.source == "records"


def test_records_of_another_version_are_no_baseline():
    assert failing(gate(record(), baseline=(record(version="0.9.0"),))) == [("baseline", None)]


@pytest.mark.parametrize(
    ("first_release", "verdict"), [("refuse", "blocked"), ("allow", "released")]
)
def test_a_first_release_is_the_policys_choice(first_release, verdict):
    decision = gate(
        record(), baseline=None, release=None, policy=policy(first_release=first_release)
    )
    assert decision.verdict == verdict


def test_leaving_the_baseline_out_is_no_way_around_it():
    decision = gate(record(), baseline=None, policy=policy(first_release="allow"))
    assert failing(decision) == [("baseline", None)]


def test_a_baseline_that_the_ledger_does_not_know_blocks():
    assert failing(gate(record(), release=None)) == [("baseline", None)]


@pytest.mark.parametrize(
    ("cases", "block", "verdict", "compared"),
    [(20, True, "blocked", 3), (20, False, "released", 3), (19, True, "released", 0)],
)
def test_slices_block_when_they_are_large_enough_and_the_policy_says_so(
    cases, block, verdict, compared
):
    decision = gate(
        record(slices=slices(0.2, cases)),
        before=(record(version="1.0.0", slices=slices(0.9, cases)),),
        policy=policy(slices_block=block),
    )
    assert decision.verdict == verdict
    assert len([c for c in decision.checks if c.slice == "fr"]) == compared


def test_slow_loss_is_seen_against_the_best_release():
    key = Measure(GOLDEN, "core", "claude", "complete")
    _, release = released(record(version="1.0.0"))
    fallen = replace(release, measures={key: (0.97, 0.93, 0.9)})
    decision = gate(
        record(metrics={"complete": 0.86}), release=fallen, policy=policy(slide=Decimal("0.1"))
    )
    assert failing(decision) == [("slide", "complete")]
    assert (
        gate(
            record(metrics={"complete": 0.87}), release=fallen, policy=policy(slide=Decimal("0.1"))
        ).verdict
        == "released"
    )


def test_a_new_family_is_noted_as_having_nothing_to_compare_with():
    decision = gate(record(), record(family="gpt"), policy=policy(families=("claude", "gpt")))
    assert decision.verdict == "released"
    assert "gpt is new" in decision.notes[0]


def test_the_order_of_records_does_not_change_the_decision():
    both = (record(), record("retrieval", None))
    before = (record(version="1.0.0"), record("retrieval", None, "1.0.0"))
    assert gate(*both, before=before).digest == gate(*reversed(both), before=before).digest


def test_every_rule_emits_only_checks_that_are_named():
    decision = gate(record(), record(family="gpt", counts={"invented_citations": 2}))
    assert {check.name for check in decision.checks} <= set(CHECKS)
    assert len(RULES) == 11


@pytest.mark.parametrize(
    ("direction", "current", "baseline", "tolerance", "expected"),
    [
        ("higher", 0.7, 0.75, 0.05, False),
        ("higher", 0.69, 0.75, 0.05, True),
        ("lower", 0.3, 0.25, 0.05, False),
        ("lower", 0.31, 0.25, 0.05, True),
        ("lower", 0.0, 0.25, 0.0, False),
        ("higher", 0.1 + 0.2, 0.3, 0.0, False),
    ],
)
def test_worse(direction, current, baseline, tolerance, expected):
    assert worse(direction, current, baseline, tolerance) is expected
