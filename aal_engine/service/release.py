"""Versions going into service and out of it: the one writer of these entries of the ledger.

A rollback is made once for an incident, and once for a stint of a version, however many incidents
there are; see `settle` for how it is carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from aal_engine.canonical import JSON, digest
from aal_engine.decide.act import Clear, Promotion, Quarantine, body_of, step_from
from aal_engine.decide.entry import MAX_TEXT, stamp
from aal_engine.decide.incident import Incident
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Serving, fallback
from aal_engine.decide.succession import refusals
from aal_engine.errors import Conflict, InputError, NotFound, shown
from aal_engine.service.book import Book
from aal_engine.service.desk import Desk, Ended, Outcome, open_desk, turn_of
from aal_engine.service.settle import carried_out, due, settle

__all__ = [
    "Desk",
    "Outcome",
    "breach",
    "by_hand",
    "clear",
    "open_desk",
    "planned",
    "promote",
    "quarantine",
    "resume",
    "rollback",
]


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
    with turn_of(desk, incident.key):
        outcome = settle(desk, incident.key)
    return _as_to(incident, outcome, desk.book.serving(incident.key))


def _as_to(incident: Incident, outcome: Outcome, serving: Serving) -> Outcome:
    """Return how a call ended as to its own incident."""
    if outcome.was == incident.version or outcome.ended == "failed":
        return outcome
    ended: Ended = "cleared"
    if any(serving.incidents[each].since == incident.since for each in serving.answered):
        ended = "answered"
    elif incident.since is None or serving.since(incident.version) != incident.since:
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
    with turn_of(desk, key):
        settle(desk, key, begin=False)
        serving = desk.book.serving(key)
        if instead_of is not None and serving.version != instead_of:
            raise Conflict(f"version {shown(serving.version)} serves, not {shown(instead_of)}")
        if serving.version == version and serving.pending is None:
            return Outcome("nothing", key, version)
        desk.book.append("release", key, promotion_of(desk, version), desk.clock())
        pending = desk.book.serving(key).pending
        assert pending is not None
        return carried_out(desk, key, pending, again=False)


def promotion_of(desk: Desk, version: str) -> Callable[[Serving], dict[str, JSON]]:
    """Return what makes the intent to promote a version from what the ledger says."""

    def made(serving: Serving) -> dict[str, JSON]:
        passed = serving.passed.get(version)
        if passed is None:
            raise Conflict(
                f"no decision of the gate released version {shown(version)} of this agent and pack",
                way_out="gate it first: aal gate",
            )
        if version in serving.quarantined:
            raise Conflict(
                f"version {shown(version)} is quarantined (ledger entry "
                f"{serving.quarantined[version]})",
                way_out="once its cause is mended: aal release clear VERSION --reason WHY",
            )
        if serving.halt is not None:
            raise Conflict(
                "the agent is halted", way_out="first: aal release clear --halt --reason WHY"
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
        NotFound: the gate never released it.
        InputError: the reason is not one short line.
        LedgerError: the ledger is broken, or refused the entry.
    """
    serving = book.serving(key)
    if version not in serving.passed and version not in serving.served():
        raise NotFound(f"the ledger knows no released version {shown(version)} of this agent")
    return book.state("quarantine", Quarantine(key, version, _one_line(reason)), now)


def clear(book: Book, key: AgentKey, version: str | None, reason: str, now: datetime) -> int:
    """Lift the quarantine of a version, or the agent's halt where it is None.

    Raises:
        Conflict: there is nothing to lift.
        InputError: the reason is not one short line.
        LedgerError: the ledger is broken, or refused the entry.
    """
    return book.state("clear", Clear(key, version, _one_line(reason)), now)


def _one_line(reason: str) -> str:
    if not 0 < len(reason) <= MAX_TEXT or not reason.isprintable() or reason.isspace():
        raise InputError.at(
            f"is not one line of 1 to {MAX_TEXT} printable characters", field="--reason"
        )
    return reason


def resume(desk: Desk, only: AgentKey | None = None) -> list[Outcome]:
    """Finish what is under way, answer breaches that nobody answered, and return what was done.

    For each agent and pack of the ledger, or for one alone.

    Raises:
        Conflict: another process is acting for too long.
        LedgerError: the ledger is broken, or refused an entry.
    """
    outcomes = []
    for key in list(desk.book.replay().serving) if only is None else [only]:
        if due(desk, desk.book.serving(key)):
            with turn_of(desk, key):
                outcomes.append(settle(desk, key))
    return [each for each in outcomes if each.ended != "nothing"]


def by_hand(serving: Serving, reason: str, now: datetime) -> Incident:
    """Return the incident by which a person has the version that serves rolled back.

    Raises:
        Conflict: nothing serves.
        InputError: the reason is not one short line.
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
        reason=_one_line(reason),
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
        if target is None or serving.halt is not None:
            why = serving.halt.why if serving.halt is not None else "no_target"
            return Outcome("planned", key, was, was, why=why)
        return Outcome("planned", key, target, was)
    made = promotion_of(desk, version)(serving)
    for refusal in refusals(serving, "release", step_from("release", made)):
        raise Conflict(refusal)
    return Outcome("planned", key, version, serving.version)
