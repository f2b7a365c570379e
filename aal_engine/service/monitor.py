"""The online monitor as an act: outputs in, a sample drawn and checked, incidents recorded.

```
lines -> draw -> check -> counts -> commit        `take`, `commit`
ledger -> which version serves -> alarms due       `step`
incident -> breach entry -> rollback -> notice     `step`
what is left half done, or undone elsewhere        `step`, every `TEND` seconds
```

Counts, the ids that were counted and how far the log was read are one commit, so a process that dies
at any moment neither loses an output of the log nor counts one twice. An incident stays among them
until the ledger holds it; recording and answering it are idempotent there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

from aal_engine.canonical import JSON
from aal_engine.decide.incident import Incident, incident_from
from aal_engine.decide.inspection import Finding, Rules, inspect
from aal_engine.decide.monitor import Monitor, Reading, stints_of
from aal_engine.decide.policy import Policy
from aal_engine.decide.release import AgentKey
from aal_engine.decide.sampling import SENSITIVITIES, sampled
from aal_engine.errors import AalError, InputError, WriteError
from aal_engine.service.alert import line
from aal_engine.service.release import Outcome
from aal_engine.service.response import Responder, Tell
from aal_engine.store.golden import load_pack
from aal_engine.store.live_output import (
    Head,
    UnreadableOutput,
    read_head,
    read_output,
    written_at,
)
from aal_engine.store.monitor_state import MonitorState
from aal_engine.store.position import Position
from aal_engine.store.seen import Seen, key_of

RETRY: Final = 30.0
"""Seconds until an incident that the ledger did not take is tried again."""

TEND: Final = 60.0
"""Seconds between two looks at what is under way, and at what the target shows."""


@dataclass(slots=True)
class Taken:
    """What became of some lines.

    `drawn` were in the sample and checked; `duplicates` were counted before; `foreign` are of
    another agent or pack; `late` of a version that does not serve; `unreadable` no outputs.
    """

    lines: int = 0
    drawn: int = 0
    duplicates: int = 0
    foreign: int = 0
    late: int = 0
    unreadable: int = 0


class OnlineMonitor:
    """Watches one pack's agent. Safe to use from several threads.

    Without a responder nothing is recorded or rolled back, without a state nothing is kept. `totals`
    are since the state began; `broke` says whether it answered a breach since it was made.
    """

    def __init__(
        self,
        pack: Path,
        policy: Policy,
        *,
        responder: Responder | None,
        state: MonitorState | None,
        clock: Callable[[], float],
        tell: Tell,
    ) -> None:
        """Compile the pack's rules and take up the state.

        Raises:
            InputError: the pack cannot be read, or the state is another pack's.
            LedgerError: the ledger cannot be read.
        """
        declared = load_pack(pack)
        self.rules = Rules(declared)
        self.key = AgentKey(declared.agent, declared.name)
        self.settings = policy.monitoring
        self.totals = Taken()
        self.why_unreadable: Counter[str] = Counter()
        self._autonomy, self._sensitivity = declared.autonomy, declared.sensitivity
        self._responder, self._state, self._clock = responder, state, clock
        self.tell = tell
        self._monitor = Monitor(self.key, self.rules.checks, self.settings)
        self._incidents: list[Incident] = []
        self._again = self._tended = 0.0
        self._followed = True
        self.broke = False
        self._seen = Seen() if state is None else state.seen
        self._keys: list[int] = []
        self._positions: Sequence[Position] = ()
        self._lock = Lock()
        self._acting = Lock()
        if state is not None and state.value is not None:
            try:
                self._restore(state.value)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise InputError.at(
                    "the state is of another version of this program",
                    way_out="name another folder with --state",
                ) from None
        self.follow()

    @property
    def positions(self) -> Sequence[Position]:
        """How far the log was read at the last commit."""
        return self._positions

    def take(self, lines: Iterable[bytes], *, too_long: int = 0) -> Taken:
        """Draw from outputs, check what is drawn, and count; `commit` makes it last."""
        taken = Taken()
        now = self._clock()
        with self._lock:
            for row in lines:
                taken.lines += 1
                try:
                    self._take(row, taken, now)
                except UnreadableOutput as error:
                    taken.unreadable += 1
                    self.why_unreadable[error.why] += 1
            taken.lines += too_long
            taken.unreadable += too_long
            for name, count in asdict(taken).items():
                setattr(self.totals, name, getattr(self.totals, name) + count)
        return taken

    def commit(self, positions: Sequence[Position] | None = None) -> None:
        """Keep all counts, and how far the log was read.

        Raises:
            WriteError: they could not be written; the next commit holds them too.
        """
        with self._lock:
            if positions is not None:
                self._positions = positions
            if self._state is not None:
                self._state.commit(self._value(), self._keys)
                self._keys.clear()

    def step(self) -> list[tuple[Incident, Outcome | None]]:
        """Learn which version serves, raise the alarms that are due, and answer what was found.

        What the ledger does not take now is tried again later. An act that is not finished is gone
        on with, and a target that shows another version than the ledger is told, once a minute.
        """
        try:
            self.follow()
        except AalError as error:
            if self._followed:
                self.tell(f"the ledger cannot be followed: {error.message}")
            self._followed = False
        else:
            self._followed = True
        now = self._clock()
        with self._lock:
            self._found(self._monitor.tick(now))
            # A clock that is set back must not put off what is due.
            self._again = min(self._again, now + RETRY)
            self._tended = min(self._tended, now)
            due = bool(self._incidents) and now >= self._again
        answered: list[tuple[Incident, Outcome | None]] = []
        if due:
            self._keep()
            with self._acting:
                answered = self._answered()
            self._tended = now
        elif self._responder is not None and now - self._tended >= TEND:
            with self._acting:
                self._tend(self._responder, now)
        return answered

    def follow(self) -> None:
        """Learn from the ledger which version serves.

        Raises:
            LedgerError: it cannot be read.
        """
        if self._responder is None:
            return
        with self._acting:
            serving = self._responder.desk.book.serving(self.key)
            known = serving.live is not None or serving.pending is not None
            stints = stints_of(serving)
        with self._lock:
            self._monitor.serves(stints, self._clock(), known=known)

    def readings(self) -> list[Reading]:
        """Return what stands of every check."""
        with self._lock:
            return self._monitor.readings(self._clock())

    def _take(self, row: bytes, taken: Taken, now: float) -> None:
        head = read_head(row)
        if (head.agent or self.key.agent, head.pack or self.key.pack) != self.key:
            taken.foreign += 1
            return
        rate = self._rate(head)
        if not sampled(head.trace_id, self.settings.salt, rate):
            return
        key = key_of(head.trace_id)
        if key in self._seen:
            taken.duplicates += 1
            return
        output = read_output(row, head.trace_id)
        at = written_at(head)
        self._seen.add(key)
        self._keys.append(key)
        if not self._monitor.watched(head.version, at, now):
            taken.late += 1
            return
        findings = inspect(output, self.rules)
        if any(finding.state == "breach" for finding in findings):
            findings = self._confirmed(row, head, findings)
        taken.drawn += 1
        self._found(self._monitor.observe(head.version, head.trace_id, findings, rate, now))

    def _found(self, incidents: Sequence[Incident]) -> None:
        if incidents:
            self._incidents += incidents
            self._again = 0.0

    def _rate(self, head: Head) -> float:
        """Return the share of such outputs that is drawn: never less than the pack's own."""
        autonomy = max(self._autonomy, head.autonomy or 0)
        sensitivity = max(self._sensitivity, head.sensitivity or "public", key=SENSITIVITIES.index)
        return self.settings.sampling.rate(autonomy, sensitivity)

    def _confirmed(
        self, row: bytes, head: Head, findings: Sequence[Finding]
    ) -> tuple[Finding, ...]:
        """Read and examine an output once more; what is not found twice is not measured."""
        again = inspect(read_output(row, head.trace_id), self.rules, screened=False)
        return tuple(
            first if first == second else Finding(first.check, "not_measured")
            for first, second in zip(findings, again, strict=True)
        )

    def _answered(self) -> list[tuple[Incident, Outcome | None]]:
        answered: list[tuple[Incident, Outcome | None]] = []
        for incident in list(self._incidents):
            outcome = None
            if self._responder is None:
                self.tell(line(incident))
            else:
                try:
                    outcome = self._responder.answer(incident)
                except AalError as error:
                    self.tell(f"not recorded yet, and tried again: {error.message}")
                    self._again = self._clock() + RETRY
                    continue
            answered.append((incident, outcome))
            self.broke = self.broke or incident.state == "breach"
            with self._lock:
                self._incidents.remove(incident)
        if answered:
            self._keep()
        return answered

    def _tend(self, responder: Responder, now: float) -> None:
        self._tended = now
        try:
            responder.tend(self.key)
        except AalError as error:
            self.tell(f"what is under way is looked at again: {error.message}")

    def _keep(self) -> None:
        """Commit; a breach is answered whether the counts can be kept or not."""
        try:
            self.commit()
        except WriteError as error:
            self.tell(f"the counts are not kept yet: {error.message}")

    def _value(self) -> dict[str, JSON]:
        return {
            "monitor": self._monitor.canonical(),
            "incidents": [incident.body() for incident in self._incidents],
            "positions": [asdict(position) for position in self._positions],
            "totals": asdict(self.totals),
            "why_unreadable": dict(self.why_unreadable),
        }

    def _restore(self, value: Mapping[str, Any]) -> None:
        kept = value["monitor"]
        if (kept["agent"], kept["pack"]) != self.key:
            raise InputError.at(
                "the state is of another agent or pack",
                way_out="name another folder with --state",
            )
        self._monitor.restore(kept, self._clock())
        self._incidents = [incident_from(body) for body in value["incidents"]]
        self._positions = [Position(**position) for position in value["positions"]]
        self.totals = Taken(**value["totals"])
        self.why_unreadable = Counter(value["why_unreadable"])
