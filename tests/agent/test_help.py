"""Every command says how it is called, and shells complete it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

from aal_engine.agent.cli import DOORS
from aal_engine.errors import EXIT_CODES

AAL = Path(sys.executable).with_name("aal")


def commands():
    for door in (*DOORS, "lighthouse"):
        yield from found(
            typer.main.get_command(import_module(f"aal_engine.agent.{door}").app), door
        )


def found(command, name):
    if not hasattr(command, "commands"):
        yield pytest.param(command, id=name)
    for inner, each in getattr(command, "commands", {}).items():
        yield from found(each, f"{name} {inner}")


COMMANDS = tuple(commands())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_and_every_option_a_word(command):
    assert re.search(r"^Examples?\b", command.help, re.MULTILINE)
    bare = [each.name for each in command.params if not getattr(each, "help", None)]
    assert [name for name in bare if name != "help"] == []


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("aal", "re"), {"registry", "release", "report"}),
        (("aal", "ledger", "ver"), {"verify"}),
        (("aal", "gate", "--cur"), {"--current"}),
    ],
)
def test_bash_completes(words, offered):
    asked = {
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_AAL_COMPLETE": "complete_bash",
    }
    done = subprocess.run(
        [AAL], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_its_script(shell):
    asked = {**os.environ, "_AAL_COMPLETE": f"source_{shell}"}
    done = subprocess.run([AAL], env=asked, capture_output=True, text=True, check=True)
    assert "_AAL_COMPLETE" in done.stdout


def test_every_error_exits_with_a_code_of_the_table():
    from aal_engine import errors

    classes = [each for each in vars(errors).values() if isinstance(each, type)]
    codes = {each.exit_code for each in classes if issubclass(each, errors.AalError)}
    assert codes <= EXIT_CODES.keys()
