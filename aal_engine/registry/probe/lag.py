"""How late the event loop runs: what is measured while it is late says nothing of an agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

PERIOD: Final = 0.02
"""Seconds between two looks at the clock."""


class Lag:
    """The latest time at which the loop was late.

    It is late when a look comes more than `limit` seconds after its time; a process that was
    stopped and goes on is seen the same way.
    """

    def __init__(self, limit: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit = limit
        self._due = self._loop.time() + PERIOD
        self._late = float("-inf")

    async def look(self) -> None:
        """Look at the clock for ever."""
        while True:
            await asyncio.sleep(self._due - self._loop.time())
            now = self._loop.time()
            if now - self._due > self._limit:
                self._late = now
            self._due = now + PERIOD

    def since(self, moment: float) -> bool:
        """Whether the loop was late at any time since `moment`, on the loop's clock."""
        return self._late >= moment or self._loop.time() - self._due > self._limit


@asynccontextmanager
async def watched(limit: float) -> AsyncIterator[Lag]:
    """Watch the running loop for the context's duration."""
    lag = Lag(limit)
    watch = asyncio.create_task(lag.look())
    try:
        yield lag
    finally:
        watch.cancel()
        await asyncio.wait([watch])
