"""The Merkle tree of RFC 6962: leaf and node hashes, the root of a growing log, and proofs.

A tree of n leaves is kept as its right edge: the roots of the perfect subtrees that the binary
digits of n name, largest first. Adding a leaf costs one node hash on average.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256().digest()


def leaf_hash(data: bytes) -> bytes:
    """Return SHA-256(0x00 || data), 32 bytes (RFC 6962, section 2.1)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 || left || right), 32 bytes (RFC 6962, section 2.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def grow(edge: list[bytes], size: int, leaf: bytes) -> None:
    """Add a leaf hash to the right edge of a tree that had `size` leaves, in place."""
    while size & 1:
        leaf = node_hash(edge.pop(), leaf)
        size >>= 1
    edge.append(leaf)


def grow_all(edge: list[bytes], size: int, leaves: Iterable[bytes]) -> None:
    """Add leaf hashes to the right edge of a tree that had `size` leaves, level by level.

    The same as `grow` for one after the other, in less time.
    """
    sha256 = hashlib.sha256
    level, last = list(leaves), []
    while level:
        if size & 1:
            level.insert(0, edge.pop())
        if len(level) & 1:
            last.append(level.pop())
        pairs = iter(level)
        level = [sha256(b"\x01" + a + b).digest() for a, b in zip(pairs, pairs, strict=True)]
        size >>= 1
    edge += reversed(last)


def root_of(edge: Sequence[bytes]) -> bytes:
    """Return the tree's root, 32 bytes, from its right edge."""
    if not edge:
        return EMPTY_ROOT
    root = edge[-1]
    for subtree in reversed(edge[:-1]):
        root = node_hash(subtree, root)
    return root


def tree_root(leaves: Iterable[bytes]) -> bytes:
    """Return the root over leaf hashes in order: the MTH of RFC 6962, section 2.1.

    >>> tree_root([leaf_hash(b"")]).hex()[:16]
    '6e340b9cffb37a98'
    """
    edge: list[bytes] = []
    grow_all(edge, 0, leaves)
    return root_of(edge)


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the audit path of a leaf, from its sibling up (RFC 6962, section 2.1.1).

    `leaves` are the leaf hashes of the whole tree; `index` is below their number.
    """
    path = []
    start, stop = 0, len(leaves)
    while stop - start > 1:
        middle = start + _split(stop - start)
        if index < middle:
            path.append(tree_root(leaves[middle:stop]))
            stop = middle
        else:
            path.append(tree_root(leaves[start:middle]))
            start = middle
    return path[::-1]


def included(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Say whether an audit path leads from a leaf hash to the root of a tree of `size` leaves.

    RFC 9162, section 2.1.3.2. It says nothing of the root: that has to be trusted beforehand.
    """
    if not 0 <= index < size or any(len(each) != HASH_BYTES for each in (leaf, root, *path)):
        return False
    here, last = index, size - 1
    for sibling in path:
        if last == 0:
            return False
        if here & 1 or here == last:
            leaf = node_hash(sibling, leaf)
            while not here & 1 and here:
                here, last = here >> 1, last >> 1
        else:
            leaf = node_hash(leaf, sibling)
        here, last = here >> 1, last >> 1
    return last == 0 and leaf == root


def consistency_proof(leaves: Sequence[bytes], first: int) -> list[bytes]:
    """Return the proof that a tree starts with the tree of its first leaves.

    RFC 6962, section 2.1.2; `first` is at least 1 and at most the number of leaf hashes.
    """
    path = []
    start, stop, known = 0, len(leaves), True
    while stop > first:
        middle = start + _split(stop - start)
        if first <= middle:
            path.append(tree_root(leaves[middle:stop]))
            stop = middle
        else:
            path.append(tree_root(leaves[start:middle]))
            start, known = middle, False
    if not known:
        path.append(tree_root(leaves[start:stop]))
    return path[::-1]


def consistent(
    first: int, second: int, first_root: bytes, second_root: bytes, path: Sequence[bytes]
) -> bool:
    """Say whether a proof shows that the larger of two trees starts with the smaller.

    RFC 9162, section 2.1.4.2. An empty tree starts every tree, so it proves nothing: False.
    """
    if not 0 < first <= second:
        return False
    if any(len(each) != HASH_BYTES for each in (first_root, second_root, *path)):
        return False
    if first == second:
        return not path and first_root == second_root
    nodes = list(path)
    if first.bit_count() == 1:
        nodes.insert(0, first_root)
    if not nodes:
        return False
    here, last = first - 1, second - 1
    while here & 1:
        here, last = here >> 1, last >> 1
    older = newer = nodes[0]
    for node in nodes[1:]:
        if last == 0:
            return False
        if here & 1 or here == last:
            older, newer = node_hash(node, older), node_hash(node, newer)
            while not here & 1 and here:
                here, last = here >> 1, last >> 1
        else:
            newer = node_hash(newer, node)
        here, last = here >> 1, last >> 1
    return last == 0 and older == first_root and newer == second_root


def _split(size: int) -> int:
    """Return the largest power of two below a size of at least two."""
    return 1 << ((size - 1).bit_length() - 1)
