"""RFC 6962 vectors: leaf and node hashes, and the roots of the reference tree."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.decide.merkle import EMPTY_ROOT, grow, leaf_hash, node_hash, root_of, tree_root


@pytest.fixture(scope="module")
def vectors(shared):
    return json.loads((shared / "data/ledger/rfc6962/hashes.json").read_text())


def test_leaf_and_node_hashes(vectors):
    for data, expected in vectors["leaf"].items():
        assert leaf_hash(bytes.fromhex(data)).hex() == expected
    for pair, expected in vectors["node"].items():
        left, right = map(bytes.fromhex, pair.split("|"))
        assert node_hash(left, right).hex() == expected


def test_roots_of_the_reference_tree(vectors):
    assert EMPTY_ROOT.hex() == vectors["empty_root"]
    leaves = [leaf_hash(bytes.fromhex(data)) for data in vectors["reference_leaves_hex"]]
    for size, expected in enumerate(vectors["reference_roots"], 1):
        assert tree_root(leaves[:size]).hex() == expected


def _mth(leaves: list[bytes]) -> bytes:
    """The Merkle tree hash as section 2.1 writes it down."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return node_hash(_mth(leaves[:split]), _mth(leaves[split:]))


@given(st.integers(1, 300))
def test_a_growing_edge_gives_the_root_that_the_rfc_defines(size):
    leaves = [leaf_hash(base64.b16encode(bytes([i % 251, i // 251]))) for i in range(size)]
    edge: list[bytes] = []
    for count, leaf in enumerate(leaves):
        grow(edge, count, leaf)
    assert root_of(edge) == _mth(leaves)
    assert len(edge) == size.bit_count()
