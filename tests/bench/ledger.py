"""What the ledger costs, beside the least that the machine allows.

Verifying is held against openssl's SHA-256 of the same bytes, appending against a raw write and
fsync of the same line. Run: `python tests/bench/ledger.py [ENTRIES]`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from aal_engine.store.ledger import Ledger

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ROUNDS = 5
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


def best(act: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the shortest of several times, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return min(times)


def openssl(paths: list[Path]) -> float:
    """Return how long openssl takes to hash files, without its start."""

    def hashed(files: list[Path]) -> Callable[[], object]:
        return lambda: subprocess.run(
            ["openssl", "dgst", "-sha256", *map(str, files)], check=True, capture_output=True
        )

    return best(hashed(paths)) - best(hashed([Path(os.devnull)]))


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
        row("verify", best(lambda: ledger.verify(strict=False)) / size, floor, "4x")
        row("verify, strict", best(ledger.verify) / size, floor, "20x")

        raw = os.open(Path(name) / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def written(data: bytes, times: int) -> Callable[[], object]:
            return lambda: [(os.write(raw, data), os.fsync(raw)) for _ in range(times)]

        one = best(written(line, 100)) / 100
        row(
            "append",
            best(lambda: [ledger.append("key", BODY, NOW) for _ in range(100)]) / 100,
            one,
            "2.5x",
        )
        many = best(written(line * 128, 10)) / 10
        row(
            "append 128 at once",
            best(lambda: [ledger.append_all("key", [BODY] * 128, NOW) for _ in range(10)]) / 10,
            many,
            "2x",
        )
        new = ledger.verify().size - old.size
        seconds = best(lambda: Ledger.open(folder).audit(trusted=old))
        print(f"incremental audit of {new:,} new entries: {seconds:.3f} s")
        os.close(raw)


if __name__ == "__main__":
    main()
