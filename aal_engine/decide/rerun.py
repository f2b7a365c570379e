"""A golden set run again against the version in service: held against what released it.

Each metric is compared with the release's own value by `worse`, as the gate compares it, and the two
floors hold as they do there. Only the worst metric of a record is an incident: one is enough. What
cannot be compared is not measured, and no breach: another golden set, a record that is missing,
outputs that are missing, for which the agent or its host may be to blame and not what it writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aal_engine.decide.decision import Check, worse
from aal_engine.decide.incident import Incident
from aal_engine.decide.policy import Policy, exact
from aal_engine.decide.question import key_of
from aal_engine.decide.release import AgentKey, Key, Recorded, Scored
from aal_engine.decide.stop_rule import RERUN
from aal_engine.measure.metric import FLOORS, metric
from aal_engine.measure.record import EvalRecord

UNMEASURED: Final[Mapping[str, str]] = {
    "golden_set": "the golden set is not the one that the version was released on",
    "missing": "the re-run lacks this record of the release",
    "outputs": "outputs are missing",
    "failed": "the run did not come to its end",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What was run again: a version in its stint, `since` its ledger entry, at a time."""

    key: AgentKey
    version: str
    since: int | None
    at: str


def incidents(
    records: Sequence[EvalRecord], release: Recorded, policy: Policy, subject: Subject
) -> list[Incident]:
    """Return what a re-run's records show against the decision that released the version."""
    found = {key_of(record): record for record in records}
    told = []
    for key, before in release.records.items():
        record = found.get(key)
        if record is None:
            told.append(unmeasured(subject, "missing", before.record, key))
        elif record.golden_set != before.golden_set:
            told.append(unmeasured(subject, "golden_set", record.digest, key))
        else:
            told += _compared(record, before, policy, subject)
    return told


def unmeasured(subject: Subject, why: str, evidence: str, key: Key | None = None) -> Incident:
    """Return the alarm that a re-run, or the record in it that `key` names, could not be measured."""
    return Incident(
        subject.key,
        subject.version,
        subject.since,
        f"{RERUN}.{why}",
        evidence,
        "not_measured",
        None,
        None,
        0,
        1.0,
        subject.at,
        "rerun",
        UNMEASURED[why] if key is None else f"{_named(key)}: {UNMEASURED[why]}",
    )


def _compared(
    record: EvalRecord, before: Scored, policy: Policy, subject: Subject
) -> Iterator[Incident]:
    for floor in FLOORS if record.kind == "answers" else ():
        if record.counts[floor]:
            yield _breach(record, subject, floor, float(record.counts[floor]), 0.0)
    if record.scored < record.cases or record.counts["missing_attempts"]:
        yield unmeasured(subject, "outputs", record.digest, key_of(record))
        return
    fallen = [
        Check("regression", metric(name).direction, old.value, new.value, float(tolerance), name)
        for name, old in before.metrics.items()
        if (new := record.metrics.get(name)) is not None
        and metric(name).direction != "none"
        and old.value is not None
        and new.value is not None
        and worse(
            metric(name).direction, new.value, old.value, tolerance := policy.tolerance_of(name)
        )
    ]
    if fallen:
        worst = max(fallen, key=lambda check: (check.excess, check.metric or ""))
        assert worst.metric is not None
        assert worst.current is not None
        assert worst.baseline is not None
        slack = exact(worst.tolerance if worst.direction == "lower" else -worst.tolerance)
        limit = float(exact(worst.baseline) + slack)
        yield _breach(record, subject, worst.metric, worst.current, limit)


def _breach(
    record: EvalRecord, subject: Subject, name: str, value: float, limit: float
) -> Incident:
    return Incident(
        subject.key,
        subject.version,
        subject.since,
        f"{RERUN}.{name}",
        record.digest,
        "breach",
        value,
        limit,
        record.cases,
        1.0,
        subject.at,
        "rerun",
        _named(key_of(record)),
    )


def released_as(decisions: Sequence[Recorded], key: AgentKey, version: str) -> Recorded | None:
    """Return the last decision that released a version."""
    mine = (each for each in reversed(decisions) if (each.key, each.version) == (key, version))
    return next((each for each in mine if each.verdict == "released"), None)


def _named(key: Key) -> str:
    where = f"{key.kind} of {key.suite}"
    return where if key.model_family is None else f"{where}, {key.model_family}"
