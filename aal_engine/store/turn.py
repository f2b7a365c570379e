"""Turns: one process at a time acts for an agent, and one that dies leaves its turn to the next."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aal_engine.errors import Conflict, LedgerUnreadable
from aal_engine.store.ledger_folder import opened

FOLDER = ".turns"

_PAUSE = 0.01


@contextmanager
def turn(ledger: Path, name: str, wait: float) -> Iterator[None]:
    """Hold the turn of this name beside the ledger's files; waits up to `wait` seconds for it.

    Raises:
        Conflict: another process held it for all that time.
        LedgerUnreadable: its file cannot be opened.
    """
    file = hashlib.sha256(name.encode()).hexdigest()[:16]
    try:
        with opened(ledger) as root:
            with suppress(FileExistsError):
                os.mkdir(FOLDER, dir_fd=root)
            with opened(FOLDER, root) as folder:
                _ignored(folder)
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
                held = os.open(file, flags, 0o666, dir_fd=folder)
    except OSError as error:
        raise LedgerUnreadable(f"no turn can be taken: {error.strerror}") from None
    try:
        _take(held, time.monotonic() + wait)
        yield
    finally:
        os.close(held)


def _ignored(folder: int) -> None:
    """Keep git from the files; what fails here fails where it matters."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError):
        file = os.open(".gitignore", flags, 0o666, dir_fd=folder)
        try:
            os.write(file, b"*\n")
        finally:
            os.close(file)


def _take(file: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Conflict(
                    "another process is acting for this agent",
                    way_out="let it finish, then run this again",
                ) from None
            time.sleep(_PAUSE)
        else:
            return
