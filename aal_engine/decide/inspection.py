"""What is checked in one output of an agent in service, in code and without a golden case.

Everything is found by the measure that evaluates golden sets, so that a citation is invented here
where it is invented there. `Rules` is compiled once per pack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from aal_engine.decide.screen import Screen
from aal_engine.decide.stop_rule import INVENTED, Range, StopRule, stop_rule_from
from aal_engine.measure.answer.counts import count
from aal_engine.measure.answer.examination import Examination, examine
from aal_engine.measure.answer.hit import hits, holds
from aal_engine.measure.answer.prose import Prose
from aal_engine.measure.golden import Case, Pack
from aal_engine.measure.leaf import Leaf
from aal_engine.measure.point import Point
from aal_engine.measure.run import Output

State: TypeAlias = Literal["ok", "breach", "not_measured"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says of one output; `hits` counts what breaks it."""

    check: str
    state: State
    hits: int = 0


class Rules:
    """The checks of one pack, compiled: `checks` names each, with the rate that it allows or None.

    Raises:
        PointError: a stop rule is not well formed.
    """

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.rules: tuple[StopRule, ...] = tuple(map(stop_rule_from, pack.stop_rules))
        self.checks: dict[str, float | None] = {INVENTED: None}
        self.checks |= {rule.id: rule.allowed for rule in self.rules}
        self.screen = Screen(pack.citations, self.rules)
        self.case = Case(
            "monitor",
            "",
            must_not_claim=tuple(rule.forbid for rule in self.rules if rule.forbid is not None),
        )
        self.unmeasured = tuple(Finding(check, "not_measured") for check in self.checks)
        self.clean = tuple(Finding(check, "ok") for check in self.checks)
        self.uncheckable = (self.unmeasured[0], *self.clean[1:])


def inspect(output: Output, rules: Rules, *, screened: bool = True) -> tuple[Finding, ...]:
    """Return a finding for each check of the rules, in their order.

    Citations cannot be checked where the output does not say what was retrieved; where it says that
    nothing was, every citation is invented. An output without an answer, or of an attempt that
    failed, is not measured, and neither is one on which a check raises. With `screened` a quick
    pass settles most outputs; without, each is examined in full, with the same result.
    """
    if output.answer is None or output.error is not None or not output.answer.strip():
        return rules.unmeasured
    try:
        plain = screened and rules.screen.cites_plainly(output)
        if plain and rules.screen.breaks_nothing(output):
            return rules.clean if output.retrieved is not None else rules.uncheckable
        found = examine(rules.case, output, rules.pack.citations, rules.pack.language)
        return (_citations(output, found), *_broken(rules, found))
    except Exception:
        # Whatever an agent writes, a check that fails says nothing of the agent.
        return rules.unmeasured


def _citations(output: Output, found: Examination) -> Finding:
    if output.retrieved is None:
        return Finding(INVENTED, "not_measured")
    return _finding(INVENTED, count(found).invented_citations)


def _finding(check: str, hits: int) -> Finding:
    return Finding(check, "breach" if hits else "ok", hits)


def _broken(rules: Rules, found: Examination) -> Iterator[Finding]:
    forbidden = iter(found.forbidden)
    for rule in rules.rules:
        if rule.forbid is not None:
            yield _finding(rule.id, int(next(forbidden).made))
        elif rule.require is not None:
            concerned = rule.when is None or _mentioned(rule.when, found.prose)
            met = not concerned or _mentioned(rule.require, found.prose)
            yield _finding(rule.id, int(not met))
        elif rule.within is not None:
            yield _finding(rule.id, _outside(rule.within, found.prose))


def _mentioned(point: Point, prose: Prose) -> bool:
    def meets(leaf: Leaf) -> bool:
        return any(leaf.negated == "count" or not hit.negated for hit in hits(leaf, prose))

    return holds(point, meets)


def _outside(within: Range, prose: Prose) -> int:
    """Count the numbers outside a range, in the sentences that it speaks of."""
    inside = {hit[:3] for hit in hits(within.inside, prose)}
    outside = [hit for hit in hits(within.any, prose) if hit[:3] not in inside]
    if not outside or within.beside is None:
        return len(outside)
    return sum(_mentioned_in(within.beside, hit.unit, prose) for hit in outside)


def _mentioned_in(point: Point, unit: int, prose: Prose) -> bool:
    return holds(point, lambda leaf: any(hit.unit == unit for hit in hits(leaf, prose)))
