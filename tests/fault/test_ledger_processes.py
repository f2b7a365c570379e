"""Many processes on one ledger: at once, started twice, and killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest
from specimen import breach

from aal_engine.decide.replay import Replay
from aal_engine.service.sequence import sequence
from aal_engine.store.ledger import Ledger
from aal_engine.store.pending import pend, waiting

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "example.com/ledger"

WRITER = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from aal_engine.store.ledger import Ledger
folder, writer, count, batch = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
ledger = Ledger.open(folder)
print("ready", flush=True)
sys.stdin.readline()
for n in range(0, count, batch):
    bodies = [{"writer": writer, "n": n + k, "filler": "x" * 250} for k in range(batch)]
    for entry in ledger.append_all("breach", bodies, datetime.now(UTC)):
        os.write(1, b"%d %d\\n" % (entry.seq, entry.body["n"]))
"""

INIT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from aal_engine.errors import AppendRefused
from aal_engine.store.ledger import Ledger
print("ready", flush=True)
sys.stdin.readline()
try:
    Ledger.init(Path(sys.argv[1]), sys.argv[2], datetime.now(UTC))
    print("started")
except AppendRefused as error:
    print("told", error)
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ledger"


def started(code, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def let_go(*processes):
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()


def test_eight_writers_lose_nothing_and_break_nothing(folder):
    Ledger.init(folder, ORIGIN, NOON)
    lock = (folder / ".lock").stat().st_ino
    writers = [started(WRITER, folder, writer, 25, 1) for writer in range(8)]
    let_go(*writers)
    acknowledged = {}
    for writer, process in enumerate(writers):
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        for line in out.splitlines():
            seq, n = map(int, line.split())
            assert seq not in acknowledged
            acknowledged[seq] = (writer, n)
    entries = list(Ledger.open(folder).entries())
    assert Ledger.open(folder).verify().size == 201
    assert {e.seq: (e.body["writer"], e.body["n"]) for e in entries[1:]} == acknowledged
    for writer in range(8):
        assert [n for _, (w, n) in sorted(acknowledged.items()) if w == writer] == list(range(25))
    assert (folder / ".lock").stat().st_ino == lock


def test_init_at_the_same_time_makes_one_ledger_and_tells_the_other(folder):
    for attempt in range(5):
        place = folder / str(attempt)
        both = [started(INIT, place, f"example.com/{name}") for name in "ab"]
        let_go(*both)
        said = [process.communicate(timeout=30)[0] for process in both]
        assert sorted(text.split()[0] for text in said) == ["started", "told"]
        winner = "ab"[[text.startswith("started") for text in said].index(True)]
        head = Ledger.open(place).verify()
        assert (head.size, head.origin) == (1, f"example.com/{winner}")


@pytest.mark.parametrize("batch", [1, 64])
def test_killed_at_any_moment_a_writer_leaves_every_acknowledged_entry(folder, batch):
    Ledger.init(folder, ORIGIN, NOON)
    chance = random.Random(batch)
    size = 1
    for attempt in range(12):
        process = started(WRITER, folder, attempt, 1_000_000, batch)
        let_go(process)
        first = os.read(process.stdout.fileno(), 1)
        time.sleep(chance.uniform(0, 0.03))
        os.kill(process.pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=30)
        # The last line may be cut: what it tells was not heard.
        whole = (first.decode() + out).rpartition("\n")[0]
        acknowledged = [tuple(map(int, line.split())) for line in whole.splitlines()]
        ledger = Ledger.open(folder)
        audit = ledger.audit()
        assert audit.head.size >= size + len(acknowledged)
        entries = {entry.seq: entry for entry in ledger.entries()}
        for seq, n in acknowledged:
            assert (entries[seq].body["writer"], entries[seq].body["n"]) == (attempt, n)
        size = audit.head.size
    assert Ledger.open(folder).append("breach", {}, NOON).seq == size


def test_a_writer_that_was_stopped_holds_up_nobody_for_ever(folder):
    Ledger.init(folder, ORIGIN, NOON)
    process = started(WRITER, folder, 0, 1_000_000, 1)
    let_go(process)
    process.stdout.readline()
    os.kill(process.pid, signal.SIGSTOP)
    try:
        # Stopped at some moment of an append or between two; either way the readers go on.
        assert Ledger.open(folder).audit(strict=False).head.size > 1
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
    size = Ledger.open(folder).verify(strict=False).size
    assert Ledger.open(folder).append("breach", {}, NOON).seq == size


SEQUENCE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from aal_engine.service.sequence import sequence
print("ready", flush=True)
sys.stdin.readline()
sequence(Path(sys.argv[1]), now=datetime.now(UTC))
"""


def test_killed_at_any_moment_putting_pending_records_in_order_loses_and_doubles_none(folder):
    Ledger.init(folder, ORIGIN, NOON)
    waits = {breach(n, check=f"check-{n}").id for n in range(60)}
    for n in range(60):
        pend(folder, "breach", [breach(n, check=f"check-{n}").body()], NOON)
    chance = random.Random(7)
    for _ in range(5):
        process = started(SEQUENCE, folder)
        let_go(process)
        time.sleep(chance.uniform(0, 0.15))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        assert Ledger.open(folder).audit(meaning=Replay()).head.size >= 1
    sequence(folder, now=NOON)
    recorded = [entry.body["incident"] for entry in Ledger.open(folder).entries() if entry.seq]
    assert sorted(recorded) == sorted(waits)
    assert waiting(folder) == {}
