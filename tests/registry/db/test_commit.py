"""Results, aggregate, trust edge and reward go on the record together, once, or not at all."""

from __future__ import annotations

import pytest
from registry.scene import (
    MINUTE,
    NOW_MS,
    claim,
    commit_scores,
    did,
    enqueue,
    examine,
    outcomes,
    put_agents,
    put_suite,
    scalar,
)

from aal_engine.errors import Conflict, StaleClaim
from aal_engine.registry.db import account, commit, edge, lease, result, run, standing
from aal_engine.registry.model.agent import ORACLE
from aal_engine.registry.model.standing import ALL
from aal_engine.registry.treasury import DAY_MS, ISSUANCE, TREASURY, reward_key

TABLES = ("results", "evidence", "aggregates", "edges", "accounts", "transfers")


def fund(database, units):
    with database.write() as connection:
        account.transfer(connection, "fund", ISSUANCE, TREASURY, units, now_ms=NOW_MS)


def balance(database, name):
    with database.read() as connection:
        return account.balance(connection, name)


def sound(database):
    with database.read() as connection:
        return account.faults(connection) == [] and standing.differences(connection) == []


def test_one_row_a_task_with_its_evidence(database):
    put_agents(database, 1)
    suite_id = put_suite(database)
    examine(database, suite_id, [1, 0.25])
    with database.read() as connection:
        newest = result.newest(connection, did(0), 10)
        proofs = result.proofs(connection, newest[0].run_id, did(0))
    assert [(r.score, r.passed, r.latency_ms, r.error) for r in newest] == [
        (250_000, False, 12, None),
        (1_000_000, True, 12, None),
    ]
    assert [p.result for p in proofs] == newest[::-1]
    assert {(p.request, p.response, p.scorer_version, p.epoch) for p in proofs} == {
        ("ab" * 32, "cd" * 32, "1", None)
    }
    assert len({p.task for p in proofs}) == 2


def test_the_leaders_epoch_stands_beside_each_result(database):
    put_agents(database, 1)
    enqueue(database, put_suite(database))
    with database.write() as connection:
        held = lease.acquire(connection, lease.LEADER, "one", 60_000)
    (mine,) = claim(database, lease=held)
    commit_scores(database, mine, [1, 1])
    with database.read() as connection:
        assert {p.epoch for p in result.proofs(connection, mine.run_id, did(0))} == {1}


def test_the_suite_score_is_the_weighted_mean(database):
    put_agents(database, 1)
    suite_id = put_suite(database)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE tasks SET weight = 3 WHERE name = 'task 0'")
    (done,) = examine(database, suite_id, [1, 0])
    assert (done.score, done.passed, done.reward) == (0.75, 1, "unpaid")


def test_a_score_that_is_no_number_counts_nothing(database):
    put_agents(database, 1)
    (done,) = examine(database, put_suite(database, reputation=True), [float("nan"), 1])
    assert done.score == 0.5
    assert sound(database)


def test_a_commit_is_made_once(database):
    put_agents(database, 1)
    enqueue(database, put_suite(database))
    (mine,) = claim(database)
    commit_scores(database, mine, [1, 1])
    with pytest.raises(StaleClaim):
        commit_scores(database, mine, [1, 1])
    with database.read() as connection:
        assert scalar(connection, "SELECT count(*) FROM results") == 2
    assert sound(database)


def test_who_was_overtaken_writes_nothing_at_all(database):
    fund(database, 100)
    put_agents(database, 1)
    enqueue(database, put_suite(database, reward=5, reputation=True))
    with database.write() as connection:
        old = lease.acquire(connection, lease.LEADER, "old", 60_000)
    (mine,) = claim(database, lease=old)
    with database.read() as connection:
        before = {t: scalar(connection, f"SELECT count(*) FROM {t}") for t in TABLES}
    with database.write() as connection:
        lease.release(connection, old)
        lease.acquire(connection, lease.LEADER, "new", 60_000)
    with pytest.raises(StaleClaim, match="leads by now"):
        commit_scores(database, mine, [1, 1])
    with database.read() as connection:
        after = {t: scalar(connection, f"SELECT count(*) FROM {t}") for t in TABLES}
        assert run.progress(connection, mine.run_id) == {"claimed": 1}
    assert after == before
    assert balance(database, TREASURY) == 100


def test_a_failure_in_the_middle_leaves_nothing(database, monkeypatch):
    fund(database, 100)
    put_agents(database, 1)
    enqueue(database, put_suite(database, reward=5, reputation=True))
    (mine,) = claim(database)

    def fails(*_, **__):
        raise OSError("the machine")

    with monkeypatch.context() as patched:
        patched.setattr(account, "transfer", fails)
        with pytest.raises(OSError, match="the machine"):
            commit_scores(database, mine, [1, 1])
    with database.read() as connection:
        assert scalar(connection, "SELECT count(*) FROM results") == 0
        assert edge.find(connection, ORACLE, did(0)) is None
    assert commit_scores(database, mine, [1, 1]).reward == "paid"
    assert sound(database)


def test_outcomes_that_are_not_one_for_each_task_are_refused(database):
    put_agents(database, 1)
    enqueue(database, put_suite(database))
    (mine,) = claim(database)
    made = outcomes(mine, [1, 1])
    for wrong in (made[:1], [*made, made[0]], []):
        with pytest.raises(ValueError, match="one outcome"), database.write() as connection:
            commit.commit_exam(connection, mine, wrong, now_ms=NOW_MS)


def test_the_oracles_edge_is_the_suite_score_and_counts(database):
    put_agents(database, 1)
    suite_id = put_suite(database, reputation=True)
    for scores in ([1, 1], [1, 0], [0.5, 0.25]):
        examine(database, suite_id, scores)
    with database.read() as connection:
        found = edge.find(connection, ORACLE, did(0))
    assert (found.value, found.satisfied, found.unsatisfied) == (0.375, 2, 1)


def test_without_the_signal_there_is_no_edge(database):
    put_agents(database, 1)
    examine(database, put_suite(database), [1, 1])
    with database.read() as connection:
        assert edge.find(connection, ORACLE, did(0)) is None


def test_one_passing_task_earns_the_reward_and_none_earns_nothing(database):
    fund(database, 100)
    put_agents(database, 2)
    suite_id = put_suite(database, reward=30)
    enqueue(database, suite_id)
    lucky, unlucky = claim(database)
    assert commit_scores(database, lucky, [1, 0]).amount == 30
    done = commit_scores(database, unlucky, [0.9, 0])
    assert (done.reward, done.amount) == ("not_earned", 0)
    assert (balance(database, TREASURY), balance(database, lucky.agent.did)) == (70, 30)
    with database.read() as connection:
        assert run.rewards(connection, lucky.run_id) == {"paid": 1, "not_earned": 1}
        key = scalar(connection, "SELECT key FROM transfers WHERE suite_id IS NOT NULL")
        assert scalar(connection, "SELECT max(suite_id) FROM transfers") == suite_id
    assert key == f"eval:{lucky.run_id}:{lucky.agent.did}"


def test_a_payout_that_is_tried_again_is_the_same_payout(database):
    fund(database, 100)
    key = reward_key("8f2c", did(0))
    for later in (0, 1, DAY_MS):
        with database.write() as connection:
            assert account.transfer(
                connection, key, TREASURY, did(0), 30, suite_id=1, now_ms=NOW_MS + later
            )
    assert (balance(database, TREASURY), balance(database, did(0))) == (70, 30)
    with pytest.raises(Conflict), database.write() as connection:
        account.transfer(connection, key, TREASURY, did(1), 30, now_ms=NOW_MS)


def test_an_empty_treasury_skips_the_reward_and_the_run_stands(database):
    fund(database, 29)
    put_agents(database, 1)
    (done,) = examine(database, put_suite(database, reward=30), [1, 1])
    assert (done.reward, done.amount) == ("empty_treasury", 0)
    with database.read() as connection:
        assert [r.passed for r in result.newest(connection, did(0), 10)] == [True, True]
    assert balance(database, TREASURY) == 29
    assert sound(database)


def test_the_cooldown_between_two_rewards(database):
    fund(database, 1000)
    put_agents(database, 1)
    suite_id = put_suite(database, reward=1, cooldown_minutes=10)
    times = [0, 10 * MINUTE - 1, 10 * MINUTE]
    became = [examine(database, suite_id, [1, 1], NOW_MS + t)[0].reward for t in times]
    assert became == ["paid", "cooldown", "paid"]


def test_the_budget_of_a_day(database):
    fund(database, 1000)
    put_agents(database, 1)
    suite_id = put_suite(database, reward=4, daily_budget=10)
    other = put_suite(database, "other", reward=4)
    times = [0, 1, 2, DAY_MS, DAY_MS + 1]
    became = [examine(database, suite_id, [1, 1], NOW_MS + t)[0].reward for t in times]
    assert became == ["paid", "paid", "over_budget", "paid", "paid"]
    assert examine(database, other, [1, 1], NOW_MS + 2)[0].reward == "paid"
    assert sound(database)


def test_the_standing_is_kept_for_the_suite_and_for_all(database):
    put_agents(database, 1)
    first, second = put_suite(database, "first"), put_suite(database, "second")
    examine(database, first, [1, 0])
    examine(database, second, [1, 1], NOW_MS + 5)
    with database.read() as connection:
        boards = [standing.leaderboard(connection, s, 10) for s in (first, second, ALL)]
    assert [(b[0].n, b[0].mean, b[0].last_at) for b in boards] == [
        (2, 0.5, NOW_MS),
        (2, 1.0, NOW_MS + 5),
        (4, 0.75, NOW_MS + 5),
    ]
