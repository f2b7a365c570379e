"""The leaderboard over many result rows, on either database.

`python tests/bench/leaderboard.py sqlite|postgresql [ROWS]`: fills a fresh database with ROWS
results (5,000,000) of 10,000 agents in five suites, rebuilds the standings from them, compares the
leaderboard with a full GROUP BY, and times the reads as the HTTP door calls them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from postgres import running
from sqlalchemy import text

from aal_engine.registry import admin, read
from aal_engine.registry.office import Office, open_office

AGENTS, SUITES = 10_000, 5
NOW = datetime(2026, 7, 16, tzinfo=UTC)
SERIES = {
    "sqlite": "WITH RECURSIVE s(i) AS (SELECT {a} UNION ALL SELECT i + 1 FROM s WHERE i < {b})",
    "postgresql": "WITH s(i) AS (SELECT generate_series({a}::bigint, {b}))",
}
# Of uneven luck, so that means, volumes and ties are all there: an agent's chance is its number's.
ROWS = f"""
INSERT INTO results (run_id, suite_id, agent_id, task_id, score, passed, latency_ms, at)
{{series}}
SELECT 'run' || i, i % {SUITES} + 1, i / 7 % {AGENTS} + 1, 1,
  CASE WHEN i * 7919 % 1000 < i / 7 % {AGENTS} % 100 * 10 THEN 1000000 ELSE i % 3 * 250000 END,
  i % 2 = 0, i % 900, 1784000000000 + i
FROM s
"""
GROUPED = """
SELECT did, count(*) AS n, sum(score) AS total, max(at) AS last_at
FROM results JOIN agents ON agents.id = agent_id {where}
GROUP BY did ORDER BY CAST(sum(score) AS DOUBLE PRECISION) / (count(*) * 1000000.0) DESC,
  n DESC, did LIMIT 100
"""


@contextmanager
def opened(kind: str) -> Iterator[Office]:
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            office = open_office(str(Path(folder) / "r.db"), enabled=True, prepare=True)
            yield office
            office.close()
        else:
            with running() as cluster:
                office = open_office(cluster.database(), enabled=True, prepare=True)
                yield office
                office.close()


def fill(office: Office, kind: str, rows: int) -> None:
    for number in range(SUITES):
        admin.put_suite(office, {"key": f"s{number}", "name": "S", "enabled": True}, now=NOW)
    with office.database.write() as connection:
        connection.execute(
            text("INSERT INTO agents (did, active, registered_at) VALUES (:did, true, 0)"),
            [{"did": f"did:web:{n:05d}.example"} for n in range(AGENTS)],
        )
    step = 500_000
    for start in range(0, rows, step):
        series = SERIES[kind].format(a=start, b=min(start + step, rows) - 1)
        with office.database.write() as connection:
            connection.exec_driver_sql(ROWS.format(series=series).replace("%", "%%")
                                       if kind == "postgresql" else ROWS.format(series=series))  # fmt: skip
    with office.database.engine.connect().execution_options(
        isolation_level="AUTOCOMMIT"
    ) as connection:
        connection.exec_driver_sql("ANALYZE")


def same(office: Office, key: str | None) -> bool:
    where = "" if key is None else f"WHERE suite_id = {int(key[1:]) + 1}"
    with office.database.read() as connection:
        grouped = connection.exec_driver_sql(GROUPED.format(where=where)).all()
    board = read.leaderboard(office, key=key, limit=100, now=NOW)
    counted = [(did, n, float(total) / (n * 1e6)) for did, n, total, _ in grouped]
    return [(row["did"], row["runs"], row["mean"]) for row in board] == counted


def timed(what: str, act: Callable[[], object], times: int = 200) -> None:
    act()
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        act()
        taken.append((time.perf_counter() - begun) * 1000)
    taken.sort()
    median, late = statistics.median(taken), taken[int(times * 0.99)]
    print(f"  {what:42} median {median:6.2f} ms   99th percentile {late:6.2f} ms")


def main() -> None:
    kind, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    with opened(kind) as office:
        begun = time.perf_counter()
        fill(office, kind, rows)
        print(f"{kind}: {rows:,} rows in {time.perf_counter() - begun:.0f} s")
        begun = time.perf_counter()
        mended = len(admin.rebuild(office))
        print(f"  {mended:,} standings rebuilt in {time.perf_counter() - begun:.1f} s")
        print(f"  equal to GROUP BY: {all(same(office, key) for key in (None, 's0', 's4'))}")
        print(f"  audit finds {len(admin.audit(office))} differences")
        did = "did:web:00042.example"
        timed("leaderboard, limit 25",
              lambda: read.leaderboard(office, key=None, limit=25, now=NOW))  # fmt: skip
        timed("leaderboard, limit 100",
              lambda: read.leaderboard(office, key=None, limit=100, now=NOW))  # fmt: skip
        timed("leaderboard of a suite, limit 100",
              lambda: read.leaderboard(office, key="s3", limit=100, now=NOW))  # fmt: skip
        timed("an agent's results, limit 100", lambda: read.results(office, did, limit=100))
        timed("candidates, bound 0.85, 100 of them", lambda: read.candidates(
            office, key="s3", bound=0.85, runs=50, age=None, limit=100, now=NOW))  # fmt: skip


if __name__ == "__main__":
    main()
