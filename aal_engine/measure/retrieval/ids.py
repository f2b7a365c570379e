"""Ids in Arrow columns: their text, and 64-bit keys to tell them apart quickly.

Arrays are made and read through their buffers: `pa.array` and `to_numpy` import pandas for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.judged import IntArray

KeyArray: TypeAlias = NDArray[np.uint64]

_WORD = 8
_KEPT = np.array([256**n - 1 for n in range(_WORD + 1)], np.uint64)
"""The mask that keeps the first n bytes of a little-endian word."""

# Odd constants of irregular bits: the golden ratio, and one of MurmurHash3's finalizer.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xFF51AFD7ED558CCD)


def text(column: pa.Array, name: str) -> pa.Array:
    """Return a column of ids, without nulls, as Arrow strings; whole numbers in decimal.

    Raises:
        InputError: the column, which `name` names, holds something else than ids.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column
    if pa.types.is_integer(column.type):
        return column.cast(pa.string())
    raise InputError.at(f"holds {column.type}, neither text nor whole numbers", field=name)


def packed(ids: Sequence[str]) -> pa.Array:
    """Return ids as an Arrow array of large strings."""
    encoded = [one.encode() for one in ids]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(one) for one in encoded], out=offsets[1:])
    return pa.LargeStringArray.from_buffers(
        len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))
    )


def taken(ids: pa.Array, rows: IntArray) -> pa.Array:
    """Return the ids of some rows, in the order of `rows`."""
    return ids.take(pa.Array.from_buffers(pa.int64(), rows.size, [None, pa.py_buffer(rows)]))


def salts(size: int) -> KeyArray:
    """Return distinct starting values for `keys`, one for each of `size` queries."""
    return _mixed(_mixed(np.arange(1, size + 1, dtype=np.uint64) * _STEP))


def keys(ids: pa.Array, salt: KeyArray) -> KeyArray:
    """Return a key for each id (n,) and its salt (n,).

    Equal ids of equal salt have equal keys, whatever else is in the array. Others differ but for
    chance, about n^2 in 2^65, and but for malice: equal keys are a reason to compare the ids.
    """
    offsets, words = _bytes(ids)
    start, left = offsets[:-1], np.diff(offsets)
    key: KeyArray = salt ^ (left.astype(np.uint64) * _STEP)
    rows: IntArray | slice = slice(None)
    while True:
        key[rows] = _mixed(key[rows] ^ (_word(words, start) & _KEPT.take(np.minimum(left, _WORD))))
        longer = np.flatnonzero(left > _WORD)
        if longer.size == 0:
            return key
        rows = longer if isinstance(rows, slice) else rows[longer]
        start, left = start[longer] + _WORD, left[longer] - _WORD


def _bytes(ids: pa.Array) -> tuple[IntArray, KeyArray]:
    """Return where each id begins and ends, (n + 1,), and the bytes, padded, as words."""
    _, starts, data = ids.buffers()
    wide = pa.types.is_large_string(ids.type)
    bounds = np.frombuffer(starts, np.int64 if wide else np.int32)
    offsets = bounds[ids.offset : ids.offset + len(ids) + 1].astype(np.int64)
    used = int(offsets[-1] - offsets[0])
    padded = np.zeros((used // _WORD + 2) * _WORD, np.uint8)
    if used:
        padded[:used] = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    return offsets - offsets[0], padded.view("<u8")


def _word(words: KeyArray, start: IntArray) -> KeyArray:
    """Return the 8 bytes from each start on, cut out of two neighbouring aligned words."""
    place = start >> 3
    shift = ((start & 7) << 3).astype(np.uint64)
    low = words.take(place) >> shift
    # A shift by all 64 bits, where the start is aligned, leaves 0 in numpy.
    return low | (words.take(place + 1) << (np.uint64(64) - shift))


def _mixed(key: KeyArray) -> KeyArray:
    """Spread the bits of keys, upwards by the product and from there back down."""
    key = key * _FACTOR
    key ^= key >> np.uint64(32)
    return key
