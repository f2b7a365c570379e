"""Agents to ask: real servers on loopback that answer from the passages they are shown."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PASSAGE = re.compile(r"^\[([^\]]+)\] [^\n]*\n([^\n]+)", re.MULTILINE)


def cited_sentence(prompt: str, place: int = 0) -> str:
    """The first sentence of one passage of a prompt, with its label as citation."""
    passages = PASSAGE.findall(prompt)
    if not passages:
        return "I do not know: there is no passage."
    label, text = passages[min(place, len(passages) - 1)]
    sentence = re.split(r"(?<=[.!?])\s", text.strip())[0].rstrip(".!?")
    return f"{sentence} [{label}]."


Behaviour = Callable[["Handler", dict[str, Any]], None]


@dataclass
class Server:
    """A server's address, and what it was asked."""

    url: str
    seen: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server
    behaviour: Behaviour
    lock: threading.Lock

    def do_GET(self) -> None:
        self._handled({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._handled(json.loads(self.rfile.read(length) or b"{}"))

    def _handled(self, body: dict[str, Any]) -> None:
        with self.lock:
            self.state.seen.append(body)
            self.state.keys.append(self.headers.get("Authorization"))
            self.state.under_way += 1
            self.state.most_under_way = max(self.state.most_under_way, self.state.under_way)
        try:
            type(self).behaviour(self, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.lock:
                self.state.under_way -= 1

    def reply(self, value: Any, status: int = 200, **headers: str) -> None:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


class Listener(ThreadingHTTPServer):
    """Takes as many connections at once as a test opens."""

    request_queue_size = 256
    daemon_threads = True


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Server]:
    """Serve on loopback for as long as the block lasts."""
    state = Server("")
    kind = type("H", (Handler,), {"state": state, "behaviour": behaviour, "lock": threading.Lock()})
    server = Listener(("127.0.0.1", 0), kind)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


PLACES = {"first": 0, "second": 1, "third": 2}


def completion(text: str | None, prompt: str = "") -> dict[str, Any]:
    usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text or "") // 4}
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message}], "usage": usage}


def chat(handler: Handler, body: dict[str, Any]) -> None:
    """An OpenAI-compatible endpoint whose models cite one passage each."""
    if handler.path != "/v1/chat/completions" or body.get("model") not in PLACES:
        handler.reply({"error": {"message": "no such model"}}, 404)
        return
    prompt = body["messages"][-1]["content"]
    handler.reply(completion(cited_sentence(prompt, PLACES[body["model"]]), prompt))


def closed_port() -> int:
    """A port of loopback on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def a2a_serving(
    *, rest: bool = False, delay: float = 0.0, state: str = "complete"
) -> Iterator[str]:
    """A real agent of the A2A SDK that answers in tasks; it speaks 1.0, and 0.3 beside it."""
    import uvicorn
    from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
    from a2a.server.agent_execution import AgentExecutor
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes.agent_card_routes import create_agent_card_routes
    from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
    from a2a.server.routes.rest_routes import create_rest_routes
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
    from starlette.applications import Starlette

    class Executor(AgentExecutor):
        async def execute(self, context: Any, event_queue: Any) -> None:
            import asyncio

            task = context.current_task or new_task_from_user_message(context.message)
            if context.current_task is None:
                await event_queue.enqueue_event(task)
            updater = TaskUpdater(event_queue, task.id, task.context_id)
            await updater.start_work()
            await asyncio.sleep(delay)
            if state == "failed":
                await updater.failed()
                return
            text = cited_sentence(context.get_user_input())
            await updater.add_artifact([new_text_part(text)], name="answer")
            await updater.complete()

        async def cancel(self, context: Any, event_queue: Any) -> None:
            raise NotImplementedError

    port = closed_port()
    url = f"http://127.0.0.1:{port}"
    binding = "HTTP+JSON" if rest else "JSONRPC"
    card = AgentCard(
        name="desk",
        description="answers",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(
                url=f"{url}/rest" if rest else f"{url}/rpc",
                protocol_binding=binding,
                protocol_version="1.0",
            )
        ],
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="a", name="a", description="a", tags=["a"])],
    )
    handler = DefaultRequestHandler(
        agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=True),
    ]
    config = uvicorn.Config(Starlette(routes=routes), "127.0.0.1", port, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + 20
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join()
