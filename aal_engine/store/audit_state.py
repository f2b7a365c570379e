"""What an auditor keeps between two verifications: the head up to which all was well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aal_engine.decide.ledger import Head
from aal_engine.errors import InputError
from aal_engine.store.atomic import write_atomic
from aal_engine.store.text_file import FaultList, read_whole

FORMAT = "aal-ledger-state/1"


def load_state(path: Path) -> Head | None:
    """Return the head in a state file, or None where there is no file yet.

    Raises:
        InputError: it is not a state file.
    """
    if not path.exists():
        return None
    faults = FaultList(path)
    text = read_whole(path, faults)
    faults.settle()
    try:
        told = json.loads(text or "")
        head = read_head(told)
        if told["format"] != FORMAT:
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError.at(
            "is not the state of an audit",
            file=path,
            way_out="remove it to verify from the first entry on",
        ) from None
    return head


def save_state(path: Path, head: Head) -> None:
    """Write the head for the next verification.

    Raises:
        WriteError: it could not be written.
    """
    told = {"format": FORMAT, **told_head(head)}
    write_atomic(path, json.dumps(told, indent=2).encode() + b"\n")


def told_head(head: Head) -> dict[str, Any]:
    """Return a head as JSON holds it."""
    return {
        "origin": head.origin,
        "size": head.size,
        "leaf": head.leaf.hex(),
        "edge": [each.hex() for each in head.edge],
        "at": head.at,
    }


def read_head(told: Any) -> Head:
    """Return the head that JSON tells.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it tells none.
    """
    edge = tuple(bytes.fromhex(each) for each in told["edge"])
    if not isinstance(told["origin"], str) or not isinstance(told["at"], str):
        raise TypeError
    head = Head(told["origin"], told["size"], bytes.fromhex(told["leaf"]), edge, told["at"])
    if head.size < 1 or head.size.bit_count() != len(edge):
        raise ValueError
    if {len(each) for each in (head.leaf, *edge)} != {32}:
        raise ValueError
    return head
