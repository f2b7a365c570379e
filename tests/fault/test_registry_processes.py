"""Workers that are killed or stopped at any moment double nothing and lose nothing."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from registry.scene import NOW, claim, commit_scores, enqueue, put_agents, put_suite, scalar

from aal_engine.errors import RegistryUnavailable
from aal_engine.registry import admin, read
from aal_engine.registry.db import run

WORKER = Path(__file__).with_name("exam_worker.py")
AGENTS, REWARD, TTL_MS = 150, 7, 700


def start(url):
    command = [sys.executable, str(WORKER), url, str(TTL_MS)]
    return subprocess.Popen(command)


def test_workers_killed_and_stopped_at_random(office, database, url):
    rng = random.Random(11)
    admin.fund(office, "opening", AGENTS * REWARD * 2, now=NOW)
    put_agents(database, AGENTS)
    run_id = enqueue(database, put_suite(database, reward=REWARD, reputation=True))
    workers = [start(url) for _ in range(4)]
    until = time.monotonic() + 60
    try:
        for act in range(8):
            time.sleep(rng.uniform(0.25, 0.5))
            place = rng.randrange(len(workers))
            victim = workers[place]
            if act % 2:
                victim.kill()
                victim.communicate()
                workers[place] = start(url)
            elif victim.poll() is None:
                victim.send_signal(signal.SIGSTOP)
                time.sleep(TTL_MS / 1000 + 0.1)
                victim.send_signal(signal.SIGCONT)
        for worker in workers:
            worker.communicate(timeout=until - time.monotonic())
            assert worker.returncode in (0, -signal.SIGKILL)
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    with database.read() as connection:
        states = run.progress(connection, run_id)
        done = states.pop("done")
        assert states.keys() <= {"void"}  # An exam whose worker was killed three times.
        assert scalar(connection, "SELECT count(*) FROM results") == done * 2
        distinct = "SELECT count(DISTINCT agent_id) FROM results"
        assert scalar(connection, distinct) == done
        paid = "SELECT sum(amount) FROM transfers WHERE key LIKE 'eval:%'"
        assert scalar(connection, paid.replace("%", "%%")) == done * REWARD
        assert scalar(connection, "SELECT sum(satisfied) FROM edges") == done
    assert done + states.get("void", 0) == AGENTS
    assert done > AGENTS * 0.9
    assert admin.audit(office) == []


def test_rewards_that_are_weighed_at_once_keep_to_budget_and_treasury(office, database):
    admin.fund(office, "opening", 10 * REWARD, now=NOW)
    put_agents(database, 4)
    suite_id = put_suite(database, reward=REWARD, daily_budget=3 * REWARD)
    for _ in range(5):
        enqueue(database, suite_id)
    claims = claim(database)
    assert len(claims) == 20
    with ThreadPoolExecutor(6) as pool:
        became = list(pool.map(lambda c: commit_scores(database, c, [1, 1]), claims))
    paid = [each for each in became if each.reward == "paid"]
    assert len(paid) == 10
    assert {each.reward for each in became} == {"paid", "over_budget", "empty_treasury"}
    assert admin.audit(office) == []
    assert sum(row["runs"] for row in read.leaderboard(office, key=None, limit=9, now=NOW)) == 40


def test_a_sqlite_writer_that_never_ends_is_told_as_busy(prepared_file, tmp_path, monkeypatch):
    import shutil
    import sqlite3

    from aal_engine.registry.db import database as module

    monkeypatch.setattr(module, "BUSY_MS", 100)
    file = shutil.copyfile(prepared_file, tmp_path / "registry.db")
    database = module.connect(str(file))
    blocking = sqlite3.connect(file, isolation_level=None)
    blocking.execute("BEGIN IMMEDIATE")
    with pytest.raises(RegistryUnavailable, match="busy"):
        put_agents(database, 1)
    with database.read() as connection:  # Readers never wait.
        assert scalar(connection, "SELECT count(*) FROM agents") == 0
    blocking.execute("ROLLBACK")
    blocking.close()
    put_agents(database, 1)
    database.close()


def test_a_server_that_went_away_and_came_back(request):
    from postgres import running

    from aal_engine.registry.office import open_office

    request.getfixturevalue("postgres")  # Skips where none is installed.
    with running() as cluster:
        office = open_office(cluster.database(), enabled=True, prepare=True)
        put_agents(office.database, 1)
        cluster.stop()
        with pytest.raises(RegistryUnavailable):
            put_agents(office.database, 1)
        cluster.start()
        put_agents(office.database, 2)
        assert len(admin.agents(office)) == 2
        office.close()
