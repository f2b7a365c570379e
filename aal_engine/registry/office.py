"""The registry's office: its opened database, and whether evals are enabled on it."""

from __future__ import annotations

from dataclasses import dataclass

from aal_engine.errors import MissingExtra
from aal_engine.registry.db.database import Database, check_schema, connect, migrate


@dataclass(frozen=True, slots=True)
class Office:
    """What every act of the registry works on; `enabled` is the operator's EVALS_ENABLED."""

    database: Database
    enabled: bool

    def close(self) -> None:
        """Close the database."""
        self.database.close()


def open_office(url: str, *, enabled: bool, prepare: bool = False) -> Office:
    """Open a registry by its database's URL or file; `prepare` makes or upgrades what is missing.

    Raises:
        InputError: the URL is of no known kind, or the database is not prepared.
        NotFound: the file does not exist.
        RegistryUnavailable: the database does not answer.
        MissingExtra: the database's driver is not installed.
    """
    try:
        database = connect(url)
    except ModuleNotFoundError:
        raise MissingExtra("a PostgreSQL registry", "registry") from None
    if prepare:
        migrate(database)
    else:
        check_schema(database)
    return Office(database, enabled)
