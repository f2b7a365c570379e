"""Reading an iterator in a thread of its own."""

from __future__ import annotations

import threading

import pytest

from aal_engine.store.read_ahead import AHEAD, THREADS, map_ahead, read_ahead


def test_items_come_in_order_and_all_of_them():
    assert list(read_ahead(iter(range(1_000)))) == list(range(1_000))
    assert list(read_ahead(iter(()))) == []


def test_an_error_is_raised_after_what_came_before_it():
    def items():
        yield 1
        raise KeyError("there")

    taken = []
    with pytest.raises(KeyError, match="there"):
        taken.extend(read_ahead(items()))
    assert taken == [1]


def test_it_reads_only_so_far_ahead_and_ends_with_its_taker():
    read = []

    def items():
        for item in range(1_000):
            read.append(item)
            yield item

    before = threading.active_count()
    ahead = read_ahead(read_ahead(items()))
    assert next(ahead) == 0
    ahead.close()
    # One in hand, and for each reader those that wait, one on its way, and what closing lets in.
    assert len(read) <= 1 + 2 * (2 * AHEAD + 2)
    assert threading.active_count() == before


def test_results_come_in_the_order_of_their_items():
    turn = threading.Event()

    def slow_first(item):
        if item == 0:
            assert turn.wait(10)
        turn.set()
        return -item

    assert list(map_ahead(slow_first, iter(range(50)))) == [-item for item in range(50)]
    assert list(map_ahead(slow_first, iter(()))) == []


def test_an_error_of_the_function_is_raised_in_its_items_place():
    taken = []
    with pytest.raises(ZeroDivisionError):
        taken.extend(map_ahead(lambda item: 6 // (3 - item), iter(range(9))))
    assert taken == [2, 3, 6]


def test_few_items_are_worked_on_ahead():
    begun = []
    ahead = map_ahead(begun.append, iter(range(1_000)))
    next(ahead)
    ahead.close()
    assert len(begun) <= THREADS + 1
