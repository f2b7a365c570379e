"""Why an exchange came to nothing, in words of our own, and whose fault it was."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Final

import aiohttp

from aal_engine.errors import ExamVoid

OURS: Final = frozenset(
    {
        errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM,
        errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL,
    }
)  # fmt: skip
"""Why a dial fails when the fault lies with the machine that dials."""


class Failed(Exception):
    """The exchange came to nothing; the message is the error that is recorded."""


_ERRORS: Final[Mapping[type[Exception], str]] = {
    aiohttp.ClientConnectorCertificateError: "tls: the certificate is not trusted",
    aiohttp.ClientSSLError: "tls: no handshake",
    aiohttp.ClientConnectorError: "connection_failed",
    aiohttp.ServerDisconnectedError: "connection_lost",
    aiohttp.ClientOSError: "connection_lost",
    aiohttp.ClientConnectionError: "connection_lost",
    aiohttp.ClientPayloadError: "connection_lost: the body ended too early",
    aiohttp.ClientResponseError: "bad_http",
    aiohttp.ClientError: "bad_http",
    OSError: "connection_lost",
    ValueError: "bad_http",
}
"""The error of each kind of exception: the first that an exception is an instance of."""


def told(error: Exception) -> Exception:
    """Return a failed exchange in words of our own, or the fault as this machine's."""
    number = error.errno if isinstance(error, OSError) else None
    if number in OURS:
        return ExamVoid(f"the registry's machine could not dial: {errno.errorcode[number]}")
    word = next(word for kind, word in _ERRORS.items() if isinstance(error, kind))
    if isinstance(error, aiohttp.ClientConnectorError) and word == "connection_failed":
        name = errno.errorcode.get(number or 0)
        return Failed(word if name is None else f"{word}: {name}")
    return Failed(word)
