"""Runs are queued once a slot, and exams are claimed by one runner at a time."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from registry.scene import (
    MINUTE,
    NOW_MS,
    claim,
    commit_scores,
    did,
    enqueue,
    put_agents,
    put_suite,
)

from aal_engine.errors import StaleClaim
from aal_engine.registry.db import agent, lease, run, suite
from aal_engine.registry.model.moment import moment
from aal_engine.registry.model.run import MAX_ATTEMPTS


def tick(database, now_ms, held=None):
    with database.write() as connection:
        run.finish(connection, now_ms=now_ms)
        return run.enqueue_due(connection, held, now=moment(now_ms))


def work(database):
    for each in claim(database, 1000):
        commit_scores(database, each, [1.0] * len(each.tasks))


def progress(database, run_id):
    with database.read() as connection:
        return run.progress(connection, run_id)


def test_a_suite_without_cadence_or_tasks_or_not_enabled_is_never_due(database):
    put_agents(database, 1)
    put_suite(database, "by-hand")
    put_suite(database, "no-tasks", interval_minutes=1, tasks=0)
    put_suite(database, "draft", interval_minutes=1, enabled=False)
    assert tick(database, NOW_MS + 60 * MINUTE) == []


def test_each_slot_is_queued_once_however_often_the_loop_ticks(database):
    put_agents(database, 1)
    put_suite(database, interval_minutes=1)
    assert len(tick(database, NOW_MS)) == 1
    work(database)
    assert tick(database, NOW_MS + MINUTE - 1) == []
    assert len(tick(database, NOW_MS + MINUTE)) == 1
    work(database)
    assert tick(database, NOW_MS + MINUTE + 500) == []


def test_a_tick_just_before_a_slot_does_not_move_it(database):
    put_agents(database, 1)
    put_suite(database, interval_minutes=1)
    tick(database, NOW_MS)
    work(database)
    assert tick(database, NOW_MS + 59_900) == []
    assert len(tick(database, NOW_MS + 60_000)) == 1


def test_of_slots_that_were_missed_the_newest_is_run_once(database):
    put_agents(database, 1)
    suite_id = put_suite(database, interval_minutes=10)
    (run_id,) = tick(database, NOW_MS + 35 * MINUTE)
    with database.read() as connection:
        assert run.find(connection, run_id).slot == NOW_MS + 30 * MINUTE
        assert suite.find(connection, suite_id).last_slot == NOW_MS + 30 * MINUTE
    work(database)
    assert tick(database, NOW_MS + 36 * MINUTE) == []


def test_a_suite_whose_run_is_not_over_waits(database):
    put_agents(database, 2)
    put_suite(database, interval_minutes=1)
    tick(database, NOW_MS)
    (first,) = claim(database, 1)
    commit_scores(database, first, [1, 1])
    assert tick(database, NOW_MS + MINUTE) == []
    work(database)
    assert len(tick(database, NOW_MS + 2 * MINUTE)) == 1


def test_loops_that_tick_at_once_queue_one_run(database):
    put_agents(database, 3)
    put_suite(database, interval_minutes=1)
    with ThreadPoolExecutor(6) as pool:
        queued = list(pool.map(lambda _: tick(database, NOW_MS), range(6)))
    assert sum(map(len, queued)) == 1


def test_who_does_not_lead_any_more_queues_and_claims_nothing(database):
    put_agents(database, 1)
    put_suite(database, interval_minutes=1)
    with database.write() as connection:
        old = lease.acquire(connection, lease.LEADER, "old", 1)
    sleep(0.01)
    with database.write() as connection:
        new = lease.acquire(connection, lease.LEADER, "new", 60_000)
    with pytest.raises(StaleClaim):
        tick(database, NOW_MS, old)
    assert len(tick(database, NOW_MS, new)) == 1
    with pytest.raises(StaleClaim):
        claim(database, lease=old)
    (mine,) = claim(database, lease=new)
    assert mine.lease == new


def test_targets_are_those_listed_or_all_that_are_active_and_at_home(database):
    put_agents(database, 4)
    put_agents(database, 1, home="elsewhere.example", start=4)
    with database.write() as connection:
        agent.deactivate(connection, did(3))
    everyone = enqueue(database, put_suite(database, "all"))
    listed = put_suite(database, "some", targets=(did(1), did(3), did(4)))
    some = enqueue(database, listed)
    claims = claim(database)
    assert {c.agent.did for c in claims if c.run_id == everyone} == {did(0), did(1), did(2)}
    assert {c.agent.did for c in claims if c.run_id == some} == {did(1)}


def test_a_long_list_of_targets_is_queued_whole_and_in_order(database):
    put_agents(database, 1203)
    wanted = tuple(did(n) for n in range(1203))
    run_id = enqueue(database, put_suite(database, targets=wanted))
    assert progress(database, run_id) == {"pending": 1203}
    assert [c.agent.did for c in claim(database, 1203)] == list(wanted)


def test_a_run_without_targets_is_over_at_once(database):
    run_id = enqueue(database, put_suite(database))
    with database.read() as connection:
        assert run.find(connection, run_id).finished_at == NOW_MS


def test_a_short_run_does_not_wait_for_a_long_one(database):
    put_agents(database, 300)
    long = enqueue(database, put_suite(database, "long"))
    short = enqueue(
        database, put_suite(database, "short", targets=(did(7),)), now_ms=NOW_MS + 1_000
    )
    first = claim(database, 120)
    assert Counter(c.run_id for c in first) == {long: 119, short: 1}


def test_a_claim_carries_what_the_examiner_needs(database):
    put_agents(database, 1)
    suite_id = put_suite(database, tasks=3, reward=5)
    run_id = enqueue(database, suite_id)
    (mine,) = claim(database, ttl_ms=5_000)
    assert (mine.run_id, mine.suite_id, mine.suite.reward) == (run_id, suite_id, 5)
    assert [task.name for task in mine.tasks] == ["task 0", "task 1", "task 2"]
    assert mine.agent.card == {"name": "a"}
    assert mine.attempt == 1
    assert claim(database) == []


def test_workers_that_claim_at_once_share_nothing(database):
    put_agents(database, 60)
    enqueue(database, put_suite(database))
    with ThreadPoolExecutor(5) as pool:
        claimed = list(pool.map(lambda _: claim(database, 10), range(8)))
    seen = Counter(c.agent.did for some in claimed for c in some)
    assert set(seen.values()) == {1}
    assert len(seen) == 60


def test_an_exam_whose_runner_died_is_claimed_again_and_the_dead_writes_nothing(database):
    put_agents(database, 1)
    enqueue(database, put_suite(database))
    (old,) = claim(database, ttl_ms=1)
    sleep(0.01)
    (new,) = claim(database)
    assert new.attempt == 2
    with pytest.raises(StaleClaim):
        commit_scores(database, old, [1, 1])
    with pytest.raises(StaleClaim), database.write() as connection:
        run.void(connection, old, "late")
    commit_scores(database, new, [1, 1])


def test_an_exam_that_no_runner_ends_is_void_after_some_attempts(database):
    put_agents(database, 1)
    run_id = enqueue(database, put_suite(database))
    for _ in range(MAX_ATTEMPTS):
        (mine,) = claim(database, ttl_ms=1)
        sleep(0.01)
    assert claim(database) == []
    assert progress(database, run_id) == {"void": 1}
    with pytest.raises(StaleClaim):
        commit_scores(database, mine, [1, 1])


def test_what_is_given_back_is_claimed_at_once_and_costs_no_attempt(database):
    put_agents(database, 1)
    enqueue(database, put_suite(database))
    for _ in range(MAX_ATTEMPTS + 1):
        (mine,) = claim(database)
        with database.write() as connection:
            run.give_back(connection, mine)
    assert claim(database)[0].attempt == 1


def test_a_void_exam_leaves_no_word_on_the_record(database):
    put_agents(database, 1)
    run_id = enqueue(database, put_suite(database))
    (mine,) = claim(database)
    with database.write() as connection:
        run.void(connection, mine, "the registry has no resolver")
        assert run.finish(connection, now_ms=NOW_MS + 5) == 1
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM results").scalar() == 0
        assert connection.exec_driver_sql("SELECT count(*) FROM aggregates").scalar() == 0
        assert run.find(connection, run_id).finished_at == NOW_MS + 5


def test_an_agent_that_left_meanwhile_is_not_examined(database):
    put_agents(database, 2)
    run_id = enqueue(database, put_suite(database))
    with database.write() as connection:
        agent.deactivate(connection, did(0))
    assert [c.agent.did for c in claim(database)] == [did(1)]
    assert progress(database, run_id) == {"claimed": 1, "void": 1}


def test_removing_a_suite_calls_off_what_is_open(database):
    put_agents(database, 2)
    suite_id = put_suite(database)
    run_id = enqueue(database, suite_id)
    (mine,) = claim(database, 1)
    with database.write() as connection:
        assert suite.remove(connection, suite_id, now_ms=NOW_MS)
        assert not suite.remove(connection, suite_id, now_ms=NOW_MS)
    assert progress(database, run_id) == {"void": 2}
    with pytest.raises(StaleClaim):
        commit_scores(database, mine, [1, 1])
