"""`aal registry runner` as a process: it examines, and stops in good order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from doors import call
from registry.stranger import answer, stranger

from aal_engine.registry.card import WELL_KNOWN

DID = "did:web:tutor.example"
SUITE = """\
key: basics
name: Basics
tasks:
  - {name: alive, input: /, scorer: contains, expected: pong}
"""
ON = {"EVALS_ENABLED": "true", "EVALS_ALLOW_NETWORKS": "127.0.0.0/8", "EVALS_TICK_SECONDS": "0.1"}


def registry(folder, *arguments, **more):
    said = {"EVALS_DATABASE": "", "EVALS_ENABLED": "", "EVALS_ALLOW_NETWORKS": "", **more}
    return call("registry", folder, *arguments, **said)


def test_with_the_gate_down_it_says_so(tmp_path):
    registry(tmp_path, "init")
    done = registry(tmp_path, "runner")
    assert done.returncode == 2
    assert "EVALS_ENABLED" in done.stderr


def test_a_setting_that_cannot_be_used_is_named(tmp_path):
    registry(tmp_path, "init")
    done = registry(tmp_path, "runner", EVALS_ENABLED="true", EVALS_TASK_SECONDS="soon")
    assert done.returncode == 2
    assert done.stderr.startswith("error: EVALS_TASK_SECONDS: ")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_from_a_fetched_card_to_a_recorded_result(tmp_path, how):
    registry(tmp_path, "init")
    (tmp_path / "basics.yaml").write_text(SUITE)
    registry(tmp_path, "suite", "put", "basics.yaml")
    with stranger({}) as server:
        place = f"http://127.0.0.1:{server.port}"
        server.paths[WELL_KNOWN] = answer(json.dumps({"url": place}).encode())
        server.paths["/"] = answer(b"pong")
        refused = registry(tmp_path, "agent", "register", DID, "--fetch", place)
        assert refused.returncode == 2
        assert "refused: 127.0.0.1 is not public: loopback" in refused.stderr
        done = registry(tmp_path, "agent", "register", DID, "--fetch", place, **ON)
        assert done.stdout == f"registered: {DID}\n"
        run_id = registry(tmp_path, "run", "now", "basics", **ON).stdout.strip()
        command = [sys.executable, "-m", "aal_engine.agent.registry", "runner"]
        environment = {**os.environ, "EVALS_DATABASE": "", **ON}
        runner = subprocess.Popen(
            command, cwd=tmp_path, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until:
                shown = registry(tmp_path, "run", "show", run_id, "--format", "json")
                if json.loads(shown.stdout)["exams"] == {"done": 1}:
                    break
            runner.send_signal(how)
            out, told = runner.communicate(timeout=30)
        finally:
            runner.kill()
            runner.communicate()
    assert out == "stopped: 1 exams recorded, 0 void, 0 left to others\n"
    assert "leading, epoch 1" in told
    assert runner.returncode == 0
