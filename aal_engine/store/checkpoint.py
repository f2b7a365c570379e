"""Checkpoints in a ledger's folder: the latest one, and one for each size that was signed.

```
ledger/checkpoint                    the latest, with its witnesses' cosignatures
ledger/checkpoints/000000000009      as the log signed it at that size
ledger/checkpoints/000000000009.tsr  an authority's time stamp over it, where there is one
```
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from aal_engine.decide.checkpoint import Checkpoint, parse_text
from aal_engine.decide.key import SignerKey
from aal_engine.decide.note import MAX_BYTES, Note, parse
from aal_engine.errors import (
    AppendRefused,
    ChainBroken,
    LedgerUnreadable,
    NoTrustedKey,
    WriteError,
)
from aal_engine.store.atomic import replacing_at
from aal_engine.store.ledger_folder import opened
from aal_engine.store.log import open_plain

NAME = "checkpoint"
FOLDER = "checkpoints"
STAMP = ".tsr"

_SIZE = re.compile(r"\d{12}")


def latest(root: int) -> bytes | None:
    """Return the bytes of the latest checkpoint in an open ledger folder, or None.

    Raises:
        LedgerUnreadable: it cannot be read.
    """
    return _read(NAME, root)


def _read(name: str, folder: int) -> bytes | None:
    try:
        file = open_plain(name, os.O_RDONLY, folder)
    except FileNotFoundError:
        return None
    try:
        return os.read(file, MAX_BYTES + 1)
    except OSError as error:
        raise LedgerUnreadable(f"{name} cannot be read: {error.strerror}") from None
    finally:
        os.close(file)


def kept(root: int, since: int) -> dict[int, bytes]:
    """Return the bytes of the checkpoints of `since` entries and more that were kept, by size.

    Raises:
        LedgerUnreadable: one cannot be read.
    """
    return _by_size(root, since, "")


def stamps(root: int) -> dict[int, bytes]:
    """Return the time-stamp responses over kept checkpoints, by size.

    Raises:
        LedgerUnreadable: one cannot be read.
    """
    return _by_size(root, 0, STAMP)


def _by_size(root: int, since: int, suffix: str) -> dict[int, bytes]:
    try:
        with opened(FOLDER, root) as folder:
            names = os.listdir(folder)  # noqa: PTH208 it is open already
            bare = [name.removesuffix(suffix) for name in names if name.endswith(suffix)]
            sizes = [int(name) for name in bare if _SIZE.fullmatch(name)]
            found = {s: _read(f"{s:012d}{suffix}", folder) for s in sizes if s >= since}
    except FileNotFoundError:
        return {}
    return {size: raw for size, raw in found.items() if raw is not None}


def stamp(root: int, size: int, response: bytes) -> None:
    """Keep a time-stamp response beside the checkpoint of its size, durably.

    Raises:
        WriteError: it could not be written.
    """
    with opened(FOLDER, root) as folder, replacing_at(folder, f"{size:012d}{STAMP}") as file:
        file.write(response)


def stated(root: int, origin: str | None = None) -> Checkpoint | None:
    """Return what the latest checkpoint says, whoever signed it, or None if there is none.

    Raises:
        ChainBroken: it is malformed, or of another ledger than `origin`.
        LedgerUnreadable: it cannot be read.
    """
    raw = latest(root)
    if raw is None:
        return None
    try:
        checkpoint = parse_text(parse(raw).text)
    except NoTrustedKey as error:
        raise ChainBroken(0, f"the ledger's checkpoint was changed: {error.message}") from None
    if origin is not None and checkpoint.origin != origin:
        raise ChainBroken(0, "the ledger's checkpoint is of another ledger")
    return checkpoint


def publish(
    root: int, stated: Checkpoint, keys: Sequence[SignerKey], at: datetime, *, keep: bool
) -> Note:
    """Sign a checkpoint and write it as the latest, durably; return its note.

    What others signed of the same one stays. With `keep` the ledger's own signatures are kept by
    its size, too.

    Raises:
        AppendRefused: a file could not be written; the earlier checkpoint is whole.
    """
    raw = latest(root)
    note = Note(stated.text()) if raw is None else parse(raw)
    if note.text != stated.text():
        note = Note(stated.text())
    for key in keys:
        note = note.signed(key, int(at.timestamp()))
    own = tuple(each for each in note.signatures if each.name == stated.origin)
    try:
        if keep:
            with suppress(FileExistsError):
                os.mkdir(FOLDER, dir_fd=root)
            name = f"{stated.size:012d}"
            with opened(FOLDER, root) as folder, replacing_at(folder, name) as file:
                file.write(Note(note.text, own).encode())
        with replacing_at(root, NAME) as file:
            file.write(note.encode())
    except (OSError, WriteError) as error:
        why = error.message if isinstance(error, WriteError) else error.strerror
        raise AppendRefused(f"the checkpoint was not written: {why}") from None
    return note
