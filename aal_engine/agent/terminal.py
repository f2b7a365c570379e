"""What every door does at the terminal: tell errors in one way, and exit with the right code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

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
    except BrokenPipeError:
        _silence(sys.stdout)
        return 0
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


def say(text: str) -> None:
    """Write to standard output; a reader that went away does not change what was decided."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)


def tell(text: str) -> None:
    """Write a line to standard error."""
    try:
        sys.stderr.write(text.rstrip("\n") + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        _silence(sys.stderr)


def _silence(stream: object) -> None:
    # Python flushes once more at exit; without this it would complain again and change the code.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[attr-defined]


def coloured() -> bool:
    """Whether standard output wants colours: a terminal, and nobody asked for none."""
    from aal_engine.api.settings import no_colour

    return sys.stdout.isatty() and not no_colour()
