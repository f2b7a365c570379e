"""Edges of the trust graph in the database."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, select

from aal_engine.registry.db.dialect import insert
from aal_engine.registry.db.schema import edges
from aal_engine.registry.model.agent import ORACLE
from aal_engine.registry.model.result import PASSING
from aal_engine.registry.model.trust import Edge


def vote(connection: Connection, did: str, score: float, *, now_ms: int) -> None:
    """Set the oracle's edge toward an agent to a suite score, and count it as (un)satisfactory."""
    put(connection, ORACLE, did, score, satisfied=score >= PASSING, now_ms=now_ms)


def put(
    connection: Connection, source: str, target: str, value: float, *, satisfied: bool, now_ms: int
) -> None:
    """Set one edge's value, and count one more interaction."""
    statement = insert(connection, edges).values(
        source=source,
        target=target,
        value=value,
        satisfied=int(satisfied),
        unsatisfied=int(not satisfied),
        updated_at=now_ms,
    )
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["source", "target"],
            set_={
                "value": value,
                "satisfied": edges.c.satisfied + int(satisfied),
                "unsatisfied": edges.c.unsatisfied + int(not satisfied),
                "updated_at": now_ms,
            },
        )
    )


def find(connection: Connection, source: str, target: str) -> Edge | None:
    """Return one edge."""
    where = edges.c.source == source, edges.c.target == target
    row = connection.execute(select(edges).where(*where)).one_or_none()
    return None if row is None else Edge(*row)


def every(connection: Connection) -> Iterable[tuple[str, str, float]]:
    """Return source, target and value of every edge."""
    query = select(edges.c.source, edges.c.target, edges.c.value)
    return (tuple(row) for row in connection.execute(query))
