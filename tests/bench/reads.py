"""The read API over a ledger of many records: CPU of a page, the first, a later one, one unchanged.

    pip install -e '.[serve,test]'
    python tests/bench/reads.py [--records 100000]

Every decision is the gate's, over two kinds of records of four model families. Prints milliseconds
of CPU: of the whole server's first look at the ledger, and the median and the most of each page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from api.scene import Scene

from aal_engine.api.app import create_app
from aal_engine.api.evals import results_wing
from aal_engine.service.results import Results

FAMILIES = ("claude", "gemini", "gpt", "llama")
PER_DECISION = 2 * len(FAMILIES)
TIMES = 30


def spent(act: Callable[[], object]) -> float:
    """Return the milliseconds of CPU that an act takes."""
    start = process_time()
    act()
    return 1e3 * (process_time() - start)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=100_000)
    records = parser.parse_args().records
    with TemporaryDirectory() as name:
        scene = Scene(Path(name) / "ledger")
        for number in range(records // PER_DECISION):
            scene.decide(f"1.{number}.0", agent=f"agent-{number % 50}", families=FAMILIES)
        with TestClient(create_app([results_wing(Results(scene.folder), None)])) as client:
            print(f"{records} records, {records // PER_DECISION} decisions")
            print(f"first look: {spent(lambda: client.get('/api/v1/releases?limit=1')):.0f} ms")
            for path in ("/api/v1/evals", "/api/v1/evals?family=gpt", "/api/v1/releases"):
                measure(client, path)


def measure(client: TestClient, path: str) -> None:
    """Print what pages of a list take, following it by its cursors."""
    page = client.get(path)
    tag = {"If-None-Match": page.headers["etag"]}
    later, joint = [], "&" if "?" in path else "?"
    for _ in range(TIMES):
        cursor = page.json()["next_cursor"]
        asked = path if cursor is None else f"{path}{joint}cursor={cursor}"
        later.append(spent(lambda asked=asked: client.get(asked)))
        page = client.get(asked)
    figures = {
        "first": [spent(lambda: client.get(path)) for _ in range(TIMES)],
        "later": later,
        "unchanged": [spent(lambda: client.get(path, headers=tag)) for _ in range(TIMES)],
    }
    told = (f"{name} {median(each):.1f} (most {max(each):.1f})" for name, each in figures.items())
    print(f"{path}: {', '.join(told)} ms")


if __name__ == "__main__":
    main()
