"""Agents in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Row, select, update

from aal_engine.canonical import JSON, canonical
from aal_engine.registry.db.dialect import insert
from aal_engine.registry.db.schema import agents
from aal_engine.registry.model.agent import Agent

IN_ONE_QUERY = 500
"""SQLite bounds how many values one statement may carry."""


def put(
    connection: Connection,
    did: str,
    card: Mapping[str, JSON] | None,
    *,
    home: str | None,
    now_ms: int,
) -> Agent:
    """Register an agent, or give a registered one a new card and home; it is active after that."""
    values = {
        "card": None if card is None else canonical(card).decode(),
        "home": home,
        "active": True,
    }
    statement = insert(connection, agents).values(did=did, registered_at=now_ms, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["did"], set_=values))
    found = find(connection, did)
    assert found is not None
    return found


def deactivate(connection: Connection, did: str) -> bool:
    """Take an agent out of every suite's targets; whether there is such an agent."""
    done = connection.execute(update(agents).where(agents.c.did == did).values(active=False))
    return done.rowcount == 1


def find(connection: Connection, did: str) -> Agent | None:
    """Return an agent, None where nobody is registered under this DID."""
    row = connection.execute(select(agents).where(agents.c.did == did)).one_or_none()
    return None if row is None else agent_of(row)


def page(connection: Connection, *, after: str = "", limit: int = 1000) -> list[Agent]:
    """Return agents by DID, those after a DID."""
    query = select(agents).where(agents.c.did > after).order_by(agents.c.did).limit(limit)
    return [agent_of(row) for row in connection.execute(query)]


def unknown(connection: Connection, dids: Sequence[str]) -> list[str]:
    """Return those of some DIDs that nobody is registered under, in their order."""
    known: set[str] = set()
    for start in range(0, len(dids), IN_ONE_QUERY):
        some = dids[start : start + IN_ONE_QUERY]
        known.update(connection.scalars(select(agents.c.did).where(agents.c.did.in_(some))))
    return [did for did in dids if did not in known]


def agent_of(row: Row[tuple[object, ...]]) -> Agent:
    """Make the value of a row of the agents' table."""
    return Agent(
        id=row.id,
        did=row.did,
        card=None if row.card is None else json.loads(row.card),
        active=row.active,
        home=row.home,
        registered_at=row.registered_at,
    )
