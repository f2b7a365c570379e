"""Traces of the OpenTelemetry conventions for generative AI, to outputs as the monitor reads them.

Read is the JSON encoding of OTLP's `ExportTraceServiceRequest`. A trace is one output:

    gen_ai.output.messages       the answer; of several spans, an agent's before a model's, then the
                                 one that ended last; on a span or on one of its events
    gen_ai.retrieval.documents   what was retrieved, of all spans in the order in which they began;
                                 in no span: citations cannot be checked; empty: nothing was found
    gen_ai.agent.version         the version, or the resource's service.version
    gen_ai.agent.name            the agent, or the resource's service.name

Both structured attributes and their JSON strings are read. The spans of a trace may come in several
requests: it is held until its root span and an answer are there, or for `SETTLE` seconds. An agent's
span that has a parent may be another agent's, whose answer comes later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from aal_engine.store.live_output import UnreadableOutput

SETTLE: Final = 10.0
"""Seconds for which a trace waits for the rest of its spans."""

MOST_HELD: Final = 10_000
"""Traces that are held at once; beyond that the oldest ones are taken as they are."""

MOST_SPANS: Final = 1_000
"""Spans with something to read that are kept of one trace."""

_DEPTH: Final = 16
_AGENTS: Final = frozenset({"invoke_agent", "invoke_workflow"})
_MESSAGES: Final = "gen_ai.output.messages"
_DOCUMENTS: Final = "gen_ai.retrieval.documents"


@dataclass(slots=True)
class _Trace:
    """What was read of one trace so far."""

    since: float
    spans: int = 0
    rooted: bool = False
    version: str | None = None
    agent: str | None = None
    answer: str | None = None
    rank: tuple[bool, int] = (False, -1)
    failed: bool = False
    documents: list[tuple[int, list[Any]]] = field(default_factory=list)
    retrieved: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing more is to come; a root without an answer may come before its parts."""
        return self.rooted and (self.rank[1] >= 0 or not self.retrieved)


class TraceReader:
    """Puts the spans of traces together. `now` is in seconds, from any one start."""

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}

    def read(self, body: bytes, now: float) -> list[bytes]:
        """Take a request, and return the outputs that are complete with it, each as a JSON line.

        Raises:
            UnreadableOutput: it is not such a request.
        """
        try:
            request = msgspec.json.decode(body)
            for resource, span in _spans(request):
                self._take(resource, span, now)
        except (
            msgspec.MsgspecError, RecursionError, ValueError, TypeError, KeyError, AttributeError,
        ):  # fmt: skip
            raise UnreadableOutput("not_otlp") from None
        return self.due(now)

    def due(self, now: float) -> list[bytes]:
        """Return the outputs of traces that are complete or have waited long enough."""
        excess = len(self._traces) - MOST_HELD
        done = [
            trace_id
            for place, (trace_id, trace) in enumerate(self._traces.items())
            if trace.complete or now - trace.since >= SETTLE or place < excess
        ]
        rows = ((trace_id, self._traces.pop(trace_id)) for trace_id in done)
        return [_row(trace_id, trace) for trace_id, trace in rows if trace.rank[1] >= 0]

    def _take(self, resource: Mapping[str, Any], span: Mapping[str, Any], now: float) -> None:
        attributes = _attributes(span.get("attributes", ()))
        operation = attributes.get("gen_ai.operation.name")
        root = not span.get("parentSpanId")
        told = [attributes, *(_attributes(e.get("attributes", ())) for e in span.get("events", ()))]
        messages = next((each[_MESSAGES] for each in told if _MESSAGES in each), None)
        documents = next((each[_DOCUMENTS] for each in told if _DOCUMENTS in each), None)
        if not root and messages is None and documents is None:
            return
        trace_id = span["traceId"]
        if not isinstance(trace_id, str) or not 1 <= len(trace_id) <= 64:
            raise ValueError
        trace = self._traces.setdefault(trace_id, _Trace(now))
        trace.spans += 1
        if trace.spans > MOST_SPANS:
            return
        trace.rooted = trace.rooted or root
        trace.version = (
            attributes.get("gen_ai.agent.version")
            or trace.version
            or resource.get("service.version")
        )
        trace.agent = (
            attributes.get("gen_ai.agent.name") or trace.agent or resource.get("service.name")
        )
        if documents is not None:
            trace.retrieved = True
            began = int(span.get("startTimeUnixNano", 0))
            trace.documents.append((began, _structured(documents)))
        rank = operation in _AGENTS, int(span.get("endTimeUnixNano", 0))
        if messages is not None and rank > trace.rank:
            trace.answer, trace.rank = _answer(_structured(messages)), rank
            status = span.get("status") or {}
            trace.failed = status.get("code") in (2, "STATUS_CODE_ERROR")


def _spans(request: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for group in request["resourceSpans"]:
        resource = _attributes((group.get("resource") or {}).get("attributes", ()))
        for scope in group.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                yield resource, span


def _attributes(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        pair["key"]: _plain(pair["value"], 0)
        for pair in pairs
        if pair["key"].startswith(("gen_ai.", "service."))
    }


def _plain(value: Mapping[str, Any], depth: int) -> Any:
    """Return what an `AnyValue` holds."""
    if depth > _DEPTH:
        raise ValueError
    for kind, held in value.items():
        match kind:
            case "arrayValue":
                return [_plain(each, depth + 1) for each in held.get("values", ())]
            case "kvlistValue":
                pairs = held.get("values", ())
                return {pair["key"]: _plain(pair["value"], depth + 1) for pair in pairs}
            case "intValue":
                return int(held)
            case _:
                return held
    return None


def _structured(value: Any) -> list[Any]:
    found = msgspec.json.decode(value) if isinstance(value, str) else value
    if not isinstance(found, list):
        raise TypeError
    return found


def _answer(messages: Sequence[Any]) -> str | None:
    """Return the text of the first message, its other parts (reasoning, tool calls) left out."""
    for message in messages:
        texts = [
            part["content"]
            for part in message.get("parts", ())
            if part.get("type") == "text" and isinstance(part.get("content"), str)
        ]
        return "\n".join(texts) if texts else None
    return None


def _row(trace_id: str, trace: _Trace) -> bytes:
    trace.documents.sort(key=lambda each: each[0])
    documents = [document for _, listed in trace.documents for document in listed]
    told = {
        "trace_id": trace_id,
        "version": trace.version,
        "agent": trace.agent,
        "answer": trace.answer,
        "error": "error" if trace.failed else None,
        "retrieved": [_document(each) for each in documents] if trace.retrieved else None,
    }
    return json.dumps(told).encode()


def _document(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        return {}
    return {
        "doc_id": document.get("id"),
        "title": document.get("title"),
        "url": document.get("url"),
    }
