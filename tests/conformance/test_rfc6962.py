"""RFC 6962 vectors: leaf and node hashes, and the roots of the reference tree."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.decide.merkle import (
    EMPTY_ROOT,
    consistency_proof,
    consistent,
    grow,
    grow_all,
    included,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
    tree_root,
)


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


def test_published_inclusion_proofs_good_and_bad(shared):
    seen = {True: 0, False: 0}
    for path in sorted((shared / "data/ledger/rfc6962/inclusion").rglob("*.json")):
        told = json.loads(path.read_text())
        hashes = [base64.b64decode(each) for each in told["proof"] or []]
        root, leaf = (base64.b64decode(told[name] or "") for name in ("root", "leafHash"))
        holds = included(leaf, told["leafIdx"], told["treeSize"], hashes, root)
        assert holds is not told["wantErr"], path.name
        seen[holds] += 1
    assert min(seen.values()) > 3


@given(st.integers(1, 80), st.data())
def test_every_inclusion_proof_holds_and_no_other_does(size, data):
    leaves = [leaf_hash(bytes([i])) for i in range(size)]
    index = data.draw(st.integers(0, size - 1))
    path, root = inclusion_proof(leaves, index), tree_root(leaves)
    assert included(leaves[index], index, size, path, root)
    assert not included(leaf_hash(b"another"), index, size, path, root)
    assert not included(leaves[index], index, size, [*path, root], root)
    for other in {index - 1, index + 1, size}:
        assert not included(leaves[index], other, size, path, root)


@given(st.integers(1, 80), st.data())
def test_every_consistency_proof_holds_and_no_other_does(size, data):
    leaves = [leaf_hash(bytes([i])) for i in range(size)]
    first = data.draw(st.integers(1, size))
    path = consistency_proof(leaves, first)
    old, new = tree_root(leaves[:first]), tree_root(leaves)
    assert consistent(first, size, old, new, path)
    assert not consistent(first, size, leaf_hash(b"x"), new, path)
    assert not consistent(first, size, old, leaf_hash(b"x"), path)
    assert not consistent(first, size, old, new, [*path, old])
    if path:
        assert not consistent(first, size, old, new, path[:-1])


def test_an_empty_tree_proves_nothing():
    assert not consistent(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])
    assert not consistent(0, 3, EMPTY_ROOT, leaf_hash(b""), [])


@pytest.mark.parametrize("split", range(18))
def test_leaves_added_together_make_the_tree_that_they_make_one_by_one(split):
    leaves = [leaf_hash(bytes([n])) for n in range(33)]
    for stop in range(split, len(leaves)):
        one: list[bytes] = []
        for size, leaf in enumerate(leaves[:stop]):
            grow(one, size, leaf)
        two: list[bytes] = []
        grow_all(two, 0, leaves[:split])
        grow_all(two, split, leaves[split:stop])
        assert one == two
