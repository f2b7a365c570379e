"""Inclusion proofs to ship with a release (C2SP tlog-proof): an entry's place, path, checkpoint.

```
c2sp.org/tlog-proof@v1
index 7
<base64 of a hash>

<the checkpoint, with its signatures>
```
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from aal_engine.decide.checkpoint import Checkpoint, parse_text
from aal_engine.decide.key import unbase64
from aal_engine.decide.merkle import included, inclusion_proof
from aal_engine.decide.note import MAX_BYTES, parse
from aal_engine.errors import ChainBroken, NoTrustedKey

MARK = "c2sp.org/tlog-proof@v1"

_INDEX = re.compile(r"index (0|[1-9]\d{0,15})")
_EXTRA = re.compile(r"extra \S+")


@dataclass(frozen=True, slots=True)
class Proof:
    """An entry's place, its audit path (hashes of 32 bytes), and the checkpoint it leads to."""

    index: int
    path: tuple[bytes, ...]
    checkpoint: bytes

    def encode(self) -> bytes:
        """Return the bytes of a `.tlog-proof` file."""
        hashes = "".join(f"{base64.b64encode(each).decode()}\n" for each in self.path)
        return f"{MARK}\nindex {self.index}\n{hashes}\n".encode() + self.checkpoint

    def stated(self) -> Checkpoint:
        """Return what the checkpoint says, whoever signed it.

        Raises:
            NoTrustedKey: it is malformed.
        """
        return parse_text(parse(self.checkpoint).text)

    def leads_from(self, leaf: bytes) -> Checkpoint:
        """Return the checkpoint if the path leads from a leaf hash to its root.

        That proves something only to those who trust the checkpoint.

        Raises:
            ChainBroken: the path does not lead there.
            NoTrustedKey: the checkpoint is malformed.
        """
        checkpoint = self.stated()
        if not included(leaf, self.index, checkpoint.size, self.path, checkpoint.root):
            raise ChainBroken(
                self.index, "is not what the proof was made for: its path misses the root"
            )
        return checkpoint


def prove(leaves: Sequence[bytes], index: int, checkpoint: bytes) -> Proof:
    """Return the proof of an entry against a checkpoint over these leaf hashes."""
    return Proof(index, tuple(inclusion_proof(leaves, index)), checkpoint)


def read_proof(raw: bytes) -> Proof:
    """Read a `.tlog-proof` file; what extra data it has is passed over.

    Raises:
        NoTrustedKey: it is malformed.
    """
    head, mark, checkpoint = raw.partition(b"\n\n")
    try:
        lines = head.decode().split("\n")
    except UnicodeDecodeError:
        raise _malformed() from None
    if len(raw) > MAX_BYTES or not mark or lines.pop(0) != MARK:
        raise _malformed()
    if lines and _EXTRA.fullmatch(lines[0]):
        if not unbase64(lines[0].removeprefix("extra ")):
            raise _malformed()
        lines.pop(0)
    index = _INDEX.fullmatch(lines.pop(0)) if lines else None
    path = tuple(unbase64(line) for line in lines)
    if index is None or any(len(each) != 32 for each in path):
        raise _malformed()
    return Proof(int(index[1]), path, checkpoint)


def _malformed() -> NoTrustedKey:
    return NoTrustedKey("this is not an inclusion proof (tlog-proof)")
