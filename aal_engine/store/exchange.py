"""HTTP with bounds: JSON out, JSON back, within one deadline and a number of bytes.

Redirects are not followed and the environment's proxies are not asked, so that a key goes to the
address that it was meant for. What was received reaches no error.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from aal_engine.canonical import JSON
from aal_engine.errors import InputError, MissingExtra
from aal_engine.store.failure import Failure
from aal_engine.store.json_text import JSONProblem, decode

if TYPE_CHECKING:
    import httpx

MAX_REPLY = 16 * 2**20
"""Bytes that a reply may have."""

TRANSIENT = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
"""Statuses after which the same request may succeed."""

KEY_REFUSED = frozenset((401, 403, 407))
MASK = "[key]"
SHORTEST_MASKED = 12
"""Characters of a key that is masked: one such as `none` is no secret, and a word of the language."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to send requests, and with what."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    timeout: float = 60.0
    connections: int = 4
    ca_file: str | None = None
    proxy: str | None = None


class Exchange:
    """A pool of connections to one address."""

    def __init__(self, address: Address) -> None:
        """Open no connection yet.

        Raises:
            MissingExtra: httpx is not installed.
            InputError: the URL cannot be used, or the certificates cannot be read.
        """
        try:
            import httpx
        except ImportError:
            raise MissingExtra("asking over HTTP", "live") from None
        self._address = address
        for url, named in ((address.url, "url"), (address.proxy, "proxy")):
            if url is not None:
                check_url(url, named)
                try:
                    # The host is decoded where it is asked for, and only then found to be no name.
                    _ = httpx.URL(url).host
                except (httpx.InvalidURL, UnicodeError):
                    raise InputError.at("is not an http or https URL", field=named) from None
        self._url = address.url
        try:
            trusted: ssl.SSLContext | bool = True
            if address.ca_file is not None:
                trusted = ssl.create_default_context(cafile=address.ca_file)
        except (OSError, ssl.SSLError):
            raise InputError.at("holds no certificates that can be read", field="ca_file") from None
        self._client = httpx.AsyncClient(
            verify=trusted,
            proxy=address.proxy,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(address.timeout),
            limits=httpx.Limits(
                max_connections=address.connections, max_keepalive_connections=address.connections
            ),
            # Without this a server may compress, and a small reply unpack to a large one.
            headers={"Accept-Encoding": "identity", "User-Agent": "aal-engine", **address.headers},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def post(
        self, body: JSON, path: str = "", headers: Mapping[str, str] | None = None
    ) -> Any:
        """Send JSON and return the JSON that comes back.

        Raises:
            Failure: nothing came back in time, or not JSON with a status of success.
        """
        content = json.dumps(body, ensure_ascii=False).encode()
        sent = {"Content-Type": "application/json", **(headers or {})}
        return await self._exchanged("POST", path, content, sent)

    async def get(self, path: str = "", headers: Mapping[str, str] | None = None) -> Any:
        """Return the JSON that stands at a path that is put behind the address.

        Raises:
            Failure: as `post`.
        """
        return await self._exchanged("GET", path, None, headers or {})

    async def _exchanged(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> Any:
        import httpx

        url = self._url + path
        try:
            # The library's own limits hold for each read, and a server may send a byte at a time.
            async with (
                asyncio.timeout(self._address.timeout),
                self._client.stream(method, url, content=content, headers=headers) as response,
            ):
                _refuse(response)
                raw = await _body(response)
        except (TimeoutError, httpx.TimeoutException):
            seconds = f"{self._address.timeout:g} s"
            raise Failure("timeout", f"no whole answer within {seconds}") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise Failure("unreachable", type(error).__name__) from None
        return self._decoded(raw)

    def _decoded(self, raw: bytes) -> Any:
        try:
            value = decode(raw.decode())
        except (UnicodeDecodeError, JSONProblem):
            raise Failure("unreadable", "the reply is not JSON", retry=False) from None
        # An agent that repeats its key must not bring it into the files of a run.
        secrets = [one for one in self._address.secrets if len(one) >= SHORTEST_MASKED]
        return masked(value, secrets) if secrets else value


def masked(value: Any, secrets: Sequence[str]) -> Any:
    """Return a JSON value with every secret in its strings masked, however JSON spelt them.

    >>> masked({"answer": ["it is sk-0123456789/a"]}, ["sk-0123456789/a"])
    {'answer': ['it is [key]']}
    """
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, list):
        return [masked(item, secrets) for item in value]
    if isinstance(value, dict):
        return {key: masked(item, secrets) for key, item in value.items()}
    return value


def check_url(url: str, field: str = "url") -> None:
    """Do nothing if requests may be sent to a URL.

    Raises:
        InputError: it is no URL of HTTP, or holds a password, which belongs in the environment.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        usable = usable and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:
        usable = False
    if not usable:
        raise InputError.at("is not an http or https URL", field=field)
    if "@" in parts.netloc:
        raise InputError.at(
            "holds a user name or a password",
            field=field,
            way_out="put the secret into an environment variable and name it under key_from",
        )


def _refuse(response: httpx.Response) -> None:
    status = response.status_code
    if 200 <= status < 300:
        return
    raise Failure(
        "refused",
        f"HTTP {status}",
        retry=status in TRANSIENT,
        after=retry_after(response.headers.get("Retry-After"), datetime.now(UTC)),
        fatal=status in KEY_REFUSED,
    )


async def _body(response: httpx.Response) -> bytes:
    if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise Failure("unreadable", "the reply is compressed, which was not asked", retry=False)
    parts = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > MAX_REPLY:
            raise Failure("unreadable", f"more than {MAX_REPLY // 2**20} MiB", retry=False)
        parts.append(part)
    return b"".join(parts)


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110, 10.2.3), None if none.

    >>> retry_after("7", datetime(2026, 1, 1, tzinfo=UTC))
    7.0
    >>> retry_after("Thu, 01 Jan 2026 00:00:30 GMT", datetime(2026, 1, 1, tzinfo=UTC))
    30.0
    """
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        then = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())
