"""Work on an iterator in other threads, a few items ahead of who takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from queue import Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2
"""Threads that `map_ahead` works with."""

AHEAD = 2
"""Items that wait, read and not yet taken: what the memory holds beside the item in hand."""


class _End:
    """The last thing in the queue: how the reading ended."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def read_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield what `items` yields, and raise what it raises; it runs in another thread meanwhile.

    The thread has ended, and a generator is closed, when this one is, be it before its end.
    """
    ready: Queue[Item | _End] = Queue(AHEAD)
    stopped = Event()

    def read() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                ready.put(item)
                if stopped.is_set():
                    return
        except BaseException as raised:
            error = raised
        finally:
            if isinstance(items, Generator):
                items.close()
        ready.put(_End(error))

    thread = Thread(target=read, daemon=True)
    thread.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        while thread.is_alive():
            # A full queue would keep the thread from seeing that it is to stop.
            _drain(ready)
            thread.join(0.01)


def map_ahead(function: Callable[[Item], Result], items: Iterator[Item]) -> Iterator[Result]:
    """Yield what `function` makes of each item, in the order of the items, from several threads."""
    # Not at the top: few callers come here, and starts are measured.
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _drain(ready: Queue[Item | _End]) -> None:
    while not ready.empty():
        ready.get_nowait()
