"""Durable replacement of a file: either the old bytes or the new ones, never a part.

    open the folder -> temporary file beside the target -> write -> fsync -> rename -> fsync folder

The folder is opened before the rename, so that nothing can keep it from being synced after.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from aal_engine.errors import WriteError, file_name


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the file at `path` with `data`, durably.

    Raises:
        WriteError: it could not be written. The file that stood there is whole, and no temporary
            file stays; so too after an interruption.
    """
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a binary file whose bytes replace the file at `path` once the block ends well.

    Raises:
        WriteError: as in `write_atomic`.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _failed(path.name, error) from None
    try:
        with replacing_at(folder, path.name) as file:
            yield file
    finally:
        os.close(folder)


@contextmanager
def replacing_at(folder: int, name: str) -> Iterator[BinaryIO]:
    """Do as `replacing` for a file in a folder that is open already.

    Raises:
        WriteError: as in `write_atomic`.
    """
    temporary = f".{name}.{os.urandom(6).hex()}.tmp"
    try:
        mode = _mode_to_keep(folder, name)
        try:
            with _created(folder, temporary) as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)
    except OSError as error:
        # The system's error names the folder, which is not for everybody's eyes.
        raise _failed(name, error) from None


def _created(folder: int, name: str) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(name, flags, 0o666, dir_fd=folder), "wb")


def _mode_to_keep(folder: int, name: str) -> int | None:
    """Return the permissions of the file to replace, or None where there is none."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        # A rename would put a file in the place of a device, a pipe or a link.
        raise WriteError(
            f"{file_name(name)} is there and is not a regular file",
            way_out="name a file that does not exist yet, or a regular one",
        )
    return stat.S_IMODE(found.st_mode)


def _failed(name: str, error: OSError) -> WriteError:
    reason = error.strerror or type(error).__name__
    return WriteError(f"{file_name(name)} was not written: {reason}")
