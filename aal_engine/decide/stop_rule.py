"""A pack's stop rules: what an answer in service must not claim, must say, and must stay within.

A rule is a floor, which one confirmed hit breaks, unless it allows a rate of hits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from aal_engine.decide.policy import exact
from aal_engine.measure.leaf import Number
from aal_engine.measure.point import Claim, Point, PointError, parse_claim, parse_point

INVENTED: Final = "invented_citations"
"""The check that every pack has: citations of passages that were never retrieved."""

RERUN: Final = "rerun"
"""What the names of the checks of a scheduled re-run start with."""

BEYOND: Final = 10**12
"""Numbers larger than this, either way, are read by no range."""


@dataclass(frozen=True, slots=True)
class Range:
    """Every number of this unit lies from `least` to `most`, in sentences that mention `beside`.

    A bound that is None is open. Without `beside` it holds in every sentence.
    """

    unit: str | None
    least: Decimal | None
    most: Decimal | None
    beside: Point | None = None

    @property
    def any(self) -> Number:
        """The leaf that finds every number of the unit."""
        return Number(0, self.unit, BEYOND)

    @property
    def inside(self) -> Number:
        """The leaf that finds those within the bounds."""
        least = Decimal(-BEYOND) if self.least is None else self.least
        most = Decimal(BEYOND) if self.most is None else self.most
        # Of so many digits as a bound may have, floats print the decimals that they were made of.
        return Number(float((least + most) / 2), self.unit, float((most - least) / 2))


@dataclass(frozen=True, slots=True)
class StopRule:
    """One rule: it forbids a claim, requires a point, or keeps numbers within a range.

    `when` narrows a required point to answers that mention it. `allowed` is the rate of hits that
    is tolerated, above 0 and below 1; None makes a floor of the rule.
    """

    id: str
    forbid: Claim | None = None
    require: Point | None = None
    within: Range | None = None
    when: Point | None = None
    allowed: float | None = None


def stop_rule_from(value: Mapping[str, Any]) -> StopRule:
    """Read a rule from what the pack's schema has accepted.

    Raises:
        PointError: the first fault found, with its place in the rule.
    """
    if value["id"] == INVENTED or value["id"].split(".")[0] == RERUN:
        raise PointError("is the name of a check that every pack has", "id")
    for name, other in (("when", "require"), ("beside", "within")):
        if name in value and other not in value:
            raise PointError(f"stands beside `{other}` alone", name)
    return StopRule(
        id=value["id"],
        forbid=_read(parse_claim, value, "forbid"),
        require=_read(parse_point, value, "require"),
        within=_range(value) if "within" in value else None,
        when=_read(parse_point, value, "when"),
        allowed=value.get("allow"),
    )


def _read(parse: Any, value: Mapping[str, Any], name: str) -> Any:
    if name not in value:
        return None
    try:
        return parse(value[name])
    except PointError as error:
        raise PointError(error.problem, f"{name}.{error.field}".rstrip(".")) from None


def _range(value: Mapping[str, Any]) -> Range:
    within = value["within"]
    bounds = {name: within.get(name) for name in ("min", "max")}
    least, most = (None if bound is None else exact(bound) for bound in bounds.values())
    for name, bound in (("min", least), ("max", most)):
        if bound is not None and (abs(bound) > 10**9 or bound != round(bound, 4)):
            raise PointError(
                "has at most 9 digits before the point and 4 behind it", f"within.{name}"
            )
    if least is not None and most is not None and least > most:
        raise PointError("is less than `min`", "within.max")
    unit = within.get("unit")
    # The unit is read as a point's is.
    parsed = parse_point({"number": 0, "unit": unit})
    assert isinstance(parsed, Number)
    return Range(parsed.unit, least, most, _read(parse_point, value, "beside"))
