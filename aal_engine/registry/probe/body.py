"""A response's body, read under a cap on its bytes as sent and as unpacked."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import AsyncIterator
from typing import Final

GZIP: Final = frozenset({"gzip", "x-gzip"})
"""What is offered in Accept-Encoding, and the only content coding that is unpacked."""

_GZIP_WINDOW: Final = 31
_CHARSETS: Final = frozenset(
    {
        "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "iso8859-1", "iso8859-2",
        "iso8859-5", "iso8859-7", "iso8859-15", "cp1250", "cp1251", "cp1252", "koi8-r",
        "shift_jis", "euc_jp", "euc_kr", "gb2312", "gbk", "gb18030", "big5",
    }
)  # fmt: skip
"""Charsets by Python's name of each; Python knows others, some of which take their time."""


class Unusable(Exception):
    """A body that cannot be scored; the message is the error that is recorded."""


async def read(chunks: AsyncIterator[bytes], coding: str, limit: int) -> bytes:
    """Return the whole body, unpacked.

    No more than `limit` bytes and one chunk are ever held, packed or unpacked.

    Raises:
        Unusable: there is more than `limit` allows, or it is packed in a way that was not offered,
            or wrongly.
    """
    coding = coding.strip().lower()
    if coding not in GZIP and coding not in ("", "identity"):
        raise Unusable("undecodable: a content coding that was not offered")
    unpack = _Gzip(limit) if coding in GZIP else None
    body, raw = bytearray(), 0
    async for chunk in chunks:
        raw += len(chunk)
        body += chunk if unpack is None else unpack.feed(chunk)
        if raw > limit or len(body) > limit:
            raise Unusable("too_large")
    if unpack is not None and not unpack.whole:
        raise Unusable("undecodable: the gzip data ends too early")
    return bytes(body)


class _Gzip:
    """Unpacks gzip, one member after another, and never more than a limit at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._begun = False

    @property
    def whole(self) -> bool:
        return self._member.eof or not self._begun

    def feed(self, chunk: bytes) -> bytes:
        out = bytearray()
        while chunk:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP_WINDOW)
            self._begun = True
            try:
                out += self._member.decompress(chunk, self._limit + 1)
            except zlib.error:
                raise Unusable("undecodable: not gzip data") from None
            if len(out) > self._limit:
                raise Unusable("too_large")
            chunk = self._member.unused_data or self._member.unconsumed_tail
        return bytes(out)


def text(body: bytes, charset: str | None) -> str | None:
    r"""Return a body as text, without a byte order mark; None where it is none.

    >>> text(b"gr\xc3\xbcn", None), text(b"gr\xfcn", "latin-1"), text(b"gr\xfcn", None)
    ('grün', 'grün', None)
    """
    try:
        name = codecs.lookup(charset or "utf-8").name
        return body.decode(name).removeprefix("\ufeff") if name in _CHARSETS else None
    except (LookupError, UnicodeDecodeError, ValueError):
        return None
