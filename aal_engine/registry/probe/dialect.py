"""What is said to an agent in A2A 0.2, 0.3 and 1.0, and how its reply is read. No I/O.

JSON-RPC in 1.0 is `SendMessage`, answered by an object that wraps a message or a task; in 0.2 and
0.3 it is `message/send`, answered by the bare object, whose `kind` says which. HTTP+JSON posts the
message itself, and wraps its answer in both. A JSON-RPC error comes with status 200.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import msgspec

from aal_engine.canonical import JSON
from aal_engine.registry.card import Interface

JSON_HEADERS: Final = {"Accept": "application/json", "Content-Type": "application/json"}
PATH: Final = "!$&'()*+,;=:@/?%"
"""The characters of a task's path that stay as they are written."""

PENDING: Final = frozenset({"submitted", "working"})
ENDED: Final[Mapping[str, str]] = {
    "failed": "task_failed",
    "rejected": "task_rejected",
    "canceled": "task_canceled",
    "cancelled": "task_canceled",
    "input-required": "task_input_required",
    "auth-required": "task_auth_required",
}
"""The error of each state in which an agent has not done what it was asked."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; `body` is sent as JSON where it is not None."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: JSON = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent said: its text, or the task to ask after again, or why it is no answer."""

    text: str = ""
    pending: str | None = None
    error: str | None = None


def get(endpoint: str, path: str) -> Request:
    """Return the request of an `http_probe`: the task's path, on the agent's endpoint.

    >>> get("https://a.example/agents/7/", "/health?deep=1").url
    'https://a.example/agents/7/health?deep=1'
    """
    return Request("GET", f"{endpoint.rstrip('/')}/{quote(path.lstrip('/'), safe=PATH)}")


def send(interface: Interface, text: str, message_id: str) -> Request:
    """Return the request that sends a text to an agent, in the dialect that its card declares."""
    if interface.version != "1.0" and interface.binding == "JSONRPC":
        part: dict[str, JSON] = {"kind": "text", "text": text}
        message: dict[str, JSON] = {
            "kind": "message",
            "messageId": message_id,
            "role": "user",
            "parts": [part],
        }
        return _call(interface, "message/send", {"message": message}, message_id)
    # HTTP+JSON of 0.3 follows the protocol's protobuf form, whose parts are still called content.
    parts = "parts" if interface.version == "1.0" else "content"
    message = {"messageId": message_id, "role": "ROLE_USER", parts: [{"text": text}]}
    if interface.binding == "JSONRPC":
        return _call(interface, "SendMessage", {"message": message}, message_id)
    return Request(
        "POST", f"{_rest(interface)}/message:send", _headers(interface), {"message": message}
    )


def ask_after(interface: Interface, task_id: str, call_id: str) -> Request:
    """Return the request that asks how a task is."""
    if interface.binding == "HTTP+JSON":
        place = f"{_rest(interface)}/tasks/{quote(task_id, safe='')}"
        return Request("GET", place, _headers(interface))
    method = "GetTask" if interface.version == "1.0" else "tasks/get"
    return _call(interface, method, {"id": task_id}, call_id)


def read(interface: Interface, body: bytes, call_id: str, *, task: bool = False) -> Reply:
    """Read a reply to `send`, or with `task` one to `ask_after`."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return Reply(error="not_a2a: not JSON")
    if not isinstance(value, dict):
        return Reply(error="not_a2a: not an object")
    if interface.binding == "JSONRPC":
        if value.get("jsonrpc") != "2.0":
            return Reply(error="not_a2a: not JSON-RPC 2.0")
        if value.get("error") is not None:
            return Reply(error=_rpc_error(value["error"]))
        if value.get("id") != call_id:
            return Reply(error="not_a2a: the reply to another request")
        value = value.get("result")
    if not isinstance(value, dict):
        return Reply(error="not_a2a: no result")
    wrapped = interface.version == "1.0" or interface.binding == "HTTP+JSON"
    if task:
        return _of_task(value)
    if wrapped:
        if isinstance(value.get("task"), dict):
            return _of_task(value["task"])
        message = value.get("message")
        return _of_message(message if isinstance(message, dict) else None)
    if value.get("kind") == "task":
        return _of_task(value)
    return _of_message(value if value.get("kind") == "message" else None)


def _headers(interface: Interface) -> Mapping[str, str]:
    if interface.version == "1.0":
        return {**JSON_HEADERS, "A2A-Version": interface.version}
    return JSON_HEADERS


def _rest(interface: Interface) -> str:
    base = interface.url.rstrip("/")
    if interface.version != "1.0":
        return f"{base.removesuffix('/v1')}/v1"
    return f"{base}/{quote(interface.tenant, safe='')}" if interface.tenant else base


def _call(interface: Interface, method: str, params: dict[str, JSON], call_id: str) -> Request:
    if interface.tenant:
        params = {**params, "tenant": interface.tenant}
    body: dict[str, JSON] = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
    return Request("POST", interface.url, _headers(interface), body)


def _rpc_error(error: object) -> str:
    code = error.get("code") if isinstance(error, dict) else None
    known = isinstance(code, int) and not isinstance(code, bool) and abs(code) < 10**9
    return f"rpc_error: {code}" if known else "rpc_error"


def _of_message(message: Mapping[str, object] | None) -> Reply:
    if message is None:
        return Reply(error="not_a2a: neither a message nor a task")
    parts = message.get("parts", message.get("content"))
    if not isinstance(parts, list):
        return Reply(error="not_a2a: a message without parts")
    return Reply(_text(parts))


def _of_task(task: Mapping[str, object]) -> Reply:
    status = task.get("status")
    state = status.get("state") if isinstance(status, dict) else None
    if not isinstance(status, dict) or not isinstance(state, str):
        return Reply(error="not_a2a: a task without a state")
    state = state.lower().removeprefix("task_state_").replace("_", "-")
    if state in PENDING:
        number = task.get("id")
        if isinstance(number, str) and 0 < len(number) <= 512:
            return Reply(pending=number)
        return Reply(error="not_a2a: a task without an id")
    if state != "completed":
        return Reply(error=ENDED.get(state, "not_a2a: a state that the protocol does not have"))
    artifacts = task.get("artifacts")
    made = [
        part
        for artifact in (artifacts if isinstance(artifacts, list) else ())
        if isinstance(artifact, dict) and isinstance(artifact.get("parts"), list)
        for part in artifact["parts"]
    ]
    text = _text(made)
    message = status.get("message")
    if not text and isinstance(message, dict):
        return _of_message(message)
    return Reply(text)


def _text(parts: Iterable[object]) -> str:
    """Return the text of parts, a line each; what is not text is passed over."""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
