"""The command actuator: arguments without a shell, a deadline that holds, bounded output."""

from __future__ import annotations

import sys
import time

import pytest

from aal_engine.decide.deployment import Command
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed
from aal_engine.store.command import CommandActuator
from aal_engine.store.order import Order

KEY = AgentKey("desk", "support")
READ = ("cat", "now")


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *arguments)


def actuator(folder, **changes) -> CommandActuator:
    fields = {"act": ("true",), "read": READ, "deadline": 10.0} | changes
    return CommandActuator(Command(**fields), folder)


def failure(act) -> ActFailed:
    with pytest.raises(ActFailed) as told:
        act()
    return told.value


def test_names_are_arguments_and_no_shell_reads_them(tmp_path):
    write = python(
        "import sys; open('now', 'w').write(repr(sys.argv[1:]))", "{version}", "$HOME;{x}"
    )
    actuator(tmp_path, act=write).act(Order(KEY, "1.0.0", "token"))
    assert (tmp_path / "now").read_text() == "['1.0.0', '$HOME;{x}']"


def test_it_reads_the_version_out_of_the_answers_form(tmp_path):
    (tmp_path / "now").write_text("registry/desk:1.10.0-slim\n")
    made = actuator(tmp_path, answer="registry/{agent}:{version}-slim")
    assert made.read(KEY) == "1.10.0"
    (tmp_path / "now").write_text("elsewhere/desk:2\n")
    assert made.read(KEY) == "elsewhere/desk:2"
    (tmp_path / "now").write_text("")
    assert made.read(KEY) is None


@pytest.mark.parametrize(("code", "why"), [(1, "refused"), (66, "gone")])
def test_what_exit_codes_say(tmp_path, code, why):
    made = actuator(tmp_path, act=python(f"raise SystemExit({code})"))
    assert failure(lambda: made.act(Order(KEY, "1.0.0", "token"))).why == why


def test_a_program_that_is_not_there(tmp_path):
    made = actuator(tmp_path, act=("no-such-program-here",), read=("no-such-program-here",))
    assert failure(lambda: made.act(Order(KEY, "1.0.0", "token"))).why == "refused"
    assert failure(lambda: made.read(KEY)).why == "refused"


def test_stop_is_a_command_of_its_own(tmp_path):
    assert failure(lambda: actuator(tmp_path).act(Order(KEY, None, "token"))).why == "refused"
    actuator(tmp_path, stop=("touch", "stopped")).act(Order(KEY, None, "token"))
    assert (tmp_path / "stopped").exists()


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        # Its child holds the output open, and would for long.
        "import subprocess; subprocess.Popen(['sleep', '60'])",
        "import os, time; os.close(1); time.sleep(60)",
        "while True: print('x' * 1000)",
    ],
)
def test_the_deadline_holds(tmp_path, code):
    made = actuator(tmp_path, act=python(code), deadline=0.5)
    began = time.monotonic()
    assert failure(lambda: made.act(Order(KEY, "1.0.0", "token"))).why == "late"
    assert time.monotonic() - began < 5


def test_an_answer_without_end_is_no_version(tmp_path):
    made = actuator(tmp_path, read=python("print('1' * 10_000_000)"))
    assert failure(lambda: made.read(KEY)).why == "unreadable"


def test_what_it_says_of_a_failure_holds_no_path_and_no_output(tmp_path):
    script = tmp_path / "deploy"
    script.write_text("#!/bin/sh\necho SECRET; echo SECRET >&2; exit 3\n")
    script.chmod(0o755)
    told = str(failure(lambda: actuator(tmp_path, act=(str(script),)).act(Order(KEY, "1", "t"))))
    assert told == "deploy exited with 3"
