"""What every door does at the terminal: tell errors in one way, and exit with the right code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import NoReturn, TextIO

import typer

from aal_engine.errors import AalError, file_name

# Typer carries its own copy of click: what it raises is reached through what it exports.
UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]
INTERRUPTED = 130
INTERNAL = 70


def run(app: typer.Typer, name: str) -> NoReturn:
    """Run a door's commands and exit: 2 on a call that cannot be used, never 1 by accident."""
    sys.exit(exit_code(lambda: app(prog_name=name, standalone_mode=False)))


def exit_code(act: Callable[[], object]) -> int:
    """Call `act` and return the exit code; every failure is told on standard error, once."""
    try:
        code = act()
    except UsageError as error:
        error.show()
        return 2
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except AalError as error:
        tell(f"error: {error}")
        return error.exit_code
    except Exception as error:  # The last resort: never exit 1, never print a value.
        tell(f"internal error: {type(error).__name__} at {_place(error)}: please report it")
        return INTERNAL
    if code == INTERRUPTED:  # Typer may have made this code of a KeyboardInterrupt by itself.
        tell("interrupted: what was written before is whole, nothing else was written")
    return code if isinstance(code, int) else 0


def _place(error: BaseException) -> str:
    """Return where an error was raised, by file, line and function: code, and no values."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{file_name(f.filename)}:{f.lineno} {f.name}" for f in reversed(frames))


@contextmanager
def told_to_stop() -> Iterator[Event]:
    """Give what is set when the process is asked to end (SIGTERM), for a loop to end in order."""
    stop = Event()
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)


def say(text: str) -> None:
    """Write to standard output; where that cannot be, nothing that was decided changes."""
    _write(sys.stdout, text)


def tell(text: str) -> None:
    """Write a line to standard error, likewise."""
    _write(sys.stderr, text.rstrip("\n") + "\n")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # It was closed before this process began.
        return
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except (OSError, ValueError):
        _silence(stream)


def _silence(stream: TextIO) -> None:
    # Python flushes once more at exit; without this it would complain again and change the code.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def coloured() -> bool:
    """Whether standard output wants colours: a terminal, and nobody asked for none."""
    from aal_engine.api.settings import no_colour

    return sys.stdout is not None and sys.stdout.isatty() and not no_colour()
