"""Pending records beside a ledger's log: `pending/SHA256.json`, one file for what goes together."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from aal_engine.canonical import JSON
from aal_engine.decide.pending import Pending, name_of, pending, read_pending
from aal_engine.errors import InputError, LedgerUnreadable, WriteError, file_name
from aal_engine.store.atomic import replacing_at
from aal_engine.store.ledger_folder import opened
from aal_engine.store.log import open_plain

FOLDER = "pending"
MAX_BYTES = 64 * 2**20

_NAME = re.compile(r"[0-9a-f]{64}\.json")


def pend(folder: Path, kind: str, bodies: Sequence[Mapping[str, JSON]], at: datetime) -> str:
    """Write records to be appended together, durably, and return the file's name.

    Raises:
        AppendRefused: a ledger may not hold them.
        WriteError: they could not be written.
        LedgerUnreadable: the ledger's folder cannot be opened.
    """
    raw = pending(kind, bodies, at).encode()
    name = name_of(raw)
    try:
        with opened(folder) as root:
            with suppress(FileExistsError):
                os.mkdir(FOLDER, dir_fd=root)
                os.fsync(root)
            with opened(FOLDER, root) as files, replacing_at(files, name) as file:
                file.write(raw)
    except OSError as error:
        raise WriteError(f"{FOLDER}/ was not written: {error.strerror}") from None
    return name


def waiting(folder: Path) -> dict[str, Pending]:
    """Return what waits, by file name, the oldest first.

    Raises:
        InputError: a file is not what was written.
        LedgerUnreadable: the folder cannot be opened.
    """
    found = {}
    try:
        with opened(folder) as root, opened(FOLDER, root) as files:
            for name in filter(_NAME.fullmatch, os.listdir(files)):  # noqa: PTH208 it is open
                with os.fdopen(open_plain(name, os.O_RDONLY, files), "rb") as file:
                    raw = file.read(MAX_BYTES + 1)
                if len(raw) > MAX_BYTES:
                    raise InputError.at("is larger than 64 MiB", file=name)
                found[name] = read_pending(name, raw)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise LedgerUnreadable(
            f"{file_name(folder)}/{FOLDER} cannot be read: {error.strerror}"
        ) from None
    return dict(sorted(found.items(), key=lambda item: (item[1].at, item[0])))


def taken_up(folder: Path, name: str) -> None:
    """Remove a file whose records stand in the log.

    Raises:
        WriteError: it cannot be removed.
    """
    try:
        with opened(folder) as root, opened(FOLDER, root) as files:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=files)
            os.fsync(files)
    except OSError as error:
        raise WriteError(f"{FOLDER}/{name[:8]}… was not removed: {error.strerror}") from None
