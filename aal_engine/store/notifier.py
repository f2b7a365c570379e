"""Ways to tell a person: a line on standard error, and a signed webhook with a deadline."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from aal_engine.canonical import JSON, canonical
from aal_engine.decide.deployment import Webhook
from aal_engine.errors import ActFailed
from aal_engine.store.webhook import Sender, secret_of

_FIRST_PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Message:
    """What is told: a line for people, a body for programs; names and numbers alone.

    `token` is the same for the same message, however often it is sent.
    """

    line: str
    body: Mapping[str, JSON]
    token: str


class Notifier(Protocol):
    """Tells a message to somebody."""

    name: str

    def send(self, message: Message) -> None:
        """Tell it.

        Raises:
            ActFailed: nobody took it in time.
        """


class ErrorStream:
    """Writes the line to standard error."""

    name = "stderr"

    def send(self, message: Message) -> None:
        """Write it.

        Raises:
            ActFailed: standard error is closed.
        """
        try:
            sys.stderr.write(message.line + "\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            raise ActFailed("refused", "standard error is closed") from None


class WebhookNotifier:
    """Posts the body to an address, again and again until its deadline."""

    def __init__(self, name: str, url: str, sender: Sender) -> None:
        self.name = name
        self._url = url
        self._sender = sender

    def send(self, message: Message) -> None:
        """Post it.

        Raises:
            ActFailed: no answer was a 2xx within the deadline.
        """
        deadline = time.monotonic() + self._sender.deadline
        pause = _FIRST_PAUSE
        while True:
            status = 0
            with suppress(ActFailed):
                status, _ = self._sender.send(
                    "POST", self._url, message.token, canonical(message.body)
                )
            if 200 <= status < 300:
                return
            if time.monotonic() + pause > deadline:
                raise ActFailed("refused", "nobody took the notice")
            time.sleep(pause)
            pause *= 2


def notifiers_of(
    asked: Sequence[Webhook],
    secrets: Callable[[str], str | None],
    clock: Callable[[], datetime],
) -> list[Notifier]:
    """Return standard error and the policy's webhooks.

    Raises:
        InputError: a secret is not in the environment.
    """
    made: list[Notifier] = [ErrorStream()]
    for place, each in enumerate(asked, 1):
        sender = Sender(secret_of(each, secrets), each.deadline, clock)
        made.append(WebhookNotifier(f"webhook {place}", each.url, sender))
    return made
