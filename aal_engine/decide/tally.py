"""What one check has counted of one version in service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any, Literal, TypeAlias

from aal_engine.canonical import JSON
from aal_engine.decide.evidence import Evidence, Start, counted, wilson
from aal_engine.decide.inspection import State

_MOST_SHOWN = 700.0
"""The largest logarithm whose exponential is a float."""

Wrong: TypeAlias = Literal["silent", "unmeasured"]
"""Nothing was measured in time; or less than the policy's share of what was drawn."""


@dataclass(slots=True)
class Tally:
    """One check's counts: `measured` and `hits` of the outputs drawn, `unmeasured` the others.

    `weight`, `weight_hits` and `weight_squares` sum 1/rate, over those measured, over the hits, and
    squared. `allowed` is the rate that a rate rule allows, with its `evidence`; None for a floor.
    `fired` is the trace by which it broke, as a SHA-256; it breaks once. `last` is when something
    was last measured, `window` when the present window of the measured share began, in seconds
    since the epoch, and `alarmed` what was alarmed and has not ended.
    """

    allowed: float | None
    last: float
    window: float
    measured: int = 0
    hits: int = 0
    unmeasured: int = 0
    weight: float = 0.0
    weight_hits: float = 0.0
    weight_squares: float = 0.0
    evidence: Evidence | None = None
    fired: str | None = None
    alarmed: Wrong | None = None
    window_measured: int = 0
    window_unmeasured: int = 0

    def __post_init__(self) -> None:
        """Give a rate rule its evidence."""
        if self.allowed is not None and self.evidence is None:
            self.evidence = Evidence()

    def add(self, state: State, rate: float, at: float) -> None:
        """Count one output that was drawn at a rate."""
        if state == "not_measured":
            self.unmeasured += 1
            self.window_unmeasured += 1
            return
        hit = state == "breach"
        weight = 1 / rate
        self.measured += 1
        self.window_measured += 1
        self.weight += weight
        self.weight_squares += weight * weight
        self.last = max(self.last, at)
        if hit:
            self.hits += 1
            self.weight_hits += weight
        if self.evidence is not None:
            self.evidence = counted(self.evidence, hit=hit)

    def breaks(self, confirm: int, alpha: float) -> bool:
        """Say whether the counts break the rule; asked after a hit, for only a hit can."""
        if self.allowed is None or self.evidence is None:
            return self.hits >= confirm
        return self.evidence.log_value(self.allowed) >= log(1 / alpha)

    @property
    def estimate(self) -> float | None:
        """The share of all outputs that break the rule, 0 to 1: each counts 1/rate times."""
        return self.weight_hits / self.weight if self.weight else None

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95% interval of the estimate at its effective sample size, for reading."""
        if not self.weight:
            return 0.0, 1.0
        effective = self.weight**2 / self.weight_squares
        return wilson(effective * self.weight_hits / self.weight, effective)

    @property
    def e_value(self) -> float | None:
        """The evidence against the allowed rate; None for a floor."""
        if self.allowed is None or self.evidence is None:
            return None
        return exp(min(self.evidence.log_value(self.allowed), _MOST_SHOWN))

    def wrong(self, now: float, silence: float, share: float) -> Wrong | None:
        """Say whether something is wrong with the measuring itself, at a time.

        After `silence` seconds without a measured output it is silent. The share is held at the end
        of every window of that length. What a clock that was ahead has written counts from now.
        """
        self.last, self.window = min(self.last, now), min(self.window, now)
        if now - self.last >= silence:
            return "silent"
        if now - self.window < silence:
            return self.alarmed if self.alarmed == "unmeasured" else None
        drawn = self.window_measured + self.window_unmeasured
        short = drawn > 0 and self.window_measured < share * drawn
        self.window = now
        self.window_measured = self.window_unmeasured = 0
        return "unmeasured" if short else None

    def canonical(self) -> dict[str, JSON]:
        """Return the tally as JSON."""
        evidence = self.evidence
        return {
            "allowed": self.allowed,
            "last": self.last,
            "window": self.window,
            "measured": self.measured,
            "hits": self.hits,
            "unmeasured": self.unmeasured,
            "weight": self.weight,
            "weight_hits": self.weight_hits,
            "weight_squares": self.weight_squares,
            "fired": self.fired,
            "alarmed": self.alarmed,
            "window_measured": self.window_measured,
            "window_unmeasured": self.window_unmeasured,
            "evidence": None
            if evidence is None
            else [
                evidence.samples,
                evidence.hits,
                evidence.spacing,
                *([s.place, s.samples, s.hits] for s in evidence.starts),
            ],
        }


def tally_from(value: Mapping[str, Any]) -> Tally:
    """Read a tally from JSON that `Tally.canonical` made."""
    fields = dict(value)
    kept = fields.pop("evidence")
    if kept is not None:
        samples, hits, spacing, *starts = kept
        fields["evidence"] = Evidence(samples, hits, tuple(Start(*s) for s in starts), spacing)
    return Tally(**fields)
