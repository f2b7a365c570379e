"""One row of a run, from JSON or Parquet, to one output."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aal_engine.measure.run import Output, Passage
from aal_engine.store.json_text import named
from aal_engine.store.predicate import predicate, schema
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList

FIELDS = frozenset(schema("run.json")["properties"])
PASSAGE_FIELDS = frozenset(schema("run.json")["$defs"]["passage"]["properties"])
MAX_KEYS_NAMED = 100
OTHER_KEYS = "(other keys)"
_SHORT_WORD = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


class RowReader:
    """Turns rows into outputs, notes their faults, and counts the keys that it does not read."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self.unread: Counter[str] = Counter()

    def output(self, row: Any, line: int | None = None) -> Output | None:
        """Return the output of a row, or None with what is wrong noted."""
        case = case_shown(row)
        if not conforms("run", row, self._faults, line=line, case=case):
            return None
        self._count(row)
        before = len(self._faults.faults)
        retrieved = self._passages(row.get("retrieved"), case, line)
        latency = self._finite(row.get("latency_ms"), "latency_ms", case, line)
        if len(self._faults.faults) > before:
            return None
        cited = row.get("citations")
        return Output(
            case_id=str(row["id"]),
            attempt=row.get("attempt") or 1,
            model_family=row.get("model_family"),
            retrieved=retrieved,
            answer=row.get("answer"),
            citations=None if cited is None else tuple(cited),
            latency_ms=latency,
            error=_short(row.get("error")),
        )

    def leave(self, key: str, rows: int = 1) -> None:
        """Count rows that carry a key which is not read."""
        known = key in self.unread or len(self.unread) < MAX_KEYS_NAMED
        self.unread[key if known else OTHER_KEYS] += rows

    def _count(self, row: Mapping[str, Any]) -> None:
        further = {named(key) for key in row.keys() - FIELDS}
        for passage in row.get("retrieved") or ():
            if len(passage) > len(passage.keys() & PASSAGE_FIELDS):
                further |= {f"retrieved.{named(key)}" for key in passage.keys() - PASSAGE_FIELDS}
        for key in further:
            self.leave(key)

    def _passages(
        self, rows: Sequence[Mapping[str, Any]] | None, case: str | None, line: int | None
    ) -> tuple[Passage, ...] | None:
        if rows is None:
            return None
        passages = tuple(
            Passage(
                str(row["doc_id"]),
                None if (part := row.get("passage_id")) is None else str(part),
                None if (score := row.get("score")) is None else float(score),
                row.get("text"),
                row.get("title"),
                row.get("url"),
            )
            for row in rows
        )
        for place, problem in list_faults(passages):
            self._faults.add(problem, line=line, case=case, field=f"retrieved[{place}]")
        return passages

    def _finite(
        self, value: float | None, field: str, case: str | None, line: int | None
    ) -> float | None:
        if value is None or math.isfinite(value):
            return None if value is None else float(value)
        self._faults.add("is not a finite number", line=line, case=case, field=field)
        return None


def case_shown(row: Any) -> str | None:
    """Return the case id of a row as a message may show it, None if it has no usable one."""
    value = row.get("id") if isinstance(row, dict) else None
    usable = value is not None and predicate("case.json#/$defs/id")(value)
    return str(value) if usable else None


def list_faults(passages: Sequence[Passage]) -> list[tuple[int, str]]:
    """Return the place, from 0, and the problem of every passage that a list may not hold.

    Several passages of one document are no fault: its first one gives its rank.
    """
    found = []
    if len({(p.doc_id, p.passage_id) for p in passages}) < len(passages):
        first: dict[tuple[str, str | None], int] = {}
        for place, passage in enumerate(passages):
            earlier = first.setdefault((passage.doc_id, passage.passage_id), place)
            if earlier != place:
                found.append((place, f"is the same passage as retrieved[{earlier}]"))
    scored = sum(passage.score is not None for passage in passages)
    for place, passage in enumerate(passages):
        if passage.score is None:
            if scored:
                found.append((place, "has no score, while other passages of the list have one"))
        elif not math.isfinite(passage.score):
            found.append((place, "has a score that is not a finite number"))
    return found


def _short(error: str | None) -> str | None:
    """Return an error as the short word that an output may hold; a longer text is dropped."""
    if not error:
        return None
    return error if _SHORT_WORD.fullmatch(error) else "error"
