"""CPU of each view of the page over a ledger of 100,000 eval records, first and later pages.

python tests/bench/page.py [RECORDS]
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from specimen import policy, record
from starlette.testclient import TestClient

from aal_engine.api.app import create_app
from aal_engine.api.page import page_wing
from aal_engine.decide.body import bodies
from aal_engine.decide.gate import decide
from aal_engine.decide.question import Question
from aal_engine.service.results import Results
from aal_engine.store.ledger import Ledger

FAMILIES = ("claude", "gemini", "gpt", "mistral")
START = datetime(2026, 1, 1, tzinfo=UTC)
AGENTS = 40
BATCH = 500
TIMES = 20


def write(folder: Path, decisions: int) -> None:
    """Append one decision many times, each under a name, version and digest of its own."""
    records = [record(kind, name, "1") for name in FAMILIES for kind in ("retrieval", "answers")]
    asked = Question(records, None, policy(families=FAMILIES, first_release="allow"), None)
    body = bodies(decide(asked, at="2026-01-01T00:00:00.000Z", engine="aal-engine@0"))[0]
    Ledger.init(folder, "example.com/ledger", START)
    ledger = Ledger.open(folder)
    for first in range(0, decisions, BATCH):
        made = [
            {
                **body,
                "agent": f"agent-{n % AGENTS:02}",
                "version": f"1.{n}.0",
                "decision": sha256(str(n).encode()).hexdigest(),
            }
            for n in range(first, min(first + BATCH, decisions))
        ]
        ledger.append_all("decision", made, START + timedelta(minutes=first))


def cpu(client: TestClient, path: str) -> tuple[float, str]:
    """Return the mean CPU milliseconds of a page, and its text."""
    text = client.get(path).text
    begun = time.process_time()
    for _ in range(TIMES):
        assert client.get(path).status_code == 200
    return (time.process_time() - begun) / TIMES * 1000, text


def later(text: str) -> str:
    """Return the address of the next page."""
    return re.search(r'rel="next" href="([^"]+)"', text)[1].replace("&amp;", "&")


def main(records: int = 100_000) -> None:
    """Write the ledger, read it once, and tell what each view costs."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "ledger"
        decisions = records // (2 * len(FAMILIES))
        write(folder, decisions)
        results = Results(folder)
        begun = time.process_time()
        results.head()
        print(
            f"{records} records, {decisions} decisions: indexed in {time.process_time() - begun:.1f} s"
        )
        digest = sha256(str(decisions // 2).encode()).hexdigest()
        with TestClient(create_app([page_wing(results, None)])) as client:
            for path in ("/", "/agent?agent=agent-07&pack=support", "/decisions", "/ledger"):
                first, text = cpu(client, path)
                after, _ = cpu(client, later(text))
                print(f"{path:40} first page {first:5.1f} ms, next {after:5.1f} ms")
            deep, _ = cpu(client, f"/decisions?before={decisions // 10}")
            print(f"{'/decisions, far back':40} {deep:16.1f} ms")
            one, _ = cpu(client, f"/decisions/{digest}")
            print(f"{'/decisions/{digest}':40} {one:16.1f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
