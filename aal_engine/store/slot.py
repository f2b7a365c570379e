"""Which slots of a schedule were run: one small file, and a lease that one process holds at a time.

The lease is a lock that ends with its process, however that ends. It holds on one machine: on
several, let one of them schedule, or the cluster (see the Kubernetes unit).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from aal_engine.errors import InputError, WriteError, file_name
from aal_engine.store.atomic import write_atomic
from aal_engine.store.folder import make_folder

FILE: Final = "slots.json"
LEASE: Final = ".lease"
CHANGE: Final = ".change"


@dataclass(frozen=True, slots=True)
class Slots:
    """The last slot that was run to its end, when that was, and the last one alarmed as late.

    `since` is when the schedule was first looked at.
    """

    last: datetime | None = None
    ended: datetime | None = None
    alarmed: datetime | None = None
    since: datetime | None = None


def load_slots(folder: Path) -> Slots:
    """Return what was run.

    Raises:
        InputError: the file cannot be read as one.
    """
    path = folder / FILE
    try:
        told: Any = json.loads(path.read_bytes())
        last, ended, alarmed = (_time(told[name]) for name in ("last", "ended", "alarmed"))
        return Slots(last, ended, alarmed, _time(told.get("since")))
    except FileNotFoundError:
        return Slots()
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError.at(
            "is not what a schedule keeps", file=path, way_out="name another folder with --state"
        ) from None


def change_slots(folder: Path, **told: datetime) -> None:
    """Keep some of what was run; what another process or thread keeps meanwhile stays.

    Raises:
        InputError: the file cannot be read as one.
        WriteError: it could not be written.
    """
    held = _opened(folder, CHANGE)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        save_slots(folder, replace(load_slots(folder), **told))
    finally:
        os.close(held)


def save_slots(folder: Path, slots: Slots) -> None:
    """Keep what was run.

    Raises:
        WriteError: it could not be written; what stood there is whole.
    """
    told = {name: None if at is None else at.isoformat() for name, at in asdict(slots).items()}
    write_atomic(folder / FILE, (json.dumps(told) + "\n").encode())


@contextmanager
def lease(folder: Path) -> Iterator[bool]:
    """Hold the lease of a folder, and say whether that is so: another process may hold it.

    Raises:
        WriteError: the folder cannot be made or written.
    """
    held = _opened(folder, LEASE)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(held)


def _opened(folder: Path, name: str) -> int:
    make_folder(folder)
    try:
        return os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise WriteError(f"{file_name(folder)} cannot be leased: {reason}") from None


def _time(text: str | None) -> datetime | None:
    at = None if text is None else datetime.fromisoformat(text)
    if at is not None and at.tzinfo is None:
        raise ValueError
    return at
