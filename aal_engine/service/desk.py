"""Where acts are decided and carried out, and how a call about them ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from aal_engine.decide.policy import Policy
from aal_engine.decide.release import AgentKey
from aal_engine.service.book import Book
from aal_engine.store.actuator import Actuator, Clock, Secrets, actuator_of
from aal_engine.store.notifier import Notifier, notifiers_of
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
ENDS: Mapping[Ended, str] = MappingProxyType(
    {
        "promoted": "the version serves",
        "rolled_back": "the version that passed last serves again",
        "stopped": "the agent is out of service",
        "held": "the agent is halted and the version serves on: a person is needed",
        "failed": "the target does not show the version yet; the next call goes on with it",
        "answered": "the incident was answered before",
        "late": "the version of the incident does not serve, or serves anew",
        "cleared": "a person has cleared the version since",
        "nothing": "there was nothing to do",
        "planned": "a dry run: nothing was done or recorded",
    }
)
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
    """How a call ended: which version was to serve, in place of which, and the act's entry.

    `why` is one of `decide.act`'s codes, `said` what an actuator failed by, in words.
    """

    ended: Ended
    key: AgentKey
    version: str | None = None
    was: str | None = None
    act: int | None = None
    why: str | None = None
    said: str | None = None


@contextmanager
def turn_of(desk: Desk, key: AgentKey) -> Iterator[None]:
    """Hold the turn to act for an agent and pack.

    Raises:
        Conflict: another process is acting for too long.
    """
    with turn(desk.book.folder, f"{key.agent}\0{key.pack}", desk.wait):
        yield
