"""What readers of a large ledger wait for: its index built, loaded, caught up, and asked.

Run: `python tests/bench/ledger_index.py [ENTRIES]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from aal_engine.service.ledger_reader import Filters, LedgerReader
from aal_engine.store.ledger import Ledger

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def body(n: int) -> dict[str, object]:
    """Return a decision of two records."""
    records = [
        {
            "kind": "answers",
            "suite": "core",
            "model_family": family,
            "passed": n % 3 > 0,
            "record": f"{n:063x}{place}",
            "metrics": {f"metric_{m}": [0.75 + m / 100, 40] for m in range(12)},
        }
        for place, family in enumerate(("claude", "gpt"))
    ]
    return {
        "agent": f"agent-{n % 50}",
        "pack": f"pack-{n % 7}",
        "version": f"1.{n}.0",
        "verdict": "released" if n % 3 else "blocked",
        "decision": f"{n:064x}",
        "part": [1, 1],
        "records": records,
    }


def told(what: str, act: Callable[[], object]) -> object:
    """Print the CPU time of an act."""
    start = time.process_time()
    result = act()
    print(f"{what:<44} {(time.process_time() - start) * 1e3:>9,.1f} ms")
    return result


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name) / "ledger"
        ledger = Ledger.open(folder, create=True)
        for start in range(0, count, 2_000):
            ledger.append_all("decision", [body(n) for n in range(start, start + 2_000)], NOW)
        reader = LedgerReader(folder)
        told(f"{count:,} entries: built from nothing", reader.head)
        size = (folder / "cache/index").stat().st_size
        print(f"{'the file':<44} {size / 2**20:>9,.1f} MiB")
        other = told("loaded by another process", lambda: LedgerReader(folder))
        assert isinstance(other, LedgerReader)
        ledger.append_all("decision", [body(count + n) for n in range(100)], NOW)
        told("caught up with 100 new entries", other.head)
        asked = Filters(pack="pack-3", family="gpt")
        page = other.evals(asked)
        told("a page of 50 evals by pack and family", lambda: other.evals(asked))
        for _ in range(200):
            page = other.evals(asked, before=page[-1].key)
        told("the same, 200 pages on", lambda: other.evals(asked, before=page[-1].key))
        told("a page of 50 decisions", lambda: other.decisions(Filters(agent="agent-7")))
        digest = Filters(decision=f"{7:064x}")
        told("one decision by digest", lambda: other.decisions(digest))


if __name__ == "__main__":
    main()
