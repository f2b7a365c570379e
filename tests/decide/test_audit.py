"""Decisions judged again: what a forger of a release cannot say, and what a gate always may."""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from decimal import Decimal

import pytest
from specimen import AT, KEY, Replay, policy, record, released

from aal_engine.decide.body import bodies
from aal_engine.decide.decision import Decision
from aal_engine.decide.entry import Entry
from aal_engine.decide.gate import decide
from aal_engine.decide.question import Question
from aal_engine.errors import ChainBroken, InputError
from aal_engine.measure.record import EvalRecord

OTHER = "b" * 64
SLIDE = policy(slide=Decimal("0.1"))


def take(replay: Replay, *told: dict) -> Replay:
    for body in told:
        seq = len(replay.decisions) + 1
        replay(Entry(seq, "", "decision", body, AT, b"", b""))
    return replay


def decided(replay: Replay, before: Decision, *current: EvalRecord, rules=SLIDE) -> Decision:
    question = Question(current, before, rules, replay.releases[KEY])
    return decide(question, at=AT, engine="aal-engine@0")


def versions(*completes: float) -> tuple[Replay, Decision]:
    """Release 1.0.0 and on, `complete` as given; return what is known then, and the last."""
    last, _ = released(record(version="1.0.0", metrics={"complete": completes[0]}))
    replay = take(Replay(), *bodies(last))
    for n, value in enumerate(completes[1:], 1):
        last = decided(replay, last, record(version=f"1.{n}.0", metrics={"complete": value}))
        assert last.verdict == "released", last.checks[0]
        take(replay, *bodies(last))
    return replay, last


def next_body(replay: Replay, last: Decision, *current: EvalRecord) -> dict:
    current = current or (record(version="2.0.0", metrics={"complete": 0.87}),)
    (body,) = bodies(decided(replay, last, *current))
    return body


def forged(body: dict, rows=lambda rows: rows, records=lambda records: records, **members) -> dict:
    body = copy.deepcopy(body) | members
    body["checks"]["rows"] = rows(body["checks"]["rows"])
    body["records"] = records(body["records"])
    return body


def set_in(check: str, column: int, value, metric: str = "complete"):
    def change(rows):
        for row in rows:
            if row[:2] == [check, metric]:
                row[column] = value
        return rows

    return change


def without(check: str, metric: str | None = None):
    def change(rows):
        return [row for row in rows if row[0] != check or metric not in (None, row[1])]

    return change


def in_records(name: str, value):
    return lambda records: [record | {name: value} for record in records]


FORGERIES = {
    "the best release lowered": ({"rows": set_in("slide", 6, 0.87)}, "with the best release"),
    "the present value raised": ({"rows": set_in("slide", 7, 0.95)}, "with the best release"),
    "one slide dropped": ({"rows": without("slide", "complete")}, "with the best release"),
    "every slide dropped": ({"rows": without("slide")}, "with the best release"),
    "a slide allowed more": ({"rows": set_in("slide", 8, 0.5)}, "same policy had before"),
    "a fall allowed more": ({"rows": set_in("regression", 8, 0.5)}, "same policy had before"),
    "an evaluation that failed": ({"records": in_records("passed", False)}, "on core that passes"),
    "cases without output": ({"records": in_records("scored", 39)}, "have no output"),
    "another golden set": ({"records": in_records("golden_set", OTHER)}, "another golden set"),
    "a comparison left out as one of unchanged cases": (
        {"rows": without("regression"), "unchanged_cases": True},
        "lacks the comparison of complete",
    ),
    "unchanged cases that were not compared": (
        {
            "rows": without("same_golden_set"),
            "records": in_records("golden_set", OTHER),
            "unchanged_cases": True,
        },
        "another golden set",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_release_is_told(forgery):
    changes, why = FORGERIES[forgery]
    replay, last = versions(0.9, 0.88)
    body = next_body(replay, last)
    take(copy.deepcopy(replay), body)
    with pytest.raises(ChainBroken, match=why):
        take(replay, forged(body, **changes))


def test_a_record_that_the_release_before_had_cannot_be_left_out():
    known = record(version="1.0.0"), record("retrieval", None, version="1.0.0")
    last, _ = released(*known)
    replay = take(Replay(), *bodies(last))
    body = next_body(replay, last, record(), record("retrieval", None))
    rows = [row for row in body["checks"]["rows"] if row[1] not in ("recall@10", "ndcg@10")]
    with pytest.raises(ChainBroken, match="vanished"):
        take(replay, forged(body, lambda _: rows, lambda records: records[:1]))


def test_a_family_cannot_be_let_through_on_one_suite_of_two():
    suites = ("core", "hard")
    last, _ = released(*(record(version="1.0.0", suite=suite) for suite in suites))
    replay = take(Replay(), *bodies(last))
    body = next_body(replay, last, *(record(suite=suite) for suite in suites))
    assert body["verdict"] == "released"
    with pytest.raises(ChainBroken, match="claude has no evaluation on hard that passes"):
        take(replay, forged(body, records=lambda records: records[:1]))


def test_who_changes_the_policy_may_change_its_slide_and_tolerances():
    replay, last = versions(0.9, 0.88)
    looser = policy(slide=Decimal("0.2"))
    for rules in (looser, policy()):
        version = f"2.{len(replay.decisions)}.0"
        fallen = record(version=version, metrics={"complete": 0.86})
        last = decided(replay, last, fallen, rules=rules)
        take(replay, *bodies(last))
    assert replay.releases[KEY].version == version


def _current(chance: random.Random, version: str, families, **same) -> list[EvalRecord]:
    """Records of a version, some of them lacking what a release needs."""
    found = []
    for family in ("claude", "gpt"):
        if family not in families and chance.random() < 0.7:
            continue
        for suite in ("core", "hard")[: chance.choice((1, 1, 2))]:
            changes = {
                "metrics": {"complete": round(0.9 - chance.random() * 0.04, 3)},
                "without": ("grounded",) if chance.random() < 0.05 else (),
                "counts": {"missing_outputs": 1} if chance.random() < 0.05 else {},
            }
            found.append(record(family=family, version=version, suite=suite, **changes, **same))
    for family in (None, "claude"):
        if chance.random() < 0.7:
            means = {"recall@10": round(0.8 - chance.random() * 0.04, 3)}
            found.append(record("retrieval", family, version, metrics=means, **same))
    return found


def test_what_the_gate_decides_its_auditor_takes():
    verdicts = []
    for seed in range(120):
        chance, replay = random.Random(seed), Replay()
        last, known = None, []
        for step in range(5):
            same = {
                "golden_set": chance.choice(("a" * 64,) * 4 + (OTHER,)),
                "engine": f"aal-engine@{chance.randrange(2)}",
            }
            families = chance.choice((("claude",), ("gpt",), ("claude", "gpt")))
            current = _current(chance, f"1.{step}.0", families, **same)
            rules = policy(
                families=families,
                first_release="allow",
                slide=chance.choice((None, Decimal("0.03"), Decimal("0.1"))),
            )
            rescored = [replace(each, **same) for each in known]
            baseline = rescored if known and chance.random() < 0.3 else last
            question = Question(
                current,
                baseline,
                rules,
                replay.releases.get(KEY),
                unchanged_cases=chance.random() < 0.2,
            )
            try:
                decision = decide(question, at=AT, engine="aal-engine@1")
            except InputError:
                continue
            take(replay, *bodies(decision))
            verdicts.append(decision.verdict)
            if decision.verdict == "released":
                last, known = decision, current
    assert min(verdicts.count(each) for each in ("released", "blocked")) > 100
