"""The operator's acts change what they say, refuse what cannot be, and the treasury adds up."""

from __future__ import annotations

from datetime import timedelta

import pytest
from registry.scene import (
    NOW,
    NOW_MS,
    claim,
    commit_scores,
    did,
    examine,
    put_agents,
    put_suite,
)
from sqlalchemy.exc import DatabaseError

from aal_engine.errors import Conflict, InputError, NotFound
from aal_engine.registry import admin, read
from aal_engine.registry.model.agent import ORACLE
from aal_engine.registry.office import Office
from aal_engine.registry.trust import PRETRUSTED

SUITE = {"key": "http-basics", "name": "HTTP basics"}
TASK = {"name": "alive", "input": "/health", "scorer": "status_ok"}


def put(office, now=NOW, tasks=None, **fields):
    return admin.put_suite(office, {**SUITE, **fields}, tasks=tasks, now=now)


def test_a_new_suite_is_disabled_and_pays_nothing(office):
    assert put(office) == {
        "id": 1,
        "key": "http-basics",
        "name": "HTTP basics",
        "description": "",
        "task_type": "http_probe",
        "interval_minutes": None,
        "targets": None,
        "reward": 0,
        "cooldown_minutes": 0,
        "daily_budget": None,
        "reputation": False,
        "enabled": False,
        "pays": False,
        "tasks": 0,
        "next_run_at": None,
    }
    assert read.catalog(office) == []


def test_a_suite_is_updated_by_its_key_and_keeps_what_is_not_given(office):
    put_agents(office.database, 1)
    first = put(office, interval_minutes=30, targets=[did(0)], reward=7)
    second = put(office, name="Renamed", enabled=True)
    assert second == {**first, "name": "Renamed", "enabled": True}
    assert put(office, targets=None)["targets"] is None
    assert len(admin.suites(office, now=NOW)) == 1


def test_a_suite_that_breaks_a_rule_is_not_kept(office):
    with pytest.raises(InputError, match="interval_minutes"):
        put(office, interval_minutes=0)
    assert admin.suites(office, now=NOW) == []


def test_a_target_that_nobody_registered_is_refused(office):
    put_agents(office.database, 1)
    with pytest.raises(InputError, match="no agent is registered"):
        put(office, targets=[did(0), did(9)])


def test_a_task_is_added_with_its_number(office):
    number = put(office)["id"]
    made = admin.add_task(office, number, {**TASK, "weight": 2})
    assert made == {**TASK, "id": 1, "expected": None, "weight": 2.0}
    assert put(office)["tasks"] == 1


def test_a_task_that_breaks_a_rule_is_not_kept(office):
    number = put(office)["id"]
    with pytest.raises(InputError, match="weight"):
        admin.add_task(office, number, {**TASK, "weight": 0})
    assert put(office)["tasks"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"scorer": "llm_judge"},
        {"scorer": "regex", "expected": "(unclosed"},
        {"scorer": "regex", "expected": "(a)\\1"},
        {"scorer": "latency_under_ms", "expected": "soon"},
        {"scorer": "contains"},
    ],
)
def test_what_no_scorer_could_use_is_refused_when_it_is_saved(office, wrong):
    number = put(office)["id"]
    with pytest.raises(InputError, match=r"scorer|expected"):
        admin.add_task(office, number, {**TASK, **wrong})
    with pytest.raises(InputError, match=r"scorer|expected"):
        put(office, tasks=[{**TASK, **wrong}])
    assert put(office)["tasks"] == 0


def test_a_second_task_of_one_name_is_a_conflict(office):
    number = put(office)["id"]
    admin.add_task(office, number, TASK)
    with pytest.raises(Conflict):
        admin.add_task(office, number, TASK)


def test_a_task_of_no_suite_is_not_found(office):
    with pytest.raises(NotFound):
        admin.add_task(office, 99, TASK)


def test_tasks_from_a_file_replace_those_that_were_and_keep_those_that_stay(office):
    other = {**TASK, "name": "other"}
    number = put(office, tasks=[TASK, other])["id"]
    with office.database.read() as connection:
        from aal_engine.registry.db.suite import tasks_of

        before = tasks_of(connection, number)
    assert put(office, tasks=[other, {**TASK, "name": "third"}])["tasks"] == 2
    with office.database.read() as connection:
        after = tasks_of(connection, number)
    assert {t.name: t.id for t in after} == {"other": before[1].id, "third": 3}


def test_two_tasks_of_one_name_in_a_file_are_refused(office):
    with pytest.raises(InputError, match="one name"):
        put(office, tasks=[TASK, TASK])
    assert admin.suites(office, now=NOW) == []


def test_the_next_scheduled_run(office):
    due = put(office, tasks=[TASK], interval_minutes=10, enabled=True)
    assert due["next_run_at"] == "2026-07-16T09:14:02+00:00"
    from aal_engine.registry.db import run

    with office.database.write() as connection:
        run.enqueue_due(connection, None, now=NOW)
    later = NOW + timedelta(minutes=3)
    (row,) = admin.suites(office, now=later)
    assert row["next_run_at"] == "2026-07-16T09:24:02+00:00"
    assert put(office, now=later, enabled=False)["next_run_at"] is None
    assert put(office, now=later, enabled=True, tasks=[])["next_run_at"] is None


def test_a_run_by_hand_works_on_a_draft(office):
    put_agents(office.database, 1)
    number = put(office, tasks=[TASK])["id"]
    run_id = admin.run_now(office, number, now=NOW)
    (mine,) = claim(office.database)
    assert mine.run_id == run_id
    assert admin.run_state(office, run_id) == {
        "run_id": run_id,
        "requested_at": "2026-07-16T09:14:02+00:00",
        "finished_at": None,
        "exams": {"claimed": 1},
        "rewards": {},
    }
    commit_scores(office.database, mine, [1])
    assert read.results(office, did(0), limit=9)[0]["run_id"] == run_id


def test_a_run_by_hand_with_the_gate_down_is_a_conflict(office):
    number = put(office, tasks=[TASK])["id"]
    with pytest.raises(Conflict, match="EVALS_ENABLED"):
        admin.run_now(Office(office.database, enabled=False), number, now=NOW)


def test_a_run_of_no_tasks_or_no_suite_is_refused(office):
    number = put(office)["id"]
    with pytest.raises(Conflict, match="no tasks"):
        admin.run_now(office, number, now=NOW)
    with pytest.raises(NotFound):
        admin.run_now(office, number + 1, now=NOW)
    with pytest.raises(NotFound):
        admin.run_state(office, "feed")


def test_a_suite_is_removed_once(office):
    number = put(office, tasks=[TASK])["id"]
    admin.remove_suite(office, number, now=NOW)
    assert admin.suites(office, now=NOW) == []
    for act in (
        lambda: admin.remove_suite(office, number, now=NOW),
        lambda: admin.run_now(office, number, now=NOW),
        lambda: admin.add_task(office, number, TASK),
        lambda: admin.suite_number(office, "http-basics"),
    ):
        with pytest.raises(NotFound):
            act()


def test_agents_are_registered_again_and_taken_out(office):
    card = {"name": "Tutor", "url": "https://tutor.example"}
    first = admin.register(office, did(0), card, now=NOW)
    admin.deactivate(office, did(0))
    assert [(a.did, a.active) for a in admin.agents(office)] == [(did(0), False)]
    again = admin.register(office, did(0), None, home="other.example", now=NOW)
    assert (again.id, again.active, again.card, again.home) == (
        first.id,
        True,
        None,
        "other.example",
    )
    assert again.registered_at == NOW_MS
    with pytest.raises(NotFound):
        admin.deactivate(office, did(5))


def test_an_agent_that_breaks_a_rule_is_not_kept(office):
    for did_, card in ((ORACLE, None), ("did:web:", None), (did(0), [])):
        with pytest.raises(InputError):
            admin.register(office, did_, card, now=NOW)
    assert admin.agents(office) == []


def test_the_treasury_is_funded_once_for_each_key(office):
    assert admin.fund(office, "opening", 100, now=NOW) == 100
    assert admin.fund(office, "opening", 100, now=NOW + timedelta(days=1)) == 100
    assert admin.fund(office, "more", 5, now=NOW) == 105
    with pytest.raises(Conflict, match="another transfer"):
        admin.fund(office, "opening", 101, now=NOW)
    for key, units in (("zero", 0), ("less", -5), ("much", 10**16), ("", 5), ("eval:x:y", 5)):
        with pytest.raises(InputError):
            admin.fund(office, key, units, now=NOW)
    assert admin.audit(office) == []


def test_there_is_an_end_to_units(office):
    with office.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO accounts VALUES ('issuance', -999999999999999999)")
    assert admin.fund(office, "last", 1, now=NOW) == 1
    with pytest.raises(Conflict, match="at most"):
        admin.fund(office, "one more", 1, now=NOW)


def test_a_transfer_cannot_be_changed_or_deleted(office):
    admin.fund(office, "opening", 100, now=NOW)
    for damage in ("UPDATE transfers SET amount = 1", "DELETE FROM transfers"):
        with (
            pytest.raises((DatabaseError, Conflict)),
            office.database.write() as connection,
        ):
            connection.exec_driver_sql(damage)
    assert admin.audit(office) == []


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE accounts SET balance = balance + 1 WHERE name = 'treasury'", "add up to 1"),
        ("UPDATE accounts SET balance = balance - 1 WHERE balance > 0", "holds"),
        ("UPDATE exams SET reward = 'paid'", "rewards"),
    ],
)
def test_an_audit_sees_what_does_not_add_up(office, damage, told):
    admin.fund(office, "opening", 100, now=NOW)
    put_agents(office.database, 2)
    suite_id = put_suite(office.database, reward=60)
    examine(office.database, suite_id, [1, 1])
    assert admin.audit(office) == []
    with office.database.write() as connection:
        connection.exec_driver_sql(damage)
    assert any(told in each for each in admin.audit(office))


def test_the_oracles_voice_reaches_the_next_computation(office):
    put_agents(office.database, 2)
    suite_id = put_suite(office.database, reputation=True)
    admin.run_now(office, suite_id, now=NOW)
    first, second = claim(office.database)
    commit_scores(office.database, first, [1, 1])
    commit_scores(office.database, second, [1, 0])
    found = admin.standing_in_trust(office, PRETRUSTED, 0.15)
    trust = dict(zip(found.peers, found.scores.tolist(), strict=True))
    assert trust[first.agent.did] == pytest.approx(2 * trust[second.agent.did])
    assert trust[ORACLE] > trust[first.agent.did] > 0


def test_ratings_are_set_all_or_none(office):
    assert admin.rate(office, [(did(0), did(1), 1.0), (did(1), did(0), -2.0)], now=NOW) == 2
    with pytest.raises(InputError):
        admin.rate(office, [(did(0), did(2), 1.0), (did(0), "nobody", 1.0)], now=NOW)
    found = admin.standing_in_trust(office, {did(0): 1.0}, 0.5)
    assert found.peers == (did(0), did(1))
