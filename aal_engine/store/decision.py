"""Decisions on disk, as `--record` writes them and `--baseline` reads them."""

from __future__ import annotations

from typing import Any

from aal_engine.decide.decision import CHECKS, DECISION_SCHEMA, Decision, decision_from
from aal_engine.errors import InputError
from aal_engine.measure.record import EvalRecord
from aal_engine.store.json_text import read_json
from aal_engine.store.record import consistent, records_in
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList, Source


def load_baseline(source: Source) -> Decision | tuple[EvalRecord, ...]:
    """Read what `--baseline` takes: an earlier decision, or records of the released version.

    Raises:
        InputError: the file cannot be read, or holds neither.
    """
    value = read_json(source)
    if isinstance(value, dict) and value.get("schema") == DECISION_SCHEMA:
        return decision_in(value, source)
    return records_in(value, source)


def decision_in(value: Any, source: Source) -> Decision:
    """Read the decision that a JSON value of a file holds.

    Raises:
        InputError: it holds no decision, or one whose verdicts do not follow from its numbers.
    """
    faults = FaultList(source)
    conforms("decision", value, faults)
    faults.settle(way_out="pass the file that the gate wrote with --record")
    for place, check in enumerate(value["checks"]):
        if check["check"] not in CHECKS:
            faults.add("is not a check of this engine", field=f"checks[{place}].check")
    for place, record in enumerate(value["records"]):
        consistent(record, faults, f"records[{place}]")
    faults.settle()
    decision = decision_from(value)
    if decision.canonical() != value:
        raise InputError.at(
            "was changed after the gate wrote it: its verdicts do not follow from its numbers",
            file=faults.file,
        )
    return decision
