"""A run of a suite, and the exams it consists of: one agent under one run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aal_engine.registry.model.agent import Agent
from aal_engine.registry.model.suite import Suite, Task

STATES: Mapping[str, str] = {
    "pending": "waits to be claimed",
    "claimed": "a runner is at it",
    "done": "its results are on the record",
    "void": "nothing was recorded: the examiner's fault, or it was called off",
}
"""What may have become of an exam."""

SPREAD_MS = 10
"""By so much each further agent of a run queues later: long runs let short ones pass between."""

MAX_ATTEMPTS = 3
"""So often an exam may be claimed; one that its runner never ends is void after that."""


RUN_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to lead, as the database gave it: whoever holds a lower epoch is stale."""

    name: str
    holder: str
    epoch: int
    ttl_ms: int


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of a suite over its targets; `slot` is None for a run that was asked for by hand."""

    id: str
    suite_id: int
    slot: int | None
    requested_at: int
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class Claim:
    """One agent's exam, handed to one runner until `until_ms` on the database's clock.

    `attempt` counts the claims of this exam: a later one makes this one stale. `lease` is the right
    under which it was claimed; None for one of several workers, who hold no lease.
    """

    run_id: str
    suite_id: int
    suite: Suite
    tasks: tuple[Task, ...]
    agent: Agent
    attempt: int
    until_ms: int
    lease: Lease | None


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit put on the record: the suite score in [0, 1], and what became of the reward."""

    score: float
    passed: int
    reward: str
    amount: int


def is_run_id(text: str) -> bool:
    """Whether a text may be a run's id."""
    return RUN_ID.fullmatch(text) is not None
