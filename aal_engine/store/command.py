"""The actuator that is a program: called with a list of arguments, a deadline, and no shell."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from aal_engine.decide.deployment import Command
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed, file_name, shown
from aal_engine.store.order import Order, answered, filled

GONE = 66
"""The exit code by which a program says that it does not have the version (EX_NOINPUT)."""

_MAX = 4_096


class CommandActuator:
    """Runs programs in a folder. Their standard error is not read."""

    def __init__(self, asked: Command, folder: Path) -> None:
        self._asked = asked
        self._folder = folder

    def act(self, order: Order) -> None:
        """Call `act`, or `stop` where nothing is to serve.

        Raises:
            ActFailed: it exits with another code than 0, or is late.
        """
        arguments = self._asked.act if order.version is not None else self._asked.stop
        if arguments is None:
            raise ActFailed("refused", "the policy names no command that stops the agent")
        code, _ = self._run(arguments, order.key, order.version)
        if code == GONE:
            raise ActFailed("gone", f"the command does not have version {shown(order.version)}")
        if code != 0:
            raise ActFailed("refused", f"{file_name(arguments[0])} exited with {code}")

    def read(self, key: AgentKey) -> str | None:
        """Return the version that `read` prints in the form of `answer`; None if it prints nothing.

        Raises:
            ActFailed: it exits with another code than 0, is late, or prints something else.
        """
        code, out = self._run(self._asked.read, key, None)
        if code != 0:
            raise ActFailed("unreadable", f"{file_name(self._asked.read[0])} exited with {code}")
        line = answered(out.decode("utf-8", "replace"))
        before, _, after = filled(
            self._asked.answer.replace("{version}", "\0"), key, None
        ).partition("\0")
        if line is None:
            return None
        if not (line.startswith(before) and line.endswith(after)):
            return line
        return line[len(before) : len(line) - len(after)] or None

    def _run(
        self, arguments: Sequence[str], key: AgentKey, version: str | None
    ) -> tuple[int, bytes]:
        """Run a program to its end and return its exit code and the start of what it printed."""
        program = file_name(arguments[0])
        deadline = time.monotonic() + self._asked.deadline
        try:
            process = subprocess.Popen(  # noqa: S603 no shell, and names cannot be options
                [filled(argument, key, version) for argument in arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError):
            raise ActFailed("refused", f"{program} cannot be run") from None
        try:
            out = _printed(process, deadline)
            return process.wait(max(0.0, deadline - time.monotonic())), out
        except (TimeoutError, subprocess.TimeoutExpired):
            raise ActFailed(
                "late", f"{program} took longer than {self._asked.deadline:g} s"
            ) from None
        finally:
            _end(process)


def _printed(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Read what a program prints until it closes its output; keep no more than its start."""
    assert process.stdout is not None
    kept = b""
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not ready.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            chunk = os.read(process.stdout.fileno(), 65_536)
            if not chunk:
                return kept
            if len(kept) <= _MAX:
                kept += chunk
            if time.monotonic() > deadline:
                raise TimeoutError


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program that runs on, with what it started, and take its exit code."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.stdout is not None
    process.stdout.close()
