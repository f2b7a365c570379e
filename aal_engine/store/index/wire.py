"""An index behind a wire, HTTP or a program's standard input, with the same bodies on both.

Request `{"search": {"queries": [...], "k": 10}}`, reply `{"hits": [[{"id": ..., "score": ...}]]}`.
Request `{"identity": {}}`, reply `{"name": ..., "count": ..., "model": ...}`. A reply with `error`
is an error. HTTP posts each request to one URL; a program reads one a line, with a number under
`id` that its reply repeats.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from aal_engine.canonical import JSON
from aal_engine.errors import RemoteError, shown
from aal_engine.measure.origin import Identity
from aal_engine.store.child import Child
from aal_engine.store.exchange import Exchange
from aal_engine.store.failure import Failure
from aal_engine.store.index.hit import Hit, identified, ordered
from aal_engine.store.pace import Pace, persistent


class Wire(Protocol):
    """What carries one request there and one reply back."""

    async def ask(self, request: Mapping[str, JSON]) -> Any:
        """Send a request and return its reply."""

    async def close(self) -> None:
        """Let go of what was opened."""


class Post:
    """The wire of HTTP."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def ask(self, request: Mapping[str, JSON]) -> Any:
        """Post a request."""
        return await self._exchange.post(dict(request))

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()


class Closable(Protocol):
    """What is opened on an event loop and closed there."""

    async def close(self) -> None:
        """Let go of what was opened."""


Opened = TypeVar("Opened", bound=Closable)


class Asker(Generic[Opened]):
    """Asks from plain code what lives on an event loop, again where that may help."""

    def __init__(self, name: str, make: Callable[[], Opened], pace: Pace) -> None:
        self._name = name
        self._pace = pace
        self._runner = asyncio.Runner()
        try:
            self._opened = self._runner.run(_made(make))
        except BaseException:
            self._runner.close()
            raise

    def ask(self, act: Callable[[Opened], Awaitable[Any]]) -> Any:
        """Return what comes of an act.

        Raises:
            RemoteError: no try brought a reply.
        """
        try:
            reply, _ = self._runner.run(
                persistent(lambda: act(self._opened), self._pace, self._name)
            )
        except Failure as failure:
            raise RemoteError(
                f"the index {shown(self._name)} did not answer: {failure.word}, {failure.detail}",
                way_out="nothing was scored; run the same command again once it answers",
            ) from None
        return reply

    def close(self) -> None:
        """Let go of what was opened."""
        try:
            self._runner.run(self._opened.close())
        finally:
            self._runner.close()


class WireIndex:
    """An index that answers requests; an error is never an empty list."""

    def __init__(self, name: str, wire: Callable[[], Wire], pace: Pace) -> None:
        self._name = name
        self._asker = Asker(name, wire, pace)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return what the index finds.

        Raises:
            RemoteError: it did not answer, or answered something else than hits.
        """
        reply = self._asked({"search": {"queries": list(queries), "k": k}})
        if "hits" not in reply:
            raise RemoteError(f"the index {shown(self._name)} answered without hits")
        return ordered(self._name, reply["hits"], len(queries), k)

    def identity(self) -> Identity:
        """Return what the index says of itself."""
        return identified(self._name, self._asked({"identity": {}}))

    def close(self) -> None:
        """Let go of the wire."""
        self._asker.close()

    def _asked(self, request: Mapping[str, JSON]) -> Mapping[str, Any]:
        reply = self._asker.ask(lambda wire: wire.ask(request))
        if not isinstance(reply, dict) or "error" in reply:
            raise RemoteError(f"the index {shown(self._name)} answered with an error")
        return reply


async def _made(make: Callable[[], Opened]) -> Opened:
    return make()


def over_http(name: str, exchange: Callable[[], Exchange], pace: Pace) -> WireIndex:
    """Return the index that answers at a URL."""
    return WireIndex(name, lambda: Post(exchange()), pace)


def over_child(name: str, command: Sequence[str], pace: Pace, timeout: float) -> WireIndex:
    """Return the index that a program answers for."""
    return WireIndex(name, lambda: Child(command, timeout=timeout), pace)
