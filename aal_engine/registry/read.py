"""The public record: the catalog, an agent's results, the leaderboard, candidates.

Where evals are not enabled each of these is empty rather than an error, so that a client finds out
what a registry offers without a special case.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from aal_engine.registry.db import result, standing, suite
from aal_engine.registry.model.agent import is_did
from aal_engine.registry.model.moment import millis
from aal_engine.registry.model.run import is_run_id
from aal_engine.registry.model.standing import ALL, Standing
from aal_engine.registry.model.suite import is_key
from aal_engine.registry.office import Office

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = dict[str, Any]


def catalog(office: Office) -> list[Row]:
    """Return every enabled suite, by key."""
    if not office.enabled:
        return []
    with office.database.read() as connection:
        published = suite.listing(connection, enabled=True)
    return [
        {
            "key": each.suite.key,
            "name": each.suite.name,
            "description": each.suite.description,
            "task_type": each.suite.task_type,
            "interval_minutes": each.suite.interval_minutes,
            "pays": each.suite.pays,
        }
        for each in published
    ]


def results(office: Office, did: str, *, limit: int) -> list[Row]:
    """Return an agent's last task results, newest first; none for an agent that is not known."""
    if not office.enabled or not is_did(did):
        return []
    with office.database.read() as connection:
        return [row.told() for row in result.newest(connection, did, limit)]


def evidence(office: Office, did: str, run_id: str) -> list[Row]:
    """Return what is needed to dispute a run's results with one agent, in the tasks' order."""
    if not (office.enabled and is_did(did) and is_run_id(run_id)):
        return []
    with office.database.read() as connection:
        found = result.proofs(connection, run_id, did)
    return [
        {
            **proof.result.told(),
            "task_digest": proof.task,
            "request_digest": proof.request,
            "response_digest": proof.response,
            "scorer_version": proof.scorer_version,
            "epoch": proof.epoch,
        }
        for proof in found
    ]


def leaderboard(office: Office, *, key: str | None, limit: int, now: datetime) -> list[Row]:
    """Return agents by mean score, then by results, then by DID; in one suite, or in all."""
    if not office.enabled:
        return []
    with office.database.read() as connection:
        number = _suite(connection, key)
        rows = [] if number is None else standing.leaderboard(connection, number, limit)
    return _told(rows, now)


def candidates(
    office: Office,
    *,
    key: str | None,
    bound: float,
    runs: int,
    age: timedelta | None,
    limit: int,
    now: datetime,
) -> list[Row]:
    """Return, in the leaderboard's order, agents whose record bears weight.

    Their 95% interval begins at `bound` (in [0, 1]) or above, they have `runs` results or more,
    and the last of them is no older than `age`; None: of any age.
    """
    if not office.enabled:
        return []
    since = 0 if age is None else millis(now) - age // timedelta(milliseconds=1)
    with office.database.read() as connection:
        number = _suite(connection, key)
        if number is None:
            return []
        rows = standing.candidates(
            connection, number, bound=bound, runs=runs, since_ms=since, limit=limit
        )
    return _told(rows, now)


def _suite(connection: Connection, key: str | None) -> int | None:
    """Return a suite's number, that of all for no key, and None for a key that is no suite's."""
    if key is None:
        return ALL
    # PostgreSQL takes no text that holds a zero byte, and nobody has such a key.
    return suite.numbers(connection, key) if is_key(key) else None


def _told(rows: list[Standing], now: datetime) -> list[Row]:
    return [row.told(millis(now)) for row in rows]
