"""One database, opened: transactions that read, transactions that write, its clock, its schema.

The core is synchronous. SQLite has no other way, its transactions last milliseconds, and the HTTP
door runs plain functions on threads by itself; the runner, whose loop must not wait, calls from a
thread. So there is one code for both databases, and none of it has to be written twice.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from aal_engine.errors import Conflict, InputError, NotFound, RegistryUnavailable
from aal_engine.registry.db.dialect import is_postgresql

BUSY_MS = 15_000
"""So long a SQLite transaction waits for another process's before it gives up."""

PAUSE = 0.01
"""Seconds between two tries where SQLite does not wait by itself."""

POOL = 16
_MIGRATING = 0x61616C  # The number of the lock that keeps two migrations apart.


@dataclass(frozen=True, slots=True)
class Database:
    """An opened database; safe to share between threads."""

    engine: Engine

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection in a transaction that reads.

        Raises:
            RegistryUnavailable: the database does not answer.
        """
        with _told(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Give a connection that reads one state of the database, whatever others write meanwhile.

        Raises:
            RegistryUnavailable: the database does not answer.
        """
        with self.read() as connection:
            if is_postgresql(connection):  # SQLite reads so anyway.
                connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection in a transaction that writes: all of it is kept, or nothing.

        Raises:
            RegistryUnavailable: the database does not answer; nothing was written.
        """
        writing = self.engine.execution_options(aal_begin="IMMEDIATE")
        with _told(), writing.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def connect(url: str) -> Database:
    """Open a database by its URL, without asking it anything yet.

    `sqlite:///registry.db` or a plain file name is embedded; `postgresql://…` is a server's.

    Raises:
        InputError: the URL is of no kind that is known here.
    """
    parsed = _url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = create_engine(
            parsed, hide_parameters=True, pool_size=POOL, connect_args={"timeout": BUSY_MS / 1000}
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        engine = create_engine(
            parsed,
            hide_parameters=True,
            pool_size=POOL,
            pool_pre_ping=True,
            # A proxy that pools by transaction gives each one another session.
            connect_args={"prepare_threshold": None, "connect_timeout": 10},
        )
    return Database(engine)


def _url(text_: str) -> URL:
    refused = InputError.at(
        "not a database that is known here",
        field="database",
        way_out="write a file's name, sqlite:///FILE or postgresql://USER@HOST/NAME",
    )
    if "://" not in text_:
        return URL.create("sqlite+pysqlite", database=text_) if text_ else _refuse(refused)
    try:
        parsed = make_url(text_)
        backend = parsed.get_backend_name()
    except ArgumentError:
        raise refused from None
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return parsed.set(drivername="sqlite+pysqlite")
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    raise refused


def _refuse(error: InputError) -> URL:
    raise error


def _prepare_sqlite(connection: Any, record: object) -> None:
    # Python's driver would begin transactions late, when it is too late to wait for another writer.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    _enter_wal(cursor)
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _enter_wal(cursor: Any) -> None:
    """Make the file one with a write-ahead log, which it then stays.

    While another process does the same SQLite answers that it is locked at once, whatever the
    timeout says.
    """
    until = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(PAUSE)


def _begin_sqlite(connection: Connection) -> None:
    how = connection.get_execution_options().get("aal_begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {how}")


@contextmanager
def _told() -> Iterator[None]:
    """Tell the database's failures in words of our own: its messages quote values and hosts."""
    try:
        yield
    except IntegrityError:
        raise Conflict(
            "what was to be written contradicts what another wrote meanwhile; nothing was changed"
        ) from None
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise _unavailable(error) from None
    except DBAPIError as error:
        if error.connection_invalidated:
            raise _unavailable(error) from None
        if type(error) is DatabaseError:  # Of its subclasses, what is left is a fault of ours.
            raise RegistryUnavailable(
                "the database is not a SQLite file, or it is damaged"
            ) from None
        raise


def _unavailable(error: Exception) -> RegistryUnavailable:
    busy = "locked" in str(getattr(error, "orig", "")) or isinstance(error, PoolTimeout)
    return RegistryUnavailable(
        "the registry's database is busy" if busy else "the registry's database does not answer",
        way_out="try again; nothing of this act was written",
    )


def migrate(database: Database) -> None:
    """Bring the schema to the newest revision; two that do it at once wait for each other.

    Raises:
        RegistryUnavailable: the database does not answer, or its folder does not exist.
        InputError: the database was made by a newer version of this package.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))  # Else it is expanded.
    config.set_main_option("path_separator", "os")
    with database.write() as connection:
        if is_postgresql(connection):
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATING})"))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise InputError.at(
                "the registry's database has a schema that this version does not know",
                way_out="use the version of aal-engine that made it, or a newer one",
            ) from None


def check_schema(database: Database) -> None:
    """Refuse a database whose schema is not the one that this version works on.

    Raises:
        RegistryUnavailable: it does not answer.
        NotFound: its file does not exist.
        InputError: it has no schema yet, or an older or newer one.
    """
    from aal_engine.registry.db.revision import HEAD

    found = None
    file = database.engine.url.database
    if database.engine.dialect.name == "sqlite" and not Path(str(file)).exists():
        raise NotFound(  # Before SQLite makes an empty one.
            "the registry's database does not exist", way_out="aal registry init makes it"
        )
    with database.read() as connection:
        if inspect(connection).has_table("alembic_version"):
            found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if found != HEAD:
        raise InputError.at(
            "the registry's database is not prepared"
            if found is None
            else "the registry's database has another version's schema",
            way_out="aal registry init prepares it, and keeps what it holds",
        )
