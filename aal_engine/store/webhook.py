"""Signed requests to addresses of the policy: an actuator, and a way to tell people.

Signed as Standard Webhooks says (https://www.standardwebhooks.com): `webhook-id`,
`webhook-timestamp`, and `webhook-signature` with HMAC-SHA-256 over `id.timestamp.body`. The id of
a message is also its `Idempotency-Key`: the same for the same act, however often it is tried.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, Queue
from threading import Thread
from urllib.parse import quote, urlsplit

from aal_engine.canonical import JSON, canonical
from aal_engine.decide.deployment import Webhook
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed, InputError
from aal_engine.store.order import Order, answered

_MAX = 65_536
_PREFIX = "whsec_"
_GONE = frozenset({404, 410})


def secret_of(asked: Webhook, secrets: Callable[[str], str | None]) -> bytes:
    """Return a webhook's secret: as it stands, or decoded where it starts with `whsec_`.

    Raises:
        InputError: it is not in the environment, or is not base64 after `whsec_`.
    """
    text = secrets(asked.secret_env)
    if not text:
        raise InputError.at(
            "the secret of a webhook is not in the environment",
            field=asked.secret_env,
            way_out=f"set {asked.secret_env} before this is started",
        )
    if not text.startswith(_PREFIX):
        return text.encode()
    try:
        return base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InputError.at(f"is not base64 after {_PREFIX}", field=asked.secret_env) from None


def signature(secret: bytes, message: str, timestamp: int, body: bytes) -> str:
    """Return the `webhook-signature` of a message."""
    signed = b".".join((message.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends signed requests; `deadline`, in seconds, holds for the whole of one."""

    secret: bytes = field(repr=False)
    deadline: float
    clock: Callable[[], datetime]

    def send(self, method: str, url: str, message: str, body: bytes) -> tuple[int, bytes]:
        """Send one request under an id, and return the status and the body of its answer.

        No redirect is followed and no proxy asked. Looking the name up and reading a slow answer
        are within the deadline.

        Raises:
            ActFailed: there is no answer in time, none at all, or one of more than 64 KiB.
        """
        timestamp = int(self.clock().timestamp())
        headers = {
            "content-type": "application/json",
            "user-agent": "aal-engine",
            "idempotency-key": message,
            "webhook-id": message,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(self.secret, message, timestamp, body),
        }
        answers: Queue[tuple[int, bytes] | ActFailed] = Queue(1)
        connection = _connection(url, self.deadline)

        def ask() -> None:
            answers.put(_answer(connection, method, url, body, headers))

        # In a thread of its own: nothing else can end a name look-up that hangs.
        Thread(target=ask, daemon=True).start()
        try:
            answer = answers.get(timeout=self.deadline)
        except Empty:
            _cut(connection)
            raise ActFailed("late", f"no answer within {self.deadline:g} s") from None
        if isinstance(answer, ActFailed):
            raise answer
        return answer


def _connection(url: str, deadline: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    made = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return made(parts.hostname or "", parts.port, timeout=deadline)


def _answer(
    connection: http.client.HTTPConnection,
    method: str,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
) -> tuple[int, bytes] | ActFailed:
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, path, body or None, dict(headers))
        response = connection.getresponse()
        read = response.read(_MAX + 1)
    except TimeoutError:
        return ActFailed("late", "no answer in time")
    except (OSError, http.client.HTTPException, ValueError):
        return ActFailed("refused", "no answer: the connection failed")
    finally:
        connection.close()
    if len(read) > _MAX:
        return ActFailed("refused", f"the answer is longer than {_MAX:,} bytes")
    return response.status, read


def _cut(connection: http.client.HTTPConnection) -> None:
    """Let go of a connection that another thread still waits for."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)


class WebhookActuator:
    """Tells an address which version to serve, and asks another one which does."""

    def __init__(self, asked: Webhook, secret: bytes, clock: Callable[[], datetime]) -> None:
        self._url, self._read = asked.url, asked.read or ""
        self._sender = Sender(secret, asked.deadline, clock)

    def act(self, order: Order) -> None:
        """Send the order.

        Raises:
            ActFailed: the answer is not a 2xx; a 404 or 410 says that the version is gone.
        """
        told: dict[str, JSON] = {
            "act": "serve" if order.version is not None else "stop",
            "agent": order.key.agent,
            "pack": order.key.pack,
            "version": order.version,
            "incident": order.incident,
        }
        status, _ = self._sender.send("POST", self._url, order.token, canonical(told))
        if status in _GONE:
            raise ActFailed("gone", f"the answer is {status}: the version is not there")
        if not 200 <= status < 300:
            raise ActFailed("refused", f"the answer is {status}")

    def read(self, key: AgentKey) -> str | None:
        """Return the `version` in the JSON object that the address answers with.

        Raises:
            ActFailed: it answers something else.
        """
        url = self._read.replace("{agent}", quote(key.agent, safe=""))
        url = url.replace("{pack}", quote(key.pack, safe=""))
        message = hashlib.sha256(f"{self._sender.clock().isoformat()} {url}".encode()).hexdigest()
        status, body = self._sender.send("GET", url, message, b"")
        if status != 200:
            raise ActFailed("unreadable", f"the answer is {status}")
        try:
            version = json.loads(body)["version"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ActFailed("unreadable", "the answer names no version") from None
        if version is None:
            return None
        if not isinstance(version, str):
            raise ActFailed("unreadable", "the answer names no version")
        return answered(version)
