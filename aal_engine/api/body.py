"""Bodies of requests, read within bounds of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

from fastapi import HTTPException, Request

MOST: Final = 16 * 2**20
"""Bytes of one body."""

SECONDS: Final = 30.0
MOST_AT_ONCE: Final = 16

_reading = 0


async def bounded(request: Request, media_types: Collection[str]) -> bytes:
    """Return the body of a request.

    Raises:
        HTTPException: 415 for another media type or a coded body, 413 where it is too large, 408
            where it does not come in time, 503 where too many are being read.
    """
    global _reading
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in media_types:
        raise HTTPException(415, f"the body must be one of: {', '.join(sorted(media_types))}")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "the body must not be compressed")
    if _reading >= MOST_AT_ONCE:
        raise HTTPException(503, "too many bodies are being read", {"Retry-After": "1"})
    _reading += 1
    try:
        async with asyncio.timeout(SECONDS):
            return await _read(request)
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {SECONDS:g} s") from None
    finally:
        _reading -= 1


async def _read(request: Request) -> bytes:
    parts = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MOST:
            raise HTTPException(413, f"the body is larger than {MOST // 2**20} MiB")
        parts.append(part)
    return b"".join(parts)
