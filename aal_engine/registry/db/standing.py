"""Standings in the database: the running aggregate that the leaderboard is read from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Double,
    bindparam,
    case,
    cast,
    delete,
    func,
    select,
    text,
    update,
)

from aal_engine.registry.db.dialect import insert, is_postgresql
from aal_engine.registry.db.schema import agents, aggregates, results
from aal_engine.registry.model.result import UNIT
from aal_engine.registry.model.standing import ALL, Z95, Standing


@dataclass(frozen=True, slots=True)
class Sum:
    """How many results, the sum of their scores in millionths, and when the last one was."""

    n: int
    sum: int
    last_at: int

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.n + other.n, self.sum + other.sum, max(self.last_at, other.last_at))


@dataclass(frozen=True, slots=True)
class Difference:
    """An aggregate that is not what the rows say; None where the one or the other is missing."""

    suite_id: int
    agent_id: int
    kept: Sum | None
    counted: Sum | None


def add(connection: Connection, suite_id: int, agent_id: int, did: str, more: Sum) -> None:
    """Add results to an agent's standing in one suite, or under ALL."""
    statement = insert(connection, aggregates).values(
        suite_id=suite_id,
        agent_id=agent_id,
        did=did,
        **_columns(more),
    )
    n = aggregates.c.n + statement.excluded.n
    total = aggregates.c.sum + statement.excluded.sum
    later = aggregates.c.last_at >= statement.excluded.last_at
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["suite_id", "agent_id"],
            set_={
                "n": n,
                "sum": total,
                "mean": _mean(total, n),
                "last_at": case((later, aggregates.c.last_at), else_=statement.excluded.last_at),
            },
        )
    )


def _mean(total: ColumnElement[int], n: ColumnElement[int]) -> ColumnElement[Any]:
    # Both are exact as doubles, so both databases and Python round the one quotient alike.
    return cast(total, Double) / cast(n * UNIT, Double)


def leaderboard(connection: Connection, suite_id: int, limit: int) -> list[Standing]:
    """Return the first so many by mean, then by results, then by DID."""
    return _ranked(connection, limit, aggregates.c.suite_id == suite_id)


def candidates(
    connection: Connection,
    suite_id: int,
    *,
    bound: float,
    runs: int,
    since_ms: int,
    limit: int,
) -> list[Standing]:
    """Return, in the leaderboard's order, those whose record is as good, as long and as fresh.

    `bound` is the least lower end of the 95% interval, `runs` the least number of results, and
    the last of them is not before `since_ms`. A Wilson interval begins at or above b where the mean
    does, and lies z standard errors of b above it: that needs no root, and so runs anywhere.
    """
    above = aggregates.c.mean - bound
    sure = above * above * aggregates.c.n >= Z95 * Z95 * bound * (1 - bound)
    return _ranked(
        connection,
        limit,
        aggregates.c.suite_id == suite_id,
        aggregates.c.mean >= bound,
        sure,
        aggregates.c.n >= runs,
        aggregates.c.last_at >= since_ms,
    )


def _ranked(connection: Connection, limit: int, *where: ColumnElement[bool]) -> list[Standing]:
    query = (
        select(aggregates.c.did, aggregates.c.n, aggregates.c.sum, aggregates.c.last_at)
        .where(*where)
        .order_by(aggregates.c.mean.desc(), aggregates.c.n.desc(), aggregates.c.did)
        .limit(limit)
    )
    return [Standing(*row) for row in connection.execute(query)]


def differences(connection: Connection) -> list[Difference]:
    """Hold every aggregate against the rows, and against what retention took from them.

    The connection must see one state of the database: on PostgreSQL a snapshot, or a lock.
    """
    counted = _counted(connection)
    kept, found = {}, []
    for row in connection.execute(select(aggregates)):
        key = row.suite_id, row.agent_id
        kept[key] = Sum(row.n, row.sum, row.last_at)
        if row.pruned_n:
            pruned = Sum(row.pruned_n, row.pruned_sum, 0)
            counted[key] = counted.get(key, Sum(0, 0, row.last_at)) + pruned
        rounded = row.mean == row.sum / (row.n * UNIT)
        if counted.get(key) != kept[key] or not rounded:
            found.append(Difference(*key, kept[key], counted.get(key)))
    missing = counted.keys() - kept.keys()
    return [*found, *(Difference(*key, None, counted[key]) for key in sorted(missing))]


def _counted(connection: Connection) -> dict[tuple[int, int], Sum]:
    query = select(
        results.c.suite_id,
        results.c.agent_id,
        func.count(),
        func.sum(results.c.score),
        func.max(results.c.at),
    ).group_by(results.c.suite_id, results.c.agent_id)
    counted: dict[tuple[int, int], Sum] = {}
    for suite_id, agent_id, n, total, last_at in connection.execute(query):
        some = Sum(n, int(total), last_at)
        counted[suite_id, agent_id] = some
        before = counted.get((ALL, agent_id))
        counted[ALL, agent_id] = some if before is None else before + some
    return counted


def lock(connection: Connection) -> None:
    """Keep every commit out until this transaction ends."""
    if is_postgresql(connection):  # SQLite's writing transaction does that by itself.
        connection.execute(text("LOCK TABLE aggregates IN SHARE ROW EXCLUSIVE MODE"))


def mend(connection: Connection, wrong: list[Difference]) -> None:
    """Make aggregates what the rows say."""
    here = (
        aggregates.c.suite_id == bindparam("in_suite"),
        aggregates.c.agent_id == bindparam("of_agent"),
    )
    gone = [_key(each) for each in wrong if each.counted is None]
    changed = [_key(each) | _columns(each.counted) for each in wrong if each.kept and each.counted]
    if gone:
        connection.execute(delete(aggregates).where(*here), gone)
    if changed:
        values: dict[str, BindParameter[Any]] = {
            name: bindparam(name) for name in ("n", "sum", "mean", "last_at")
        }
        connection.execute(update(aggregates).where(*here).values(values), changed)
    if any(each.kept is None for each in wrong):
        names = {row.id: row.did for row in connection.execute(select(agents.c.id, agents.c.did))}
        rows = [
            {
                "suite_id": each.suite_id,
                "agent_id": each.agent_id,
                "did": names[each.agent_id],
                **_columns(each.counted),
            }
            for each in wrong
            if each.kept is None and each.counted
        ]
        connection.execute(aggregates.insert(), rows)


def _key(each: Difference) -> dict[str, float]:
    return {"in_suite": each.suite_id, "of_agent": each.agent_id}


def _columns(counted: Sum) -> dict[str, float]:
    mean = counted.sum / (counted.n * UNIT)
    return {"n": counted.n, "sum": counted.sum, "mean": mean, "last_at": counted.last_at}


def note_pruned(connection: Connection, pruned: Iterable[tuple[int, int, int, int]]) -> None:
    """Note in the aggregates what is about to leave the rows: agent, suite, count and sum."""
    for agent_id, suite_id, n, total in pruned:
        values = {
            "pruned_n": aggregates.c.pruned_n + n,
            "pruned_sum": aggregates.c.pruned_sum + total,
        }
        for number in (ALL, suite_id):
            here = aggregates.c.suite_id == number, aggregates.c.agent_id == agent_id
            connection.execute(update(aggregates).where(*here).values(values))
