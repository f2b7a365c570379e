"""The lease: the right to lead, on the database's clock. Its epoch only grows."""

from __future__ import annotations

from sqlalchemy import Connection, Update, select, update

from aal_engine.errors import StaleClaim
from aal_engine.registry.db.dialect import clock, insert, is_postgresql
from aal_engine.registry.db.schema import leases
from aal_engine.registry.model.run import Lease

LEADER = "eval-runner"
"""The name of the lease that the registry's one runner holds."""


def acquire(connection: Connection, name: str, holder: str, ttl_ms: int) -> Lease | None:
    """Take the lease where nobody holds it, or whoever held it let it expire; None otherwise.

    `holder` names one process, and one life of it: not even itself may take over what another life
    of it held before that has expired.
    """
    now = clock(connection)
    statement = insert(connection, leases).values(
        name=name, holder=holder, epoch=1, expires=now + ttl_ms
    )
    taken = statement.on_conflict_do_update(
        index_elements=["name"],
        set_={"holder": holder, "epoch": leases.c.epoch + 1, "expires": now + ttl_ms},
        where=leases.c.expires <= now,
    ).returning(leases.c.epoch)
    epoch = connection.scalar(taken)
    return None if epoch is None else Lease(name, holder, epoch, ttl_ms)


def renew(connection: Connection, lease: Lease) -> bool:
    """Hold the lease for its time to live from now on; False where another took it over."""
    until = clock(connection) + lease.ttl_ms
    return connection.execute(_own(lease).values(expires=until)).rowcount == 1


def release(connection: Connection, lease: Lease) -> None:
    """Give the lease back, so that the next leader need not wait."""
    connection.execute(_own(lease).values(expires=0))


def holder(connection: Connection, name: str) -> Lease | None:
    """Return who holds a lease at this moment; its time to live is what is left of it."""
    now = clock(connection)
    query = select(leases, (leases.c.expires - now).label("left")).where(leases.c.name == name)
    row = connection.execute(query).one_or_none()
    if row is None or row.left <= 0:
        return None
    return Lease(row.name, row.holder, row.epoch, row.left)


def check(connection: Connection, lease: Lease) -> None:
    """Hold, until this transaction ends, that nobody took the lease over.

    A lease that has expired and that nobody took is still its holder's: the epoch is the fence.

    Raises:
        StaleClaim: another leads by now.
    """
    query = select(leases.c.epoch).where(
        leases.c.name == lease.name, leases.c.holder == lease.holder
    )
    if is_postgresql(connection):  # SQLite's transaction keeps all writers out by itself.
        query = query.with_for_update(read=True)
    if connection.scalar(query) != lease.epoch:
        raise StaleClaim("another runner leads by now; nothing was recorded")


def _own(lease: Lease) -> Update:
    return update(leases).where(
        leases.c.name == lease.name,
        leases.c.holder == lease.holder,
        leases.c.epoch == lease.epoch,
    )
