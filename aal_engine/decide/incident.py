"""An incident: a version in service that was seen to break a rule. Numbers and names alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from aal_engine.canonical import JSON, digest
from aal_engine.decide import field
from aal_engine.decide.release import AgentKey

BREACH_SCHEMA = "aal/breach/1"

State: TypeAlias = Literal["breach", "not_measured"]
Source: TypeAlias = Literal["live", "rerun", "person"]


@dataclass(frozen=True)
class Incident:
    """One breach, or one alarm that something could not be measured.

    `since` is the ledger entry by which the version went into service (see `Stint.since`), None
    where the ledger does not know that it ever did; so what a version did in an earlier stint says
    nothing of the present one. `evidence` is the SHA-256 (hexadecimal) of what showed it first,
    such as a trace id. `value` broke `limit`, over `n` sampled outputs at the rate `rate` (0 to 1).
    `observed_at` is a time as entries hold it.

    Only a breach quarantines its version and can be answered with a rollback; what was not measured
    is told and changes nothing.
    """

    key: AgentKey
    version: str
    since: int | None
    check: str
    evidence: str
    state: State
    value: float | None
    limit: float | None
    n: int
    rate: float
    observed_at: str
    source: Source = "live"
    reason: str | None = None

    @cached_property
    def id(self) -> str:
        """SHA-256 of what tells it from others, in hexadecimal: whoever reports it, the same."""
        return digest(
            {
                "agent": self.key.agent,
                "pack": self.key.pack,
                "version": self.version,
                "since": self.since,
                "check": self.check,
                "evidence": self.evidence,
                "state": self.state,
            }
        )

    def body(self) -> dict[str, JSON]:
        """Return the body of the breach entry that records it."""
        return {
            "schema": BREACH_SCHEMA,
            "incident": self.id,
            "agent": self.key.agent,
            "pack": self.key.pack,
            "version": self.version,
            "since": self.since,
            "check": self.check,
            "evidence": self.evidence,
            "state": self.state,
            "value": self.value,
            "limit": self.limit,
            "n": self.n,
            "rate": self.rate,
            "observed_at": self.observed_at,
            "source": self.source,
            "reason": self.reason,
        }


_MEMBERS: Mapping[str, field.Reader] = {
    "schema": field.one_of(BREACH_SCHEMA),
    "incident": field.digest,
    "agent": field.text,
    "pack": field.text,
    "version": field.text,
    "since": field.optional(field.whole),
    "check": field.text,
    "evidence": field.digest,
    "state": field.one_of("breach", "not_measured"),
    "value": field.optional(field.number),
    "limit": field.optional(field.number),
    "n": field.whole,
    "rate": field.share,
    "observed_at": field.time,
    "source": field.one_of("live", "rerun", "person"),
    "reason": field.optional(field.text),
}


def incident_from(body: Mapping[str, Any]) -> Incident:
    """Read the incident that a breach entry records.

    Raises:
        ValueError: the body is not one, or its id does not follow from it.
    """
    told = field.members(body, _MEMBERS)
    stated = told.pop("incident")
    del told["schema"]
    incident = Incident(AgentKey(told.pop("agent"), told.pop("pack")), **told)
    if incident.id != stated:
        raise ValueError
    return incident
