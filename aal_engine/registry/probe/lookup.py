"""Names to addresses: looked up once an exam, every answer judged, and whose fault it is if none."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from aal_engine.errors import ExamVoid
from aal_engine.registry.address import Allowed, Target, refusal

Resolver = Callable[[str, float], Awaitable[Sequence[str]]]
"""Gives a name's addresses within so many seconds.

Raises `socket.gaierror` as getaddrinfo does, or TimeoutError.
"""

CANARY: Final = "example.com"
"""A name that every resolver on the Internet has an answer to; of a closed network's, a no will do."""

MAX_ADDRESSES: Final = 8
"""So many of a name's addresses are dialled; all of them are judged."""

_DEFINITE: Final = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
"""A resolver's own word that there is no such name, or that it has no address."""


class Unreachable(Exception):
    """The agent's name leads nowhere that may be dialled; the message is the error recorded."""


async def addresses(
    target: Target, allowed: Allowed, resolver: Resolver, *, canary: str, timeout: float
) -> tuple[str, ...]:
    """Return the addresses to dial, IPv4 before IPv6 where a name has both.

    Raises:
        Unreachable: the name is not known, or one of its addresses may not be dialled.
        ExamVoid: this machine's resolver answers nothing.
    """
    if target.literal is not None:
        return (target.literal,)
    found = await _ask(resolver, target.host, timeout)
    if found is None:
        if await _ask(resolver, canary, timeout) is None:
            raise ExamVoid("the resolver of the registry's machine does not answer")
        raise Unreachable("name_unresolved")
    if not found:
        raise Unreachable("name_unknown")
    for address in found:
        why = refusal(address, allowed)
        if why is not None:
            raise Unreachable(f"refused: {why}")
    return tuple(sorted(dict.fromkeys(found), key=lambda address: ":" in address))[:MAX_ADDRESSES]


async def _ask(resolver: Resolver, host: str, timeout: float) -> Sequence[str] | None:
    """Return a name's addresses, none where there is no such name; None without an answer."""
    try:
        return await resolver(host, timeout)
    except TimeoutError:
        return None
    except UnicodeError:
        return ()
    except socket.gaierror as error:
        return () if error.errno in _DEFINITE else None


class SystemResolver:
    """The machine's own resolver, asked from threads of its own.

    A lookup cannot be called off: one that nobody waits for any more keeps its thread until the
    system gives up. Who asks waits for a free thread before the clock of the lookup starts, so that
    names which are slow on purpose delay others and never fail them.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="lookup")
        self._free = asyncio.Semaphore(threads)

    async def __call__(self, host: str, timeout: float) -> Sequence[str]:
        """Look a name up, as `Resolver` says."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        work = self._pool.submit(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        work.add_done_callback(lambda _: _release(loop, self._free))
        answer = asyncio.wrap_future(work)
        answer.add_done_callback(_heard)
        await asyncio.wait({answer}, timeout=timeout)
        if not answer.done():
            raise TimeoutError
        return [str(address[0]) for *_, address in answer.result()]

    def close(self) -> None:
        """Let the threads end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _release(loop: asyncio.AbstractEventLoop, semaphore: asyncio.Semaphore) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(semaphore.release)


def _heard(answer: asyncio.Future[Any]) -> None:
    """Take note of an error that comes when nobody waits for it any more."""
    if not answer.cancelled():
        answer.exception()
