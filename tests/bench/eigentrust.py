"""CPU seconds of EigenTrust: `python tests/bench/eigentrust.py [PEERS] [EDGES]`."""

from __future__ import annotations

import sys
import time

import numpy as np

from aal_engine.registry.trust import Graph, eigentrust


def drawn(peers: int, edges: int, kind: str) -> Graph:
    rng = np.random.default_rng(7)
    if kind == "random":
        targets = rng.integers(0, peers, edges)
    elif kind == "popular":  # A few are known to all.
        targets = (peers * rng.random(edges) ** 4).astype(np.int64)
    else:  # A ring: the slowest to settle.
        targets = (np.arange(edges) + 1 + rng.integers(0, 2, edges)) % peers
    sources = np.arange(edges) % peers if kind == "ring" else rng.integers(0, peers, edges)
    names = tuple(f"did:web:{n}.example" for n in range(peers))
    return Graph(names, sources, targets, rng.random(edges))


def main() -> None:
    peers, edges = (int(a) for a in (sys.argv[1:] or ["100000", "1000000"]))
    for kind in ("random", "popular", "ring"):
        graph = drawn(peers, edges, kind)
        pretrusted = {graph.peers[0]: 1.0}
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            found = eigentrust(graph, pretrusted)
            best = min(best, time.process_time() - begun)
        print(f"{kind:8} {peers:,} peers, {edges:,} edges: {best:.2f} s CPU, {found.rounds} rounds")


if __name__ == "__main__":
    main()
