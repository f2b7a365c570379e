"""Signed notes (C2SP signed-note): a text, and lines that sign it with named keys.

```
<text, ends in a line feed>

— example.com/ledger <base64 of 4 bytes of key id and a signature>
```
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aal_engine.decide.key import SignerKey, VerifierKey, unbase64
from aal_engine.errors import NoTrustedKey, shown

MAX_SIGNATURES = 100
MAX_BYTES = 1_000_000

_SIGNED = re.compile(r"— ([^\s+]+) (\S+)")


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature line: the name and id of the key, and what it wrote."""

    name: str
    key_id: bytes
    data: bytes

    def line(self) -> str:
        """Return the line as it stands in a note, with its line feed."""
        return f"— {self.name} {base64.b64encode(self.key_id + self.data).decode()}\n"


@dataclass(frozen=True, slots=True)
class Note:
    """A text that ends in a line feed, and its signatures; nothing of it is verified yet."""

    text: str
    signatures: tuple[Signature, ...] = ()

    def encode(self) -> bytes:
        """Return the note's bytes."""
        return f"{self.text}\n{''.join(each.line() for each in self.signatures)}".encode()

    def signed(self, key: SignerKey, seconds: int) -> Note:
        """Return the note with a signature by this key, in the place of an earlier one.

        `seconds` since 1970 stands in cosignatures alone.
        """
        public = key.verifier()
        others = [
            each
            for each in self.signatures
            if (each.name, each.key_id) != (public.name, public.key_id)
        ]
        new = Signature(key.name, public.key_id, key.signature(self.text, seconds))
        return replace(self, signatures=(*others, new))


def parse(raw: bytes) -> Note:
    """Read a note without verifying it.

    Raises:
        NoTrustedKey: it is malformed.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise _malformed() from None
    head, mark, tail = text.rpartition("\n\n")
    lines = tail.split("\n")
    if (
        len(raw) > MAX_BYTES
        or not mark
        or lines.pop() != ""
        or not 0 < len(lines) <= MAX_SIGNATURES
        or any(c < " " and c != "\n" for c in text)
    ):
        raise _malformed()
    return Note(f"{head}\n", tuple(_signature(line) for line in lines))


def verified(note: Note, keys: Sequence[VerifierKey]) -> list[VerifierKey]:
    """Return which of the keys signed the note, in the note's order; others are passed over.

    Raises:
        NoTrustedKey: a signature of one of the keys is not good, none of them signed, or two keys
            cannot be told apart.
    """
    known = {(key.name, key.key_id): key for key in keys}
    if len(known) != len(keys):
        raise NoTrustedKey("two trusted keys have the same name and id")
    good: dict[VerifierKey, None] = {}
    for signature in note.signatures:
        key = known.get((signature.name, signature.key_id))
        if key is None or key in good:
            continue
        if not key.verifies(note.text, signature.data):
            raise NoTrustedKey(f"the signature by {shown(key.name)} is not good")
        good[key] = None
    if not good:
        raise NoTrustedKey("no trusted key signed it")
    return list(good)


def _signature(line: str) -> Signature:
    parts = _SIGNED.fullmatch(line)
    raw = unbase64(parts[2]) if parts else b""
    if parts is None or len(raw) < 5:
        raise _malformed()
    return Signature(parts[1], raw[:4], raw[4:])


def _malformed() -> NoTrustedKey:
    return NoTrustedKey("this is not a signed note")
