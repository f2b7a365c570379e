"""Calls a door as the terminal would, without the price of a new process."""

from __future__ import annotations

import io
import os
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from unittest import mock

from aal_engine.agent.terminal import exit_code


@dataclass(frozen=True)
class Done:
    """What a call left behind."""

    returncode: int
    stdout: str
    stderr: str


def call(door: str, folder: Path, *arguments: str, **environment: str) -> Done:
    """Run `aal DOOR ARGUMENTS` in a folder."""
    app = import_module(f"aal_engine.agent.{door}").app
    out, err = io.StringIO(), io.StringIO()
    environment = {"GITHUB_STEP_SUMMARY": "", **environment}
    with (
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.dict(os.environ, environment),
    ):
        code = exit_code(
            lambda: app([str(each) for each in arguments], prog_name="aal", standalone_mode=False)
        )
    return Done(code, out.getvalue(), err.getvalue())
