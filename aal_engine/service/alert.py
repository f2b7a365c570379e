"""Alerts of what the monitor saw, told in a thread of their own: who hangs delays nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from queue import Full, Queue
from threading import Thread
from typing import Final

from aal_engine.decide.incident import Incident
from aal_engine.errors import ActFailed, shown
from aal_engine.store.notifier import Message, Notifier

MOST_WAITING: Final = 256
"""Alerts that wait to be told; what comes beyond stands in the ledger alone."""


class Alerts:
    """Tells incidents by every notifier but the first, which is standard error."""

    def __init__(self, notifiers: Sequence[Notifier]) -> None:
        self._notifiers = notifiers[1:]
        self._waiting: Queue[Incident | None] = Queue(MOST_WAITING)
        self._thread = Thread(target=self._run, name="alerts", daemon=True)

    def start(self) -> None:
        """Begin to tell."""
        self._thread.start()

    def send(self, incident: Incident) -> None:
        """Have an incident told; returns at once."""
        with suppress(Full):
            self._waiting.put_nowait(incident)

    def close(self, wait: float = 10.0) -> None:
        """Let it finish, for so many seconds at most."""
        with suppress(Full):
            self._waiting.put_nowait(None)
        self._thread.join(wait)

    def _run(self) -> None:
        while True:
            incident = self._waiting.get()
            if incident is None:
                return
            for notifier in self._notifiers:
                with suppress(ActFailed):
                    notifier.send(message(incident))


def line(incident: Incident) -> str:
    """Return an incident in one line of names and numbers."""
    what = f"{shown(incident.key.agent)} {shown(incident.version)} on {shown(incident.key.pack)}"
    if incident.state != "breach":
        return f"{what}: NOT MEASURED: {shown(incident.check)}: {incident.reason}"
    seen = (
        "" if incident.value is None else f" {incident.value:.4g}, limit {incident.limit or 0:.4g}"
    )
    return f"{what}: BREACH: {shown(incident.check)}{seen} (n = {incident.n})"


def message(incident: Incident) -> Message:
    """Return what the notifiers are given: the ledger's own entry of it."""
    return Message(line(incident), incident.body(), incident.id)
