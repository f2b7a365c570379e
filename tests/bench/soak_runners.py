"""Soak six runner processes, stopped, continued and killed at random; print what it came to.

`python tests/bench/soak_runners.py --seconds 300 [--database postgresql://…] [--fan-out]`

Without a database a SQLite file in a temporary folder is used. A database that is named must be
empty. Exits 1 where anything is there twice, or a row, a reward or a unit is lost.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fault.runners import REWARD, doubled, soak

from aal_engine.registry.db.database import connect, migrate


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--database")
    parser.add_argument("--fan-out", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = said.database or f"{folder}/registry.db"
        database = connect(url)
        migrate(database)
        soaked = soak(
            database, url, seconds=said.seconds, fan_out=said.fan_out, seed=said.seed, kill=True
        )
        twice = doubled(database)
        database.close()
    for each in fields(soaked):
        value = getattr(soaked, each.name)
        print(f"{each.name}: {dict(value) if isinstance(value, dict) else value}")
    print(f"there twice: {twice}")
    done = soaked.states.get("done", 0)
    whole = (soaked.results, soaked.rewards) == (2 * done, done)
    print(f"treasury: {soaked.rewards * REWARD} units paid, the sum is 0")
    return 0 if whole and not any(twice.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
