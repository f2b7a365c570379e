"""Puts agents, suites and runs into a registry's database, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection

from aal_engine.registry.db import agent, commit, run, suite
from aal_engine.registry.db.database import Database
from aal_engine.registry.model.moment import millis
from aal_engine.registry.model.result import Evidence, Outcome
from aal_engine.registry.model.run import Claim, Committed
from aal_engine.registry.model.suite import Suite, Task

NOW = datetime(2026, 7, 16, 9, 14, 2, tzinfo=UTC)
NOW_MS = millis(NOW)
MINUTE = 60_000


def did(number: int) -> str:
    return f"did:web:agent-{number:05d}.example"


def put_agents(database: Database, count: int, *, home: str | None = None, start: int = 0) -> None:
    with database.write() as connection:
        for number in range(start, start + count):
            agent.put(connection, did(number), {"name": "a"}, home=home, now_ms=NOW_MS)


def put_suite(database: Database, key: str = "basics", *, tasks: int = 2, **fields) -> int:
    fields = {"name": "Basics", "enabled": True, **fields}
    with database.write() as connection:
        suite_id = suite.put(connection, Suite(key=key, **fields), now_ms=NOW_MS)
        wanted = [Task(f"task {n}", f"/{n}", "status_ok") for n in range(tasks)]
        suite.replace_tasks(connection, suite_id, wanted)
    return suite_id


def enqueue(database: Database, suite_id: int, *, slot: int | None = None, now_ms=NOW_MS) -> str:
    with database.write() as connection:
        stored = suite.find(connection, suite_id)
        run_id = run.enqueue(connection, suite_id, stored.suite, slot, now_ms=now_ms)
    assert run_id is not None
    return run_id


def claim(database: Database, limit: int = 100, ttl_ms: int = 60_000, lease=None) -> list[Claim]:
    with database.write() as connection:
        return run.claim(connection, lease, limit=limit, ttl_ms=ttl_ms)


def outcomes(claimed: Claim, scores: Sequence[float]) -> list[Outcome]:
    return [
        Outcome(task.id, score, score >= 1, 12, None, Evidence("ab" * 32, "cd" * 32, "1"))
        for task, score in zip(claimed.tasks, scores, strict=True)
    ]


def commit_scores(
    database: Database, claimed: Claim, scores: Sequence[float], now_ms: int = NOW_MS
) -> Committed:
    with database.write() as connection:
        return commit.commit_exam(connection, claimed, outcomes(claimed, scores), now_ms=now_ms)


def examine(
    database: Database, suite_id: int, scores: Sequence[float], now_ms: int = NOW_MS
) -> list[Committed]:
    """Run a suite by hand; every agent gets the same scores."""
    enqueue(database, suite_id, now_ms=now_ms)
    return [commit_scores(database, each, scores, now_ms) for each in claim(database)]


def scalar(connection: Connection, statement: str) -> object:
    return connection.exec_driver_sql(statement).scalar()
