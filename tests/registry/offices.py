"""A registry's database of either kind, empty and prepared, and an office on it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aal_engine.registry.db.database import Database, connect, migrate
from aal_engine.registry.db.revision import HEAD
from aal_engine.registry.db.schema import metadata
from aal_engine.registry.office import Office


@pytest.fixture(scope="session")
def prepared_file(tmp_path_factory) -> Path:
    """A SQLite database that was migrated once, to be copied."""
    file = tmp_path_factory.mktemp("prepared") / "registry.db"
    _prepare(str(file))
    return file


@pytest.fixture(scope="session")
def prepared_url(postgres) -> str:
    """A PostgreSQL database that was migrated once, to be emptied for each test."""
    url = postgres.database()
    _prepare(url)
    return url


def _prepare(url: str) -> None:
    database = connect(url)
    migrate(database)
    database.close()


def _empty(url: str) -> None:
    database = connect(url)
    with database.write() as connection:
        # Transfers refuse to be emptied; a replica's session passes their trigger over.
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        tables = ", ".join(table.name for table in metadata.sorted_tables)
        connection.exec_driver_sql(f"TRUNCATE {tables} RESTART IDENTITY CASCADE")
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{HEAD}'")
    database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path) -> str:
    """Every test that takes this runs on both databases, prepared and empty."""
    if request.param == "sqlite":
        copied = tmp_path / "registry.db"
        shutil.copyfile(request.getfixturevalue("prepared_file"), copied)
        return str(copied)
    emptied = request.getfixturevalue("prepared_url")
    _empty(emptied)
    return emptied


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """The opened database."""
    opened = connect(url)
    yield opened
    opened.close()


@pytest.fixture
def office(database: Database) -> Office:
    """A registry on which evals are enabled."""
    return Office(database, enabled=True)
