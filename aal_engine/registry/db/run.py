"""Runs and exams in the database: queued once a slot, claimed by one runner at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    delete,
    exists,
    func,
    literal,
    select,
    tuple_,
    update,
)

from aal_engine.errors import StaleClaim
from aal_engine.registry.db import lease as leading
from aal_engine.registry.db.agent import IN_ONE_QUERY, agent_of
from aal_engine.registry.db.dialect import clock, insert, is_postgresql
from aal_engine.registry.db.schema import agents, exams, runs, suites
from aal_engine.registry.db.slot import due_slot
from aal_engine.registry.db.suite import listing, suite_of, tasks_of
from aal_engine.registry.model.moment import millis
from aal_engine.registry.model.run import MAX_ATTEMPTS, SPREAD_MS, Claim, Lease, Run
from aal_engine.registry.model.suite import Suite, Task


def enqueue(
    connection: Connection, suite_id: int, suite: Suite, slot: int | None, *, now_ms: int
) -> str | None:
    """Queue a run of a suite over its targets; return its id, None where the slot was taken.

    Targets are agents that are active and at home here, now, whether the suite lists them or not.
    """
    run_id = uuid4().hex
    values = {"id": run_id, "suite_id": suite_id, "slot": slot, "requested_at": now_ms}
    begun = insert(connection, runs).values(values).on_conflict_do_nothing()
    if connection.scalar(begun.returning(runs.c.id)) is None:
        return None
    queued = 0
    for some in _targets(suite):
        place = func.row_number().over(order_by=agents.c.did) - 1 + queued
        chosen = select(
            literal(run_id),
            agents.c.id,
            literal("pending"),
            literal(now_ms) + place * SPREAD_MS,
            literal(0),
        ).where(agents.c.active.is_(True), agents.c.home.is_(None), *some)
        names = ["run_id", "agent_id", "state", "queue", "attempt"]
        connection.execute(exams.insert().from_select(names, chosen))
        queued = sum(progress(connection, run_id).values())
    if queued == 0:
        connection.execute(update(runs).where(runs.c.id == run_id).values(finished_at=now_ms))
    return run_id


def _targets(suite: Suite) -> list[list[ColumnElement[bool]]]:
    if suite.targets is None:
        return [[]]
    dids = sorted(suite.targets)
    starts = range(0, len(dids), IN_ONE_QUERY)
    return [[agents.c.did.in_(dids[start : start + IN_ONE_QUERY])] for start in starts]


def enqueue_due(connection: Connection, lease: Lease | None, *, now: datetime) -> list[str]:
    """Queue a run of every enabled suite that is due; return the runs' ids.

    A suite whose last scheduled run is not over yet waits for the next tick.

    Raises:
        StaleClaim: another leads by now.
    """
    if lease is not None:
        leading.check(connection, lease)
    query = select(runs.c.suite_id).where(runs.c.finished_at.is_(None), runs.c.slot.is_not(None))
    busy = set(connection.scalars(query))
    queued = []
    for stored in listing(connection, enabled=True):
        due = due_slot(stored, now)
        if due is None or stored.id in busy:
            continue
        slot = millis(due)
        run_id = enqueue(connection, stored.id, stored.suite, slot, now_ms=millis(now))
        connection.execute(update(suites).where(suites.c.id == stored.id).values(last_slot=slot))
        if run_id is not None:
            queued.append(run_id)
    return queued


def claim(connection: Connection, lease: Lease | None, *, limit: int, ttl_ms: int) -> list[Claim]:
    """Claim exams, those that queue longest first; each for `ttl_ms` on the database's clock.

    With a lease its holder is the only one who claims. Without one, any number of workers may claim
    at once: on PostgreSQL they pass over each other's rows, on SQLite they wait for each other.

    Raises:
        StaleClaim: another leads by now.
    """
    if lease is not None:
        leading.check(connection, lease)
    _take_back(connection)
    waiting = (
        select(exams.c.run_id, exams.c.agent_id)
        .where(exams.c.state == "pending")
        .order_by(exams.c.queue)
        .limit(limit)
    )
    if is_postgresql(connection):
        waiting = waiting.with_for_update(skip_locked=True)
    pairs = [tuple(row) for row in connection.execute(waiting)]
    if not pairs:
        return []
    connection.execute(
        update(exams)
        .where(tuple_(exams.c.run_id, exams.c.agent_id).in_(pairs))
        .values(state="claimed", attempt=exams.c.attempt + 1, until=clock(connection) + ttl_ms)
    )
    return _read_claims(connection, pairs, lease)


def extend(connection: Connection, claims: Sequence[Claim], *, ttl_ms: int) -> None:
    """Keep claims for `ttl_ms` from now on; those that another holds by now are left alone."""
    held = [(each.run_id, each.agent.id, each.attempt) for each in claims]
    for start in range(0, len(held), IN_ONE_QUERY):
        some = sorted(held[start : start + IN_ONE_QUERY])
        mine = tuple_(exams.c.run_id, exams.c.agent_id, exams.c.attempt).in_(some)
        kept = update(exams).where(exams.c.state == "claimed", mine)
        connection.execute(kept.values(until=clock(connection) + ttl_ms))


def _take_back(connection: Connection) -> None:
    """Make exams claimable again whose claim ran out; one that does so every time is void."""
    expired = update(exams).where(exams.c.state == "claimed", exams.c.until <= clock(connection))
    connection.execute(
        expired.where(exams.c.attempt >= MAX_ATTEMPTS).values(
            state="void", reason="no runner brought it to its end", until=None
        )
    )
    connection.execute(expired.values(state="pending", until=None))


def _read_claims(
    connection: Connection, pairs: Sequence[tuple[object, ...]], lease: Lease | None
) -> list[Claim]:
    query = (
        select(exams.c.run_id, exams.c.attempt, exams.c.until, runs.c.suite_id, exams.c.agent_id)
        .join(runs, runs.c.id == exams.c.run_id)
        .where(tuple_(exams.c.run_id, exams.c.agent_id).in_(pairs))
        .order_by(exams.c.queue)
    )
    rows = connection.execute(query).all()
    numbers = {row.suite_id for row in rows}
    known: dict[int, tuple[Suite, tuple[Task, ...]]] = {
        row.id: (suite_of(row), tasks_of(connection, row.id))
        for row in connection.execute(select(suites).where(suites.c.id.in_(numbers)))
    }
    query_agents = select(agents).where(agents.c.id.in_({row.agent_id for row in rows}))
    examined = {row.id: agent_of(row) for row in connection.execute(query_agents)}
    claims = []
    for row in rows:
        suite, tasks = known[row.suite_id]
        agent = examined[row.agent_id]
        made = Claim(row.run_id, row.suite_id, suite, tasks, agent, row.attempt, row.until, lease)
        if not agent.examinable:
            void(connection, made, "the agent is not active here any more")
        elif not tasks:
            void(connection, made, "the suite has no tasks")
        else:
            claims.append(made)
    return claims


def void(connection: Connection, claim: Claim, reason: str) -> None:
    """End an exam without a word on the agent's record.

    Raises:
        StaleClaim: somebody else claimed it, or it was called off.
    """
    _end(connection, claim, state="void", reason=reason, until=None)


def give_back(connection: Connection, claim: Claim) -> None:
    """Let another runner claim an exam at once; this attempt does not count.

    Raises:
        StaleClaim: somebody else claimed it, or it was called off.
    """
    _end(connection, claim, state="pending", attempt=exams.c.attempt - 1, until=None)


def end(connection: Connection, claim: Claim, *, score: int) -> None:
    """End an exam whose results are being put on the record; `score` is in millionths.

    Raises:
        StaleClaim: somebody else claimed it, or it was called off.
    """
    _end(connection, claim, state="done", score=score, until=None)


def _end(connection: Connection, claim: Claim, **values: object) -> None:
    mine = update(exams).where(
        exams.c.run_id == claim.run_id,
        exams.c.agent_id == claim.agent.id,
        exams.c.state == "claimed",
        exams.c.attempt == claim.attempt,
    )
    if connection.execute(mine.values(values)).rowcount != 1:
        raise StaleClaim(
            "another runner holds this exam by now, or it was called off; nothing was recorded"
        )


def finish(connection: Connection, *, now_ms: int) -> int:
    """Note which runs have no exam left to do; return how many."""
    left = exists().where(exams.c.run_id == runs.c.id, exams.c.state.in_(("pending", "claimed")))
    over = update(runs).where(runs.c.finished_at.is_(None), ~left)
    return connection.execute(over.values(finished_at=now_ms)).rowcount


def prune(connection: Connection, *, before_ms: int, limit: int) -> int:
    """Delete exams of runs that were over before a time, so many at most; return how many.

    Those that were paid stay, for the treasury's audit, and so do their runs.
    """
    unpaid = (
        select(exams.c.run_id, exams.c.agent_id)
        .join(runs, runs.c.id == exams.c.run_id)
        .where(runs.c.finished_at < before_ms, func.coalesce(exams.c.reward, "") != "paid")
        .limit(min(limit, IN_ONE_QUERY))
    )
    pairs = [tuple(row) for row in connection.execute(unpaid)]
    if pairs:
        here = tuple_(exams.c.run_id, exams.c.agent_id).in_(pairs)
        connection.execute(delete(exams).where(here))
    empty = ~exists().where(exams.c.run_id == runs.c.id)
    connection.execute(delete(runs).where(runs.c.finished_at < before_ms, empty))
    return len(pairs)


def find(connection: Connection, run_id: str) -> Run | None:
    """Return a run, None where there is none of this id."""
    row = connection.execute(select(runs).where(runs.c.id == run_id)).one_or_none()
    if row is None:
        return None
    return Run(row.id, row.suite_id, row.slot, row.requested_at, row.finished_at)


def progress(connection: Connection, run_id: str) -> Mapping[str, int]:
    """Return how many of a run's exams are in each state."""
    return _counts(connection, exams.c.state, exams.c.run_id == run_id)


def rewards(connection: Connection, run_id: str) -> Mapping[str, int]:
    """Return what became of a run's rewards, and how often."""
    return _counts(
        connection, exams.c.reward, exams.c.run_id == run_id, exams.c.reward.is_not(None)
    )


def _counts(
    connection: Connection, column: Column[Any], *where: ColumnElement[bool]
) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).where(*where).group_by(column))
    return {row[0]: row[1] for row in rows}
