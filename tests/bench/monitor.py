"""What the online monitor costs, and how often its rate rules fire.

    python tests/bench/monitor.py speed [SECONDS]     # tail, sample 100%, check, count, commit
    python tests/bench/monitor.py rates [RUNS]        # false fires, and samples until a true one

`speed` writes outputs of 2 KB to a log and follows it on one core, as `aal monitor` does, with the
handbook's pack and twenty stop rules more. Of the answers, the shares given here cite several
passages at once, are numbered lists, or hold a word of a rule, which is examined in full.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import sys
import tempfile
import time
from contextlib import closing
from math import log
from pathlib import Path

from aal_engine.decide.evidence import Evidence, counted, wilson
from aal_engine.decide.monitoring import Monitoring
from aal_engine.decide.policy import Policy
from aal_engine.decide.sampling import SENSITIVITIES, sampling_from
from aal_engine.service.monitor import OnlineMonitor
from aal_engine.store.monitor_state import MonitorState
from aal_engine.store.tail import Tail

ROOT = Path(__file__).resolve().parents[2]
BYTES = 2_048
ROUND = 20_000
ALPHA = 0.05
SAMPLES = 5_000


def outputs(count: int, start: int) -> list[bytes]:
    """Recorded answers of the handbook's agent that break no rule, as lines of 2 KB."""
    path = ROOT / "golden_sets" / "handbook" / "runs" / "1.0.0.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lines = []
    for n in range(start, start + count):
        row = rows[n % len(rows)]
        told = {
            "trace_id": f"trace-{n:012}",
            "agent": "docs-agent",
            "version": "1.0.0",
            "model_family": row["model_family"],
            "retrieved": [{"doc_id": p["doc_id"], "score": p["score"]} for p in row["retrieved"]],
            "answer": row["answer"],
        }
        bare = json.dumps(told)
        told["prompt"] = "x" * max(BYTES - len(bare) - 14, 0)
        lines.append(json.dumps(told).encode())
    return lines


def pack(folder: Path) -> Path:
    """The handbook's declaration with twenty rules more."""
    text = (ROOT / "golden_sets" / "handbook" / "pack.yaml").read_text()
    rules = [
        f"  - {{id: phrase-{n}, forbid: {{phrase: unwarranted promise number {n}}}}}"
        for n in range(14)
    ]
    rules += [
        f"  - {{id: pattern-{n}, forbid: {{regex: 'guarante(e|ed) outcome {n}'}}, allow: 0.01}}"
        for n in range(5)
    ]
    rules += ["  - {id: range, within: {unit: '%', min: 0, max: 100}, beside: surcharge}"]
    (folder / "pack.yaml").write_text(text.replace("suites:", "\n".join(rules) + "\n\nsuites:"))
    return folder


def memory() -> float:
    """Resident memory now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def speed(seconds: float) -> None:
    shares = sampling_from(dict.fromkeys(SENSITIVITIES, [100.0] * 4))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log_file = folder / "out.jsonl"
        with closing(MonitorState(folder / "state")) as state:
            monitor = OnlineMonitor(
                pack(folder),
                Policy(families=("a",), monitoring=Monitoring("salt", shares)),
                responder=None, state=state, clock=time.time, tell=print,
            )  # fmt: skip
            tail = Tail(log_file)
            done, cpu, wall, each, size = 0, 0.0, 0.0, [], 0
            while wall < seconds:
                lines = outputs(ROUND, done)
                size += sum(map(len, lines))
                with log_file.open("ab") as file:
                    file.writelines(line + b"\n" for line in lines)
                used, began = time.process_time(), time.perf_counter()
                while (chunk := tail.read()) is not None:
                    monitor.take(chunk.lines)
                    monitor.commit(tail.positions())
                cpu += time.process_time() - used
                wall += time.perf_counter() - began
                done += ROUND
                each.append(memory())
                log_file.rename(folder / f"out.jsonl.{done}")
                for old in sorted(folder.glob("out.jsonl.*"), key=lambda p: p.stat().st_mtime)[:-2]:
                    old.unlink()
            assert monitor.totals.drawn == done
            assert {r.measured for r in monitor.readings()} == {done}
            state_bytes = sum(path.stat().st_size for path in (folder / "state").iterdir())
    print(
        f"{done:,} outputs of {size / done:,.0f} bytes, all drawn and checked by {len(monitor.rules.checks)} checks, over {done // ROUND} rotations"
    )
    print(
        f"{done / cpu:,.0f} outputs per second of CPU, {done / wall:,.0f} per second of wall time"
    )
    quarter = max(len(each) // 4, 1)
    print(
        f"resident memory: {each[0]:.0f} MB after the first {ROUND:,}, {statistics.mean(each[-quarter:]):.0f} MB in the last quarter, {max(each):.0f} MB at most; state on disk {state_bytes / 1e6:.1f} MB"
    )


def fires(allowed: float, true: float, samples: int, draw: random.Random) -> int | None:
    """Return after how many samples the rule fires, looked at after each; None if it does not."""
    evidence = Evidence()
    for n in range(1, samples + 1):
        hit = draw.random() < true
        evidence = counted(evidence, hit=hit)
        if hit and evidence.log_value(allowed) >= log(1 / ALPHA):
            return n
    return None


def wilson_fires(allowed: float, samples: int, draw: random.Random) -> bool:
    hits = 0
    for n in range(1, samples + 1):
        hit = draw.random() < allowed
        hits += hit
        if hit and wilson(hits, n)[0] > allowed:
            return True
    return False


def rates(runs: int) -> None:
    print(
        f"alert budget {ALPHA}, {runs:,} runs of {SAMPLES:,} samples, looked at after every sample"
    )
    for allowed in (0.005, 0.01, 0.02, 0.05):
        draw = random.Random(int(allowed * 10_000))
        false = sum(fires(allowed, allowed, SAMPLES, draw) is not None for _ in range(runs))
        interval = sum(wilson_fires(allowed, SAMPLES, draw) for _ in range(runs))
        found = [fires(allowed, 5 * allowed, 10 * SAMPLES, draw) for _ in range(runs)]
        missed = sum(n is None for n in found)
        median = statistics.median(n or 10 * SAMPLES for n in found)
        print(
            f"allowed {allowed:.3f}: {false / runs:.1%} false fires (a Wilson interval: "
            f"{interval / runs:.1%}); at five times the rate it fires after {median:.0f} samples "
            f"in the median, missed {missed}"
        )
        assert false / runs <= ALPHA


if __name__ == "__main__":
    what, *more = [*sys.argv[1:], "speed"][: max(len(sys.argv) - 1, 1)]
    if what == "rates":
        rates(int(more[0]) if more else 1_000)
    else:
        speed(float(more[0]) if more else 30.0)
