"""The public record says what is there, in the order that was promised, and nothing with the gate down."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from registry.scene import (
    MINUTE,
    NOW,
    NOW_MS,
    did,
    examine,
    put_agents,
    put_suite,
    scalar,
)
from sqlalchemy import text

from aal_engine.errors import InputError, NotFound
from aal_engine.registry import admin, read
from aal_engine.registry.db import run, standing
from aal_engine.registry.model.result import UNIT
from aal_engine.registry.model.standing import ALL, lower_bound
from aal_engine.registry.office import Office


def board(office, key=None, limit=100):
    return read.leaderboard(office, key=key, limit=limit, now=NOW)


def asked(office, key=None, bound=0.0, runs=0, age=None, limit=100):
    return read.candidates(office, key=key, bound=bound, runs=runs, age=age, limit=limit, now=NOW)


def stand(database, number, n, total, *, suite_id=ALL, last_at=NOW_MS):
    """Put a standing there without its rows."""
    with database.write() as connection:
        more = standing.Sum(n, total, last_at)
        standing.add(connection, suite_id, number + 1, did(number), more)


def test_the_catalog_holds_every_enabled_suite_and_no_other(office):
    put_suite(office.database, "paid", reward=3, interval_minutes=15, description="What it says.")
    put_suite(office.database, "draft", enabled=False)
    assert read.catalog(office) == [
        {
            "key": "paid",
            "name": "Basics",
            "description": "What it says.",
            "task_type": "http_probe",
            "interval_minutes": 15,
            "pays": True,
        }
    ]


def test_a_row_is_as_it_was_promised(office):
    put_agents(office.database, 1)
    put_suite(office.database, "http-basics", tasks=1)
    examine(office.database, 1, [1.0])
    (row,) = read.results(office, did(0), limit=20)
    assert len(row.pop("run_id")) == 32
    assert row == {
        "suite": "http-basics",
        "score": 1.0,
        "passed": True,
        "latency_ms": 12,
        "error": None,
        "at": "2026-07-16T09:14:02+00:00",
    }


def test_results_are_newest_first_and_no_more_than_asked_for(office):
    put_agents(office.database, 2)
    suite_id = put_suite(office.database)
    for n in range(4):
        examine(office.database, suite_id, [1, n / 4], NOW_MS + n * MINUTE)
    rows = read.results(office, did(0), limit=5)
    assert [row["score"] for row in rows] == [0.75, 1, 0.5, 1, 0.25]
    assert read.results(office, did(0), limit=100)[:5] == rows
    assert len(read.results(office, did(0), limit=100)) == 8


def test_an_agent_that_nobody_knows_has_no_results(office):
    assert read.results(office, "did:web:nobody.example", limit=20) == []
    assert read.results(office, "not a did", limit=20) == []


@pytest.mark.parametrize("hostile", ["\0", "a\0b", "\ud800", "' OR 1=1 --", "é", "x" * 100_000])
def test_names_that_nobody_can_have_are_nobodys(office, hostile):
    put_suite(office.database)
    assert read.results(office, f"did:web:{hostile}", limit=20) == []
    assert read.evidence(office, did(0), hostile) == []
    assert board(office, hostile) == []
    assert asked(office, hostile) == []
    for act in (admin.suite_number, admin.run_state):
        with pytest.raises(NotFound):
            act(office, hostile)
    with pytest.raises(InputError):
        admin.put_suite(office, {"key": hostile, "name": "S"}, now=NOW)


def test_the_order_of_the_leaderboard_is_mean_then_results_then_did(office):
    for number, n, total in [(4, 2, 2), (3, 4, 4), (2, 2, 2), (1, 100, 94), (0, 3, 1)]:
        stand(office.database, number, n, total * UNIT)
    rows = board(office)
    assert [row["did"] for row in rows] == [did(3), did(2), did(4), did(1), did(0)]
    assert rows[3] == {
        "did": did(1),
        "mean": 0.94,
        "runs": 100,
        "last_at": "2026-07-16T09:14:02+00:00",
        "lower_bound": pytest.approx(0.8752, abs=1e-4),
        "age_seconds": 0,
    }
    assert [row["did"] for row in board(office, limit=2)] == [did(3), did(2)]


def test_dids_are_ordered_byte_by_byte_on_both_databases(office):
    names = ["did:web:B", "did:web:a", "did:web:_", "did:web:a.b", "did:web:a-b", "did:web:A"]
    with office.database.write() as connection:
        for number, name in enumerate(names):
            standing.add(connection, ALL, number, name, standing.Sum(1, UNIT, NOW_MS))
    assert [row["did"] for row in board(office)] == sorted(names)


def test_the_leaderboard_of_one_suite(office):
    put_agents(office.database, 2)
    good, bad = put_suite(office.database, "good"), put_suite(office.database, "bad")
    examine(office.database, good, [1, 1])
    examine(office.database, bad, [0, 0])
    assert {row["mean"] for row in board(office, "good")} == {1.0}
    assert {row["mean"] for row in board(office)} == {0.5}
    assert board(office, "unheard-of") == []


def test_freshness_is_the_time_since_the_last_result(office):
    stand(office.database, 0, 1, UNIT, last_at=NOW_MS - 90 * MINUTE)
    (row,) = board(office)
    assert (row["age_seconds"], row["last_at"]) == (5400, "2026-07-16T07:44:02+00:00")


def test_equal_to_grouping_every_row(office):
    rng = random.Random(9)
    put_agents(office.database, 12)
    ids = [put_suite(office.database, f"s{n}") for n in range(3)]
    for n in range(8):
        examine(office.database, rng.choice(ids), [rng.random(), rng.random()], NOW_MS + n)
    grouped = text(
        "SELECT did, sum(score) * 1.0 / (count(*) * 1000000) AS mean, count(*) AS n, max(at) "
        "FROM results JOIN agents ON agents.id = agent_id GROUP BY did "
        "ORDER BY mean DESC, n DESC, did"
    )
    with office.database.read() as connection:
        rows = connection.execute(grouped).all()
    assert [(r["did"], r["runs"]) for r in board(office)] == [(r[0], r[2]) for r in rows]
    assert [r["mean"] for r in board(office)] == pytest.approx([float(r[1]) for r in rows])
    assert admin.audit(office) == []


def test_candidates_have_bound_runs_and_age(office):
    database = office.database
    stand(database, 0, 5, 5 * UNIT)
    stand(database, 1, 300, 282 * UNIT)
    stand(database, 2, 300, 270 * UNIT, last_at=NOW_MS - 60 * MINUTE)
    everyone = [did(0), did(1), did(2)]
    assert [row["did"] for row in asked(office)] == everyone
    assert [row["did"] for row in asked(office, bound=0.9)] == [did(1)]
    assert [row["did"] for row in asked(office, runs=6)] == everyone[1:]
    assert [row["did"] for row in asked(office, age=timedelta(minutes=59))] == everyone[:2]
    assert [row["did"] for row in asked(office, limit=1)] == [did(0)]
    assert asked(office, "unheard-of") == []


def test_candidates_are_those_whose_interval_begins_at_the_bound_or_above(office):
    rng = random.Random(3)
    kept = []
    for number in range(150):
        n = rng.choice([1, 3, 10, 100, 1000])
        total = rng.randint(0, n * UNIT)
        kept.append((did(number), total / (n * UNIT), n))
        stand(office.database, number, n, total)
    for bound in (0.0, 0.2, 0.5, 0.8, 0.95, 1.0):
        sure = {name for name, mean, n in kept if lower_bound(mean, n) >= bound}
        near = {name for name, mean, n in kept if abs(lower_bound(mean, n) - bound) < 1e-9}
        found = {r["did"] for b in [asked(office, bound=bound, limit=1000)] for r in b}
        assert found - near == sure - near


def test_evidence_stands_beside_each_result(office):
    put_agents(office.database, 1)
    examine(office.database, put_suite(office.database), [1, 0])
    run_id = read.results(office, did(0), limit=1)[0]["run_id"]
    first, second = read.evidence(office, did(0), run_id)
    assert first["request_digest"] == "ab" * 32
    assert first["scorer_version"] == "1"
    assert first["task_digest"] != second["task_digest"]
    assert read.evidence(office, did(1), run_id) == []


def test_the_record_of_a_removed_suite_stays_readable(office):
    put_agents(office.database, 1)
    suite_id = put_suite(office.database, "old")
    examine(office.database, suite_id, [1, 1])
    admin.remove_suite(office, suite_id, now=NOW)
    with office.database.read() as connection:
        assert scalar(connection, "SELECT count(*) FROM tasks") == 0
    assert read.catalog(office) == []
    assert {row["suite"] for row in read.results(office, did(0), limit=20)} == {"old"}
    assert [row["runs"] for row in board(office, "old")] == [2]
    put_suite(office.database, "old")  # The key is free again, and means the new suite.
    assert board(office, "old") == []


def test_retention_takes_rows_and_leaves_the_standing(office):
    put_agents(office.database, 3)
    suite_id = put_suite(office.database)
    for n in range(4):
        examine(office.database, suite_id, [1, n / 4], NOW_MS + n * MINUTE)
    before = board(office)
    deleted = admin.prune(office, before=NOW + timedelta(minutes=2), batch=5)
    assert deleted == 12
    assert board(office) == before
    assert len(read.results(office, did(0), limit=100)) == 4
    with office.database.read() as connection:
        assert scalar(connection, "SELECT count(*) FROM evidence") == 12
    assert admin.audit(office) == []
    examine(office.database, suite_id, [1, 0], NOW_MS + 9 * MINUTE)
    assert admin.prune(office, before=NOW + timedelta(days=1), batch=5) == 18
    assert admin.audit(office) == []
    assert board(office)[0]["runs"] == 10


def test_retention_takes_runs_that_are_over_and_leaves_what_was_paid(office):
    put_agents(office.database, 3)
    admin.fund(office, "opening", 2, now=NOW)
    suite_id = put_suite(office.database, reward=1)
    examine(office.database, suite_id, [1, 1])
    examine(office.database, put_suite(office.database, "free"), [1, 1])
    put_agents(office.database, 1, start=3)
    open_run = admin.run_now(office, suite_id, now=NOW)
    with office.database.write() as connection:
        run.finish(connection, now_ms=NOW_MS + 1)
    assert admin.prune(office, before=NOW + timedelta(minutes=1), batch=2) == 12
    with office.database.read() as connection:
        assert scalar(connection, "SELECT count(*) FROM exams WHERE reward = 'paid'") == 2
        assert scalar(connection, "SELECT count(*) FROM exams") == 2 + 4
        assert scalar(connection, "SELECT count(*) FROM runs") == 2
    assert admin.run_state(office, open_run)["exams"] == {"pending": 4}
    assert admin.audit(office) == []


def test_rebuilding_mends_what_differs_and_says_so(office):
    put_agents(office.database, 3)
    suite_id = put_suite(office.database)
    examine(office.database, suite_id, [1, 0.5])
    admin.prune(office, before=NOW + timedelta(minutes=1), batch=2)
    examine(office.database, suite_id, [0, 1], NOW_MS + MINUTE)
    right = board(office, "basics")
    with office.database.write() as connection:
        for damage in (
            "UPDATE aggregates SET n = n + 1 WHERE agent_id = 1",
            "UPDATE aggregates SET mean = 0.125 WHERE agent_id = 2 AND suite_id = 0",
            (
                "INSERT INTO aggregates SELECT 77, agent_id, did, n, sum, mean, last_at, 0, 0 "
                "FROM aggregates WHERE suite_id = 0 AND agent_id = 3"
            ),
        ):
            connection.exec_driver_sql(damage)
    assert len(admin.audit(office)) == 4
    assert len(admin.rebuild(office)) == 4
    assert admin.audit(office) == []
    assert admin.rebuild(office) == []
    assert board(office, "basics") == right


def test_a_standing_that_is_missing_is_rebuilt(office):
    put_agents(office.database, 1)
    examine(office.database, put_suite(office.database), [1, 0])
    right = board(office)
    with office.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM aggregates")
    assert len(admin.rebuild(office)) == 2
    assert board(office) == right


def test_with_the_gate_down_everything_is_empty(office):
    put_agents(office.database, 1)
    examine(office.database, put_suite(office.database), [1, 1])
    run_id = read.results(office, did(0), limit=1)[0]["run_id"]
    dark = Office(office.database, enabled=False)
    assert read.catalog(dark) == []
    assert read.results(dark, did(0), limit=20) == []
    assert board(dark) == []
    assert asked(dark) == []
    assert read.evidence(dark, did(0), run_id) == []
