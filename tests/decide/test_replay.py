"""A ledger's meaning: decisions judged again from their own numbers, releases derived."""

from __future__ import annotations

import copy
from datetime import UTC, datetime

import pytest
from specimen import gate, record, released, slices

from aal_engine.decide.body import PART_BYTES, bodies
from aal_engine.decide.entry import Entry
from aal_engine.decide.ledger import empty, extend, genesis_body, link
from aal_engine.decide.release import AgentKey
from aal_engine.decide.replay import Replay
from aal_engine.errors import ChainBroken

NOW = datetime(2026, 1, 31, tzinfo=UTC)
KEY = AgentKey("desk", "support")


def entries(*decisions) -> list[Entry]:
    """Chain the bodies of decisions after a genesis."""
    made = []
    head = empty("localhost/test")
    for kind, body in [
        ("genesis", genesis_body("localhost/test")),
        *(("decision", body) for each in decisions for body in each),
    ]:
        entry = link(head, kind, body, NOW)
        head = extend(head, entry)
        made.append(entry)
    return made


def replayed(*decisions) -> Replay:
    replay = Replay()
    made = entries(*decisions)
    for entry in made:
        replay(entry)
    return replay


def first():
    decision, _ = released(record(version="1.0.0"))
    return decision


def second(**changes):
    return gate(record(**changes), before=(record(version="1.0.0"),))


def test_the_last_released_decision_is_the_release():
    replay = replayed(bodies(first()), bodies(second()))
    assert replay.releases[KEY].version == "1.1.0"
    assert replay.releases[KEY].decision == second().digest
    assert replay.before[2].version == "1.0.0"
    assert replay.before[1] is None


def test_a_blocked_decision_releases_nothing():
    replay = replayed(bodies(first()), bodies(second(counts={"forbidden_claims": 1})))
    assert replay.releases[KEY].version == "1.0.0"
    assert [d.verdict for d in replay.decisions] == ["released", "blocked"]


def test_a_release_keeps_what_was_reached_on_the_golden_set():
    replay = replayed(bodies(first()), bodies(second(metrics={"complete": 0.86})))
    reached = {m.metric: values for m, values in replay.releases[KEY].measures.items()}
    assert reached["complete"] == (0.9, 0.86)
    assert replay.releases[KEY].versions == ("1.0.0", "1.1.0")


def broken(body: dict, *path, value) -> dict:
    """Return a body with one value changed."""
    body = copy.deepcopy(body)
    place = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return body


def row_of(body: dict, check: str) -> int:
    return [row[0] for row in body["checks"]["rows"]].index(check)


def test_a_verdict_that_does_not_follow_from_the_checks_is_told():
    (body,) = bodies(second(counts={"forbidden_claims": 1}))
    with pytest.raises(ChainBroken, match="verdict does not follow from the checks"):
        replayed(bodies(first()), [broken(body, "verdict", value="released")])


FORGED = {
    "a check dropped": (lambda b: drop(b, "family_evidence"), "lacks the evidence of claude"),
    "a floor dropped": (lambda b: drop(b, "forbidden_claims"), "lacks the floor"),
    "the baseline's check dropped": (lambda b: drop(b, "baseline"), "lacks the check baseline"),
    "a comparison dropped": (lambda b: drop(b, "regression"), "lacks the comparison"),
    "another current value": (lambda b: row(b, "regression", 7, 0.95), "lacks the comparison"),
    "another baseline value": (lambda b: row(b, "regression", 6, 0.85), "lacks the comparison"),
    "a check that cannot block": (lambda b: row(b, "regression", 10, True), "cannot block"),
    "a tolerance without bounds": (lambda b: row(b, "regression", 8, 1e6), "not a decision"),
    "a truth for a number": (lambda b: row(b, "regression", 7, True), "not a decision"),
    "a text for a number": (lambda b: row(b, "regression", 7, "0.9"), "not a decision"),
    "no tolerance": (lambda b: row(b, "regression", 8, None), "not a decision"),
    "a list for a record": (lambda b: broken(b, "records", value=[3]), "not a decision"),
    "a list for an agent": (lambda b: broken(b, "agent", value=["desk"]), "not a decision"),
    "no floors": (lambda b: broken(b, "records", 0, "floors", value={}), "not a decision"),
    "a list for the metrics": (
        lambda b: broken(b, "records", 0, "metrics", value=[]),
        "not a decision",
    ),
    "a metric gone": (
        lambda b: broken(b, "records", 0, "metrics", value={"complete": [0.9, 40]}),
        "vanished",
    ),
}


def drop(body: dict, check: str) -> dict:
    rows = [row for row in body["checks"]["rows"] if row[0] != check]
    return broken(body, "checks", "rows", value=rows)


def row(body: dict, check: str, column: int, value) -> dict:
    return broken(body, "checks", "rows", row_of(body, check), column, value=value)


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_release_is_told(forgery):
    forge, why = FORGED[forgery]
    (body,) = bodies(second())
    with pytest.raises(ChainBroken, match=why):
        replayed(bodies(first()), [forge(body)])


def test_a_check_that_does_not_follow_from_its_numbers_is_told():
    (body,) = bodies(second(counts={"forbidden_claims": 1}))
    place = row_of(body, "forbidden_claims")
    with pytest.raises(ChainBroken, match="forbidden_claims claude does not follow"):
        replayed(bodies(first()), [broken(body, "checks", "rows", place, 9, value=True)])


def test_a_release_over_a_broken_floor_is_told():
    (body,) = bodies(second())
    with pytest.raises(ChainBroken, match="although a floor is broken"):
        replayed(
            bodies(first()), [broken(body, "records", 0, "floors", "invented_citations", value=1)]
        )


def test_a_release_without_answers_is_told():
    (body,) = bodies(second())
    with pytest.raises(ChainBroken, match="without an answer evaluation"):
        replayed(bodies(first()), [broken(body, "records", value=[])])


def test_a_release_against_another_baseline_is_told():
    (body,) = bodies(second())
    with pytest.raises(ChainBroken, match="baseline is not the release before it"):
        replayed([body])
    with pytest.raises(ChainBroken, match="baseline is not the release before it"):
        replayed(bodies(first()), bodies(first()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("part",), [2, 2]),
        (("schema",), "aal/decision/9"),
        (("checks", "columns"), ["check"]),
        (("checks", "rows"), [["unheard_of"] + [None] * 10]),
        (("checks",), None),
        (("agent",), None),
    ],
)
def test_what_is_no_decision_is_told(path, value):
    (body,) = bodies(first())
    if path == ("agent",):
        body.pop("agent")
        changed = body
    else:
        changed = broken(body, *path, value=value)
    with pytest.raises(ChainBroken, match="not a decision that this engine can read"):
        replayed([changed])


def long():
    parts = slices(0.9, 30, *(f"slice-{n}" for n in range(300)))
    before = record(version="1.0.0", slices=parts)
    return released(before)[0], gate(record(slices=parts), before=(before,))


def test_a_long_decision_is_cut_into_parts_and_read_back_as_one():
    baseline, decision = long()
    parts = bodies(decision)
    assert len(parts) > 1
    made = entries(bodies(baseline), parts)
    assert all(len(entry.line) <= 65_535 for entry in made)
    assert sum(len(part["checks"]["rows"]) for part in parts) == len(decision.checks)
    assert len(decision.checks) > 900
    replay = replayed(bodies(baseline), parts)
    assert replay.releases[KEY].decision == decision.digest
    assert PART_BYTES < 65_535


def test_parts_that_do_not_stand_together_are_told():
    baseline, decision = long()
    head, *rest = bodies(decision)
    with pytest.raises(ChainBroken, match="not a decision"):
        replayed(bodies(baseline), rest)
    with pytest.raises(ChainBroken, match="not a decision"):
        replayed(bodies(baseline), [head, bodies(baseline)[0] | {"part": [2, len(rest) + 1]}])


def test_a_decision_that_was_cut_off_while_it_was_written_decides_nothing():
    baseline, decision = long()
    head, *rest = bodies(decision)
    assert replayed(bodies(baseline), [head]).releases[KEY].version == "1.0.0"
    again = replayed(bodies(baseline), [head], [head, *rest])
    assert again.releases[KEY].version == "1.1.0"
    assert again.unfinished == 1
    open_ended = replayed(bodies(baseline), [head])
    open_ended.ended()
    assert open_ended.unfinished == 1


def test_one_replay_goes_on_where_another_ended():
    baseline, decision = long()
    blocked = gate(record(counts={"forbidden_claims": 1}), before=(record(version="1.0.0"),))
    head, *rest = bodies(decision)
    made = entries(bodies(baseline), bodies(blocked), [head], [head, *rest])
    whole = Replay()
    for entry in made:
        whole(entry)
    for split in range(len(made) + 1):
        before = Replay()
        for entry in made[:split]:
            before(entry)
        after = Replay(before.known())
        for entry in made[split:]:
            after(entry)
        assert after.known() == whole.known(), split
