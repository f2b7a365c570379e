"""Which file system a folder is on, as far as the system tells."""

from __future__ import annotations

import os
from pathlib import Path

from aal_engine.errors import LedgerUnreadable

NETWORK = frozenset({"9p", "afs", "ceph", "cifs", "fuse.sshfs", "nfs", "nfs4", "smb3"})

_MOUNTS = Path("/proc/self/mountinfo")


def refuse_network(folder: int) -> None:
    """Do nothing if an open folder is on a local file system, or the system does not tell.

    Raises:
        LedgerUnreadable: it is on a network file system, where a lock taken here may not hold
            there, and a sync may not mean what it says.
    """
    kind = _file_system(os.fstat(folder).st_dev)
    if kind in NETWORK:
        raise LedgerUnreadable(
            f"the ledger is on a network file system ({kind}), where locks may not hold",
            way_out="keep it on a local disk and share it through git, or allow it by name",
        )


def _file_system(device: int) -> str | None:
    """Return the type of the file system with this device number."""
    try:
        rows = _MOUNTS.read_text().splitlines()
    except OSError:
        return None
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for row in rows:
        # 36 35 98:0 /root /mount rw,noatime master:1 - ext4 /dev/vda rw
        mount, _, kind = row.partition(" - ")
        if mount.split()[2] == wanted:
            return kind.split()[0]
    return None
