"""Where requests go, and with what: from the options of a file to an address with its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from aal_engine.store.exchange import Address

Secret: TypeAlias = Callable[[str], str]
"""Gives the value of an environment variable; one that is not set is an InputError."""

Options: TypeAlias = Mapping[str, Any]
"""What an index.yaml or agent.yaml says, held against its schema."""

TIMEOUT = 60.0
CONNECTIONS = 4

HOW = frozenset(
    (
        *("timeout", "tries", "first_pause", "concurrency", "deadline"),
        *("key_from", "key_header", "dsn_from", "ca_file", "proxy"),
    )
)
"""Options that say how to ask, and not what is asked of whom: they may change when a run resumes."""


def address_of(options: Options, secret: Secret, home: Path) -> Address:
    """Return where and how to send requests; paths start from `home`.

    Raises:
        InputError: the key is not at hand.
    """
    headers: dict[str, str] = {}
    secrets: tuple[str, ...] = ()
    if "key_from" in options:
        key = secret(options["key_from"])
        header = options.get("key_header", "Authorization")
        headers[header] = f"Bearer {key}" if header.lower() == "authorization" else key
        secrets = (key,)
    ca_file = options.get("ca_file")
    return Address(
        options["url"],
        headers,
        secrets,
        options.get("timeout", TIMEOUT),
        options.get("concurrency", CONNECTIONS),
        None if ca_file is None else str(home / ca_file),
        options.get("proxy"),
    )


def decisive(options: Options) -> dict[str, Any]:
    """Return the options that decide what comes back, in the order of their names."""
    return {key: value for key, value in sorted(options.items()) if key not in HOW}
