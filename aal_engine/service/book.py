"""A ledger that is read once and then followed, for those who append to what they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from aal_engine.canonical import JSON
from aal_engine.decide.act import Step, body_of
from aal_engine.decide.entry import Entry, Kind, stamp
from aal_engine.decide.release import AgentKey
from aal_engine.decide.replay import Replay
from aal_engine.decide.serving import Serving
from aal_engine.errors import AalError, Conflict, HeadMoved
from aal_engine.store.audit import Seen
from aal_engine.store.ledger import Ledger

TRIES = 64
"""Times that an append is tried because somebody else appended in between."""


class Book:
    """The ledger in a folder, and what its entries mean; used by one thread at a time.

    Each reading takes in only what was appended since the one before.
    """

    def __init__(self, folder: Path, *, network: bool = False) -> None:
        self.folder = folder
        self._ledger = Ledger.open(folder, network=network)
        self._seen: Seen | None = None
        self._replay = Replay()

    def replay(self) -> Replay:
        """Return what the ledger means now.

        Raises:
            LedgerError: it is broken, or cannot be read.
        """
        try:
            seen = self._ledger.follow(self._seen, self._replay)
            if seen is None:
                self._forget()
                seen = self._ledger.follow(None, self._replay)
        except AalError:
            # What was read in part must not be taken for the whole.
            self._forget()
            raise
        self._seen = seen
        return self._replay

    def serving(self, key: AgentKey) -> Serving:
        """Return what the ledger says of one agent's and pack's versions in service.

        Raises:
            LedgerError: as `replay`.
        """
        return self.replay().serving.get(key) or Serving(key)

    def append(
        self,
        kind: Kind,
        key: AgentKey,
        made: Callable[[Serving], Mapping[str, JSON] | None],
        now: datetime,
    ) -> Entry | None:
        """Append the entry whose body `made` returns for what the ledger says at that moment.

        If somebody appends in between, it is made again from what the ledger says then; so nothing
        is decided on a state that has passed. None makes no entry.

        Raises:
            Conflict: the entry cannot follow those before it.
            LedgerError: the ledger is broken, or refused the entry.
        """
        for _ in range(TRIES):
            replay = self.replay()
            body = made(replay.serving.get(key) or Serving(key))
            if body is None:
                return None
            assert self._seen is not None
            head = self._seen.head
            why = replay.refused(Entry(head.size, "", kind, body, stamp(now), b"", b""))
            if why is not None:
                raise Conflict(why)
            try:
                entry = self._ledger.append(kind, body, now, expected=head)
            except HeadMoved:
                continue
            self.replay()
            return entry
        raise HeadMoved(
            f"the ledger grew {TRIES} times in a row",
            way_out="run the same command again when fewer processes append at once",
        )

    def state(self, kind: Kind, step: Step, now: datetime) -> int:
        """Append the entry that records a step, and return its number.

        Raises:
            Conflict: it cannot follow those before it.
            LedgerError: as `append`.
        """
        entry = self.append(kind, step.key, lambda _: body_of(kind, step), now)
        assert entry is not None
        return entry.seq

    def _forget(self) -> None:
        self._seen, self._replay = None, Replay()
