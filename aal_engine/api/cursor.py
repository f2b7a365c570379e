"""Cursors: where a page ended, opaque to clients and good for the filters that it was made for."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from hashlib import blake2b

from aal_engine.errors import InputError

VERSION = 1
MAX_CURSOR = 200


def cursor(key: int | tuple[int, ...], filters: Mapping[str, object]) -> str:
    """Return the cursor of the page after the item with this key."""
    numbers = [key] if isinstance(key, int) else list(key)
    told = json.dumps([VERSION, _mark(filters), *numbers], separators=(",", ":"))
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def key_of(text: str | None, filters: Mapping[str, object], length: int) -> tuple[int, ...] | None:
    """Return the key that a cursor holds, as so many numbers; None for no cursor.

    Raises:
        InputError: it is no cursor, of another version, or of a list with other filters.
    """
    if text is None:
        return None
    try:
        padded = text + "=" * (-len(text) % 4)
        version, mark, *key = json.loads(base64.b64decode(padded, b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise _refused("is not a cursor of this list") from None
    if version != VERSION or len(key) != length:
        raise _refused("is not a cursor of this list")
    if not all(type(number) is int and 0 <= number < 2**53 for number in key):
        raise _refused("is not a cursor of this list")
    if mark != _mark(filters):
        raise _refused("was made for other filters")
    return tuple(key)


def _mark(filters: Mapping[str, object]) -> str:
    """Return a short digest of what a list was filtered by."""
    told = json.dumps(sorted((k, str(v)) for k, v in filters.items() if v is not None))
    return blake2b(told.encode(), digest_size=6).hexdigest()


def _refused(problem: str) -> InputError:
    return InputError.at(problem, field="cursor", way_out="start again without a cursor")
