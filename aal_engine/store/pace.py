"""How often to try, and how long to wait in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from aal_engine.store.failure import Failure

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_ASKED = 300.0
"""Seconds beyond which a Retry-After is taken for a no."""


@dataclass(frozen=True, slots=True)
class Pace:
    """`tries` of one request, and the seconds before the second of them, doubled from then on."""

    tries: int = 4
    first: float = FIRST_PAUSE


def pause(pace: Pace, tried: int, key: str) -> float:
    """Return the seconds to wait after `tried` tries, from half the backoff to the whole of it.

    What is taken off is drawn from the request's own key, so that requests that failed together do
    not come back together, and a run is the same when it is made again.

    >>> 0.5 <= pause(Pace(), 2, "case-1") <= 1.0
    True
    """
    whole = min(LONGEST_PAUSE, pace.first * 2.0 ** (tried - 1))
    drawn = int.from_bytes(blake2b(f"{tried} {key}".encode(), digest_size=4).digest()) / 2**32
    return whole * (1 - drawn / 2)


async def persistent(act: Callable[[], Awaitable[Any]], pace: Pace, key: str) -> tuple[Any, int]:
    """Await an act until it succeeds, within the tries; return its result and the tries it took.

    Raises:
        Failure: the last one, or the first that another try would not mend.
    """
    for tried in range(1, pace.tries + 1):
        try:
            return await act(), tried
        except Failure as failure:
            asked = failure.after or 0.0
            if not failure.retry or tried == pace.tries or asked > LONGEST_ASKED:
                raise
        await asyncio.sleep(max(asked, pause(pace, tried, key)))
    raise AssertionError("a pace has one try or more")
