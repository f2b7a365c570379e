"""What puts a version into service: told what to do, then read back, whatever it answered."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from aal_engine.decide.act import Why
from aal_engine.decide.deployment import Command, Deployment, Pointer
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed
from aal_engine.store.command import CommandActuator
from aal_engine.store.order import Order
from aal_engine.store.pointer import PointerActuator
from aal_engine.store.webhook import WebhookActuator, secret_of

Secrets: TypeAlias = Callable[[str], str | None]
Clock: TypeAlias = Callable[[], datetime]

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


class Actuator(Protocol):
    """Puts versions into service, and says which one is."""

    def act(self, order: Order) -> None:
        """Do what is ordered; ordered twice under one token, it is done once.

        Raises:
            ActFailed: it refused, was late, or does not have the version.
        """

    def read(self, key: AgentKey) -> str | None:
        """Return the version that serves; None for none.

        Raises:
            ActFailed: it cannot be told.
        """


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an order ended: `failed` says why it did not, `found` is what was read after it.

    `said` is what failed in words, for a person; it is not recorded.
    """

    failed: Why | None
    found: str | None
    said: str | None = None


def actuator_of(deployment: Deployment, base: Path, secrets: Secrets, clock: Clock) -> Actuator:
    """Return the actuator of a policy; relative paths start at `base`.

    Raises:
        InputError: its secret is not in the environment.
    """
    asked = deployment.actuator
    if isinstance(asked, Pointer):
        return PointerActuator(asked, base)
    if isinstance(asked, Command):
        return CommandActuator(asked, base)
    return WebhookActuator(asked, secret_of(asked, secrets), clock)


def carry_out(actuator: Actuator, order: Order, settle: float, *, again: bool) -> Outcome:
    """Have an order carried out, and say what the actuator then shows.

    What it answers decides nothing: an act that timed out may have been done, and one that was
    confirmed may not. It has `settle` seconds to show the version. An order that is given `again`
    is not acted on if it was done meanwhile.
    """
    if again and _shows(actuator, order):
        return Outcome(None, order.version)
    failed: Why | None = None
    said: str | None = None
    try:
        actuator.act(order)
    except ActFailed as error:
        failed, said = cast("Why", error.why), error.message
        if failed == "gone":
            return Outcome(failed, None, said)
    deadline = time.monotonic() + (settle if failed is None else 0)
    pause = _FIRST_PAUSE
    while True:
        unread = found = None
        try:
            found = actuator.read(order.key)
        except ActFailed as error:
            unread = error.message
        if unread is None and found == order.version:
            return Outcome(None, found)
        if time.monotonic() + pause > deadline:
            return Outcome(
                failed or ("unchanged" if unread is None else "unreadable"), found, said or unread
            )
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _shows(actuator: Actuator, order: Order) -> bool:
    try:
        return actuator.read(order.key) == order.version
    except ActFailed:
        return False
