"""What an auditor keeps between two verifications: how far all was well, and what was known there.

A file of JSON. What the meaning of later entries depends on stands in it as one base64 text, in
MessagePack, held against the types that it is made of when it is read.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aal_engine.decide.keyring import Succession
from aal_engine.decide.ledger import Head
from aal_engine.decide.replay import Known
from aal_engine.errors import InputError
from aal_engine.store.atomic import write_atomic
from aal_engine.store.text_file import read_text

FORMAT = "aal-ledger-state/3"


@dataclass(frozen=True, slots=True)
class State:
    """The head up to which all was well, what was known there, and the keys that were followed.

    `known` is None where the meaning of entries was left out, and `strict` says whether the
    canonical form of every line was looked at.
    """

    head: Head
    known: Known | None
    followed: tuple[Succession, ...] = ()
    strict: bool = True


def load_state(path: Path) -> State | None:
    """Return the state in a file, or None where there is no file yet.

    Raises:
        InputError: it is not a state file.
    """
    import msgspec

    if not path.exists():
        return None
    text = read_text(path)
    try:
        told = json.loads(text)
        if told["format"] != FORMAT:
            raise ValueError
        raw = None if told["known"] is None else base64.b64decode(told["known"], validate=True)
        return State(
            read_head(told),
            None if raw is None else msgspec.msgpack.decode(raw, type=Known),
            msgspec.convert(told["followed"], tuple[Succession, ...]),
            msgspec.convert(told["strict"], bool),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise InputError.at(
            "is not the state of an audit that this version wrote",
            file=path,
            way_out="remove it to verify from the first entry on",
        ) from None


def save_state(path: Path, state: State) -> None:
    """Write the state for the next verification.

    Raises:
        WriteError: it could not be written.
    """
    import msgspec

    raw = None if state.known is None else msgspec.msgpack.encode(state.known)
    told = {
        "format": FORMAT,
        **told_head(state.head),
        "followed": state.followed,
        "strict": state.strict,
        "known": None if raw is None else base64.b64encode(raw).decode(),
    }
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
