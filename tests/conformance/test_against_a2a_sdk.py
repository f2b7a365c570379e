"""Agents made with the protocol's own SDK, examined over every dialect that it serves."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from registry.stranger import claim_of, examine, limits
from starlette.applications import Starlette


class Echo(AgentExecutor):
    """Says back what it is told, in one of the ways that the protocol has."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        said = context.get_user_input()
        assert context.message is not None
        if said.startswith("message"):
            await event_queue.enqueue_event(new_text_message(f"heard {said}"))
            return
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        if said == "fail":
            await updater.failed(new_text_message("heard fail"))
        elif said == "reject":
            await updater.reject(new_text_message("heard reject"))
        elif said == "ask":
            await updater.requires_input(new_text_message("heard ask"))
        elif said == "crash":
            raise RuntimeError("the agent's own fault")
        elif said == "stall":
            await updater.start_work()
            await asyncio.sleep(30)
        elif said == "status":
            await updater.complete(new_text_message("heard status"))
        else:
            await updater.start_work()
            await updater.add_artifact([new_text_part(f"heard {said}")])
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


DIALECTS = {
    "1.0 JSON-RPC": ("JSONRPC", "1.0", "/rpc"),
    "1.0 HTTP+JSON": ("HTTP+JSON", "1.0", ""),
    "0.3 JSON-RPC": ("JSONRPC", "0.3", "/rpc"),
    "0.3 HTTP+JSON": ("HTTP+JSON", "0.3", ""),
    "0.2 JSON-RPC": ("JSONRPC", "0.2.6", "/rpc"),
}


def card_of(port: int, dialect: str) -> AgentCard:
    binding, version, path = DIALECTS[dialect]
    skill = AgentSkill(id="echo", name="Echo", description="Says it back.", tags=["echo"])
    return AgentCard(
        name="Echo",
        description="Says back what it is told.",
        version="1.0.0",
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[skill],
        supported_interfaces=[
            AgentInterface(
                url=f"http://127.0.0.1:{port}{path}",
                protocol_binding=binding,
                protocol_version=version,
            )
        ],
    )


@contextmanager
def served() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        card = card_of(port, "1.0 JSON-RPC")
        handler = DefaultRequestHandler(Echo(), InMemoryTaskStore(), card)
        app = Starlette(
            routes=[
                *create_agent_card_routes(card),
                *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
                *create_rest_routes(handler, enable_v0_3_compat=True),
            ]
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        thread = threading.Thread(
            target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True
        )
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = server.force_exit = True
            thread.join(10)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served() as number:
        yield number


def put(port, dialect, words, scorer="exact", expected=None, seconds=10.0):
    card = agent_card_to_dict(card_of(port, dialect))
    claim = claim_of(card, [words], scorer=scorer, expected=expected, kind="a2a_message")
    [outcome] = examine(claim, limits(seconds=seconds))
    return outcome


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("words", ["message one", "an artifact", "status"])
def test_an_agent_that_answers_is_read_and_scored(port, dialect, words):
    outcome = put(port, dialect, words, expected=f"heard {words}")
    assert (outcome.error, outcome.score, outcome.passed) == (None, 1.0, True)
    assert outcome.latency_ms is not None
    assert not put(port, dialect, words, expected="something else").passed


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("fail", "task_failed"),
        ("reject", "task_rejected"),
        ("ask", "task_input_required"),
    ],
)
@pytest.mark.parametrize("scorer", ["status_ok", "latency_under_ms", "contains"])
def test_a_task_that_is_not_done_fails_whatever_the_scorer(port, dialect, words, error, scorer):
    met = {"status_ok": None, "latency_under_ms": "100000", "contains": "heard"}[scorer]
    outcome = put(port, dialect, words, scorer, met)
    assert (outcome.error, outcome.score, outcome.passed) == (error, 0.0, False)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_crash_and_a_stall_are_failed_exchanges(port, dialect):
    crashed = put(port, dialect, "crash", "status_ok")
    assert not crashed.passed
    assert crashed.error is not None
    stalled = put(port, dialect, "stall", "status_ok", seconds=0.7)
    assert (stalled.error, stalled.passed) == ("timeout", False)


def test_a_place_where_no_agent_is_is_a_failed_exchange(port):
    card = {"url": f"http://127.0.0.1:{port}/absent/", "protocolVersion": "0.3.0"}
    [outcome] = examine(claim_of(card, ["message"], kind="a2a_message"), limits())
    assert outcome.error in ("http_status: 404", "http_status: 405", "http_status: 307")
    assert not outcome.passed
