"""What an auditor keeps between two verifications: the head up to which all was well."""

from __future__ import annotations

import json
from pathlib import Path

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
        edge = tuple(bytes.fromhex(each) for each in told["edge"])
        head = Head(told["origin"], told["size"], bytes.fromhex(told["leaf"]), edge, told["at"])
        if told["format"] != FORMAT or head.size.bit_count() != len(edge):
            raise ValueError
        if {len(each) for each in (head.leaf, *edge)} != {32} or head.size < 1:
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
    told = {
        "format": FORMAT,
        "origin": head.origin,
        "size": head.size,
        "leaf": head.leaf.hex(),
        "edge": [each.hex() for each in head.edge],
        "at": head.at,
    }
    write_atomic(path, json.dumps(told, indent=2).encode() + b"\n")
