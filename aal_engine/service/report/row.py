"""What every report says of a check, in words and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aal_engine.decide.decision import CHECKS, Check, Decision, fall
from aal_engine.measure.metric import FLOORS

LABELS = {
    "invented_citations": "invented citations",
    "forbidden_claims": "forbidden claims",
    "answers_present": "answer evaluation present",
    "family_evidence": "own passing answer evaluation",
    "same_subject": "one agent, pack and version",
    "baseline": "baseline is the last release",
    "same_golden_set": "same golden set",
    "evidence": "record follows from its table",
    "coverage": "every case measured",
    "metric_vanished": "metric still measured",
    "regression": "against the last release",
    "slide": "against the best release",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One check, ready to be laid out; empty strings where there is nothing to say.

    `mark` is `BLOCK`, `warn` (fails, but the policy lets it pass) or `ok`.
    """

    mark: str
    check: str
    metric: str
    where: str
    baseline: str
    current: str
    change: str
    tolerance: str
    n: str
    says: str
    statistics: str


def row(check: Check) -> Row:
    """Return what a report says of one check."""
    compared = check.name in ("regression", "slide")
    return Row(
        mark="ok" if check.ok else "warn" if check.advisory else "BLOCK",
        check=LABELS[check.name],
        metric=check.metric or "",
        where=" · ".join(filter(None, (check.model_family, check.suite, check.slice))),
        baseline=_number(check.baseline) if compared or check.name == "coverage" else "",
        current=_number(check.current) if compared or check.name in (*FLOORS, "coverage") else "",
        change=_change(check) if compared else "",
        tolerance=_number(check.tolerance) if compared else "0" if check.name in FLOORS else "",
        n=_cases(check),
        says=check.note or ("" if check.ok or compared else CHECKS[check.name]),
        statistics=_statistics(check.evidence),
    )


def headline(decision: Decision, name: Callable[[str], str] = str) -> str:
    """Return the verdict in one line, every name in it passed through `name`."""
    blocking = sum(check.blocks for check in decision.checks)
    subject = f"{name(decision.agent)} {name(decision.version)} on {name(decision.pack)}"
    against = f" against {name(decision.baseline.version)}" if decision.baseline else ""
    count = len(decision.checks)
    if blocking:
        return f"BLOCKED: {subject}{against}: {blocking} of {count} checks block"
    warning = sum(not check.ok for check in decision.checks)
    warned = f", {warning} warn without blocking" if warning else ""
    return f"RELEASED: {subject}{against}: {count - warning} of {count} checks hold{warned}"


def underpowered(decision: Decision) -> int:
    """Return for how many comparisons the golden set is too small to see a drop of the tolerance."""
    return sum(
        bool(check.evidence and check.evidence.get("underpowered")) for check in decision.checks
    )


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.4f}"


def _cases(check: Check) -> str:
    if check.current_n is None or check.baseline_n is None:
        return ""
    same = check.current_n == check.baseline_n
    return f"{check.current_n}" if same else f"{check.baseline_n} -> {check.current_n}"


def _change(check: Check) -> str:
    if check.baseline is None or check.current is None or check.direction == "none":
        return ""
    better = -fall(check.direction, check.current, check.baseline)
    if abs(better) < Decimal("0.00005"):
        return "same" if better == 0 else "<0.0001 " + ("better" if better > 0 else "worse")
    return f"{abs(better):.4f} " + ("better" if better > 0 else "worse")


def _statistics(evidence: Any) -> str:
    if not evidence:
        return ""
    if "interval" not in evidence and "upper_bound" not in evidence:
        return _cases_told(evidence)
    if "upper_bound" in evidence:
        return (
            f"{evidence['answers']} clean answers still allow "
            f"{evidence['upper_bound']:.1%} (95% bound)"
        )
    low, high = evidence["interval"]
    adjusted = f" ({evidence['p_holm']:.3g} over slices)" if "p_holm" in evidence else ""
    told = (
        f"95% [{low:+.3f}, {high:+.3f}], p = {evidence['p']:.3g}{adjusted}, "
        f"{evidence['n']} pairs detect {evidence['detectable']:.3f}"
    )
    told += ", underpowered" if evidence["underpowered"] else ""
    return "; ".join(filter(None, (told, _cases_told(evidence))))


def _cases_told(evidence: Any) -> str:
    cases = evidence.get("cases")
    return f"cases: {', '.join(cases)}" if cases else ""
