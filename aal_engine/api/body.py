"""Bodies that are sent in bulk, read within bounds of time and number; `Guard` bounds their size."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

from fastapi import HTTPException, Request

MOST: Final = 16 * 2**20
"""Bytes of one such body."""

SECONDS: Final = 30.0
MOST_AT_ONCE: Final = 16


class Bodies:
    """Reads the bodies of one app's requests, so many at once at most."""

    def __init__(self) -> None:
        self._open = 0

    async def read(self, request: Request, media_types: Collection[str]) -> bytes:
        """Return the body of a request.

        Raises:
            HTTPException: 415 for another media type or a compressed body, 408 where it does not
                come in time, 503 where too many are being read.
        """
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type not in media_types:
            raise HTTPException(415, f"the body must be {' or '.join(sorted(media_types))}")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise HTTPException(415, "the body must not be compressed")
        if self._open >= MOST_AT_ONCE:
            raise HTTPException(503, "too many bodies are being read", {"Retry-After": "1"})
        self._open += 1
        try:
            async with asyncio.timeout(SECONDS):
                return await request.body()
        except TimeoutError:
            raise HTTPException(408, f"the body did not come within {SECONDS:g} s") from None
        finally:
            self._open -= 1
