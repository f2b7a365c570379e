"""Members of entry bodies, read with their types: what is not of its type is a ValueError."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any], Any]

_DIGEST = re.compile(r"[0-9a-f]{64}")
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def text(value: Any) -> str:
    """Return a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def digest(value: Any) -> str:
    """Return a SHA-256 in hexadecimal."""
    if not _DIGEST.fullmatch(text(value)):
        raise ValueError
    return text(value)


def time(value: Any) -> str:
    """Return a time as entries hold it."""
    if not _AT.fullmatch(text(value)):
        raise ValueError
    return text(value)


def whole(value: Any) -> int:
    """Return an integer from 0 on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError
    return value


def number(value: Any) -> float:
    """Return a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        raise ValueError
    return value


def share(value: Any) -> float:
    """Return a number from 0 to 1."""
    if not 0 <= number(value) <= 1:
        raise ValueError
    return number(value)


def texts(value: Any) -> tuple[str, ...]:
    """Return strings that are not empty."""
    if not isinstance(value, list | tuple):
        raise ValueError
    return tuple(map(text, value))


def one_of(*choices: str) -> Callable[[Any], Any]:
    """Return a reader of one of these strings."""

    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in choices:
            raise ValueError
        return value

    return read


def optional(reader: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return a reader that lets null through."""
    return lambda value: None if value is None else reader(value)


def members(body: Mapping[str, Any], readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Read the members of a body, which must be exactly these.

    Raises:
        ValueError: one is missing, unknown or not of its type.
    """
    if body.keys() != readers.keys():
        raise ValueError
    return {name: reader(body[name]) for name, reader in readers.items()}
