"""One case of a golden set, from a row of JSON Lines or YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from unicodedata import is_normalized

from aal_engine.measure.golden import Case
from aal_engine.measure.point import Claim, Point, PointError, parse_claim, parse_point
from aal_engine.store.output import case_shown
from aal_engine.store.predicate import predicate
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList
from aal_engine.store.yaml_text import line_of

Parsed = TypeVar("Parsed", Point, Claim)


class CaseReader:
    """Turns the rows of one file into cases, and notes their faults."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._lines: dict[str, int] = {}

    def case(self, row: Any, line: int) -> Case | None:
        """Return the case of a row, or None with everything that is wrong in it noted."""
        id_ = case_shown(row)
        before = len(self._faults.faults)
        fits = conforms("case", row, self._faults, line=line, case=id_)
        points = Points(row if isinstance(row, dict) else {}, self._faults, line, id_, fits=fits)
        mention = tuple(points.read("must_mention", "point.json", parse_point))
        never = tuple(points.read("must_not_claim", "point.json#/$defs/claim", parse_claim))
        if id_ is not None:
            self._check(id_, line)
        if len(self._faults.faults) > before:
            return None
        assert id_ is not None
        return Case(
            id=id_,
            question=row["question"] if "question" in row else row["task"],
            relevant=dict(row.get("relevant", {})),
            must_mention=mention,
            must_not_claim=never,
            expect=row.get("expect", "answer"),
            slices=tuple(sorted(row.get("slices", ()))),
        )

    def _check(self, id_: str, line: int) -> None:
        if not is_normalized("NFC", id_):
            self._faults.add(
                "is not in Unicode's form NFC: another id may look the same",
                line=line,
                case=id_,
                field="id",
            )
        earlier = self._lines.setdefault(id_, line)
        if earlier != line:
            self._faults.add(f"is the id of line {earlier} too", line=line, case=id_, field="id")


class Points:
    """Reads the points and claims of one mapping, each on its own, so that one hides no other."""

    def __init__(
        self,
        holder: dict[str, Any],
        faults: FaultList,
        line: int | None = None,
        case: str | None = None,
        *,
        fits: bool = True,
    ) -> None:
        """With `fits`, the mapping is known to fit its schema; else each point is asked."""
        self._holder = holder
        self._faults = faults
        self._line = line
        self._case = case
        self._fits = fits

    def read(self, key: str, schema: str, parse: Callable[[Any], Parsed]) -> Iterator[Parsed]:
        """Yield what stands under a key; what does not fit the schema is told elsewhere."""
        listed = self._holder.get(key, [])
        several = isinstance(listed, list)
        for place, value in enumerate(listed if several else [listed]):
            if not (self._fits or predicate(schema)(value)):
                continue
            try:
                yield parse(value)
            except PointError as error:
                steps = (key, place) if several else (key,)
                field = f"{key}[{place}]" if several else key
                self._faults.add(
                    error.problem,
                    line=line_of(self._holder, steps) or self._line,
                    case=self._case,
                    field=f"{field}.{error.field}" if error.field else field,
                )
