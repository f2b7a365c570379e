"""Where a live run's outputs come from, and the ways in which one can fail to come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aal_engine.canonical import JSON


@dataclass(frozen=True, slots=True)
class Identity:
    """Which index was searched: its name, how many passages it holds, its embedding model.

    It stands in the record, so that a changed index is seen. `count` is None where the index cannot
    tell, `model` where it has none.
    """

    name: str
    count: int | None = None
    model: str | None = None

    def canonical(self) -> dict[str, JSON]:
        """Return the identity as JSON."""
        return {"count": self.count, "model": self.model, "name": self.name}


FAILURES: Mapping[str, str] = {
    "unreachable": "no connection came about, or it broke off: the agent is dead",
    "timeout": "no whole answer came in time: the agent is slow",
    "refused": "the agent answered with an error",
    "unreadable": "the answer is not what the protocol says: garbage",
}
"""The words of `Output.error` that this engine writes, and what each means."""

OTHER_FAILURE = "other"
"""Under this, errors are counted whose words come from elsewhere."""


def failure_count(word: str) -> str:
    """Return the name of the count in a record that tells how often an output failed so.

    >>> failure_count("timeout"), failure_count("E1234")
    ('failed_timeout', 'failed_other')
    """
    return f"failed_{word if word in FAILURES else OTHER_FAILURE}"


FAILURE_COUNTS = tuple(map(failure_count, (*FAILURES, OTHER_FAILURE)))
