"""The golden set run again against the version in service, and what that shows, answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from aal_engine.decide.entry import stamp
from aal_engine.decide.incident import Incident
from aal_engine.decide.release import AgentKey
from aal_engine.decide.rerun import Subject, incidents, released_as, unmeasured
from aal_engine.errors import Conflict, shown
from aal_engine.measure.record import EvalRecord
from aal_engine.service.evaluate import evaluate
from aal_engine.service.release import Desk, Outcome
from aal_engine.service.response import Responder
from aal_engine.store.golden import load_pack


@dataclass(frozen=True, slots=True)
class Source:
    """What is run again: an index, an agent or both, live; or recorded outputs.

    Recorded outputs have to be made anew for each run by whoever makes them.
    """

    index: str | None = None
    agent: str | None = None
    families: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    k: int = 10


@dataclass(frozen=True, slots=True)
class Rerun:
    """One run: the version that it was of, its records, and its incidents as they were answered."""

    version: str
    records: Sequence[EvalRecord]
    answered: Sequence[tuple[Incident, Outcome | None]]

    @property
    def broke(self) -> bool:
        """Whether the version is in breach."""
        return any(incident.state == "breach" for incident, _ in self.answered)


def rerun(
    responder: Responder,
    pack: Path,
    source: Source,
    out: Path,
    *,
    secrets: Callable[[str], str],
    now: datetime,
) -> Rerun:
    """Evaluate the version in service into `out`, hold it against its release, answer what it shows.

    Called again for the same `out`, a live run goes on where it stopped.

    Raises:
        Conflict: no version is in service, or no decision of the ledger released it.
        InputError: the pack or the source cannot be used.
        RemoteError: the index or the agent failed.
        LedgerError: the ledger is broken, or refused an entry.
    """
    subject = subject_of(responder.desk, pack, now)
    replay = responder.desk.book.replay()
    release = released_as(replay.decisions, subject.key, subject.version)
    if release is None:
        raise Conflict(
            f"no decision released version {shown(subject.version)}, which is in service"
        )
    records = _evaluated(pack, source, out, subject.version, secrets, now)
    found = incidents(records, release, responder.desk.policy, subject)
    return Rerun(subject.version, records, [(each, responder.answer(each)) for each in found])


def late(responder: Responder, pack: Path, slot: datetime, now: datetime) -> None:
    """Raise the alarm that the run of a slot has not come to its end in time; from any thread.

    Raises:
        Conflict: no version is in service.
        LedgerError: the ledger is broken, or refused the entry.
    """
    desk = responder.apart()
    subject = subject_of(desk, pack, now)
    evidence = sha256(f"{subject.version}\0{slot.isoformat()}".encode()).hexdigest()
    responder.report(desk, unmeasured(subject, "failed", evidence))


def subject_of(desk: Desk, pack: Path, now: datetime) -> Subject:
    """Return the version of a pack's agent that is in service.

    Raises:
        Conflict: there is none.
    """
    declared = load_pack(pack)
    key = AgentKey(declared.agent, declared.name)
    serving = desk.book.serving(key)
    if serving.live is None or serving.live.version is None:
        raise Conflict(
            f"no version of {shown(key.agent)} is in service",
            way_out="put one into service: aal release promote",
        )
    return Subject(key, serving.live.version, serving.live.since, stamp(now))


def _evaluated(
    pack: Path,
    source: Source,
    out: Path,
    version: str,
    secrets: Callable[[str], str],
    now: datetime,
) -> list[EvalRecord]:
    runs, index, begun = list(source.runs), None, now
    if not runs:
        # Not at the top: scoring recorded outputs needs none of it.
        from aal_engine.service.live import Job, live, plan

        job = Job(pack, version, source.index, source.agent, source.families, k=source.k)
        done = live(plan(job), out, now=now, secret=secrets)
        runs, index, begun = [str(done.run)], done.index, done.begun_at
    evaluation = evaluate(pack, runs, out, version=version, now=begun, index=index)
    return [record for records in evaluation.records.values() for record in records]
