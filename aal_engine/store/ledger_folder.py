"""The folder that a ledger lives in: opened without links, furnished, its torn tails set aside."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aal_engine.errors import AppendRefused, LedgerUnreadable, WriteError, file_name
from aal_engine.store import log
from aal_engine.store.atomic import replacing_at
from aal_engine.store.log import Place

TORN = "torn"

_COMMITTED = {
    ".gitattributes": b"log/*.jsonl -text -merge\n",
    ".gitignore": b"/.lock\n/torn/\n.*.tmp\n",
}
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened(name: Path | str, parent: int | None = None) -> Iterator[int]:
    """Give a folder's descriptor; it is not reached through a symbolic link.

    Raises:
        FileNotFoundError: there is no such folder.
        LedgerUnreadable: it is a link or a file, or may not be read.
    """
    try:
        folder = os.open(name, _FLAGS, dir_fd=parent)
    except FileNotFoundError:
        raise
    except NotADirectoryError:
        raise LedgerUnreadable(
            f"{file_name(name)} is not a folder, or a symbolic link to one",
            way_out="name the ledger's folder itself",
        ) from None
    except OSError as error:
        raise LedgerUnreadable(f"{file_name(name)} cannot be opened: {error.strerror}") from None
    try:
        yield folder
    finally:
        os.close(folder)


def is_ledger(path: Path) -> bool:
    """Say whether a folder holds a ledger."""
    return (path / log.NAME / log.segment_name(0)).is_file()


def make(path: Path) -> None:
    """Make a ledger's folder, durably, if it is not there.

    Raises:
        AppendRefused: it cannot be made.
    """
    if os.path.lexists(path):
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        with opened(path.parent) as parent:
            os.fsync(parent)
    except OSError as error:
        raise AppendRefused(
            f"the folder {file_name(path)} cannot be made: {error.strerror}"
        ) from None


def furnish(folder: int) -> None:
    """Make what a ledger's folder holds beside its entries, where it is missing.

    Raises:
        AppendRefused: the disk failed.
    """
    try:
        for name, text in _COMMITTED.items():
            if not _is_there(folder, name):
                with replacing_at(folder, name) as file:
                    file.write(text)
        if not _is_there(folder, log.NAME):
            os.mkdir(log.NAME, dir_fd=folder)
            os.fsync(folder)
    except (OSError, WriteError) as error:
        raise AppendRefused(f"the ledger cannot be started: {_why(error)}") from None


def set_aside(folder: int, entries: int, end: Place, torn: bytes) -> str:
    """Move what follows the last whole line into a file of its own; return that file's name.

    Raises:
        AppendRefused: the disk failed; the log is as it was, or cut.
    """
    name = f"{end.segment:08d}.{end.offset}.{hashlib.sha256(torn).hexdigest()[:8]}"
    try:
        with suppress(FileExistsError):
            os.mkdir(TORN, dir_fd=folder)
        with opened(TORN, folder) as side, replacing_at(side, name) as file:
            file.write(torn)
        log.cut(entries, end.segment, end.offset)
    except (OSError, WriteError) as error:
        raise AppendRefused(f"the torn tail cannot be set aside: {_why(error)}") from None
    return f"{TORN}/{name}"


def _why(error: OSError | WriteError) -> str:
    return error.message if isinstance(error, WriteError) else str(error.strerror)


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
