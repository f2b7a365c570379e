"""Records that wait to be put into a ledger: what a branch writes where it must not append.

Two branches that append to one log fork it. So a branch writes what it has to record as a file
named by the hash of its bytes, which merges with any other, and the branch that owns the log puts
the records in one order.

    {"at": "<24 characters>", "bodies": [{...}], "kind": "decision"}      RFC 8785, no line feed
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aal_engine.canonical import JSON, canonical
from aal_engine.decide.entry import stamp, write
from aal_engine.errors import AppendRefused, InputError


@dataclass(frozen=True, slots=True)
class Pending:
    """Records of one kind that are appended together, and when they were made."""

    at: str
    kind: str
    bodies: tuple[Mapping[str, JSON], ...]

    def encode(self) -> bytes:
        """Return the file's bytes."""
        return canonical({"at": self.at, "bodies": self.bodies, "kind": self.kind})

    def records(self) -> list[bytes]:
        """Return the canonical bytes of each record, as `entry.record_of` has them."""
        return [canonical({"body": body, "kind": self.kind}) for body in self.bodies]


def name_of(raw: bytes) -> str:
    """Return the name of the file with these bytes."""
    return f"{hashlib.sha256(raw).hexdigest()}.json"


def pending(kind: str, bodies: Sequence[Mapping[str, JSON]], at: datetime) -> Pending:
    """Return records that could be appended as they are.

    Raises:
        AppendRefused: a ledger may not hold one of them (see `entry.write`), or there are none.
    """
    if not bodies or kind == "genesis":
        raise AppendRefused("there is nothing here that a ledger's log could take up")
    for body in bodies:
        write(1, "0" * 64, kind, body, at)
    return Pending(stamp(at), kind, tuple(bodies))


def read_pending(name: str, raw: bytes) -> Pending:
    """Read a file of pending records.

    Raises:
        InputError: it is not what its name says, or holds nothing that could be appended.
    """
    if name_of(raw) != name:
        raise InputError.at(
            "is not what its name says: it was changed after it was written",
            file=name,
            way_out="take the file from the branch that wrote it",
        )
    try:
        told: Any = json.loads(raw)
        if not all(isinstance(body, dict) for body in told["bodies"]):
            raise TypeError
        at = datetime.fromisoformat(told["at"])
        found = pending(told["kind"], told["bodies"], at)
        if found.encode() == raw:
            return found
    except (KeyError, TypeError, ValueError, RecursionError, AppendRefused, InputError):
        pass  # What is wrong in detail is for who wrote it, in another version perhaps.
    raise InputError.at("holds no records that a ledger could take up", file=name)
