"""Checkpoints (C2SP tlog-checkpoint): a ledger's origin, size and root, as a note to be signed."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass

from aal_engine.decide.key import unbase64
from aal_engine.decide.ledger import Head
from aal_engine.errors import NoTrustedKey

_SIZE = re.compile(r"0|[1-9]\d{0,15}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a ledger was at one size; `root` is its RFC 6962 root, 32 bytes."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Return the note's text."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def of_head(head: Head) -> Checkpoint:
    """Return the checkpoint that a head makes."""
    return Checkpoint(head.origin, head.size, head.root)


def parse_text(text: str) -> Checkpoint:
    """Read a note's text; lines of extensions are passed over.

    Raises:
        NoTrustedKey: it is not that of a checkpoint.
    """
    lines = text.split("\n")
    if len(lines) >= 4 and lines[-1] == "" and all(lines[:-1]) and _SIZE.fullmatch(lines[1]):
        root = unbase64(lines[2])
        if len(root) == 32:
            return Checkpoint(lines[0], int(lines[1]), root)
    raise NoTrustedKey("this note is not a checkpoint")
