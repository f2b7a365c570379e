"""Eval records on disk: one record or several in one JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aal_engine.canonical import JSON
from aal_engine.decide.decision import DECISION_SCHEMA
from aal_engine.errors import InputError
from aal_engine.measure.record import RECORD_SCHEMA, EvalRecord, contradictions, record_from
from aal_engine.store.json_text import read_json
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList, Source

RECORDS_SCHEMA = "aal/records/1"

MAKE = "pass records, which `aal evaluate` writes"


def load_records(source: Source) -> tuple[EvalRecord, ...]:
    """Read a file that holds one record or several.

    Raises:
        InputError: the file cannot be read, or holds anything but records.
    """
    return records_in(_json(source), source)


def _json(source: Source) -> Any:
    try:
        return read_json(source)
    except InputError as error:
        raise InputError(error.faults, way_out=MAKE) from None


def records_in(value: Any, source: Source) -> tuple[EvalRecord, ...]:
    """Read the records that a JSON value of a file holds; see `load_records`."""
    faults = FaultList(source)
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema == DECISION_SCHEMA:
        faults.add("is a decision where records are needed")
    elif schema == RECORD_SCHEMA:
        conforms("record", value, faults)
    elif schema == RECORDS_SCHEMA:
        conforms("records", value, faults)
    else:
        faults.add(f"holds no records: its schema is neither {RECORD_SCHEMA} nor {RECORDS_SCHEMA}")
    faults.settle(way_out=MAKE)
    listed: Sequence[Mapping[str, Any]] = [value] if schema == RECORD_SCHEMA else value["records"]
    for place, record in enumerate(listed):
        consistent(record, faults, f"records[{place}]" if schema == RECORDS_SCHEMA else None)
    faults.settle(way_out=MAKE)
    return tuple(record_from(record) for record in listed)


def consistent(value: Mapping[str, Any], faults: FaultList, field: str | None) -> None:
    """Note what a record says of itself that its own numbers contradict."""
    where = f"{field}." if field else ""
    record = record_from(value)
    found = list(contradictions(record))
    for place, problem in found:
        faults.add(problem, field=where + place)
    if not found and record.canonical() != value:
        faults.add("does not follow from its own numbers", field=f"{where}passed")


def written(records: Sequence[EvalRecord]) -> str:
    """Return the text of a records file: one record a block, in a fixed order of keys."""
    order = sorted(records, key=lambda r: (r.kind, r.suite, r.model_family or ""))
    value: dict[str, JSON] = {
        "schema": RECORDS_SCHEMA,
        "records": [record.canonical() for record in order],
    }
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
