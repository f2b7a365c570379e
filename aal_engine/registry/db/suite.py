"""Suites and tasks in the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, Connection, Row, delete, func, select, update

from aal_engine.registry.db.schema import exams, runs, suites, tasks
from aal_engine.registry.model.suite import Suite, Task


@dataclass(frozen=True, slots=True)
class Stored:
    """A suite with what the database knows of it: its number, its tasks' count, its last slot."""

    id: int
    suite: Suite
    tasks: int
    created_at: int
    last_slot: int | None


def put(connection: Connection, suite: Suite, *, now_ms: int) -> int:
    """Create a suite, or update the one of the same key; return its number."""
    values = asdict(suite)
    values["targets"] = None if suite.targets is None else json.dumps(suite.targets)
    known: int | None = connection.scalar(select(suites.c.id).where(*_lives(suite.key)))
    if known is not None:
        connection.execute(update(suites).where(suites.c.id == known).values(values))
        return known
    made = suites.insert().values(**values, created_at=now_ms).returning(suites.c.id)
    return int(connection.scalars(made).one())


def find(connection: Connection, suite_id: int) -> Stored | None:
    """Return a suite by its number, None where there is none, or no longer."""
    return next(iter(_select(connection, suites.c.id == suite_id)), None)


def find_key(connection: Connection, key: str) -> Stored | None:
    """Return a suite by its key."""
    return next(iter(_select(connection, suites.c.key == key)), None)


def listing(connection: Connection, *, enabled: bool | None = None) -> list[Stored]:
    """Return every suite by its key, or those alone that are enabled or disabled."""
    return _select(connection, *([] if enabled is None else [suites.c.enabled.is_(enabled)]))


def numbers(connection: Connection, key: str) -> int | None:
    """Return the number of the suite that a key means to a reader of the record.

    The suite that has the key now; where it was removed, the last that had it.
    """
    newest = suites.c.removed_at.is_(None).desc(), suites.c.id.desc()
    query = select(suites.c.id).where(suites.c.key == key).order_by(*newest).limit(1)
    return connection.scalar(query)


def remove(connection: Connection, suite_id: int, *, now_ms: int) -> bool:
    """Remove a suite with its tasks, and call off its open exams; whether there was such a suite.

    What is on the record stays, under the suite's key.
    """
    gone = (
        update(suites)
        .where(suites.c.id == suite_id, suites.c.removed_at.is_(None))
        .values(removed_at=now_ms, enabled=False)
    )
    if connection.execute(gone).rowcount != 1:
        return False
    connection.execute(delete(tasks).where(tasks.c.suite_id == suite_id))
    its_runs = select(runs.c.id).where(runs.c.suite_id == suite_id, runs.c.finished_at.is_(None))
    connection.execute(
        update(exams)
        .where(exams.c.run_id.in_(its_runs), exams.c.state.in_(("pending", "claimed")))
        .values(state="void", reason="the suite was removed", until=None)
    )
    return True


def add_task(connection: Connection, suite_id: int, task: Task) -> int:
    """Add a task to a suite; return its number."""
    made = tasks.insert().values(suite_id=suite_id, **_columns(task)).returning(tasks.c.id)
    return int(connection.scalars(made).one())


def replace_tasks(connection: Connection, suite_id: int, wanted: Sequence[Task]) -> None:
    """Give a suite exactly these tasks; one that is as it was keeps its number."""
    kept = {task: task.id for task in tasks_of(connection, suite_id)}
    gone = [number for task, number in kept.items() if task not in wanted]
    if gone:
        connection.execute(delete(tasks).where(tasks.c.id.in_(gone)))
    for task in wanted:
        if task not in kept:
            add_task(connection, suite_id, task)


def tasks_of(connection: Connection, suite_id: int) -> tuple[Task, ...]:
    """Return a suite's tasks in the order in which they were added."""
    query = select(tasks).where(tasks.c.suite_id == suite_id).order_by(tasks.c.id)
    return tuple(
        Task(row.name, row.input, row.scorer, row.expected, row.weight, row.id)
        for row in connection.execute(query)
    )


def has_task(connection: Connection, suite_id: int, name: str) -> bool:
    """Whether a suite has a task of this name."""
    query = select(tasks.c.id).where(tasks.c.suite_id == suite_id, tasks.c.name == name)
    return connection.scalar(query) is not None


def _columns(task: Task) -> dict[str, object]:
    columns = asdict(task)
    del columns["id"]
    return columns


def _lives(key: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return suites.c.key == key, suites.c.removed_at.is_(None)


def _select(connection: Connection, *where: ColumnElement[bool]) -> list[Stored]:
    count = (
        select(func.count())
        .where(tasks.c.suite_id == suites.c.id)
        .correlate(suites)
        .scalar_subquery()
    )
    query = (
        select(suites, count.label("tasks"))
        .where(suites.c.removed_at.is_(None), *where)
        .order_by(suites.c.key)
    )
    return [_stored(row) for row in connection.execute(query)]


def _stored(row: Row[tuple[object, ...]]) -> Stored:
    return Stored(row.id, suite_of(row), row.tasks, row.created_at, row.last_slot)


def suite_of(row: Row[tuple[object, ...]]) -> Suite:
    """Make the value of a row of the suites' table."""
    return Suite(
        key=row.key,
        name=row.name,
        description=row.description,
        task_type=row.task_type,
        interval_minutes=row.interval_minutes,
        targets=None if row.targets is None else tuple(json.loads(row.targets)),
        reward=row.reward,
        cooldown_minutes=row.cooldown_minutes,
        daily_budget=row.daily_budget,
        reputation=row.reputation,
        enabled=row.enabled,
    )
