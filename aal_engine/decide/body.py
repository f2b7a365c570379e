"""A decision as the ledger holds it: every check and record, in numbers and names alone.

One ledger line holds at most 65,535 bytes, so checks and records stand as rows under their column
names, and a decision with very many checks is cut into parts that are appended together. What an
auditor needs to judge the decision again is all here: each row's verdict follows from its own
numbers, and the decision's verdict from its rows (see `audit`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from aal_engine.canonical import JSON
from aal_engine.decide.decision import DECISION_SCHEMA, Decision
from aal_engine.measure.metric import FLOORS
from aal_engine.measure.record import EvalRecord

CHECK_COLUMNS = (
    "check",
    "metric",
    "model_family",
    "suite",
    "slice",
    "direction",
    "baseline",
    "current",
    "tolerance",
    "ok",
    "advisory",
)
PART_BYTES = 50_000
"""Bytes of a part's rows; the rest of the line's 65,535 is room for what stands around them."""


def bodies(decision: Decision) -> list[dict[str, JSON]]:
    """Return the bodies of the ledger entries that record a decision, one unless it is long."""
    told = [check.canonical() for check in decision.checks]
    rows = [[check[column] for column in CHECK_COLUMNS] for check in told]
    records = [_record(record) for record in decision.records]
    parts = list(_parts(rows, records))
    head: dict[str, JSON] = {
        "schema": DECISION_SCHEMA,
        "agent": decision.agent,
        "pack": decision.pack,
        "version": decision.version,
        "verdict": decision.verdict,
        "decision": decision.digest,
        "inputs": decision.inputs,
        "decided_at": decision.decided_at,
        "engine": decision.engine,
        "policy": decision.policy,
        "model_families": list(decision.families),
        "baseline": None if decision.baseline is None else decision.baseline.canonical(),
        "unchanged_cases": decision.unchanged_cases,
    }
    return [
        {
            **head,
            "part": [place, len(parts)],
            "checks": {"columns": list(CHECK_COLUMNS), "rows": checks},
            "records": list(held),
        }
        for place, (checks, held) in enumerate(parts, 1)
    ]


def _parts(
    rows: Sequence[list[JSON]], records: Sequence[dict[str, JSON]]
) -> Iterator[tuple[list[list[JSON]], list[dict[str, JSON]]]]:
    checks: list[list[JSON]] = []
    held: list[dict[str, JSON]] = []
    used = 0
    for row, record in [
        *((row, None) for row in rows),
        *((None, record) for record in records),
    ]:
        # Near enough to the canonical length, and many times faster.
        size = len(json.dumps(row if row is not None else record)) + 1
        if used + size > PART_BYTES and (checks or held):
            yield checks, held
            checks, held, used = [], [], 0
        used += size
        if row is not None:
            checks.append(row)
        elif record is not None:
            held.append(record)
    yield checks, held


def _record(record: EvalRecord) -> dict[str, JSON]:
    """Return a record's means and counts, with the digests that lead to the rest."""
    return {
        "kind": record.kind,
        "suite": record.suite,
        "model_family": record.model_family,
        "golden_set": record.golden_set,
        "cases": record.cases,
        "scored": record.scored,
        "record": record.digest,
        "table": record.table,
        "run": record.run,
        "passed": record.passed,
        "engine": record.engine,
        "metrics": {name: [mean.value, mean.n] for name, mean in record.metrics.items()},
        "floors": {floor: record.counts[floor] for floor in FLOORS if floor in record.counts},
    }
