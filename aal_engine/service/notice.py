"""Notices of what happened: told after the act, so that nobody who hangs can hold one up.

A notice is what an entry of the ledger says. That it was told is an entry too, so a process that
dies in between leaves it to the next one; who gets it twice knows it by its token.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from threading import Event, Thread
from types import MappingProxyType
from typing import Self

from aal_engine.canonical import JSON, digest
from aal_engine.decide.act import HALTS, WHYS, Told, body_of
from aal_engine.decide.serving import Notice, Serving, Word
from aal_engine.errors import AalError, ActFailed, shown
from aal_engine.service.book import Book
from aal_engine.service.desk import Desk
from aal_engine.store.notifier import Message
from aal_engine.store.turn import turn

LINES: Mapping[Word, str] = MappingProxyType(
    {
        "rolled_back": "rolled back from {was} to {version}",
        "stopped": "taken out of service: {was} is in breach and nothing may replace it",
        "halted": "HALTED, a person is needed: {why}",
        "failed": "NOT DONE, a person is needed: {version} should serve, and {why}",
        "reasserted": "NOT AS RECORDED: {version} should serve and the target shows {was}",
    }
)
"""What a notice says; `{was}` is what served, or what is shown."""
WHY: Mapping[str, str] = MappingProxyType({**WHYS, **HALTS})


def deliver(desk: Desk) -> list[Notice]:
    """Tell every notice that nobody confirmed yet, each by every notifier, and return them.

    Raises:
        Conflict: another process is telling them for too long.
        LedgerError: the ledger is broken, or refused the entry.
    """
    told: list[Notice] = []
    if not any(serving.untold for serving in desk.book.replay().serving.values()):
        return told
    with turn(desk.book.folder, "notices", desk.wait):
        for serving in list(desk.book.replay().serving.values()):
            for notice in list(serving.untold.values()):
                _tell(desk, notice)
                told.append(notice)
    return told


def line(notice: Notice) -> str:
    """Return a notice in one line of names and numbers."""
    why = WHY.get(notice.why or "", "")
    said = LINES[notice.word].format(
        was=shown(notice.was or "nothing"), version=shown(notice.version or "nothing"), why=why
    )
    where = f"{shown(notice.key.agent)} on {shown(notice.key.pack)}"
    cause = "" if notice.check is None else f", check {shown(notice.check)}"
    return f"{where}: {said}{cause} (ledger entry {notice.seq})"


def message(notice: Notice) -> Message:
    """Return what the notifiers are given."""
    body: dict[str, JSON] = {
        "notice": notice.word,
        "agent": notice.key.agent,
        "pack": notice.key.pack,
        "version": notice.version,
        "was": notice.was,
        "incident": notice.incident,
        "check": notice.check,
        "why": notice.why,
        "entry": notice.seq,
        "at": notice.at,
    }
    return Message(line(notice), body, digest(body))


def _tell(desk: Desk, notice: Notice) -> None:
    delivered, failed = [], []
    for notifier in desk.notifiers:
        try:
            notifier.send(message(notice))
            delivered.append(notifier.name)
        except ActFailed:
            failed.append(notifier.name)

    def made(serving: Serving) -> dict[str, JSON] | None:
        if notice.seq not in serving.untold:
            return None
        step = Told(notice.key, notice.seq, tuple(delivered), tuple(failed))
        return body_of(notice.kind, step)

    desk.book.append(notice.kind, notice.key, made, desk.clock())


class Courier:
    """A thread that tells notices while the caller goes on.

    >>> with Courier(desk) as courier:  # doctest: +SKIP
    ...     rollback(desk, incident)
    ...     courier.wake()
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = replace(desk, book=Book(desk.book.folder))
        self._due = Event()
        self._ended = False
        self._thread = Thread(target=self._run, name="notices", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.wake()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wake(self) -> None:
        """Have the notices told that are due; returns at once."""
        self._due.set()

    def close(self, wait: float = 10.0) -> None:
        """Let it finish, for so many seconds at most; the ledger keeps what is not told."""
        self._ended = True
        self._due.set()
        self._thread.join(wait)

    def _run(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            with suppress(AalError):
                deliver(self._desk)
            if self._ended:
                return
