"""EigenTrust: how much each peer is trusted by all, from how much each trusts some.

Kamvar, Schlosser and Garcia-Molina (2003): `t = (1 - a) C^T t + a p`, where row i of C is how peer i
shares out its trust, and p is whom everybody trusts beforehand. Self-trust is dropped and negative
trust counts 0. A row without trust left is p, so no trust leaks; peers that nothing reaches from p
have trust 0, however much they praise each other: an island of strangers stays at sea.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aal_engine.errors import InputError
from aal_engine.registry.model.agent import ORACLE

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

RESTART = 0.15
"""The share `a` of trust that comes from p alone."""

PRETRUSTED: Mapping[str, float] = {ORACLE: 1.0}
"""Whom everybody trusts beforehand. Without the oracle here its edges move nothing."""

PRECISION = 1e-12
"""Iteration ends when the distance that is left, in the sum over all peers, is below this."""

MAX_ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class Graph:
    """Peers by number: edge k goes from `sources[k]` to `targets[k]`; all three of shape (E,)."""

    peers: tuple[str, ...]
    sources: IntArray
    targets: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Trust:
    """Each peer's trust, of shape (P,), summing to 1; how many rounds it took."""

    peers: tuple[str, ...]
    scores: FloatArray
    rounds: int


def graph(edges: Iterable[tuple[str, str, float]], also: Iterable[str] = ()) -> Graph:
    """Number the peers of some edges, and of `also`, in the order of their names."""
    listed = list(edges)
    peers = sorted({s for s, _, _ in listed} | {t for _, t, _ in listed} | set(also))
    number = {peer: n for n, peer in enumerate(peers)}
    return Graph(
        tuple(peers),
        np.array([number[s] for s, _, _ in listed], dtype=np.int64),
        np.array([number[t] for _, t, _ in listed], dtype=np.int64),
        np.array([value for _, _, value in listed], dtype=np.float64),
    )


def eigentrust(
    edges: Graph, pretrusted: Mapping[str, float] = PRETRUSTED, restart: float = RESTART
) -> Trust:
    """Return the trust of every peer.

    It is within PRECISION of the fixed point, in the sum over peers, or as near as MAX_ROUNDS come.

    `restart` is in (0, 1]; `pretrusted` are weights above 0 of any sum. Whoever is pre-trusted and
    not among the peers is left out; where that leaves nobody, every peer is pre-trusted alike.

    Raises:
        InputError: `restart` or a weight is out of its range, or an edge's value is not finite.

    >>> line = graph([("a", "b", 1.0)])
    >>> eigentrust(line, {"a": 1.0}, 0.1).scores.round(6).tolist()
    [0.526316, 0.473684]
    """
    if not 0 < restart <= 1:
        raise InputError.at("not in (0, 1]", field="restart")
    if not all(0 < weight < float("inf") for weight in pretrusted.values()):
        raise InputError.at("a weight is not above 0 and finite", field="pretrusted")
    if not np.isfinite(edges.values).all():
        raise InputError.at("an edge's value is not finite", field="value")
    count = len(edges.peers)
    if count == 0:
        return Trust((), np.zeros(0), 0)
    p = _distribution(edges.peers, pretrusted)
    sources, targets, shares = _rows(edges)
    starts, heads = _groups(targets)
    t = p.copy()
    rounds, moved = 0, np.inf
    # Each round brings the fixed point nearer by the factor (1 - a) at least.
    while rounds < MAX_ROUNDS and moved * (1 - restart) > PRECISION * restart:
        rounds += 1
        arriving = np.zeros(count)
        if heads.size:
            arriving[heads] = np.add.reduceat(shares * t[sources], starts)
        following = (1 - restart) * arriving
        # What did not arrive is the restart's share, and what peers hold whose row is p.
        following += (1 - following.sum()) * p
        moved = float(np.abs(following - t).sum())
        t = following
    return Trust(edges.peers, t, rounds)


def _distribution(peers: Sequence[str], pretrusted: Mapping[str, float]) -> FloatArray:
    weights = np.array([pretrusted.get(peer, 0.0) for peer in peers])
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(peers), 1 / len(peers))


def _rows(edges: Graph) -> tuple[IntArray, IntArray, FloatArray]:
    """Return sources, targets and shares of the edges that count, in the order of their targets."""
    kept = (edges.values > 0) & (edges.sources != edges.targets)
    sources, targets, values = edges.sources[kept], edges.targets[kept], edges.values[kept]
    # By the row's greatest first: a sum of values near the largest double would be infinite.
    greatest = np.zeros(len(edges.peers))
    np.maximum.at(greatest, sources, values)
    scaled = values / greatest[sources]
    totals = np.bincount(sources, scaled, minlength=len(edges.peers))
    order = np.argsort(targets, kind="stable")
    return sources[order], targets[order], (scaled / totals[sources])[order]


def _groups(targets: IntArray) -> tuple[IntArray, IntArray]:
    """Return where each target's edges begin in sorted targets, and which target that is."""
    if not targets.size:
        return targets, targets
    starts = np.flatnonzero(np.diff(targets, prepend=-1))
    return starts, targets[starts]
