"""The ledger's lock: one writer at a time, across processes and threads.

`flock` on `.lock`, a file that is never unlinked: unlinking it while another process waits would
give two holders. As people remove lock files by hand all the same, a writer also locks the folder,
which cannot be removed while it holds the log.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aal_engine.errors import LedgerUnreadable

NAME = ".lock"
WAIT = 10.0

_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.01
_LOCKS = Path("/proc/locks")


@contextmanager
def exclusive(folder: int, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock of the open ledger folder as its only writer.

    Raises:
        LedgerUnreadable: the lock's path cannot be opened or is no plain file, or somebody held
            the lock for longer than `wait` seconds.
    """
    deadline = time.monotonic() + wait
    while True:
        lock = _opened(folder, os.O_RDWR | os.O_CREAT)
        try:
            if not _taken(lock, fcntl.LOCK_EX, deadline):
                raise _held(lock, wait)
            if _stands_at_its_path(folder, lock):
                if not _folder_taken(folder, deadline):
                    raise _held(folder, wait)
                try:
                    yield
                finally:
                    fcntl.flock(folder, fcntl.LOCK_UN)
                return
        finally:
            os.close(lock)


@contextmanager
def shared(folder: int, wait: float) -> Iterator[None]:
    """Hold the lock as one of its readers, for the moment between two appends.

    A reader may have no right to write here: without a lock file, or where a writer does not let
    go within `wait` seconds, it reads on.

    Raises:
        LedgerUnreadable: what stands at the lock's path is no plain file.
    """
    try:
        lock = _opened(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield
        return
    try:
        _taken(lock, fcntl.LOCK_SH, time.monotonic() + wait)
        yield
    finally:
        os.close(lock)


def _opened(folder: int, flags: int) -> int:
    # Without O_NONBLOCK a pipe at this path would keep us waiting for its other end.
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        lock = os.open(NAME, flags, 0o666, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        what = "is a symbolic link" if error.errno == errno.ELOOP else "cannot be opened"
        raise _refused(f"{what} ({error.strerror})") from None
    if stat.S_ISREG(os.fstat(lock).st_mode):
        return lock
    os.close(lock)
    raise _refused("is not a plain file")


def _refused(what: str) -> LedgerUnreadable:
    return LedgerUnreadable(
        f"the ledger cannot be locked: {NAME} {what}",
        way_out=f"make the ledger's folder writable for this user, with a plain file at {NAME}",
    )


def _taken(descriptor: int, how: int, deadline: float) -> bool:
    """Take a lock before the deadline, on the monotonic clock; say whether that worked."""
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() + pause > deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        else:
            return True


def _folder_taken(folder: int, deadline: float) -> bool:
    try:
        return _taken(folder, fcntl.LOCK_EX, deadline)
    except OSError as error:
        # Network file systems lock no folders; there the file alone has to do.
        if error.errno in {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP}:
            return True
        raise


def _stands_at_its_path(folder: int, lock: int) -> bool:
    """Say whether the locked file is still the one that others would open."""
    try:
        now = os.stat(NAME, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(now, os.fstat(lock))


def _held(descriptor: int, wait: float) -> LedgerUnreadable:
    holder = _holder(os.fstat(descriptor).st_ino)
    who = f"process {holder}" if holder else "another process"
    return LedgerUnreadable(
        f"the ledger is locked: {who} has held it for {wait:g} s",
        way_out=f"let it finish or stop it, then run this again; do not remove {NAME}",
    )


def _holder(inode: int) -> str | None:
    """Return the number of the process that holds a lock on the inode, where the system tells."""
    with suppress(OSError):
        for row in _LOCKS.read_text().splitlines():
            # 12: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF
            fields = row.split()
            if fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == str(inode):
                return fields[4]
    return None
