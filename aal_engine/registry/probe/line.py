"""A line to one agent: its name looked up once, one connection, each probe bounded as a whole.

The connection goes to the addresses that were judged, and nowhere else: not through a proxy that
the environment names, not where a redirect points, not where a second lookup would lead. Host and
the name that TLS checks stay those of the URL.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from ipaddress import ip_address
from typing import Final

import aiohttp
from yarl import URL

from aal_engine.canonical import canonical, digest
from aal_engine.errors import InputError
from aal_engine.registry.address import Allowed, Target, target
from aal_engine.registry.probe import body
from aal_engine.registry.probe.dialect import Request
from aal_engine.registry.probe.fault import Failed, told
from aal_engine.registry.probe.lookup import CANARY, Resolver, Unreachable, addresses
from aal_engine.registry.probe.pin import Pinned, judged_socket

USER_AGENT: Final = "aal-engine-evals/1"
READ: Final = 1 << 16
"""Bytes that are read ahead at most."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one probe may take: seconds for all of it, bytes of a body, seconds for a lookup."""

    seconds: float = 10.0
    body: int = 1 << 20
    lookup: float = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response: its body unpacked, and how many seconds the agent took for it."""

    status: int
    body: bytes
    charset: str | None
    seconds: float
    request_digest: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the body, in hexadecimal."""
        return sha256(self.body).hexdigest()


def request_digest(request: Request) -> str:
    """Return the SHA-256 of a request's canonical JSON, in hexadecimal."""
    return digest({"method": request.method, "url": request.url, "body": request.body})


@dataclass(frozen=True, slots=True)
class Reach:
    """How one process reaches agents: where to, within which bounds, by which names and keys."""

    resolver: Resolver
    tls: ssl.SSLContext
    bounds: Bounds = field(default_factory=Bounds)
    allowed: Allowed = field(default_factory=Allowed)
    canary: str = CANARY


@asynccontextmanager
async def dialled(url: str, reach: Reach) -> AsyncIterator[Line]:
    """Give a line to the agent at a URL; its name is looked up now, the connection made when asked.

    Raises:
        Failed: the URL may not be called, or its name leads nowhere.
        ExamVoid: as in `Line.ask`.
    """
    try:
        goal = target(url, reach.allowed)
        found = await addresses(
            goal,
            reach.allowed,
            reach.resolver,
            canary=reach.canary,
            timeout=reach.bounds.lookup,
        )
    except InputError as error:
        raise Failed(f"refused: {error.faults[0].problem}") from None
    except Unreachable as error:
        raise Failed(str(error)) from None
    line = Line(goal, found, reach)
    try:
        yield line
    finally:
        await line.close()


class Line:
    """One connection to one agent."""

    def __init__(self, goal: Target, found: tuple[str, ...], reach: Reach) -> None:
        self._limit = reach.bounds.body
        self._dialling = 0.0
        self._dialled_since = 0.0
        self._reused = False
        self.reached = False
        """Whether there ever was a connection."""
        trace = aiohttp.TraceConfig()
        trace.on_connection_create_start.append(self._dial)
        trace.on_connection_create_end.append(self._dialled)
        trace.on_connection_reuseconn.append(self._reuse)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=Pinned(goal, found),
                socket_factory=partial(judged_socket, frozenset(map(ip_address, found))),
                ssl=reach.tls,
                limit=1,
                use_dns_cache=False,
                keepalive_timeout=reach.bounds.seconds,
            ),
            headers={"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": "gzip"},
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            trust_env=False,
            read_bufsize=READ,
            trace_configs=[trace],
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._session.close()

    async def _dial(self, *_: object) -> None:
        self._dialled_since = asyncio.get_running_loop().time()

    async def _dialled(self, *_: object) -> None:
        self._dialling += asyncio.get_running_loop().time() - self._dialled_since
        self.reached = True

    async def _reuse(self, *_: object) -> None:
        self._reused = True

    async def ask(self, request: Request) -> Answer:
        """Send a request and return the whole response to it.

        The time that dialling takes counts toward the caller's deadline, not as the agent's
        latency. A connection that an agent closed between two requests is dialled again, once.

        Raises:
            Failed: no whole, usable response came.
            ExamVoid: this machine could not dial, which says nothing of the agent.
        """
        try:
            try:
                return await self._ask(request)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not self._reused:
                    raise
                return await self._ask(request)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise told(error) from None
        except body.Unusable as error:
            raise Failed(str(error)) from None

    async def _ask(self, request: Request) -> Answer:
        loop = asyncio.get_running_loop()
        started, self._dialling, self._reused = loop.time(), 0.0, False
        async with self._session.request(
            request.method,
            URL(request.url, encoded=True),
            data=None if request.body is None else canonical(request.body),
            headers=request.headers,
            allow_redirects=False,
        ) as response:
            coding = response.headers.get("Content-Encoding", "")
            read = await body.read(response.content.iter_any(), coding, self._limit)
        seconds = loop.time() - started - self._dialling
        return Answer(response.status, read, response.charset, seconds, request_digest(request))


def milliseconds(seconds: float) -> int:
    """Return a latency in whole milliseconds, rounded up: at a threshold is not over it.

    >>> milliseconds(0.25), milliseconds(0.2501)
    (250, 251)
    """
    return max(0, math.ceil(round(seconds * 1000, 6)))
