"""The database opens, migrates, keeps or drops a transaction whole, and tells its failures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from registry.scene import NOW_MS, did, put_agents, put_suite

import aal_engine.registry.db as package
from aal_engine.errors import Conflict, InputError, NotFound, RegistryUnavailable
from aal_engine.registry.db import agent, standing
from aal_engine.registry.db.database import check_schema, connect, migrate
from aal_engine.registry.db.dialect import clock
from aal_engine.registry.db.revision import HEAD
from aal_engine.registry.db.schema import accounts, metadata
from aal_engine.registry.model.moment import millis


def test_the_migrations_make_the_tables_that_the_code_works_on(database):
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_the_newest_revision_is_named():
    assert ScriptDirectory(f"{package.__path__[0]}/migrations").get_current_head() == HEAD


def test_migrating_again_keeps_what_is_there(database):
    put_agents(database, 1)
    migrate(database)
    check_schema(database)
    with database.read() as connection:
        assert agent.find(connection, did(0)) is not None


def test_several_may_prepare_one_database_at_once(tmp_path, request):
    urls = [f"{tmp_path}/r.db", request.getfixturevalue("postgres").database()]
    for url in urls:
        opened = [connect(url) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(migrate, opened))
        check_schema(opened[0])
        for each in opened:
            each.close()


def test_many_may_open_a_new_file_at_once(tmp_path):
    for number in range(20):
        opened = [connect(f"{tmp_path}/{number}.db") for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(check_opens, opened))
        for each in opened:
            each.close()


def check_opens(database):
    with database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_a_transaction_is_kept_whole_or_not_at_all(database):
    with pytest.raises(ZeroDivisionError), database.write() as connection:
        agent.put(connection, did(1), None, home=None, now_ms=0)
        raise ZeroDivisionError
    with database.read() as connection:
        assert agent.page(connection) == []


def test_what_the_database_refuses_is_a_conflict_that_quotes_nothing(database):
    with pytest.raises(Conflict) as caught, database.write() as connection:
        connection.execute(accounts.insert().values(name="somebody", balance=-5))
    assert "somebody" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_writers_wait_for_each_other(database):
    put_agents(database, 1)

    suite_id = put_suite(database)

    def add(number: int) -> None:
        with database.write() as connection:
            standing.add(connection, suite_id, 1, did(0), standing.Sum(1, number, NOW_MS))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(40)))
    with database.read() as connection:
        (row,) = standing.leaderboard(connection, suite_id, 10)
    assert (row.n, row.sum) == (40, sum(range(40)))


def test_the_databases_clock_goes_on_inside_a_transaction(database):
    from datetime import UTC, datetime
    from time import sleep

    from sqlalchemy import select

    with database.write() as connection:
        first = connection.scalar(select(clock(connection)))
        sleep(0.02)
        assert first + 15 <= connection.scalar(select(clock(connection)))
        assert abs(millis(datetime.now(UTC)) - first) < 60_000


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite://", "sqlite:///:memory:", "", "://"])
def test_a_url_of_another_kind_is_refused(url):
    with pytest.raises(InputError):
        connect(url)


def test_a_file_that_is_missing_is_not_made(tmp_path):
    missing = tmp_path / "typo.db"
    with pytest.raises(NotFound, match="aal registry init"):
        check_schema(connect(str(missing)))
    assert not missing.exists()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    wrong = tmp_path / "notes.txt"
    wrong.write_text("not a database, but longer than a header of a hundred bytes\n" * 9)
    with pytest.raises(RegistryUnavailable, match="not a SQLite file"):
        check_schema(connect(str(wrong)))


def test_a_database_that_nobody_prepared_is_refused(tmp_path):
    (tmp_path / "empty.db").touch()
    with pytest.raises(InputError, match="not prepared"):
        check_schema(connect(str(tmp_path / "empty.db")))


def test_a_database_of_another_version_is_refused(database):
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match="another version"):
        check_schema(database)
    with pytest.raises(InputError, match="does not know"):
        migrate(database)


def test_a_server_that_does_not_answer_is_told_without_its_name(tmp_path):
    url = f"postgresql://keeper:hunter2@/private?host={tmp_path}"
    with pytest.raises(RegistryUnavailable) as caught:
        check_schema(connect(url))
    told = str(caught.value)
    assert "hunter2" not in told
    assert "keeper" not in told
    assert str(tmp_path) not in told


def test_a_file_that_cannot_be_opened_is_told_without_its_folder(tmp_path):
    with pytest.raises(RegistryUnavailable) as caught:
        migrate(connect(f"{tmp_path}/nowhere/registry.db"))
    assert str(tmp_path) not in str(caught.value)
