"""A program that answers JSON Lines: one request a line on its standard input, one reply a line.

Every request carries a number under `id`, and the reply repeats it, so that several can be under
way at once. The program's standard error is not read: it may hold questions.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from aal_engine.canonical import JSON
from aal_engine.errors import InputError, file_name
from aal_engine.store.failure import Failure
from aal_engine.store.json_text import JSONProblem, decode

MAX_LINE = 16 * 2**20
"""Bytes that one reply may have."""

GRACE = 2.0
"""Seconds that the program has to end once its input is closed."""


Waiting: TypeAlias = "dict[int, asyncio.Future[Any]]"
"""Who waits for the reply with which number."""


class Child:
    """The program, started with the first request and again whenever it has ended."""

    def __init__(self, command: Sequence[str], *, timeout: float) -> None:
        self._command = tuple(command)
        self._timeout = timeout
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: Waiting = {}
        self._sent = 0
        self._starting = asyncio.Lock()

    async def ask(self, request: Mapping[str, JSON]) -> Any:
        """Send one request and return its reply, a JSON object.

        Raises:
            Failure: the program ended, took too long, or wrote something else.
            InputError: it cannot be started.
        """
        self._sent += 1
        number = self._sent
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        line = json.dumps({"id": number, **request}, ensure_ascii=False).encode() + b"\n"
        waiting: Waiting = {}
        try:
            async with asyncio.timeout(self._timeout):
                process, waiting = await self._running()
                waiting[number] = answer
                assert process.stdin is not None
                process.stdin.write(line)
                await process.stdin.drain()
                return await answer
        except TimeoutError:
            raise Failure("timeout", f"no answer within {self._timeout:g} s") from None
        except (BrokenPipeError, ConnectionError):
            raise Failure("unreachable", "the program ended") from None
        finally:
            waiting.pop(number, None)

    async def close(self) -> None:
        """Let the program end, and end it if it does not."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(GRACE):
                await process.wait()
        except TimeoutError:
            pass
        finally:
            _kill(process)
            await process.wait()
            if self._reader is not None:
                self._reader.cancel()
                await asyncio.gather(self._reader, return_exceptions=True)

    async def _running(self) -> tuple[asyncio.subprocess.Process, Waiting]:
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                try:
                    self._process = await asyncio.create_subprocess_exec(
                        *self._command,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        stderr=asyncio.subprocess.DEVNULL,
                        limit=MAX_LINE,
                        start_new_session=True,
                    )
                except (OSError, ValueError) as error:
                    reason = getattr(error, "strerror", None) or type(error).__name__
                    raise InputError.at(
                        f"cannot be started: {reason}", file=file_name(self._command[0])
                    ) from None
                self._waiting = {}
                self._reader = asyncio.create_task(_read(self._process, self._waiting))
            return self._process, self._waiting


async def _read(process: asyncio.subprocess.Process, waiting: Waiting) -> None:
    """Hand every reply to whoever waits for it; when the program ends, tell all who still wait."""
    assert process.stdout is not None
    failure = Failure("unreachable", "the program ended")
    with suppress(ConnectionError):
        while True:
            try:
                raw = await process.stdout.readline()
            except ValueError:
                failure = Failure(
                    "unreadable", f"a line of more than {MAX_LINE} bytes", retry=False
                )
                break
            if not raw:
                break
            try:
                _deliver(raw, waiting)
            except (UnicodeDecodeError, JSONProblem):
                # Nobody can tell whose answer this was meant to be.
                failure = Failure("unreadable", "a line that is no reply", retry=False)
                break
    _kill(process)
    await process.wait()
    for future in waiting.values():
        if not future.done():
            future.set_exception(Failure(failure.word, failure.detail, retry=failure.retry))


def _deliver(raw: bytes, waiting: Waiting) -> None:
    if not raw.strip():
        return
    reply = decode(raw.decode())
    number = reply.get("id") if isinstance(reply, dict) else None
    if type(number) is not int:
        raise JSONProblem("has no number")
    future = waiting.get(number)
    # A reply to a question that nobody waits for any more is late, and no fault.
    if future is not None and not future.done():
        future.set_result(reply)


def _kill(process: asyncio.subprocess.Process) -> None:
    """End the program and what it has started; it leads a session of its own."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
