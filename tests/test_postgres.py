"""The throw-away PostgreSQL cluster works, and goes away."""

from __future__ import annotations

import psycopg
from postgres import running


def test_each_database_is_new_and_empty(postgres):
    first, second = postgres.conninfo(), postgres.conninfo()
    with psycopg.connect(first) as connection:
        connection.execute("CREATE TABLE kept (id integer)")
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    with psycopg.connect(first) as one, psycopg.connect(second) as two:
        assert one.execute(tables).fetchone() == (1,)
        assert two.execute(tables).fetchone() == (0,)


def test_a_database_outlives_a_restart_and_the_folder_does_not_outlive_the_cluster():
    with running() as cluster:
        info = cluster.conninfo()
        with psycopg.connect(info) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS id")
        cluster.stop()
        cluster.start()
        with psycopg.connect(info) as connection:
            assert connection.execute("SELECT id FROM kept").fetchone() == (7,)
    assert not cluster.folder.exists()
