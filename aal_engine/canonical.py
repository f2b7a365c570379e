"""Canonical JSON bytes (RFC 8785) and the digests taken of them."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias, cast

from aal_engine.errors import InputError

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 100

_NUMBERS = bytes.maketrans(b"0123456789eE+-,]}", b"0" * 10 + b"ee--,,,")
_SIXTEEN = b"0" * 16
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
# Each pattern starts with a literal, which is what makes it quick to search for.
_LONG = tuple(re.compile(p).search for p in (rb":-?\d{16}", rb",-?\d{16}", rb"\[-?\d{16}"))
_exponent = re.compile(rb"0e-?0+(?:,|$)").search
_point_zero = re.compile(rb"\.0(?:[,}\]]|$)").search


def canonical(value: JSON) -> bytes:
    """Return the RFC 8785 bytes of a JSON value.

    Raises:
        InputError: the value holds NaN, an infinity, an integer beyond 2^53 - 1, a lone surrogate,
            a type that JSON does not have, or more than 100 levels. The field is named, its text
            is not shown.

    >>> canonical({"b": 1.0, "a": [True, None]})
    b'{"a":[true,null],"b":1}'
    """
    quick = plain(value)
    if quick is not None:
        return quick
    try:
        return _codec()[0](_plain(value))
    except (_NotPlainError, UnicodeEncodeError):
        return _reference(value)


def digest(value: JSON) -> str:
    """Return the SHA-256 of a value's canonical bytes, in hexadecimal (64 characters)."""
    return hashlib.sha256(canonical(value)).hexdigest()


class _NotPlainError(Exception):
    """The quick encoder and RFC 8785 may write this value differently."""


def plainly_spelled(raw: bytes) -> bool:
    """Say whether JSON surely holds no number and no key that two careful writers spell differently.

    Those are whole floats (`1.0`), exponents, integers beyond 2^53 - 1, and keys beyond ASCII, which
    are sorted in two ways. Strings that look like such a number count as one.
    """
    if not raw.isascii() or _point_zero(raw):
        return False
    numbers = raw.translate(_NUMBERS)
    long = _SIXTEEN in numbers and any(found(raw) for found in _LONG)
    return not long and not _exponent(numbers)


def plain(value: JSON) -> bytes | None:
    """Return the canonical bytes of a value if they are surely plainly spelled, else None.

    The encoder knows more types than JSON has, and writes what is no number as null: none of that
    is read back as it was.
    """
    encode, decode = _codec()
    try:
        raw = encode(value)
        if plainly_spelled(raw) and _shallow(raw) and decode(raw) == value:
            return raw
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass
    return None


def _shallow(raw: bytes) -> bool:
    brackets = raw.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return True
    return False


@cache
def _codec() -> tuple[Callable[[object], bytes], Callable[[bytes], object]]:
    # Not at the top: not every process that imports this encodes anything, and starts are measured.
    import msgspec

    return msgspec.json.Encoder(order="sorted").encode, msgspec.json.Decoder().decode


def _plain(value: object, depth: int = 0) -> object:
    """Return an equal value that the quick encoder writes as RFC 8785 does.

    The two part over whole and very large or small floats, and over the order of keys beyond ASCII.
    Everything is held against the exact types of JSON on the way: the encoder knows many more.
    """
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is float:
        number = cast("float", value)
        if 1e-4 <= abs(number) < 1e15:
            return int(number) if number.is_integer() else number
        if number == 0:
            return 0
    elif kind is int:
        if abs(cast("int", value)) <= MAX_INTEGER:
            return value
    elif depth == MAX_DEPTH:
        raise _NotPlainError
    elif kind is dict:
        members = cast("dict[object, object]", value)
        for key in members:
            if type(key) is not str or not key.isascii():
                raise _NotPlainError
        return {
            key: item if type(item) is str else _plain(item, depth + 1)
            for key, item in members.items()
        }
    elif kind is list or kind is tuple:
        return [_plain(item, depth + 1) for item in cast("list[object]", value)]
    raise _NotPlainError


def _reference(value: JSON) -> bytes:
    culprit = _culprit(value)
    if culprit is not None:
        field, problem = culprit
        # What was tried before quotes the value.
        raise InputError.at(problem, field=field or None) from None
    import rfc8785

    return rfc8785.dumps(value)


def _culprit(value: object, path: str = "", depth: int = 0) -> tuple[str, str] | None:
    """Find where and why a value has no canonical form."""
    if isinstance(value, dict | list | tuple) and depth == MAX_DEPTH:
        return path, "is nested too deeply"
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                return path, "has a key that is not a string"
            found = _culprit(key, path) or _culprit(
                item, f"{path}.{key}" if path else key, depth + 1
            )
            if found:
                return found
        return None
    if isinstance(value, list | tuple):
        for place, item in enumerate(value):
            found = _culprit(item, f"{path}[{place}]", depth + 1)
            if found:
                return found
        return None
    problem = _scalar_problem(value)
    return (path, problem) if problem else None


def _scalar_problem(value: object) -> str | None:
    if isinstance(value, float):
        return None if math.isfinite(value) else "is not a finite number"
    if isinstance(value, int):
        if abs(value) <= MAX_INTEGER:
            return None
        return "is an integer beyond 2^53 - 1, which JSON readers do not agree on"
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return "holds half a surrogate pair, which is not Unicode text"
        return None
    if value is None:
        return None
    return f"is a {type(value).__name__}, which JSON does not have"
