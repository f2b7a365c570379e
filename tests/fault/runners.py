"""Several runner processes on one database, stopped, continued and killed by chance."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from registry.scene import did, put_suite, scalar
from registry.stranger import answer, stranger

from aal_engine.registry import admin
from aal_engine.registry.db import agent
from aal_engine.registry.db.database import Database
from aal_engine.registry.model.moment import EPOCH, MILLISECOND
from aal_engine.registry.office import Office

PROCESS = Path(__file__).with_name("runner_process.py")
AGENTS, REWARD, FUNDS = 6, 3, 10**9
SPEED = 60.0
"""A minute of the runners' clock passes in a second: so does a slot of the quickest suite."""


@dataclass(frozen=True)
class Soaked:
    """What a soak came to; every count is of the database, `tallies` of the processes."""

    audits: int
    runs: int
    states: dict[str, int]
    results: int
    rewards: int
    epoch: int
    stopped: int
    killed: int
    tallies: Counter[str]


class Crowd:
    """Runner processes, and those of them that sleep until a moment."""

    def __init__(self, command: list[str], count: int, rng: random.Random) -> None:
        self.command, self.rng = command, rng
        self.stopped = self.killed = 0
        self.asleep: dict[int, float] = {}
        self.runners = [self.start() for _ in range(count)]
        for each in self.runners:
            assert read_line(each) == b"ready\n"

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, stdout=subprocess.PIPE)

    def disturb(self, *, kill: bool) -> None:
        """Stop one for up to 2.5 s, or kill it and start another; wake those whose time is over."""
        place = self.rng.randrange(len(self.runners))
        if place not in self.asleep and kill and self.rng.random() < 0.1:
            self.runners[place].kill()
            self.runners[place].communicate()
            self.runners[place] = self.start()
            assert read_line(self.runners[place]) == b"ready\n"
            self.killed += 1
        elif place not in self.asleep:
            self.runners[place].send_signal(signal.SIGSTOP)
            self.asleep[place] = time.monotonic() + self.rng.uniform(0.1, 2.5)
            self.stopped += 1
        for each in [p for p, wake in self.asleep.items() if wake < time.monotonic()]:
            self.runners[each].send_signal(signal.SIGCONT)
            del self.asleep[each]

    def end(self) -> Counter[str]:
        """Wake all, let them end in good order, and return their tallies added up."""
        tallies: Counter[str] = Counter()
        for each in self.runners:
            each.send_signal(signal.SIGCONT)
            each.send_signal(signal.SIGTERM)
        for each in self.runners:
            said, _ = each.communicate(timeout=60)
            assert each.returncode == 0, each.returncode
            tallies.update(json.loads(said))
        return tallies

    def kill(self) -> None:
        for each in self.runners:
            each.kill()
            each.communicate()


def read_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def soak(
    database: Database,
    url: str,
    *,
    seconds: float,
    processes: int = 6,
    fan_out: bool = False,
    seed: int = 5,
    kill: bool = False,
) -> Soaked:
    """Run several runners against agents on loopback, and disturb them; audit all the while.

    Raises:
        AssertionError: an audit finds something wrong, at any time.
    """
    office, rng = Office(database, enabled=True), random.Random(seed)

    async def unhurried(writer: asyncio.StreamWriter, request: bytes) -> None:
        await asyncio.sleep(rng.uniform(0, 0.15))
        await answer(b"pong")(writer, request)

    with stranger({"/0": unhurried, "/1": unhurried}) as server:
        began = time.time()
        now = EPOCH + int(began * 1000) * MILLISECOND
        admin.fund(office, "opening", FUNDS, now=now)
        with database.write() as connection:
            for number in range(AGENTS):
                card = {"url": f"http://127.0.0.1:{server.port}"}
                agent.put(connection, did(number), card, home=None, now_ms=0)
        for key, minutes in (("quick", 1), ("slow", 3)):
            put_suite(database, key, interval_minutes=minutes, reward=REWARD, reputation=True)
        command = [sys.executable, str(PROCESS), url, str(began), str(SPEED), str(fan_out)]
        crowd = Crowd(command, processes, rng)
        audits = 0
        try:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                time.sleep(rng.uniform(0.05, 0.3))
                crowd.disturb(kill=kill)
                assert admin.audit(office) == []
                audits += 1
            tallies = crowd.end()
        finally:
            crowd.kill()
    assert admin.audit(office) == []
    with database.read() as connection:

        def one(statement: str) -> int:
            return int(scalar(connection, statement) or 0)

        states = connection.exec_driver_sql("SELECT state, count(*) FROM exams GROUP BY state")
        return Soaked(
            audits=audits,
            runs=one("SELECT count(*) FROM runs"),
            states=dict(row[:] for row in states),
            results=one("SELECT count(*) FROM results"),
            rewards=one("SELECT count(*) FROM transfers WHERE suite_id IS NOT NULL"),
            epoch=one("SELECT max(epoch) FROM leases"),
            stopped=crowd.stopped,
            killed=crowd.killed,
            tallies=tallies,
        )


def doubled(database: Database) -> dict[str, int]:
    """Return how often something that may be once is there twice."""
    once = {
        "slots": "SELECT suite_id, slot FROM runs WHERE slot IS NOT NULL GROUP BY 1, 2",
        "rewards": "SELECT key FROM transfers GROUP BY 1",
        "results": "SELECT run_id, agent_id, task_id FROM results GROUP BY 1, 2, 3",
    }
    with database.read() as connection:
        return {
            name: int(
                str(
                    scalar(
                        connection,
                        f"SELECT count(*) FROM ({statement} HAVING count(*) > 1) AS twice",
                    )
                )
            )
            for name, statement in once.items()
        }
