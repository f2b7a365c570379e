"""What `aal golden` tells of packs: ids, counts and digests, in text or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aal_engine.errors import Fault, shown
from aal_engine.measure.golden import GoldenSet, Pack
from aal_engine.service.golden import Difference, Inspected

if TYPE_CHECKING:
    from aal_engine.service.lint import Linted


def inspected(number: int, one: Inspected) -> dict[str, Any]:
    """Return as JSON what a look through a pack found."""
    return {
        "pack": None if one.pack is None else one.pack.name,
        "number": number,
        "valid": not one.faults,
        "suites": {
            name: {"cases": len(golden.cases), "digest": golden.digest}
            for name, golden in one.sets.items()
        },
        "errors": [_told(fault) for fault in one.faults],
        "warnings": [_told(doubt) for doubt in one.warnings],
    }


def linted(found: Linted) -> dict[str, Any]:
    """Return as JSON what keeps a pack from telling agents apart."""
    return {
        "pack": found.pack,
        "cases": found.cases,
        "passages": found.passages,
        "warnings": [_told(doubt) for doubt in found.warnings],
    }


def _told(fault: Fault) -> dict[str, Any]:
    return {
        "file": fault.file,
        "line": fault.line,
        "case": fault.case,
        "field": fault.field,
        "problem": fault.problem,
    }


def heading(pack: Pack) -> str:
    """Return a pack's declaration in a line."""
    style = pack.citations
    place = f"by place, from {style.base}"
    cited = {"id": "by id", "index": place, "link": f"by link, or {place}"}[style.mode]
    return (
        f"pack {pack.name}: agent {pack.agent}, autonomy {pack.autonomy}, {pack.sensitivity} data, "
        f"language {pack.language}, citations {cited}, {len(pack.stop_rules)} stop rules"
    )


def lines(golden: GoldenSet, text: bool) -> list[str]:
    """Return a suite in lines; its questions only with `text`."""
    counts = _counts(golden)
    told = [
        f"suite {golden.suite.name}: {len(golden.cases)} cases for {', '.join(golden.suite.kinds)}",
        f"  digest {golden.digest}",
    ]
    told += [
        f"  {what}: " + ", ".join(f"{name} {count}" for name, count in sorted(counts[what].items()))
        for what in ("expect", "slices", "holds")
        if counts[what]
    ]
    for case in golden.cases:
        told.append(f"  {shown(case.id)}  {case.digest()[:12]}")
        if text:
            told.append(f"      {''.join(c if c.isprintable() else ' ' for c in case.question)}")
    return told


def _counts(golden: GoldenSet) -> dict[str, dict[str, int]]:
    cases = golden.cases
    holds = {
        "judged documents": sum(len(case.relevant) for case in cases),
        "relevant documents": sum(g > 0 for case in cases for g in case.relevant.values()),
        "required points": sum(len(case.must_mention) for case in cases),
        "forbidden claims": sum(len(case.must_not_claim) for case in cases),
    }
    return {
        "expect": dict(Counter(case.expect for case in cases)),
        "slices": dict(Counter(name for case in cases for name in case.slices)),
        "holds": {what: count for what, count in holds.items() if count},
    }


def described(pack: Pack, sets: Sequence[GoldenSet]) -> dict[str, Any]:
    """Return a pack as JSON: no questions."""
    return {
        "pack": pack.name,
        "agent": pack.agent,
        "autonomy": pack.autonomy,
        "sensitivity": pack.sensitivity,
        "language": pack.language,
        "citations": {"mode": pack.citations.mode, "base": pack.citations.base},
        "stop_rules": len(pack.stop_rules),
        "suites": {
            golden.suite.name: {
                "kinds": list(golden.suite.kinds),
                "metrics": list(golden.suite.metrics),
                "digest": golden.digest,
                **_counts(golden),
                "cases": {case.id: case.digest() for case in golden.cases},
            }
            for golden in sets
        },
    }


def compared(one: Difference) -> dict[str, Any]:
    """Return as JSON what became of a suite."""
    return {
        "added": list(one.added),
        "removed": list(one.removed),
        "changed": {change.case: list(change.fields) for change in one.changed},
        "same": one.same,
    }
