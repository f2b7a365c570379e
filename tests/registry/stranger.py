"""Agents of a stranger on loopback: whatever bytes a path is told to answer, and what it saw."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from aal_engine.registry.address import Allowed, allow
from aal_engine.registry.model.agent import Agent
from aal_engine.registry.model.result import Outcome
from aal_engine.registry.model.run import Claim
from aal_engine.registry.model.suite import Suite, Task
from aal_engine.registry.probe.line import Bounds
from aal_engine.registry.run import Limits, examiner

LOOPBACK: Allowed = allow(["127.0.0.0/8"])

Behaviour = Callable[[asyncio.StreamWriter, bytes], Awaitable[None]]


def answer(body: bytes, *headers: str, status: str = "200 OK") -> Behaviour:
    """Answer with a body, its length said."""
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers])

    async def behave(writer: asyncio.StreamWriter, request: bytes) -> None:
        writer.write(head.encode() + b"\r\n\r\n" + body)

    return behave


@dataclass
class Stranger:
    """A server in a thread of its own; `seen` are the heads and bodies of what it was asked."""

    port: int
    paths: dict[str, Behaviour]
    seen: list[bytes] = field(default_factory=list)
    connections: int = 0


@contextmanager
def stranger(paths: dict[str, Behaviour], tls: ssl.SSLContext | None = None) -> Iterator[Stranger]:
    """Serve paths on a free port of 127.0.0.1 for the context's duration."""
    begun: threading.Event = threading.Event()
    told = Stranger(0, paths)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                body = await reader.readexactly(length)
                told.seen.append(head + body)
                path = head.split()[1].decode()
                await paths.get(path, answer(b"not here", status="404 Not Found"))(writer, body)
                await writer.drain()
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
        told.port = server.sockets[0].getsockname()[1]
        begun.set()
        await stop.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert begun.wait(10)
        yield told
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


def claim_of(
    card: dict | None, inputs: list[str], *, scorer="status_ok", expected=None, kind="http_probe"
) -> Claim:
    tasks = tuple(
        Task(f"task {n}", each, scorer, expected, 1.0, n) for n, each in enumerate(inputs, 1)
    )
    agent = Agent(1, "did:web:stranger.example", card, True, None, 0)
    return Claim("ab" * 16, 1, Suite("k", "n", task_type=kind), tasks, agent, 1, 0, None)


def limits(*, seconds=5.0, body=1 << 20, lag=30.0, allowed=LOOPBACK, **more) -> Limits:
    """Bounds for tests: a busy machine is late now and then, which is tested by itself."""
    return Limits(Bounds(seconds, body, lookup=2.0), lag=lag, allowed=allowed, **more)


def examine(claim: Claim, bounds: Limits, *, resolver=None) -> list[Outcome]:
    """Examine one agent in a loop of its own."""

    async def once() -> list[Outcome]:
        async with examiner(bounds, parallel=2, resolver=resolver) as examining:
            return await examining.examine(claim)

    return asyncio.run(once())
