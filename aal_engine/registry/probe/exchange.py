"""One task put to an agent: a path that is fetched, or a message that is answered, in time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from aal_engine.registry.card import Interface
from aal_engine.registry.probe.body import text
from aal_engine.registry.probe.dialect import Reply, Request, ask_after, get, read, send
from aal_engine.registry.probe.fault import Failed
from aal_engine.registry.probe.line import Answer, Line, milliseconds, request_digest
from aal_engine.registry.scorer import Observation

POLL: Final = (0.05, 1.0)
"""Seconds before a task is first asked after, and at most between two times."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was observed, and the digests that it can be disputed by."""

    observation: Observation
    request: str
    response: str | None


async def fetch(line: Line, endpoint: str, path: str, seconds: float) -> Exchange:
    """Fetch a path on an agent's endpoint; the observation's text is the body.

    Raises:
        ExamVoid: the exchange failed through no fault of the agent's.
    """
    request = get(endpoint, path)
    try:
        async with asyncio.timeout(seconds):
            answer = await line.ask(request)
    except TimeoutError:
        return _failed(request, "timeout")
    except Failed as error:
        return _failed(request, str(error))
    observed = Observation(
        answer.status, text(answer.body, answer.charset), milliseconds(answer.seconds)
    )
    return Exchange(observed, answer.request_digest, answer.digest)


async def message(
    line: Line, interface: Interface, words: str, message_id: str, seconds: float
) -> Exchange:
    """Send a message and wait for what comes of it; the observation's text is the reply's.

    An agent that answers with a task is asked after it until the task ends or the time is up.

    Raises:
        ExamVoid: the exchange failed through no fault of the agent's.
    """
    request = send(interface, words, message_id)
    try:
        async with asyncio.timeout(seconds):
            return await _until_answered(line, interface, request, message_id)
    except TimeoutError:
        return _failed(request, "timeout")
    except Failed as error:
        return _failed(request, str(error))


async def _until_answered(
    line: Line, interface: Interface, request: Request, message_id: str
) -> Exchange:
    answer = await line.ask(request)
    said = _reply(interface, answer, message_id, task=False)
    spent, pause, first = answer.seconds, POLL[0], answer.request_digest
    while said.pending is not None:
        await asyncio.sleep(pause)
        spent += pause
        pause = min(pause * 2, POLL[1])
        answer = await line.ask(ask_after(interface, said.pending, message_id))
        said = _reply(interface, answer, message_id, task=True)
        spent += answer.seconds
    error, latency = said.error, milliseconds(spent)
    return Exchange(Observation(answer.status, said.text, latency, error), first, answer.digest)


def _reply(interface: Interface, answer: Answer, call_id: str, *, task: bool) -> Reply:
    if not 200 <= answer.status <= 299:
        return Reply(error=f"http_status: {answer.status}")
    return read(interface, answer.body, call_id, task=task)


def _failed(request: Request, error: str) -> Exchange:
    return Exchange(Observation(error=error), request_digest(request), None)
