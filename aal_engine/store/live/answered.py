"""One finished question: its output and what it took, as the journal and the run file write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from aal_engine.canonical import JSON
from aal_engine.measure.run import Output, Passage
from aal_engine.store.live.body import passage_of

Key: TypeAlias = tuple[str, str, int]
"""Model family, case id and attempt."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One finished question: its output, and what it took."""

    output: Output
    latency_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tries: int = 1

    @property
    def key(self) -> Key:
        """Under which it is finished."""
        return self.output.model_family or "", self.output.case_id, self.output.attempt


def told_passage(passage: Passage) -> JSON:
    """Return a passage as JSON; what is not known is left out."""
    fields = ("doc_id", "passage_id", "score", "text", "title", "url")
    return {name: value for name in fields if (value := getattr(passage, name)) is not None}


def row_of(answered: Answered) -> dict[str, JSON]:
    """Return a finished question as a line of the journal; see `answered_from`."""
    told = run_row(answered.output)
    told["case"] = told.pop("id")
    told["family"] = told.pop("model_family")
    further = {
        name: getattr(answered, name) for name in ("latency_ms", "tokens_in", "tokens_out", "tries")
    }
    return {**told, **{name: value for name, value in further.items() if value is not None}}


def answered_from(row: Mapping[str, Any], found: tuple[Passage, ...] | None) -> Answered:
    """Return a finished question; `found` is what the index found, if the agent says nothing else."""
    cited, listed = row.get("citations"), row.get("retrieved")
    output = Output(
        case_id=row["case"],
        attempt=row["attempt"],
        model_family=row["family"],
        retrieved=found if listed is None else tuple(map(passage_of, listed)),
        answer=row.get("answer"),
        citations=None if cited is None else tuple(cited),
        error=row.get("error"),
    )
    further = {
        name: row[name]
        for name in ("latency_ms", "tokens_in", "tokens_out", "tries")
        if name in row
    }
    return Answered(output, **further)


def run_row(output: Output) -> dict[str, JSON]:
    """Return an output as a row of a run file; what is not known is left out."""
    told: dict[str, JSON] = {
        "id": output.case_id,
        "attempt": output.attempt,
        "model_family": output.model_family,
        "answer": output.answer,
        "error": output.error,
    }
    if output.citations is not None:
        told["citations"] = list(output.citations)
    if output.retrieved is not None:
        told["retrieved"] = [told_passage(one) for one in output.retrieved]
    return {key: value for key, value in told.items() if value is not None}
