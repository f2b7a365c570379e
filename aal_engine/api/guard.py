"""What stands before every route: bounds, headers, HEAD, and a word for faults of our own."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aal_engine.api.problem import problem

MAX_BODY = 2**20
"""Bytes that a request's body may have, unless its path takes more."""

HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every response that has none of its own."""


class _TooLargeError(Exception):
    """More of a body came than its path takes."""


class Guard:
    """Bounds a request's body, answers HEAD as GET without the body, and sets headers."""

    def __init__(self, app: ASGIApp, bodies: Mapping[str, int]) -> None:
        """`bodies` has the bytes that a path takes, where it takes more than others."""
        self._app = app
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply = _Reply(send, bare=scope["method"] == "HEAD")
        if reply.bare:
            scope = {**scope, "method": "GET"}
        limit = self._bodies.get(scope["path"], MAX_BODY)
        try:
            if _announced(scope) > limit:
                raise _TooLargeError
            await self._app(scope, _bounded(receive, limit), reply)
        except _TooLargeError:
            await self._instead(scope, receive, reply, 413, f"a body may have {limit} bytes")
        except Exception as error:
            # Its words may quote what was sent.
            print(f"fault: {type(error).__name__}", file=sys.stderr, flush=True)
            await self._instead(scope, receive, reply, 500, "a fault of this program")

    @staticmethod
    async def _instead(
        scope: Scope, receive: Receive, reply: _Reply, status: int, detail: str
    ) -> None:
        if not reply.started:
            closing = {"Connection": "close"} if status == 413 else None
            await problem(status, detail, headers=closing)(scope, receive, reply)


class _Reply:
    """Sends a response with the headers that all have, and without a body where none is wanted."""

    def __init__(self, send: Send, *, bare: bool) -> None:
        self.bare = bare
        self.started = False
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        elif message["type"] == "http.response.body" and self.bare:
            message = {**message, "body": b""}
        await self._send(message)


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isdecimal() else 0


def _bounded(receive: Receive, limit: int) -> Receive:
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise _TooLargeError
        return message

    return bounded
