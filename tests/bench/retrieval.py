"""This project and its peers on the same generated runs, each as a whole process in turn.

    pip install -e '.[bench]'
    python tests/bench/retrieval.py [--only S-text M-parquet …] [--peers duckdb …] [--runs 3]

S is 225 queries of 100 documents, M 6,980 of 1,000, L 50,000 of 1,000, as a TREC run and as
Parquet. This project is `aal evaluate`: it reads a pack, checks for documents listed twice, and
writes a table of cases and a record. A peer prints means. Each scorer is run once to warm the disk
and its caches, and then in turn with the others. Prints median seconds of wall clock and of CPU,
the peak of memory, and ratios to this project; stops where a peer's means differ.

One run and one pack are on disk at a time, 2 GB for L, and nothing is left there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import peers

# Nothing large is imported here: the peak of a process counts what it was forked from.

PRODUCT = "aal"
IMPORTS = "imports"
SIZES = {"S": (225, 100, 20), "M": (6_980, 1_000, 2), "L": (50_000, 1_000, 2)}
"""Queries, documents in the list of each, and judged documents of each."""
FORMS = {"text": "run.txt", "parquet": "run.parquet"}
WORKLOADS = tuple(f"{size}-{form}" for size in SIZES for form in FORMS)
COLLECTION = 2**23 - 15
"""Documents to draw from: a prime, so that each step through it meets every one once."""
AT_ONCE = 500
"""Queries that are made together."""
UNFIT = {("ranx", "L"), ("ir_measures", "L"), ("pytrec_eval", "L")}
"""Peers that take minutes and up to 16 GiB; they are run when `--peers` names them."""

PACK = """\
name: bench
agent: bench
autonomy: 0
sensitivity: public
suites:
  core: {{file: core.jsonl, kinds: [retrieval], metrics: [{metrics}]}}
"""


def lay(folder: Path, size: str, form: str) -> None:
    """Write a workload: a run, qrels, and the pack of the same judgments."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    queries, depth, judged = SIZES[size]
    rng = np.random.default_rng(20_260_101)
    (folder / "pack.yaml").write_text(
        PACK.format(metrics=", ".join(f'"{name}"' for name in peers.MEASURES))
    )
    names = ["query_id", "doc_id", "score"] if form == "parquet" else list(peers.TEXT_COLUMNS)
    kinds = {"score": pa.float64()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    path = folder / FORMS[form]
    text = pc.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    writer = (
        pq.ParquetWriter(path, schema)
        if form == "parquet"
        else pc.CSVWriter(path, schema, write_options=text)
    )
    with (
        writer,
        (folder / "qrels.txt").open("w") as qrels,
        (folder / "core.jsonl").open("w") as cases,
    ):
        for first in range(0, queries, AT_ONCE):
            ids = np.arange(first, min(first + AT_ONCE, queries)) + 1_000_000
            steps = rng.integers(1, COLLECTION, (ids.size, 1))
            starts = rng.integers(0, COLLECTION, (ids.size, 1))
            docs = (starts + steps * np.arange(depth + judged)) % COLLECTION
            scores = -np.sort(-rng.normal(20, 4, (ids.size, depth)).round(6))
            columns = {
                "query_id": np.repeat(ids, depth).astype(str),
                "q0": np.full(ids.size * depth, "Q0"),
                "doc_id": docs[:, :depth].ravel().astype(str),
                "place": np.tile(np.arange(1, depth + 1), ids.size).astype(str),
                "score": scores.ravel(),
                "tag": np.full(ids.size * depth, "bm25"),
            }
            writer.write_table(pa.table({name: columns[name] for name in names}, schema))
            # Judged documents stand mostly near the top; some are not in the list.
            places = np.minimum(rng.geometric(0.05, (ids.size, judged)) * 2, depth)
            places += np.arange(judged)
            grades = rng.integers(0, 3, (ids.size, judged))
            grades[:, 0] = np.maximum(grades[:, 0], 1)
            for query, listed, at, grade in zip(ids, docs, places, grades, strict=True):
                relevant = dict(
                    zip(listed[at - 1].astype(str).tolist(), grade.tolist(), strict=False)
                )
                qrels.writelines(f"{query} 0 {doc} {held}\n" for doc, held in relevant.items())
                case = {"id": str(query), "question": "?", "relevant": relevant}
                cases.write(json.dumps(case) + "\n")


class Spent(NamedTuple):
    """What a process took."""

    wall: float
    cpu: float
    mib: float


def spend(command: Sequence[str], folder: Path) -> tuple[Spent, str]:
    """Run a command and return what it took and what it printed."""
    with (folder / "printed").open("w+") as printed, (folder / "errors").open("w+") as errors:
        start = perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=printed, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{command[1:4]} failed:\n{errors.read()}")
        return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024), printed.read()


def commands(folder: Path, form: str, others: Sequence[str]) -> dict[str, list[str]]:
    """Return the command of each scorer, and of the imports that this project cannot do without."""
    run = FORMS[form]
    product = [
        *("-m", "aal_engine.agent.evaluate", "--pack", ".", "--run", run),
        *("--version", "1.0.0", "--out", "out", "--format", "json"),
    ]
    return {
        PRODUCT: [sys.executable, *product],
        IMPORTS: [sys.executable, "-c", "import numpy, pyarrow"],
        **{
            name: [sys.executable, str(Path(peers.__file__)), name, run, "qrels.txt"]
            for name in others
        },
    }


def means(scorer: str, printed: str) -> Mapping[str, float]:
    """Return the means that a scorer printed."""
    value = json.loads(printed)
    if scorer != PRODUCT:
        return value
    return {name: mean["value"] for name, mean in value["records"][0]["metrics"].items()}


def measure(size: str, form: str, others: Sequence[str], runs: int) -> dict[str, Spent]:
    """Lay a workload, run each scorer on it, and return the medians."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, __file__, "--lay", name, size, form], check=True)
        spent: dict[str, list[Spent]] = {}
        expected: Mapping[str, float] = {}
        for turn in range(runs + 1):
            for scorer, command in commands(folder, form, others).items():
                took, printed = spend(command, folder)
                if turn:
                    spent.setdefault(scorer, []).append(took)
                elif scorer != IMPORTS:
                    found = means(scorer, printed)
                    expected = expected or found
                    off = max(abs(found[name] - expected[name]) for name in peers.MEASURES)
                    # ranx orders equal scores as it likes, and there are a few.
                    if off > (1e-4 if scorer == "ranx" else 1e-9):
                        sys.exit(f"{scorer} is off by {off:.1e}")
    return {
        scorer: Spent(*(median(part) for part in zip(*took, strict=True)))
        for scorer, took in spent.items()
    }


def shown(workload: str, medians: Mapping[str, Spent]) -> str:
    """Return the lines of a workload."""
    own = medians[PRODUCT]
    lines = [f"{workload:<12}  wall s   CPU s      MiB   slower    memory"]
    for scorer, spent in medians.items():
        lines.append(
            f"  {scorer:<11} {spent.wall:6.2f}  {spent.cpu:6.2f}  {spent.mib:7.0f}"
            f"  {spent.wall / own.wall:6.2f}x  {spent.mib / own.mib:7.2f}x"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=WORKLOADS)
    parser.add_argument("--peers", nargs="*", choices=tuple(peers.PEERS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lay", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.lay:
        folder, size, form = asked.lay
        lay(Path(folder), size, form)
        return
    for workload in asked.only:
        size, form = workload.split("-")
        others = peers.PEERS if asked.peers is None else asked.peers
        others = [n for n in others if asked.peers is not None or (n, size) not in UNFIT]
        there = [name for name in others if find_spec(name) is not None]
        for name in others:
            if name not in there:
                print(f"{name} is not installed: pip install 'aal-engine[bench]'")
        print(shown(workload, measure(size, form, there, asked.runs)), flush=True)


if __name__ == "__main__":
    main()
