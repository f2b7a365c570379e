"""What the ledger costs, beside the least that the machine allows.

Verifying is held against openssl's SHA-256 of the same bytes, appending against a raw write and
fsync of the same line. Run: `python tests/bench/ledger.py [ENTRIES]`.
"""

from __future__ import annotations

import hashlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing import Pool
from pathlib import Path

from aal_engine.decide.key import ED25519, SignerKey
from aal_engine.decide.ledger import Head, extend
from aal_engine.store.ledger import Ledger

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ROUNDS = 5
WRITERS = 8
BODY = {
    "agent": "desk",
    "pack": "handbook",
    "checks": [
        {"metric": f"metric_{n}", "baseline": 0.6623, "current": 0.6414, "tolerance": 0.05}
        for n in range(9)
    ],
    "evidence": [
        {"name": f"part-{n}.json", "digest": hashlib.sha256(bytes([n])).hexdigest()}
        for n in range(3)
    ],
    "version": "1.2.3",
}


def cpu(act: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the least of several CPU times, in seconds: what others run beside it counts little."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        act()
        times.append(time.process_time() - start)
    return min(times)


def wall(*acts: Callable[[], object], rounds: int = 60) -> list[float]:
    """Return the median time of each act, in seconds; they take turns, so the disk is the same."""
    times: list[list[float]] = [[] for _ in acts]
    for _ in range(rounds):
        for act, taken in zip(acts, times, strict=True):
            start = time.perf_counter()
            act()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def openssl(paths: list[Path]) -> float:
    """Return the CPU time that openssl takes to hash files, without its start."""

    def hashed(files: list[Path]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["openssl", "dgst", "-sha256", *map(str, files)]
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def least(files: list[Path]) -> float:
        return min(hashed(files) for _ in range(ROUNDS))

    return least(paths) - least([Path(os.devnull)])


def row(what: str, seconds: float, floor: float, goal: str) -> None:
    """Print one line of the table."""
    print(f"{what:<34} {seconds * 1e6:>10,.1f} us {seconds / floor:>8.1f}x   goal {goal}")


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name) / "ledger"
        ledger = Ledger.open(folder, create=True)
        for _ in range(count // 128):
            ledger.append_all("decision", [BODY] * 128, NOW)
        size = ledger.verify().size
        old = ledger.verify()
        line = list(ledger.lines())[-1] + b"\n"
        floor = openssl(sorted((folder / "log").iterdir())) / size
        print(f"{size:,} entries of {len(line)} bytes; openssl {floor * 1e6:.2f} us an entry")
        row("verify", cpu(lambda: ledger.verify(strict=False)) / size, floor, "4x")
        row("verify, strict", cpu(ledger.verify) / size, floor, "20x")
        taken = audited(folder, old)
        print(f"incremental audit of {taken[0]:,} new entries: {taken[1]:.3f} s")

        raw = os.open(Path(name) / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def written(data: bytes) -> Callable[[], object]:
            return lambda: (os.write(raw, data), os.fsync(raw))

        one, ours = wall(written(line), lambda: ledger.append("key", BODY, NOW))
        row("append", ours, one, "2.5x")
        head = ledger.verify()
        key = SignerKey(head.origin, ED25519, bytes(32))

        def signed() -> None:
            nonlocal head
            head = extend(head, ledger.append("key", BODY, NOW))
            ledger.sign([key], NOW, head)

        one, ours = wall(written(line), signed)
        row("append and checkpoint", ours, one, "4x")
        many, ours = wall(written(line * 128), lambda: ledger.append_all("key", [BODY] * 128, NOW))
        row("append 128 at once", ours, many, "2x")
        (one,) = wall(written(line))
        os.close(raw)
        with Pool(WRITERS) as pool:
            each = pool.map(latencies, [folder] * WRITERS)
        slow = statistics.quantiles([taken for one in each for taken in one], n=100)[98]
        Ledger.open(folder).verify(strict=False)
        row(f"{WRITERS} writers at once, p99", slow, one * WRITERS, "4x writers x write and sync")


def latencies(folder: Path) -> list[float]:
    """Append entries beside other writers; return how long each took, in seconds."""
    ledger = Ledger.open(folder)
    times = []
    for _ in range(50):
        start = time.perf_counter()
        ledger.append("key", BODY, NOW)
        times.append(time.perf_counter() - start)
    return times[1:]  # the first one reads all that is there


def audited(folder: Path, old: Head) -> tuple[int, float]:
    """Append 10,000 entries; return how many were new to an audit from a head, and its CPU time."""
    Ledger.open(folder).append_all("key", [BODY] * 10_000, NOW)
    new = Ledger.open(folder).audit(trusted=old).head.size - old.size
    return new, cpu(lambda: Ledger.open(folder).audit(trusted=old))


if __name__ == "__main__":
    main()
