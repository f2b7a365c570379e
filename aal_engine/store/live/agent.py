"""What a live agent is: asked a question with passages, it replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from aal_engine.measure.run import Passage


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one model family, with the passages that were retrieved for it.

    `passages` is None where no index was searched: the agent retrieves for itself. The case and the
    attempt are for our own books, and are not sent.
    """

    case_id: str
    attempt: int
    family: str
    text: str = field(repr=False)
    passages: tuple[Passage, ...] | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        """The question's name among all of a run."""
        return f"{self.family} {self.case_id} {self.attempt}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent wrote, and what it cost.

    `retrieved` is what the agent says that it retrieved itself; None where it does not say. Tokens
    are None where the agent does not count them. `error` is a recorded failure.
    """

    answer: str | None = field(repr=False)
    citations: tuple[str | int, ...] | None = None
    retrieved: tuple[Passage, ...] | None = field(default=None, repr=False)
    tokens_in: int | None = None
    tokens_out: int | None = None
    error: str | None = None


class Agent(Protocol):
    """One agent, as one model family."""

    async def ask(self, question: Question) -> Reply:
        """Return the agent's reply.

        Raises:
            Failure: it gave none.
        """

    async def close(self) -> None:
        """Let go of what was opened."""


Agents = Mapping[str, Agent]
"""The agent of every model family."""
