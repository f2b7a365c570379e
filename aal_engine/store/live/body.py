"""The engine's own question and reply, over HTTP or a program's standard input.

Question: `{"question": ..., "passages": [{"label", "doc_id", "passage_id", "title", "text"}],
"model_family": ..., "model": ...}`; `passages` is null where no index was searched. Reply:
`{"answer": ..., "citations": [...], "retrieved": [...], "usage": {"input_tokens", "output_tokens"}}`,
of which `answer` alone is needed. A reply with `error` is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aal_engine.canonical import JSON
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage
from aal_engine.store.child import Child
from aal_engine.store.exchange import Exchange
from aal_engine.store.failure import Failure
from aal_engine.store.live.agent import Question, Reply
from aal_engine.store.live.chat import whole
from aal_engine.store.live.prompt import label
from aal_engine.store.output import list_faults
from aal_engine.store.predicate import predicate


class OwnHttp:
    """An agent that takes questions at a URL."""

    def __init__(self, exchange: Exchange, model: str | None, style: CitationStyle) -> None:
        self._exchange = exchange
        self._model = model
        self._style = style

    async def ask(self, question: Question) -> Reply:
        """Post one question."""
        return read_reply(await self._exchange.post(told(question, self._model, self._style)))

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()


class Command:
    """An agent that is a program."""

    def __init__(self, child: Child, model: str | None, style: CitationStyle) -> None:
        self._child = child
        self._model = model
        self._style = style

    async def ask(self, question: Question) -> Reply:
        """Write one question and read its reply."""
        return read_reply(await self._child.ask(told(question, self._model, self._style)))

    async def close(self) -> None:
        """Let the program end."""
        await self._child.close()


def told(question: Question, model: str | None, style: CitationStyle) -> dict[str, JSON]:
    """Return a question as it is sent."""
    passages: list[JSON] | None = None
    if question.passages is not None:
        passages = [
            {
                "label": label(passage, place, style),
                "doc_id": passage.doc_id,
                "passage_id": passage.passage_id,
                "title": passage.title,
                "text": passage.text,
            }
            for place, passage in enumerate(question.passages)
        ]
    return {
        "question": question.text,
        "passages": passages,
        "model_family": question.family,
        "model": model,
    }


def read_reply(value: Any) -> Reply:
    """Return a reply as it was meant.

    Raises:
        Failure: it is an error, or is not what a reply may be.
    """
    if not isinstance(value, dict):
        raise Failure("unreadable", "the reply is no object", retry=False)
    if value.get("error") is not None:
        raise Failure("refused", "the agent answered with an error")
    answer = value.get("answer")
    if not isinstance(answer, str):
        raise Failure("unreadable", "the reply has no answer", retry=False)
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        answer,
        cited(value.get("citations")),
        listed(value.get("retrieved")),
        whole(usage.get("input_tokens")),
        whole(usage.get("output_tokens")),
    )


def cited(value: Any) -> tuple[str | int, ...] | None:
    """Return structured citations as an output holds them.

    Raises:
        Failure: they are something else than ids and indexes.
    """
    if value is None:
        return None
    if not isinstance(value, list) or not all(map(predicate("run.json#/$defs/key"), value)):
        raise Failure("unreadable", "citations that are no list of ids", retry=False)
    return tuple(value)


def listed(value: Any) -> tuple[Passage, ...] | None:
    """Return the passages that an agent says it retrieved.

    Raises:
        Failure: they are something else than passages.
    """
    if value is None:
        return None
    is_passage = predicate("run.json#/$defs/passage")
    if not isinstance(value, list) or not all(map(is_passage, value)):
        raise Failure("unreadable", "retrieved that is no list of passages", retry=False)
    passages = tuple(map(passage_of, value))
    if list_faults(passages):
        raise Failure("unreadable", "retrieved with doubles or broken scores", retry=False)
    return passages


def passage_of(row: Mapping[str, Any]) -> Passage:
    """Return a passage from JSON that the run's schema has accepted."""
    part, score = row.get("passage_id"), row.get("score")
    return Passage(
        str(row["doc_id"]),
        None if part is None else str(part),
        None if score is None else float(score),
        row.get("text"),
        row.get("title"),
        row.get("url"),
    )
