"""Probing over TLS: tasks a CPU second of the examiner, five tasks a connection.

`python tests/bench/bench_probe.py [--agents 200] [--parallel 16]`

The agents are served by another process on loopback, under a certificate of an authority made here;
its CPU time is not counted. Every exam is a connection of its own, with one TLS handshake.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from registry.authority import Authority, make
from registry.stranger import answer, claim_of, limits, stranger

from aal_engine.registry.run import examiner

TASKS = 5
NAME = "agents.example"


def serve(folder: Path) -> None:
    """Serve agents until standard input is closed."""
    authority: Authority = make(folder)
    with stranger({"/": answer(b"pong" * 50)}, authority.server(NAME)) as server:
        print(server.port, flush=True)
        sys.stdin.read()


async def probe(folder: Path, port: int, agents: int, parallel: int) -> None:
    async def resolve(host: str, timeout: float) -> list[str]:
        return ["127.0.0.1"]

    claim = claim_of(
        {"url": f"https://{NAME}:{port}"}, ["/"] * TASKS, scorer="contains", expected="pong"
    )
    places = asyncio.Semaphore(parallel)
    bounds = limits(ca_file=str(folder / "ca.pem"))
    async with examiner(bounds, parallel=parallel, resolver=resolve) as examining:

        async def one() -> list[int]:
            async with places:
                outcomes = await examining.examine(claim)
            assert all(outcome.passed for outcome in outcomes), outcomes
            return [outcome.latency_ms or 0 for outcome in outcomes]

        await asyncio.gather(*(one() for _ in range(parallel)))
        began, cpu = time.perf_counter(), time.process_time()
        exams = await asyncio.gather(*(one() for _ in range(agents)))
        spent, wall = time.process_time() - cpu, time.perf_counter() - began
    latencies = sorted(latency for exam in exams for latency in exam)
    tasks = agents * TASKS
    print(f"{tasks} tasks, {agents} TLS connections, {parallel} at once")
    print(f"{tasks / spent:.0f} tasks a CPU second, {tasks / wall:.0f} a second of wall time")
    print(f"latency: median {latencies[tasks // 2]} ms, p99 {latencies[tasks * 99 // 100]} ms")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--parallel", type=int, default=16)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.serve is not None:
        serve(said.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--serve", folder]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline())
            asyncio.run(probe(Path(folder), port, said.agents, said.parallel))
        finally:
            server.stdin.close()
            server.wait(10)


if __name__ == "__main__":
    main()
