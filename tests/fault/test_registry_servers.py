"""Two servers under load on one registry, the leading one killed: no row lost, none doubled."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from http.client import HTTPConnection
from urllib.error import HTTPError

import pytest
from fault.runners import doubled
from registry.scene import did, put_suite, scalar
from registry.stranger import answer, stranger

from aal_engine.registry import admin
from aal_engine.registry.db import agent, lease, run

TOKEN = "an operator's long secret"
AGENTS = 5


def serve(url, tmp_path):
    environment = {
        **os.environ,
        "EVALS_ENABLED": "true",
        "EVALS_DATABASE": url,
        "EVALS_ADMIN_TOKEN": TOKEN,
        "EVALS_TICK_SECONDS": "0.2",
        "EVALS_LEASE_SECONDS": "2",
        "EVALS_LAG_SECONDS": "5",
        "EVALS_ALLOW_NETWORKS": "127.0.0.0/8",
    }
    command = [sys.executable, "-m", "aal_engine.agent.serve", "--port", "0"]
    return subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )


def port_of(process) -> int:
    found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stderr.readline())
    assert found is not None
    return int(found[1])


class Load(threading.Thread):
    """A client that reads and asks for runs until it is told to stop or the server is gone."""

    def __init__(self, port: int, suite_id: int) -> None:
        super().__init__()
        self.port, self.suite_id = port, suite_id
        self.accepted: list[str] = []
        self.answers = 0
        self.wrong: list[object] = []
        self.cut_off = False
        self.over = threading.Event()

    def ask(self, method: str, path: str) -> tuple[int, object]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        read = json.loads(response.read())
        connection.close()
        return response.status, read

    def run(self) -> None:
        reads = [
            "/api/v1/evals/leaderboard",
            f"/api/v1/evals/agents/{did(1)}/results?limit=100",
            "/api/v1/evals/suites",
        ]
        while not self.over.is_set():
            try:
                status, value = self.ask("POST", f"/api/v1/admin/evals/suites/{self.suite_id}/run")
                if status == 202:
                    self.accepted.append(value["run_id"])
                else:
                    self.wrong.append((status, value))
                for path in reads:
                    status, _ = self.ask("GET", path)
                    self.answers += 1
                    if status != 200:
                        self.wrong.append((status, path))
            except (OSError, HTTPError, ValueError):
                self.cut_off = True
                return
            time.sleep(0.15)


@pytest.mark.slow
def test_the_leading_server_is_killed_under_load(office, database, url, tmp_path):
    with stranger({"/0": answer(b"pong"), "/1": answer(b"no", status="404 No")}) as target:
        with database.write() as connection:
            for number in range(AGENTS):
                card = {"url": f"http://127.0.0.1:{target.port}"}
                agent.put(connection, did(number), card, home=None, now_ms=0)
        suite_id = put_suite(database, reward=2, enabled=False)
        admin.fund(office, "opening", 10**6, now=datetime.now(UTC))
        servers = [serve(url, tmp_path) for _ in range(2)]
        try:
            ports = [port_of(server) for server in servers]
            loads = [Load(port, suite_id) for port in ports]
            for load in loads:
                load.start()
            led = wait_for(lambda: leader(database))
            wait_for(lambda: count(database, "results") >= 4 * AGENTS)
            victim = next(i for i, server in enumerate(servers) if f"-{server.pid}-" in led.holder)
            servers[victim].kill()
            survivor = loads[1 - victim]
            had = len(survivor.accepted)
            wait_for(lambda: len(survivor.accepted) >= had + 5)
            for load in loads:
                load.over.set()
                load.join(30)
            accepted = [run_id for load in loads for run_id in load.accepted]
            wait_for(lambda: finished(database, accepted))
            wait_for(lambda: count(database, "runs WHERE finished_at IS NULL") == 0)
            taken_over = leader(database)
        finally:
            for server in servers:
                server.kill()
                server.communicate()
    assert loads[victim].cut_off
    assert not survivor.cut_off
    assert [load.wrong for load in loads] == [[], []]
    assert taken_over is not None
    assert taken_over.epoch > led.epoch
    assert len(set(accepted)) == len(accepted) > 5
    # A run whose acceptance was cut off may stand beside those that were told.
    assert len(accepted) <= count(database, "runs") <= len(accepted) + 1
    assert doubled(database) == {"slots": 0, "rewards": 0, "results": 0}
    done = count(database, "exams WHERE state = 'done'")
    assert done == count(database, "exams") == count(database, "runs") * AGENTS
    assert count(database, "results") == 2 * done
    assert count(database, "transfers WHERE suite_id IS NOT NULL") == done
    assert admin.audit(office) == []


def wait_for(condition, seconds=60.0):
    until = time.monotonic() + seconds
    while not (held := condition()):
        assert time.monotonic() < until, "it did not come to pass in time"
        time.sleep(0.1)
    return held


def leader(database):
    with database.read() as connection:
        return lease.holder(connection, lease.LEADER)


def count(database, what) -> int:
    with database.read() as connection:
        return int(str(scalar(connection, f"SELECT count(*) FROM {what}")))


def finished(database, run_ids) -> bool:
    with database.read() as connection:
        found = [run.find(connection, run_id) for run_id in run_ids]
    assert all(found), "a run that was accepted is lost"
    return all(each.finished_at is not None for each in found)
