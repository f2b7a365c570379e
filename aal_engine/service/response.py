"""Incidents answered: recorded, told, and where they are breaches, rolled back. Each once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Self, TypeAlias

from aal_engine.decide.incident import Incident
from aal_engine.decide.release import AgentKey
from aal_engine.errors import shown
from aal_engine.service.alert import Alerts, line
from aal_engine.service.book import Book
from aal_engine.service.notice import Courier
from aal_engine.service.reconcile import reconcile
from aal_engine.service.release import Desk, Outcome, breach, resume, rollback

TOLD_BY_RELEASE: Final = frozenset({"rolled_back", "stopped", "held", "failed"})
"""Ends of a rollback of which a notice of its own goes out."""

Tell: TypeAlias = Callable[[str], None]
"""Hears one line of names and numbers about what happened."""


class Responder:
    """Answers incidents at a desk. Telling goes on in threads, and delays nothing."""

    def __init__(self, desk: Desk, tell: Tell) -> None:
        self.desk = desk
        self._tell = tell
        self._courier = Courier(desk)
        self._alerts = Alerts(desk.notifiers)
        self._blind = False

    def __enter__(self) -> Self:
        self._courier.__enter__()
        self._alerts.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._courier.close()
        self._alerts.close()

    def apart(self) -> Desk:
        """Return a desk for another thread: a ledger is read by one thread at a time."""
        return replace(self.desk, book=Book(self.desk.book.folder))

    def report(self, desk: Desk, incident: Incident) -> None:
        """Record and tell what was not measured.

        Raises:
            LedgerError: the ledger is broken, or refused the entry.
        """
        self._tell(line(incident))
        breach(desk, incident)
        self._alerts.send(incident)

    def tend(self, key: AgentKey) -> None:
        """Finish what is under way for an agent, and tell where its target shows something else.

        Raises:
            Conflict: another process is acting for it; this does not wait.
            LedgerError: the ledger is broken, or refused an entry.
        """
        try:
            resume(replace(self.desk, wait=0.0), key)
            blind = any(not reading.readable for reading in reconcile(self.desk, key))
            if blind and not self._blind:
                name = f"{shown(key.agent)} on {shown(key.pack)}"
                self._tell(f"{name}: the target cannot be read: what it serves is not known")
            self._blind = blind
        finally:
            self._courier.wake()

    def answer(self, incident: Incident) -> Outcome | None:
        """Record an incident, and answer a breach with a rollback; None where it is none.

        Raises:
            AalError: the ledger or the turn to act could not be had; nothing is lost if it is
                called again.
        """
        if incident.state != "breach":
            self.report(self.desk, incident)
            return None
        self._tell(line(incident))
        outcome = rollback(self.desk, incident)
        if outcome.ended in TOLD_BY_RELEASE:
            self._courier.wake()
        else:
            self._alerts.send(incident)
        return outcome
