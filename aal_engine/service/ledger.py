"""Acts on the release ledger that a person asks for by name: start it, verify it, read it."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from aal_engine.decide.entry import Entry
from aal_engine.decide.replay import Replay
from aal_engine.store.ledger import Audit, Ledger

BARE = """\
What this does not show: without a key or a head kept from before, a ledger whose last entries were
cut off, or one that was written anew from its first entry, looks the same. Keep the size and the
root where nobody who writes the ledger can change them, and compare them next time.
"""


def start(folder: Path, origin: str, *, now: datetime, network: bool = False) -> Entry:
    """Start a ledger and return its genesis entry.

    Raises:
        LedgerError: there is one already, or the folder cannot be used.
    """
    return Ledger.init(folder, origin, now, network=network)


def verify(folder: Path, *, strict: bool = True, meaning: bool = True) -> Audit:
    """Verify a ledger: its chain and tree, its lines' form, and what its entries mean.

    Raises:
        ChainBroken: it is not what was appended, or an entry does not follow from those before.
        LedgerUnreadable: it cannot be opened.
    """
    replay = Replay() if meaning else None
    audit = Ledger.open(folder).audit(strict=strict, meaning=replay)
    if replay is not None:
        replay.ended()
    if replay is None or not replay.unfinished:
        return audit
    cut = f"decisions before it were cut off while they were written: {replay.unfinished}"
    return replace(audit, notices=(*audit.notices, (audit.head.size, cut)))


def told(audit: Audit, *, meaning: bool = True) -> str:
    """Return what a verification found, in words."""
    head = audit.head
    lines = [
        f"verified: {head.size} entries of {head.origin}, the last of {head.at}",
        f"  root {base64.b64encode(head.root).decode()}",
        f"  the chain holds{', and each entry follows from those before it' if meaning else ''}",
    ]
    lines += [f"warning: entry {seq} {what}" for seq, what in audit.notices]
    if audit.torn:
        lines.append(
            f"torn tail: {audit.torn} bytes of an append that was cut off follow the last entry; "
            "nobody was told that it succeeded, and the next append sets them aside"
        )
    return "\n".join(lines) + "\n" + BARE


def checked(folder: Path) -> str:
    """Verify a ledger and return what that found, in words.

    Raises:
        LedgerError: as in `verify`.
    """
    return told(verify(folder))


def read(folder: Path, *, kinds: Collection[str] = (), last: int | None = None) -> list[Entry]:
    """Return entries in order: those of the named kinds, and of these the last so many.

    The chain is verified on the way, without form and meaning.

    Raises:
        LedgerError: as in `verify`.
    """
    found: deque[Entry] = deque(maxlen=last)

    def keep(entry: Entry) -> None:
        if not kinds or entry.kind in kinds:
            found.append(entry)

    Ledger.open(folder).audit(strict=False, meaning=keep)
    return list(found)
