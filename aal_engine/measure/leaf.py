"""The leaves of points: phrases, patterns, numbers and dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from aal_engine.canonical import JSON
from aal_engine.measure.text.date import Precision

Negated: TypeAlias = Literal["ignore", "count"]
"""Whether a hit that its sentence denies meets the point: not unless the point says `count`."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A row of whole tokens in one sentence; any of `forms` will do.

    The first form is the main one, the others are its aliases in order. Case, the coding of
    accents, hyphens and punctuation make no difference.
    """

    forms: tuple[str, ...]
    negated: Negated = "ignore"

    def canonical(self) -> dict[str, JSON]:
        """Return the leaf as JSON with every default spelled out."""
        return {
            "aliases": list(self.forms[1:]),
            "negated": self.negated,
            "phrase": self.forms[0],
        }


@dataclass(frozen=True, slots=True)
class Pattern:
    """An RE2 expression, searched without regard to case in each sentence of the tidy text."""

    regex: str
    negated: Negated = "ignore"

    def canonical(self) -> dict[str, JSON]:
        """Return the leaf as JSON with every default spelled out."""
        return {"negated": self.negated, "regex": self.regex}


@dataclass(frozen=True, slots=True)
class Number:
    """A number within `tolerance` (in its own unit) or `relative` (a share) of `value`.

    Both are 0 unless given, and at most one is given. Without `unit` any unit will do except a
    percent sign, which makes a number another number.
    """

    value: int | float
    unit: str | None = None
    tolerance: int | float = 0
    relative: int | float = 0
    negated: Negated = "ignore"

    def canonical(self) -> dict[str, JSON]:
        """Return the leaf as JSON with every default spelled out."""
        return {
            "negated": self.negated,
            "number": self.value,
            "relative": self.relative,
            "tolerance": self.tolerance,
            "unit": self.unit,
        }


@dataclass(frozen=True, slots=True)
class Date:
    """A day, month or year in ISO 8601, cut to its precision: `2026-01-31`, `2026-01`, `2026`."""

    value: str
    precision: Precision = "day"
    negated: Negated = "ignore"

    def canonical(self) -> dict[str, JSON]:
        """Return the leaf as JSON with every default spelled out."""
        return {"date": self.value, "negated": self.negated, "precision": self.precision}


Leaf: TypeAlias = Phrase | Pattern | Number | Date
