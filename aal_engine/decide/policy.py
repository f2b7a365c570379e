"""The policy: which model families may be released, and how much a metric may fall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from aal_engine.canonical import JSON, digest
from aal_engine.decide.deployment import Deployment, deployment_from
from aal_engine.decide.monitoring import (
    Monitoring,
    Timetable,
    monitoring_from,
    timetable_from,
)

FirstRelease: TypeAlias = Literal["refuse", "allow"]

DEFAULT_TOLERANCE = Decimal("0.05")
DEFAULT_SLICE_CASES = 20
DEFAULT_UNCHANGED_CASES = 20
DEFAULT_UNCHANGED_SHARE = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class Policy:
    """What a gateway lets through. The two floors are not in its vocabulary: they never move.

    `tolerances` overrides `tolerance` for a metric by full name (`recall@10`) or stem (`recall`).
    A slice is compared when it has at least `slice_cases` cases in both releases, and blocks only
    if `slices_block`. `slide` bounds the whole fall since the best release on the same golden set.
    Where a golden set changed, a comparison on the unchanged cases needs at least
    `unchanged_cases` of them, and `unchanged_share` of all.

    `deployment`, `monitoring` and `timetable` are what comes after the gate. No decision rests on
    them, so they are no part of the policy's digest.
    """

    families: tuple[str, ...]
    tolerance: Decimal = DEFAULT_TOLERANCE
    tolerances: Mapping[str, Decimal] = field(default_factory=dict)
    slice_cases: int = DEFAULT_SLICE_CASES
    slices_block: bool = False
    first_release: FirstRelease = "refuse"
    slide: Decimal | None = None
    unchanged_cases: int = DEFAULT_UNCHANGED_CASES
    unchanged_share: Decimal = DEFAULT_UNCHANGED_SHARE
    deployment: Deployment = field(default_factory=Deployment)
    monitoring: Monitoring = field(default_factory=Monitoring)
    timetable: Timetable | None = None

    def tolerance_of(self, metric: str) -> Decimal:
        """Return how much a metric, by its full name, may fall (or rise) since the last release."""
        stem = metric.partition("@")[0]
        return self.tolerances.get(metric, self.tolerances.get(stem, self.tolerance))

    def canonical(self) -> dict[str, JSON]:
        """Return what the gate decides by, as JSON with every default spelled out."""
        return {
            "first_release": self.first_release,
            "model_families": {"allow": sorted(self.families)},
            "slices": {"block": self.slices_block, "min_cases": self.slice_cases},
            "slide": None if self.slide is None else float(self.slide),
            "tolerance": float(self.tolerance),
            "unchanged": {
                "min_cases": self.unchanged_cases,
                "min_share": float(self.unchanged_share),
            },
            "tolerances": {name: float(value) for name, value in sorted(self.tolerances.items())},
        }

    def digest(self) -> str:
        """Return the SHA-256 of the policy's canonical bytes, in hexadecimal."""
        return digest(self.canonical())


def policy_from(value: Mapping[str, Any]) -> Policy:
    """Read a policy from what the policy's schema has accepted.

    Raises:
        InputError: the monitor's sampling table falls where it must rise.
    """
    slices = value.get("slices", {})
    slide, unchanged = value.get("slide"), value.get("unchanged", {})
    return Policy(
        families=tuple(sorted(value["model_families"]["allow"])),
        tolerance=exact(value.get("tolerance", DEFAULT_TOLERANCE)),
        tolerances={name: exact(part) for name, part in value.get("tolerances", {}).items()},
        slice_cases=slices.get("min_cases", DEFAULT_SLICE_CASES),
        slices_block=slices.get("block", False),
        first_release=value.get("first_release", "refuse"),
        slide=None if slide is None else exact(slide),
        unchanged_cases=unchanged.get("min_cases", DEFAULT_UNCHANGED_CASES),
        unchanged_share=exact(unchanged.get("min_share", DEFAULT_UNCHANGED_SHARE)),
        deployment=deployment_from(value.get("release", {}), value.get("rollback", {})),
        monitoring=monitoring_from(value.get("monitor", {})),
        timetable=timetable_from(value["schedule"]) if "schedule" in value else None,
    )


def exact(value: float | Decimal) -> Decimal:
    """Return the decimal that a person wrote: 0.05 is 0.05, not its nearest binary fraction.

    >>> exact(0.9) - exact(0.85) <= exact(0.05)
    True
    """
    return value if isinstance(value, Decimal) else Decimal(repr(value))
