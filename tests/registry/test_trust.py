"""EigenTrust is exact on vectors computed as fractions, and keeps its promises on any graph."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.registry.model.agent import ORACLE
from aal_engine.registry.trust import MAX_ROUNDS, PRETRUSTED, eigentrust, graph

NAMES = st.sampled_from("abcdef")
EDGES = st.lists(st.tuples(NAMES, NAMES, st.floats(-5, 5)), max_size=30)


def trust_of(edges, pretrusted, restart, also=()):
    found = eigentrust(graph(edges, also), pretrusted, restart)
    return dict(zip(found.peers, found.scores.tolist(), strict=True))


def test_against_the_exact_vectors(shared):
    vectors = json.loads((shared / "data/registry/eigentrust_vectors.json").read_text())
    assert len(vectors) >= 18
    for vector in vectors:
        edges = [(s, t, float(Fraction(v))) for s, t, v in vector["edges"]]
        pretrusted = {peer: float(Fraction(w)) for peer, w in vector["pretrust"].items()}
        found = trust_of(edges, pretrusted, float(Fraction(vector["a"])), vector["peers"])
        for peer, exact in vector["exact"].items():
            assert abs(found[peer] - Fraction(exact)) < 1e-9, (vector["name"], peer)


def solved(edges, pretrusted, restart):
    """The same by Gaussian elimination, in fractions."""
    peers = sorted({s for s, _, _ in edges} | {t for _, t, _ in edges} | set(pretrusted))
    total = sum(map(Fraction, pretrusted.values()))
    p = [Fraction(pretrusted.get(peer, 0)) / total for peer in peers]
    rows = []
    for peer in peers:
        row = [
            sum((max(Fraction(v), 0) for s, t, v in edges if (s, t) == (peer, other)), Fraction())
            if other != peer
            else Fraction()
            for other in peers
        ]
        rows.append([each / sum(row) for each in row] if sum(row) else p)
    a, n = Fraction(restart), len(peers)
    left = [[(i == j) - (1 - a) * rows[j][i] for j in range(n)] + [a * p[i]] for i in range(n)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if left[r][i])
        left[i], left[pivot] = left[pivot], left[i]
        left[i] = [each / left[i][i] for each in left[i]]
        for r in range(n):
            if r != i:
                left[r] = [x - left[r][i] * y for x, y in zip(left[r], left[i], strict=True)]
    return {peer: left[i][n] for i, peer in enumerate(peers)}


@given(EDGES, st.dictionaries(NAMES, st.floats(0.25, 4), min_size=1), st.floats(0.05, 0.95))
def test_against_elimination_in_fractions(edges, pretrusted, restart):
    exact = solved(edges, pretrusted, restart)
    found = trust_of(edges, pretrusted, restart, pretrusted)
    assert found.keys() == exact.keys()
    assert all(abs(found[peer] - exact[peer]) < 1e-9 for peer in exact)


@given(EDGES, st.floats(0.05, 1))
def test_trust_is_a_distribution(edges, restart):
    found = trust_of(edges, {"a": 1.0}, restart, also=["a"])
    assert abs(sum(found.values()) - 1) < 1e-9
    assert min(found.values()) >= 0


def test_a_second_edge_between_two_peers_adds_up():
    twice = trust_of([("a", "b", 1.0), ("a", "b", 2.0), ("a", "c", 1.0)], {"a": 1.0}, 0.2)
    once = trust_of([("a", "b", 3.0), ("a", "c", 1.0)], {"a": 1.0}, 0.2)
    assert twice == pytest.approx(once)


def test_values_near_the_largest_double_do_not_overflow():
    found = trust_of([("a", "b", 1e308), ("a", "c", 1e308)], {"a": 1.0}, 0.2)
    assert found["b"] == pytest.approx(found["c"])
    assert found["b"] > 0.1


def test_the_oracle_is_pretrusted_unless_said_otherwise():
    edges = [(ORACLE, "good", 1.0), (ORACLE, "fair", 0.5)]
    found = trust_of(edges, PRETRUSTED, 0.15, PRETRUSTED)
    assert found["good"] == pytest.approx(2 * found["fair"])
    assert found["fair"] > 0.1
    unheard = trust_of(edges, {"good": 1.0}, 0.15)
    assert unheard == {"good": 1.0, "fair": 0.0, ORACLE: 0.0}


def test_nobody_is_no_trust():
    assert eigentrust(graph([])).scores.tolist() == []


def test_a_restart_of_one_is_the_pretrusted_alone():
    assert trust_of([("a", "b", 1.0)], {"a": 1.0}, 1.0) == {"a": 1.0, "b": 0.0}


def test_rounds_are_bounded():
    found = eigentrust(graph([("a", "b", 1.0), ("b", "a", 1.0)]), {"a": 1.0}, 1e-9)
    assert found.rounds == MAX_ROUNDS


@pytest.mark.parametrize("restart", [0.0, -0.1, 1.1, float("nan")])
def test_a_restart_out_of_range_is_refused(restart):
    with pytest.raises(InputError, match="restart"):
        eigentrust(graph([("a", "b", 1.0)]), {"a": 1.0}, restart)


def test_weights_and_values_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="pretrusted"):
        eigentrust(graph([("a", "b", 1.0)]), {"a": 0.0})
    with pytest.raises(InputError, match="value"):
        eigentrust(graph([("a", "b", np.inf)]))
