"""A monitor with all that it needs around it, and the loop that feeds it from a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Final

from aal_engine.canonical import JSON
from aal_engine.decide.monitor import Reading
from aal_engine.errors import WriteError
from aal_engine.service.monitor import OnlineMonitor
from aal_engine.service.release import open_desk
from aal_engine.service.response import Responder, Tell
from aal_engine.store.live_output import MAX_OUTPUT
from aal_engine.store.monitor_state import MonitorState
from aal_engine.store.policy import load_policy
from aal_engine.store.tail import Tail, require_path
from aal_engine.store.text_file import STDIN

PAUSE: Final = 1.0
"""Seconds between two looks at a log that has nothing new."""

BATCH: Final = 1_000


@contextmanager
def open_monitor(
    pack: Path,
    policy: Path,
    *,
    ledger: Path | None,
    state: Path | None,
    secrets: Callable[[str], str | None],
    tell: Tell,
) -> Iterator[OnlineMonitor]:
    """Give the monitor of a pack. Without a ledger it records nothing, without a state it forgets.

    Raises:
        InputError: the pack, the policy or the state cannot be used.
        Conflict: another process holds the state.
        LedgerError: the ledger cannot be read.
    """
    rules = load_policy(policy)
    with ExitStack() as opened:
        responder = None
        if ledger is not None:
            desk = open_desk(ledger, rules, secrets, lambda: datetime.now(UTC))
            responder = opened.enter_context(Responder(desk, tell))
        kept = None if state is None else opened.enter_context(closing(MonitorState(state)))
        yield OnlineMonitor(
            pack,
            rules,
            responder=responder,
            state=kept,
            clock=lambda: datetime.now(UTC).timestamp(),
            tell=tell,
        )


def watch(monitor: OnlineMonitor, path: Path, stop: Event, *, once: bool) -> None:
    """Feed a log to a monitor until it is told to stop, or `once` to its end.

    `path` is a file with its rotated siblings, a folder of logs or, once, `-` for standard input.

    Raises:
        InputError: the log cannot be read.
        WriteError: the state cannot be written.
    """
    if str(path) == STDIN:
        _watch_stream(monitor)
        return
    if once or path.exists():
        require_path(path)
    with closing(Tail(path, monitor.positions)) as tail:
        while not stop.is_set():
            chunk = tail.read()
            if chunk is not None:
                monitor.take(chunk.lines, too_long=chunk.too_long)
                try:
                    monitor.commit(tail.positions())
                except WriteError:
                    monitor.step()
                    raise
            monitor.step()
            if chunk is None:
                if once:
                    return
                stop.wait(PAUSE)


def _watch_stream(monitor: OnlineMonitor) -> None:
    rows: list[bytes] = []
    while line := sys.stdin.buffer.readline(MAX_OUTPUT + 2):
        rows.append(line)
        if len(rows) == BATCH:
            monitor.take(rows)
            monitor.commit()
            rows.clear()
    monitor.take(rows)
    monitor.commit()
    monitor.step()


def status(monitor: OnlineMonitor) -> dict[str, JSON]:
    """Return what stands of a monitor, as JSON: names and numbers."""
    return {
        "agent": monitor.key.agent,
        "pack": monitor.key.pack,
        "totals": dict(asdict(monitor.totals)),
        "why_unreadable": dict(monitor.why_unreadable),
        "checks": [_shown(reading) for reading in monitor.readings()],
    }


def _shown(reading: Reading) -> dict[str, JSON]:
    return {
        "version": reading.version,
        "check": reading.check,
        "state": reading.state,
        "measured": reading.measured,
        "hits": reading.hits,
        "unmeasured": reading.unmeasured,
        "allowed": reading.allowed,
        "estimate": None if reading.estimate is None else round(reading.estimate, 6),
        "interval": [round(bound, 6) for bound in reading.interval],
        "e_value": None if reading.e_value is None else float(f"{reading.e_value:.4g}"),
    }
