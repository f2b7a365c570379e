"""CPU time of a whole gate process: 225 cases, four model families, per-case tables at hand.

    python tests/bench/gate.py [--runs 9]

Prints the median user + system seconds of the gate, of `import numpy, pyarrow` alone, and the
difference, each process in turn with the other.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from aal_engine.measure.metric import ANSWER_METRICS, DEFAULT_RETRIEVAL_METRICS, METRICS
from aal_engine.measure.record import summarise
from aal_engine.measure.table import Source, case_table
from aal_engine.store.record import written
from aal_engine.store.table import save_table

CASES = 225
FAMILIES = ("claude", "gpt", "llama", "mistral")
SLICES = tuple(enumerate(("billing", "hard", "fr")))
AT = "2026-01-31T09:30:00.000Z"
COUNTS = ("invented_citations", "forbidden_claims")


def lay(folder: Path, version: str, seed: int) -> None:
    """Write records and tables of a version whose metrics are drawn around one level."""
    rng = np.random.default_rng(seed)
    made = {"retrieval": [], "answers": []}
    for kind, names in (("retrieval", DEFAULT_RETRIEVAL_METRICS), ("answers", ANSWER_METRICS)):
        for family in FAMILIES:
            metrics = {}
            for name in names:
                values = rng.beta(4, 2, CASES)
                entry = METRICS[name.partition("@")[0]]
                if entry.binary:
                    values = (values > 0.3).astype(np.float64)
                if entry.floor is not None:
                    values = np.full(CASES, float(entry.direction == "higher"))
                metrics[name] = values
            source = Source(
                kind, "bench", "agent", version, family, "core", "a" * 64, CASES, "b" * 64, "bench"
            )
            table = case_table(
                source,
                [f"case-{n:03}" for n in range(CASES)],
                ["c" * 64] * CASES,
                [1] * CASES,
                [False] * CASES,
                {name: [n % (2 + place) == 0 for n in range(CASES)] for place, name in SLICES},
                {name: [0] * CASES for name in COUNTS if kind == "answers"},
                metrics,
            )
            (folder / "tables").mkdir(exist_ok=True)
            save_table(table, folder / "tables")
            made[kind].append(summarise(table, AT))
    for kind, records in made.items():
        (folder / f"{kind}-{version}.json").write_text(written(records))


def cpu(folder: Path, *command: str) -> float:
    """Return the CPU seconds of a command, which may end with any code."""
    before = os.times()
    subprocess.run([sys.executable, *command], cwd=folder, stdout=subprocess.DEVNULL, check=False)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as name:
        folder = Path(name)
        for seed, version in enumerate(("1.0.0", "1.1.0")):
            lay(folder, version, seed)
        policy = folder / "policy.yaml"
        policy.write_text(
            f"model_families: {{allow: [{', '.join(FAMILIES)}]}}\nfirst_release: allow\n"
        )

        def gate(version: str, *more: str) -> list[str]:
            current = [f"{kind}-{version}.json" for kind in ("retrieval", "answers")]
            return [
                *("-m", "aal_engine.agent.gate", "--policy", "policy.yaml"),
                *(part for path in current for part in ("--current", path)),
                *more,
            ]

        cpu(folder, *gate("1.0.0", "--record", "last.json"))
        command = gate("1.1.0", "--baseline", "last.json", "--record", "decision.json")
        figures: dict[str, list[float]] = {"gate": [], "imports": []}
        for _ in range(runs + 1):
            figures["imports"].append(cpu(folder, "-c", "import numpy, pyarrow"))
            figures["gate"].append(cpu(folder, *command))
        if not (folder / "decision.json").is_file():
            sys.exit("the gate wrote no decision")
    whole, imports = (median(figures[name][1:]) for name in ("gate", "imports"))
    print(f"gate           {whole:.3f} s CPU")
    print(f"numpy, pyarrow {imports:.3f} s CPU")
    print(f"difference     {whole - imports:.3f} s CPU")


if __name__ == "__main__":
    main()
