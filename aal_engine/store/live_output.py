"""One output of an agent in service, from a line of JSON: as little of it as the checks need.

```
{"trace_id": "…", "agent": "docs-agent", "version": "1.4.0", "at": "2026-01-31T09:30:00Z",
 "model_family": "claude", "autonomy": 1, "sensitivity": "internal", "error": null,
 "retrieved": [{"doc_id": "doc-12", "passage_id": null, "title": null, "url": null}],
 "answer": "…", "citations": ["doc-12"]}
```

`trace_id` and `version` are required; further keys are not read. What is drawn is decided on the
head alone, and the rest of a line that is not drawn is never decoded.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from aal_engine.errors import AalError
from aal_engine.measure.run import Output, Passage

MAX_OUTPUT = 2**20
"""Bytes that one output may have."""

MAX_PASSAGES = 10_000

_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:+@/-]{0,127}$")]
_Key = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)] | int
_Level = Annotated[int, msgspec.Meta(ge=0, le=3)]
_Sensitivity = Annotated[str, msgspec.Meta(pattern="^(public|internal|confidential|restricted)$")]


class UnreadableOutput(AalError):
    """A line is no output: `why` is a short word for counting, and quotes nothing."""

    http_status = 422

    def __init__(self, why: str) -> None:
        super().__init__(f"an output cannot be read: {why}")
        self.why = why


class Head(msgspec.Struct, frozen=True, gc=False):
    """What decides whether an output is drawn, and for which version it counts.

    `autonomy` and `sensitivity` are the pack's where they are None.
    """

    trace_id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    version: _Name
    agent: _Name | None = None
    pack: _Name | None = None
    at: str | None = None
    autonomy: _Level | None = None
    sensitivity: _Sensitivity | None = None


class _Passage(msgspec.Struct, frozen=True, gc=False):
    doc_id: _Key
    passage_id: _Key | None = None
    title: str | None = None
    url: str | None = None


class _Body(msgspec.Struct, frozen=True):
    retrieved: Annotated[list[_Passage], msgspec.Meta(max_length=MAX_PASSAGES)] | None = None
    answer: str | None = None
    citations: Annotated[list[_Key], msgspec.Meta(max_length=MAX_PASSAGES)] | None = None
    error: str | None = None


_HEAD = msgspec.json.Decoder(Head)
_BODY = msgspec.json.Decoder(_Body)


def read_head(line: bytes) -> Head:
    """Return the head of an output.

    Raises:
        UnreadableOutput: the line is longer than 1 MiB, is not a JSON object in UTF-8, or names no
            trace id or version.
    """
    if len(line) > MAX_OUTPUT:
        raise UnreadableOutput("too_long")
    try:
        return _HEAD.decode(line)
    except msgspec.ValidationError:
        raise UnreadableOutput("wrong_field") from None
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise UnreadableOutput("not_json") from None


def read_output(line: bytes, trace_id: str) -> Output:
    """Return what the checks read of an output.

    Raises:
        UnreadableOutput: a field is not of its type.
    """
    try:
        body = _BODY.decode(line)
    except msgspec.ValidationError:
        raise UnreadableOutput("wrong_field") from None
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise UnreadableOutput("not_json") from None
    retrieved = body.retrieved
    return Output(
        trace_id,
        retrieved=None
        if retrieved is None
        else tuple(
            [
                Passage(
                    str(each.doc_id),
                    None if each.passage_id is None else str(each.passage_id),
                    title=each.title,
                    url=each.url,
                )
                for each in retrieved
            ]
        ),
        answer=body.answer,
        citations=None if body.citations is None else tuple(body.citations),
        error="error" if body.error else None,
    )


def written_at(head: Head) -> float | None:
    """Return when an output was written, in seconds since the epoch; None where it does not say.

    Raises:
        UnreadableOutput: the time is not ISO 8601 with a zone.
    """
    if head.at is None:
        return None
    try:
        at = datetime.fromisoformat(head.at)
        if at.tzinfo is not None:
            return at.timestamp()
    except (ValueError, OverflowError):
        pass
    raise UnreadableOutput("wrong_time")
