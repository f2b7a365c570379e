"""`aal serve` as a process: it listens on loopback, answers, and stops when it is told to."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest


@pytest.fixture
def served(tmp_path):
    command = [sys.executable, "-m", "aal_engine.agent.serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_listens_answers_and_stops(served, how):
    address = re.search(r"http://127\.0\.0\.1:\d+", served.stderr.readline())[0]
    with urlopen(f"{address}/healthz", timeout=5) as response:
        assert response.read() == b'{"status":"ok"}'
        assert "server" not in response.headers
    served.send_signal(how)
    assert served.wait(10) in (0, 130, -signal.SIGTERM)


def test_a_port_that_is_taken_is_told(served):
    port = re.search(r":(\d+)$", served.stderr.readline().strip())[1]
    command = [sys.executable, "-m", "aal_engine.agent.serve", "--port", port]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert f"port {port} cannot be listened on" in done.stderr
