"""Outputs and traces that are sent rather than logged: counted and kept before they are confirmed.

A thread of its own learns which version serves, raises alarms and rolls back, so that who sends is
never kept waiting for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from threading import Event, Lock, Thread
from typing import Final

from aal_engine.canonical import JSON
from aal_engine.errors import AalError
from aal_engine.service.monitor import OnlineMonitor, Taken
from aal_engine.service.watch import status
from aal_engine.store.otlp import TraceReader

PAUSE: Final = 1.0


class Intake:
    """Where outputs are sent to. Safe to use from several threads."""

    def __init__(self, monitor: OnlineMonitor) -> None:
        self._monitor = monitor
        self._traces = TraceReader()
        self._reading = Lock()
        self._wake = Event()
        self._ended = False
        self._thread = Thread(target=self._run, name="intake", daemon=True)

    def start(self) -> None:
        """Begin to follow the ledger, to raise alarms and to roll back."""
        self._thread.start()

    def close(self) -> None:
        """Take in what is held, answer what was found, and end.

        Raises:
            WriteError: the counts could not be kept.
        """
        self._ended = True
        self._wake.set()
        self._thread.join()
        self._flush(float("inf"))
        self._monitor.step()

    def outputs(self, body: bytes) -> dict[str, JSON]:
        """Take outputs, one JSON object a line; return what became of them once they are kept.

        Raises:
            WriteError: the counts could not be kept; sent again, the outputs are counted once.
        """
        return dict(asdict(self._took(line for line in body.split(b"\n") if line.strip())))

    def traces(self, body: bytes) -> dict[str, JSON]:
        """Take an OTLP request of traces; return what became of the outputs it completed.

        Raises:
            UnreadableOutput: it is none.
            WriteError: as in `outputs`.
        """
        with self._reading:
            rows = self._traces.read(body, time.monotonic())
        return dict(asdict(self._took(rows))) if rows else {}

    def status(self) -> dict[str, JSON]:
        """Return what stands of the monitor: names and numbers."""
        return status(self._monitor)

    def _took(self, rows: Iterable[bytes]) -> Taken:
        taken = self._monitor.take(rows)
        self._monitor.commit()
        self._wake.set()
        return taken

    def _flush(self, now: float) -> None:
        with self._reading:
            rows = self._traces.due(now)
        if rows:
            self._took(rows)

    def _run(self) -> None:
        while not self._ended:
            self._wake.wait(PAUSE)
            self._wake.clear()
            try:
                self._flush(time.monotonic())
                self._monitor.step()
            except AalError as error:
                self._monitor.tell(f"tried again: {error.message}")
            except Exception as error:
                # The last resort: whatever happens, outputs go on being watched.
                self._monitor.tell(f"fault of this program: {type(error).__name__}")
