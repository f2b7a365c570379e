"""Ids in Arrow columns: their text and their keys."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.ids import keys, packed, salts, taken, text

IDS = st.lists(st.text("abcé\U0001f600\0", max_size=30), max_size=30)


def salted(ids, salt=0):
    return keys(ids, np.full(len(ids), salt, np.uint64))


@settings(deadline=None)
@given(IDS)
def test_packed_ids_are_arrow_s_own(ids):
    array = packed(ids)
    array.validate(full=True)
    assert array.equals(pa.array(ids, pa.large_string()))


@settings(deadline=None)
@given(IDS, st.lists(st.integers(0, 29), max_size=12))
def test_taken_ids_stand_in_the_order_asked_for(ids, rows):
    rows = [row for row in rows if row < len(ids)]
    chosen = taken(packed(ids), np.array(rows, np.int64))
    assert chosen.to_pylist() == [ids[row] for row in rows]


@settings(deadline=None)
@given(IDS, st.integers(0, 2**64 - 1), st.integers(0, 8), st.integers(0, 30))
def test_an_id_has_the_same_key_alone_in_any_array_and_any_width(ids, salt, first, size):
    alone = [salted(pa.array([one], pa.string()), salt).item() for one in ids]
    assert salted(packed(ids), salt).tolist() == alone
    assert salted(pa.array(ids, pa.string()), salt).tolist() == alone
    part = pa.array(ids, pa.string()).slice(first, size)
    assert salted(part, salt).tolist() == alone[first : first + size]


def test_different_ids_have_different_keys():
    chance = random.Random(2)
    ids = {str(number) for number in range(50_000)}
    ids |= {f"{number:07}" for number in range(50_000)}
    ids |= {"a" * number for number in range(300)} | {"\0" * number for number in range(300)}
    ids |= {"".join(chance.choices("ab", k=chance.randrange(40))) for _ in range(50_000)}
    found = salted(packed(sorted(ids)))
    assert np.unique(found).size == len(ids)
    # Their upper bits, which a map is looked up by, are as even as chance would have them.
    filled = np.unique(found >> np.uint64(64 - 17)).size / 2**17
    assert filled == pytest.approx(1 - np.exp(-len(ids) / 2**17), abs=0.01)


def test_the_salt_tells_queries_apart():
    salt = salts(100_000)
    assert np.unique(salt).size == 100_000
    ids = packed(["the same id"] * 100_000)
    assert np.unique(keys(ids, salt)).size == 100_000


@pytest.mark.parametrize(
    ("column", "spelled"),
    [
        (pa.array(["7", "007"]), ["7", "007"]),
        (pa.array(["7", ""], pa.large_string()), ["7", ""]),
        (pa.array([7, -1], pa.int8()), ["7", "-1"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array(["b", "a", "b"]).dictionary_encode(), ["b", "a", "b"]),
        (pa.array([3, 3]).dictionary_encode(), ["3", "3"]),
    ],
)
def test_ids_are_read_as_text(column, spelled):
    assert text(column, "doc_id").to_pylist() == spelled


@pytest.mark.parametrize("values", [[1.5], [True], [b"a"], [["a"]], [None]])
def test_what_is_no_id_is_named_by_its_column(values):
    with pytest.raises(InputError) as caught:
        text(pa.array(values), "doc_id")
    assert str(caught.value).startswith("doc_id: holds ")
