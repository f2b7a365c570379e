"""Agents that speak A2A (https://a2a-protocol.org), 1.0 or 0.3, over JSON-RPC or HTTP+JSON.

The question is a message's text. What comes back is a message or a task; a task is asked for until
it ends. Its text is that of the message's parts, else of the artifacts, else of the status. A part
of data may carry `citations` and `retrieved` beside it, as in the engine's own reply.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlsplit

from aal_engine.canonical import JSON
from aal_engine.errors import InputError
from aal_engine.measure.golden import CitationStyle
from aal_engine.store.exchange import Address, Exchange
from aal_engine.store.failure import Failure
from aal_engine.store.live.agent import Question, Reply
from aal_engine.store.live.body import cited, listed
from aal_engine.store.live.prompt import Prompt, asked

CARD = "/.well-known/agent-card.json"
FIRST_POLL = 0.1
LONGEST_POLL = 2.0


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a version and a binding call things: methods of JSON-RPC, or paths below the URL."""

    send: str
    get: str
    message: Callable[[str], dict[str, JSON]]
    headers: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, JSON] = field(default_factory=dict)


def _message(text: str) -> dict[str, JSON]:
    return {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": text}]}


def _message_of_03(text: str) -> dict[str, JSON]:
    parts: list[JSON] = [{"kind": "text", "text": text}]
    return {"kind": "message", "messageId": str(uuid.uuid4()), "role": "user", "parts": parts}


def _message_of_03_rest(text: str) -> dict[str, JSON]:
    # Over HTTP+JSON, 0.3 writes its protocol buffers as JSON, where parts are called content.
    return {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "content": [{"text": text}]}


RPC, REST = "JSONRPC", "HTTP+JSON"
_NAMED = {"A2A-Version": "1.0"}
_BLOCKING: Mapping[str, JSON] = {"blocking": True}

DIALECTS: Mapping[tuple[str, str], Dialect] = {
    ("1.0", RPC): Dialect("SendMessage", "GetTask", _message, _NAMED),
    ("1.0", REST): Dialect("/message:send", "/tasks/", _message, _NAMED),
    ("0.3", RPC): Dialect("message/send", "tasks/get", _message_of_03, {}, _BLOCKING),
    ("0.3", REST): Dialect("/v1/message:send", "/v1/tasks/", _message_of_03_rest, {}, _BLOCKING),
}

PROTOCOLS = ("1.0", "0.3")

PERMANENT = frozenset((-32700, -32600, -32601, -32602))
"""Errors of JSON-RPC that say the request itself is wrong: the same one will be again."""

ENDED = frozenset(
    ("completed", "failed", "canceled", "rejected", "input-required", "auth-required")
)
"""States in which a task stays until somebody does something about it."""


@dataclass(frozen=True, slots=True)
class Interface:
    """Where an agent is spoken to, and how."""

    url: str
    protocol: str
    binding: str


class A2A:
    """One agent, whose card is read when it is first asked."""

    def __init__(
        self,
        address: Address,
        prompt: Prompt,
        style: CitationStyle,
        *,
        protocol: str | None = None,
        binding: str | None = None,
    ) -> None:
        """With a protocol, the address is the interface itself and no card is read."""
        self._address = address
        self._prompt = prompt
        self._style = style
        self._known: Interface | None = None
        if protocol is not None:
            self._known = Interface(address.url, protocol, binding or RPC)
        self._exchange: Exchange | None = None
        self._opening = asyncio.Lock()

    async def ask(self, question: Question) -> Reply:
        """Send one message and wait for what comes of it."""
        system, user = asked(self._prompt, question.text, question.passages, self._style)
        text = f"{system}\n\n{user}" if system else user
        try:
            async with asyncio.timeout(self._address.timeout):
                interface, exchange = await self._opened()
                speaker = _Speaker(interface, exchange)
                return read_result(await speaker.sent(text))
        except TimeoutError:
            raise Failure("timeout", f"no end within {self._address.timeout:g} s") from None

    async def close(self) -> None:
        """Close the connections."""
        if self._exchange is not None:
            await self._exchange.close()

    async def _opened(self) -> tuple[Interface, Exchange]:
        async with self._opening:
            if self._known is None:
                base = replace(self._address, url=self._address.url.rstrip("/"))
                async with Exchange(base) as exchange:
                    card = await exchange.get(CARD)
                self._known = interface_of(card, base.url)
            if self._exchange is None:
                url = self._known.url
                if self._known.binding == REST:
                    url = url.rstrip("/")
                self._exchange = Exchange(replace(self._address, url=url))
            return self._known, self._exchange


class _Speaker:
    """Speaks one dialect with one interface."""

    def __init__(self, interface: Interface, exchange: Exchange) -> None:
        self._dialect = DIALECTS[interface.protocol, interface.binding]
        self._rpc = interface.binding == RPC
        self._exchange = exchange

    async def sent(self, text: str) -> Mapping[str, Any]:
        """Return the message that comes back, or the task once it ended."""
        params: dict[str, JSON] = {"message": self._dialect.message(text)}
        if self._dialect.configuration:
            params["configuration"] = dict(self._dialect.configuration)
        result = await self._posted(self._dialect.send, params)
        # A wrapper says which of the two it is; in 0.3 over JSON-RPC the object's own kind does.
        result = next((result[key] for key in ("message", "msg", "task") if key in result), result)
        pause = FIRST_POLL
        while "status" in _object(result) and _state(result) not in ENDED:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_POLL)
            result = await self._task(result.get("id"))
        return _object(result)

    async def _task(self, task: Any) -> Mapping[str, Any]:
        if not isinstance(task, str):
            raise Failure("unreadable", "a task without an id", retry=False)
        if self._rpc:
            return await self._posted(self._dialect.get, {"id": task})
        path = self._dialect.get + quote(task, safe="")
        return _object(await self._exchange.get(path, self._dialect.headers))

    async def _posted(self, method: str, params: dict[str, JSON]) -> Mapping[str, Any]:
        headers = self._dialect.headers
        if not self._rpc:
            return _object(await self._exchange.post(params, method, headers))
        request: dict[str, JSON] = {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method}
        reply = _object(await self._exchange.post({**request, "params": params}, "", headers))
        if reply.get("error") is not None:
            code = reply["error"].get("code") if isinstance(reply["error"], dict) else None
            known = code if type(code) is int else None
            said = "without a code" if known is None else str(known)
            raise Failure("refused", f"JSON-RPC error {said}", retry=known not in PERMANENT)
        return _object(reply.get("result"))


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise Failure("unreadable", "no A2A reply", retry=False)


def _state(task: Mapping[str, Any]) -> str:
    state = _object(task["status"]).get("state")
    return str(state).removeprefix("TASK_STATE_").lower().replace("_", "-")


def interface_of(card: Any, base: str) -> Interface:
    """Return the first interface of an agent card that can be spoken here.

    Raises:
        InputError: it has none, or one at another host: a key would go where it was not meant to.
    """
    offered = list(_offers(card)) if isinstance(card, dict) else []
    for found in offered:
        if _origin(found.url) == _origin(base):
            return found
    if offered:
        raise InputError.at(
            "the agent's card names interfaces at another address alone",
            field="url",
            way_out="name that interface under url, with its protocol, if it is the one you mean",
        )
    raise InputError.at("the agent's card has no interface of A2A 1.0 or 0.3 over HTTP")


def _offers(card: Mapping[str, Any]) -> Iterator[Interface]:
    interfaces = card.get("supportedInterfaces")
    if not isinstance(interfaces, list):
        further = card.get("additionalInterfaces")
        interfaces = [card, *(further if isinstance(further, list) else ())]
    default = "1.0" if "supportedInterfaces" in card else str(card.get("protocolVersion", "0.3"))
    for one in interfaces:
        if not isinstance(one, dict) or not isinstance(one.get("url"), str):
            continue
        binding = one.get("protocolBinding") or one.get("transport")
        binding = binding or one.get("preferredTransport") or RPC
        version = str(one.get("protocolVersion") or default)
        protocol = next((known for known in PROTOCOLS if version.startswith(known)), None)
        known = isinstance(binding, str) and (protocol, binding) in DIALECTS
        if protocol is not None and known:
            yield Interface(one["url"], protocol, binding)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port or {"http": 80, "https": 443}.get(parts.scheme)


def read_result(result: Mapping[str, Any]) -> Reply:
    """Return the reply that a message or an ended task holds.

    Raises:
        Failure: the task did not complete, or there is no text.
    """
    parts: list[Any] = []
    if "status" in result:
        state = _state(result)
        if state != "completed":
            named = state if state in ENDED else "in no known state"
            raise Failure("refused", f"the task is {named}", retry=state == "failed")
        artifacts = result.get("artifacts")
        for artifact in artifacts if isinstance(artifacts, list) else ():
            parts += _parts(artifact)
        parts = parts or _parts(_object(result["status"]).get("message"))
    else:
        parts = _parts(result)
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    if not texts:
        raise Failure("unreadable", "a reply without text", retry=False)
    data = [part["data"] for part in parts if isinstance(part.get("data"), dict)]
    beside = {key: value for one in reversed(data) for key, value in one.items()}
    return Reply("\n".join(texts), cited(beside.get("citations")), listed(beside.get("retrieved")))


def _parts(holder: Any) -> list[dict[str, Any]]:
    if not isinstance(holder, dict):
        return []
    parts = holder.get("parts", holder.get("content"))
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
