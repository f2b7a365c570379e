"""What each target shows, held against what the ledger says should serve."""

from __future__ import annotations

from dataclasses import dataclass

from aal_engine.canonical import JSON
from aal_engine.decide.act import Found, body_of
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Serving
from aal_engine.errors import ActFailed
from aal_engine.service.desk import Desk


@dataclass(frozen=True, slots=True)
class Reading:
    """What a target shows beside what the ledger says; `found` None is nothing, or unknown."""

    key: AgentKey
    version: str | None
    found: str | None
    readable: bool

    @property
    def agrees(self) -> bool:
        """Whether the target shows what the ledger says."""
        return self.readable and self.found == self.version


def reconcile(desk: Desk, only: AgentKey | None = None) -> list[Reading]:
    """Read what each target shows, and record where it is not, or is again, what should serve.

    For each agent and pack of the ledger, or for one alone. A desired state elsewhere that puts a version back is seen here; nothing is acted on.

    Raises:
        LedgerError: the ledger is broken, or refused an entry.
    """
    readings = []
    for key in list(desk.book.replay().serving) if only is None else [only]:
        serving = desk.book.serving(key)
        if serving.live is None or serving.pending is not None:
            continue
        try:
            found, readable = desk.actuator.read(key), True
        except ActFailed:
            found, readable = None, False
        if readable:
            _note(desk, key, found, serving.live.since)
        readings.append(Reading(key, serving.version, found, readable))
    return readings


def _note(desk: Desk, key: AgentKey, found: str | None, since: int) -> None:
    def made(serving: Serving) -> dict[str, JSON] | None:
        live = serving.live
        if live is None or live.since != since or serving.pending or live.found == found:
            return None
        return body_of(live.by, Found(key, live.since, live.version, found))

    live = desk.book.serving(key).live
    if live is not None:
        desk.book.append(live.by, key, made, desk.clock())
