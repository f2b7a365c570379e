"""Versions going into service and out of it: the one writer of these entries of the ledger.

```
intent entry -> act -> read back -> done entry
```

What a process that died left half done, the next call finishes: it finds the intent, reads what the
target shows, acts only if that is not yet the version, and writes the end. A rollback is answered
once for an incident, and once for a stint of a version, however many incidents there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from aal_engine.canonical import JSON, digest
from aal_engine.decide.act import (
    Clear,
    Done,
    Failed,
    Found,
    Halt,
    HaltWhy,
    Promotion,
    Quarantine,
    Rollback,
    Step,
    body_of,
    step_from,
)
from aal_engine.decide.entry import Kind, stamp
from aal_engine.decide.incident import Incident
from aal_engine.decide.policy import Policy
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Cause, Pending, Serving, fallback, halt_due
from aal_engine.decide.succession import refusals
from aal_engine.errors import ActFailed, Conflict, shown
from aal_engine.service.book import Book
from aal_engine.store.actuator import Actuator, Clock, Secrets, actuator_of, carry_out
from aal_engine.store.notifier import Notifier, notifiers_of
from aal_engine.store.order import Order
from aal_engine.store.policy import load_policy
from aal_engine.store.turn import turn

Ended: TypeAlias = Literal[
    "promoted",
    "rolled_back",
    "stopped",
    "held",
    "failed",
    "answered",
    "late",
    "cleared",
    "nothing",
    "planned",
]
GONE = "its artefact is gone"
ENDS: dict[Ended, str] = {
    "promoted": "the version serves",
    "rolled_back": "the version that passed last serves again",
    "stopped": "the agent is out of service",
    "held": "the agent is halted and the version serves on: a person is needed",
    "failed": "the target does not show the version yet; the next call goes on with it",
    "answered": "the incident was answered before",
    "late": "the version of the incident does not serve any more, or serves anew",
    "cleared": "a person has cleared the version since",
    "nothing": "there was nothing to do",
    "planned": "a dry run: nothing was done or recorded",
}


NEED_A_PERSON = frozenset[Ended]({"stopped", "held", "failed"})


@dataclass(frozen=True, slots=True)
class Desk:
    """Where acts are decided and carried out: the ledger, the policy and what it names.

    `wait` is how long a call waits while another process acts for the same agent, in seconds.
    """

    book: Book
    policy: Policy
    actuator: Actuator
    clock: Clock
    notifiers: Sequence[Notifier] = field(default=())
    wait: float = 60.0


def open_desk(ledger: Path, policy: Policy | Path, secrets: Secrets, clock: Clock) -> Desk:
    """Open a desk on a ledger; relative paths of the policy start where its folder stands.

    Raises:
        LedgerError: there is no ledger, or it cannot be opened.
        InputError: the policy cannot be used, or a secret that it names is not in the environment.
    """
    if isinstance(policy, Path):
        policy = load_policy(policy)
    asked = policy.deployment
    return Desk(
        Book(ledger),
        policy,
        actuator_of(asked, ledger.absolute().parent, secrets, clock),
        clock,
        notifiers_of(asked.notify, secrets, clock),
        asked.longest,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: which version was to serve, in place of which, and the act's entry."""

    ended: Ended
    key: AgentKey
    version: str | None = None
    was: str | None = None
    act: int | None = None
    why: str | None = None


def breach(desk: Desk, incident: Incident) -> int | None:
    """Record an incident, and return its entry; None if it is recorded already.

    A breach quarantines its version, and is answered by the next `rollback` or `resume`.

    Raises:
        Conflict: its stint is none that the ledger holds.
        LedgerError: the ledger is broken, or refused it.
    """

    def made(serving: Serving) -> dict[str, JSON] | None:
        return None if incident.id in serving.incidents else incident.body()

    entry = desk.book.append("breach", incident.key, made, desk.clock())
    return None if entry is None else entry.seq


def rollback(desk: Desk, incident: Incident) -> Outcome:
    """Record a breach and answer it: put the version that passed last into service again.

    If there is none, or the agent is halted, it ends as the policy's `on_halt` says. Called again
    for the same incident, by whichever process, it goes on where the last call stopped.

    Raises:
        Conflict: the incident is no breach, or another process is acting for too long.
        LedgerError: the ledger is broken, or refused an entry; nothing was done without one.
    """
    if incident.state != "breach":
        raise Conflict("only a breach is answered with a rollback")
    breach(desk, incident)
    with _turn(desk, incident.key):
        outcome = _settled(desk, incident.key)
    return _as_to(incident, outcome, desk.book.serving(incident.key))


def _as_to(incident: Incident, outcome: Outcome, serving: Serving) -> Outcome:
    """Return how a call ended as to its own incident."""
    if outcome.was == incident.version or outcome.ended == "failed":
        return outcome
    ended: Ended = "cleared"
    if any(serving.incidents[each].since == incident.since for each in serving.answered):
        ended = "answered"
    elif serving.since(incident.version) != incident.since:
        ended = "late"
    return Outcome(ended, incident.key, serving.version, incident.version)


def promote(desk: Desk, key: AgentKey, version: str, *, instead_of: str | None = None) -> Outcome:
    """Put a version that the gate released into service.

    `instead_of`, if given, is the version that must serve at that moment.

    Raises:
        Conflict: no decision released it for every model family of the policy, it is quarantined,
            the agent is halted, a rollback is under way, or another version serves.
        LedgerError: the ledger is broken, or refused an entry.
    """
    with _turn(desk, key):
        _settled(desk, key, begin=False)
        serving = desk.book.serving(key)
        if instead_of is not None and serving.version != instead_of:
            raise Conflict(f"version {shown(serving.version)} serves, not {shown(instead_of)}")
        if serving.version == version and serving.pending is None:
            return Outcome("nothing", key, version)
        desk.book.append("release", key, promotion_of(desk, version), desk.clock())
        pending = desk.book.serving(key).pending
        assert pending is not None
        return _carried_out(desk, key, pending, again=False)


def promotion_of(desk: Desk, version: str) -> Callable[[Serving], dict[str, JSON]]:
    """Return what makes the intent to promote a version from what the ledger says."""

    def made(serving: Serving) -> dict[str, JSON]:
        passed = serving.passed.get(version)
        if passed is None:
            raise Conflict(
                f"no decision of the gate released version {shown(version)} of this agent and pack",
                way_out="gate it first: aal gate",
            )
        step = Promotion(
            serving.key,
            version,
            serving.version,
            passed.decision,
            desk.policy.families,
            desk.policy.deployment.digest(),
        )
        return body_of("release", step)

    return made


def quarantine(book: Book, key: AgentKey, version: str, reason: str, now: datetime) -> int:
    """Keep a version from being served until it is cleared; return the entry that says so.

    Raises:
        Conflict: it is quarantined already.
        LedgerError: the ledger is broken, or refused the entry.
    """
    return _stated(book, "quarantine", Quarantine(key, version, reason), now)


def clear(book: Book, key: AgentKey, version: str | None, reason: str, now: datetime) -> int:
    """Lift the quarantine of a version, or the agent's halt where it is None.

    Raises:
        Conflict: there is nothing to lift.
        LedgerError: the ledger is broken, or refused the entry.
    """
    return _stated(book, "clear", Clear(key, version, reason), now)


def resume(desk: Desk) -> list[Outcome]:
    """Finish what is under way, answer breaches that nobody answered, and return what was done.

    Raises:
        Conflict: another process is acting for too long.
        LedgerError: the ledger is broken, or refused an entry.
    """
    outcomes = []
    for key in list(desk.book.replay().serving):
        if _due(desk, desk.book.serving(key)):
            with _turn(desk, key):
                outcomes.append(_settled(desk, key))
    return [each for each in outcomes if each.ended != "nothing"]


def by_hand(serving: Serving, reason: str, now: datetime) -> Incident:
    """Return the incident by which a person has the version that serves rolled back.

    Raises:
        Conflict: nothing serves.
    """
    if serving.live is None or serving.version is None:
        raise Conflict("no version of this agent and pack serves by the ledger")
    return Incident(
        key=serving.key,
        version=serving.version,
        since=serving.live.since,
        check="by_hand",
        evidence=digest([serving.live.since, stamp(now), reason]),
        state="breach",
        value=None,
        limit=None,
        n=0,
        rate=0.0,
        observed_at=stamp(now),
        source="person",
        reason=reason,
    )


def planned(desk: Desk, key: AgentKey, version: str | None) -> Outcome:
    """Say what `promote` of a version, or a rollback where it is None, would begin now.

    Raises:
        Conflict: it would be refused.
    """
    serving = desk.book.serving(key)
    if version is None:
        was = by_hand(serving, "planned", desk.clock()).version
        target = fallback(serving, desk.policy.families, leaving=was)
        return Outcome("planned", key, None if serving.halt else target, was)
    made = promotion_of(desk, version)(serving)
    for why in refusals(serving, "release", step_from("release", made)):
        raise Conflict(why)
    return Outcome("planned", key, version, serving.version)


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


def reconcile(desk: Desk) -> list[Reading]:
    """Read what each target shows, and record where it is not, or is again, what should serve.

    A desired state elsewhere that puts a version back is seen here; nothing is acted on.

    Raises:
        LedgerError: the ledger is broken, or refused an entry.
    """
    readings = []
    for key in list(desk.book.replay().serving):
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


@contextmanager
def _turn(desk: Desk, key: AgentKey) -> Iterator[None]:
    with turn(desk.book.folder, f"{key.agent}\0{key.pack}", desk.wait):
        yield


def _stated(book: Book, kind: Kind, step: Step, now: datetime) -> int:
    entry = book.append(kind, step.key, lambda _: body_of(kind, step), now)
    assert entry is not None
    return entry.seq


def _due(desk: Desk, serving: Serving) -> bool:
    asked = desk.policy.deployment
    return (
        serving.pending is not None
        or serving.unanswered() is not None
        or halt_due(serving, asked.rollbacks, asked.hours)
    )


def _settled(desk: Desk, key: AgentKey, *, begin: bool = True) -> Outcome:
    """Do what is due for an agent, one entry after the other, until nothing is.

    Without `begin` only a rollback under way is finished: a person who promotes another version
    answers a breach as well. The caller holds the agent's turn. Each round starts from what the ledger says, so that it does
    not matter which process wrote the entry before.
    """
    outcome = Outcome("nothing", key)
    fresh = -1
    while True:
        serving = desk.book.serving(key)
        pending, cause = serving.pending, serving.unanswered()
        if _halted_now(desk, serving):
            continue
        if pending is not None and _first(serving, pending, cause, begin=begin):
            outcome = _carried_out(desk, key, pending, again=pending.seq != fresh)
            gone = pending.version in desk.book.serving(key).quarantined
            if outcome.ended == "failed" and not gone:
                return outcome
        elif cause is None or not begin:
            return outcome
        elif serving.halt is not None and serving.halt.then == "hold":
            return Outcome("held", key, serving.version, cause.version, why=serving.halt.why)
        else:
            fresh = _intended(desk, serving, cause) or fresh


def _first(serving: Serving, pending: Pending, cause: Cause | None, *, begin: bool) -> bool:
    """Say whether an act under way is finished before anything else is begun."""
    if pending.kind == "rollback":
        return pending.version not in serving.quarantined
    return begin and cause is None


def _halted_now(desk: Desk, serving: Serving) -> bool:
    """Halt the agent if its last rollback was one too many."""
    asked = desk.policy.deployment
    if serving.halt is not None or not halt_due(serving, asked.rollbacks, asked.hours):
        return False
    return _halt(desk, serving, next(reversed(serving.answered)), "rollbacks") is not None


def _halt(desk: Desk, serving: Serving, incident: str, why: HaltWhy) -> int | None:
    assert serving.version is not None
    then = desk.policy.deployment.on_halt
    step = Halt(serving.key, serving.version, incident, why, then)
    return _stated(desk.book, "rollback", step, desk.clock())


def _intended(desk: Desk, serving: Serving, cause: Cause) -> int | None:
    """Begin the answer to a breach: a rollback, a stop, or a halt where nothing is left."""
    target = fallback(serving, desk.policy.families)
    if target is None and serving.halt is None:
        _halt(desk, serving, cause.id, "no_target")
        return None
    assert cause.since is not None
    step = Rollback(
        serving.key,
        target if serving.halt is None else None,
        cause.version,
        cause.since,
        cause.id,
        desk.policy.families,
        desk.policy.deployment.digest(),
    )
    return _stated(desk.book, "rollback", step, desk.clock())


def _carried_out(desk: Desk, key: AgentKey, pending: Pending, *, again: bool) -> Outcome:
    """Act, read back, and record how that ended."""
    order = Order(key, pending.version, pending.token, pending.incident)
    done = carry_out(desk.actuator, order, desk.policy.deployment.settle, again=again)
    act = Outcome("failed", key, pending.version, pending.was, pending.seq, done.failed)
    if done.failed is None:
        _stated(desk.book, pending.kind, Done(key, pending.seq, pending.version), desk.clock())
        return replace(act, ended=_ended(pending))
    if done.failed == "gone" and pending.incident is not None and pending.version is not None:
        gone = Quarantine(key, pending.version, GONE, pending.incident)
        _stated(desk.book, "quarantine", gone, desk.clock())
    elif pending.failure is None:
        failed = Failed(key, pending.seq, pending.version, done.failed, done.found)
        _stated(desk.book, pending.kind, failed, desk.clock())
    return act


def _ended(pending: Pending) -> Ended:
    if pending.version is None:
        return "stopped"
    return "promoted" if pending.kind == "release" else "rolled_back"
