"""What the two databases say in words of their own: the clock, and an INSERT that meets another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Connection, Table, literal_column
from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

Insert = sqlite.Insert | postgresql.Insert

# To the millisecond, and while a transaction lasts as well: PostgreSQL's now() stands still.
_CLOCKS = {
    "sqlite": "CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)",
    "postgresql": "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
}


def is_postgresql(connection: Connection) -> bool:
    """Whether the database is PostgreSQL."""
    return connection.dialect.name == "postgresql"


def clock(connection: Connection) -> ColumnElement[int]:
    """Return the database's own clock as an expression, in milliseconds since 1970."""
    return literal_column(_CLOCKS[connection.dialect.name], BigInteger)


def insert(connection: Connection, table: Table) -> Insert:
    """Return an INSERT that knows ON CONFLICT, in the database's dialect."""
    if is_postgresql(connection):
        return postgresql.insert(table)
    return sqlite.insert(table)
