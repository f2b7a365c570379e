"""OpenAI-compatible chat completions: `POST URL/chat/completions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aal_engine.canonical import JSON
from aal_engine.measure.golden import CitationStyle
from aal_engine.store.exchange import Exchange
from aal_engine.store.failure import Failure
from aal_engine.store.live.agent import Question, Reply
from aal_engine.store.live.prompt import Prompt, asked


class Chat:
    """One model behind one endpoint."""

    def __init__(
        self,
        exchange: Exchange,
        model: str,
        parameters: Mapping[str, JSON],
        prompt: Prompt,
        style: CitationStyle,
    ) -> None:
        self._exchange = exchange
        self._body = {**parameters, "model": model, "stream": False}
        self._prompt = prompt
        self._style = style

    async def ask(self, question: Question) -> Reply:
        """Ask one question, in a conversation of its own."""
        system, user = asked(self._prompt, question.text, question.passages, self._style)
        messages: list[JSON] = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": user})
        reply = await self._exchange.post({**self._body, "messages": messages}, "/chat/completions")
        return read_completion(reply)

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()


def read_completion(value: Any) -> Reply:
    """Return the first choice of a chat completion.

    Raises:
        Failure: it is an error, or holds no text and no refusal.
    """
    if isinstance(value, dict) and value.get("error") is not None:
        raise Failure("refused", "an error with status 200")
    try:
        message = value["choices"][0]["message"]
        usage = value.get("usage")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Failure("unreadable", "no chat completion", retry=False) from None
    text = _text(message.get("content")) if isinstance(message, dict) else None
    if text is None and isinstance(message, dict) and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    if text is None:
        raise Failure("unreadable", "a completion without text", retry=False)
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        text,
        tokens_in=whole(usage.get("prompt_tokens")),
        tokens_out=whole(usage.get("completion_tokens")),
    )


def _text(content: Any) -> str | None:
    """Return a message's text: a string, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


def whole(value: Any) -> int | None:
    """Return a count of tokens, None where it is none."""
    return value if type(value) is int and 0 <= value < 2**53 else None
