"""Which version of an agent serves, by the ledger: derived from its entries, never stored.

A version serves for a stint: from the intent of the act that put it there until the next act. While
an act is pending, between its intent and its end, either version may be what really runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from aal_engine.decide.act import (
    Clear,
    Done,
    Failed,
    Found,
    Halt,
    Promotion,
    Quarantine,
    Rollback,
    Step,
    Told,
)
from aal_engine.decide.incident import Incident
from aal_engine.decide.release import AgentKey, Recorded

ActKind: TypeAlias = Literal["release", "rollback"]
Word: TypeAlias = Literal["rolled_back", "stopped", "halted", "failed", "reasserted"]


@dataclass(frozen=True, slots=True)
class Passed:
    """The decision that released a version: its digest, its entry, the families that passed."""

    decision: str
    seq: int
    families: frozenset[str]


@dataclass(frozen=True, slots=True)
class Stint:
    """A version's time in service; None is the time out of service after a stop.

    `since` is the entry of the intent that began it, `done` the entry that says so, `at` its time,
    and `found` what the target showed last.
    """

    version: str | None
    since: int
    done: int
    at: str
    by: ActKind
    found: str | None


@dataclass(frozen=True, slots=True)
class Pending:
    """An act whose end the ledger does not hold yet, and its intent's entry: number and hash.

    `version` is to serve in place of `was`, as the answer to `incident` where it is a rollback.
    `failure` is the first attempt that came to nothing.
    """

    kind: ActKind
    version: str | None
    was: str | None
    incident: str | None
    seq: int
    token: str
    failure: Failed | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """What later entries depend on of an incident; `breach` is false for what was not measured."""

    id: str
    version: str
    since: int | None
    check: str
    breach: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person has to hear, told by the entry `seq`: names and numbers alone."""

    seq: int
    kind: ActKind
    word: Word
    at: str
    key: AgentKey
    version: str | None
    was: str | None = None
    incident: str | None = None
    check: str | None = None
    why: str | None = None


@dataclass(slots=True)
class Serving:
    """All that the ledger says of one agent's and pack's versions in service.

    `stints` are oldest first; `passed` are the versions that the gate released; `quarantined` maps
    versions to the entry that put them there, and `causes` to the breach that did; `incidents` are
    those recorded, by id; `answered` maps those whose rollback is done to the entry that says so;
    `untold` are notices that nobody confirmed, by their entry. `reckoned` is the entry from which
    rollbacks are counted towards a halt; `cleared` maps versions to the entry by which a person last
    cleared them, or lifted the halt while they served.
    """

    key: AgentKey
    stints: list[Stint] = field(default_factory=list)
    pending: Pending | None = None
    passed: dict[str, Passed] = field(default_factory=dict)
    quarantined: dict[str, int] = field(default_factory=dict)
    causes: dict[str, Cause] = field(default_factory=dict)
    incidents: dict[str, Cause] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    halt: Halt | None = None
    reckoned: int = 0
    cleared: dict[str, int] = field(default_factory=dict)
    untold: dict[int, Notice] = field(default_factory=dict)

    def copy(self) -> Serving:
        """Return one that can change by itself."""
        return replace(
            self,
            stints=list(self.stints),
            passed=dict(self.passed),
            quarantined=dict(self.quarantined),
            causes=dict(self.causes),
            incidents=dict(self.incidents),
            answered=dict(self.answered),
            cleared=dict(self.cleared),
            untold=dict(self.untold),
        )

    @property
    def live(self) -> Stint | None:
        """The stint that the last finished act began."""
        return self.stints[-1] if self.stints else None

    @property
    def version(self) -> str | None:
        """The version that serves, by the last finished act."""
        return None if self.live is None else self.live.version

    def since(self, version: str) -> int | None:
        """Return the stint in which a version serves or is just put into service, else None."""
        if self.pending is not None and self.pending.version == version:
            return self.pending.seq
        return self.live.since if self.live is not None and self.version == version else None

    def latest(self, version: str) -> int | None:
        """Return the last stint that a version had, whether it serves still or not."""
        stints = (stint.since for stint in reversed(self.stints) if stint.version == version)
        return self.since(version) or next(stints, None)

    def served(self) -> Iterator[str]:
        """Yield the versions that served, each once, the one that served last first.

        By the ledger's sequence: 1.10.0 follows 1.9.0 if it was put into service after it.
        """
        yield from dict.fromkeys(
            stint.version for stint in reversed(self.stints) if stint.version is not None
        )

    def unanswered(self) -> Cause | None:
        """Return the breach that a version in service is quarantined for, None if there is none."""
        intents = [] if self.pending is None else [self.pending.version]
        for version in (*intents, self.version):
            cause = None if version is None else self.causes.get(version)
            if cause is not None and cause.since == self.since(cause.version):
                return cause
        return None

    def decided(self, decision: Recorded) -> None:
        """Take a released decision of the gate."""
        self.passed[decision.version] = Passed(
            decision.decision, decision.seq, frozenset(decision.families)
        )

    def reported(self, incident: Incident, seq: int) -> None:
        """Take a breach entry."""
        found = Cause(
            incident.id,
            incident.version,
            incident.since,
            incident.check,
            incident.state == "breach",
        )
        self.incidents[found.id] = found
        if not found.breach:
            return
        version = incident.version
        cause, since = self.causes.get(version), self.since(version)
        # A late breach of an earlier stint must not hide one of the present stint.
        if cause is None or (cause.since != since and incident.since == since):
            self.causes[version] = found
        self.quarantined.setdefault(version, seq)

    def take(self, step: Step, seq: int, at: str, token: str) -> None:
        """Take a step that may follow (see `succession`); `token` is its entry's hash."""
        match step:
            case Promotion():
                self.pending = Pending("release", step.version, step.was, None, seq, token)
            case Rollback():
                self.pending = Pending(
                    "rollback", step.version, step.was, step.incident, seq, token
                )
            case Done():
                self._done(step, seq, at)
            case Failed():
                self._failed(step, seq, at)
            case Found():
                self._found(step, seq, at)
            case Halt():
                self.halt, self.reckoned = step, seq
                self._tell(seq, "rollback", "halted", at, step.version, step.incident, step.why)
            case Told():
                self.untold.pop(step.entry)
            case Quarantine():
                self.quarantined[step.version] = seq
            case Clear(version=None):
                self._lift(seq)
            case Clear(version=str(version)):
                self.quarantined.pop(version)
                self._clear(version, seq)

    def _lift(self, seq: int) -> None:
        self.halt, self.reckoned = None, seq
        # A person has looked at the breach of what serves; only a new one counts.
        for version in (self.version, None if self.pending is None else self.pending.version):
            if version is not None:
                self._clear(version, seq)

    def _clear(self, version: str, seq: int) -> None:
        self.causes.pop(version, None)
        self.cleared[version] = seq

    def _done(self, step: Done, seq: int, at: str) -> None:
        assert self.pending is not None
        act, self.pending = self.pending, None
        self.stints.append(Stint(step.version, act.seq, seq, at, act.kind, step.version))
        if act.incident is not None:
            self.answered[act.incident] = seq
            word: Word = "stopped" if step.version is None else "rolled_back"
            self._tell(seq, act.kind, word, at, step.version, act.incident, None, act.was)

    def _failed(self, step: Failed, seq: int, at: str) -> None:
        assert self.pending is not None
        act = self.pending
        if act.failure is None:
            self.pending = replace(act, failure=step)
            self._tell(seq, act.kind, "failed", at, step.version, act.incident, step.why, act.was)

    def _found(self, step: Found, seq: int, at: str) -> None:
        live = self.stints[-1]
        self.stints[-1] = replace(live, found=step.found)
        if step.found != live.version:
            self._tell(seq, live.by, "reasserted", at, live.version, None, None, step.found)

    def _tell(
        self,
        seq: int,
        kind: ActKind,
        word: Word,
        at: str,
        version: str | None,
        incident: str | None,
        why: str | None,
        was: str | None = None,
    ) -> None:
        check = None if incident is None else self.incidents[incident].check
        self.untold[seq] = Notice(seq, kind, word, at, self.key, version, was, incident, check, why)


def fallback(
    serving: Serving, families: Collection[str], *, leaving: str | None = None
) -> str | None:
    """Return the version to roll back to, None if there is none.

    It is the one that served last of those that passed for each of these model families and are
    not quarantined. A version in breach is quarantined, so it is never its own way out; `leaving`
    is another one that is not to be taken.
    """
    for version in serving.served():
        passed = serving.passed.get(version)
        if version in serving.quarantined or version == leaving or passed is None:
            continue
        if passed.families >= set(families):
            return version
    return None


def halt_due(serving: Serving, rollbacks: int, hours: float) -> bool:
    """Say whether the last rollback was one too many: `rollbacks` of them within `hours`.

    Counted since the last halt or the end of one, back from the last rollback's own time.
    """
    done = [
        datetime.fromisoformat(stint.at)
        for stint in serving.stints
        if stint.by == "rollback" and stint.version is not None and stint.done > serving.reckoned
    ]
    if not done:
        return False
    since = done[-1] - timedelta(hours=hours)
    return sum(at > since for at in done) >= rollbacks
