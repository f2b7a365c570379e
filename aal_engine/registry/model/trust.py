"""Local trust: what one identity says of another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edge:
    """One identity's trust in another, and how many of their dealings went well or ill."""

    source: str
    target: str
    value: float
    satisfied: int
    unsatisfied: int
    updated_at: int
