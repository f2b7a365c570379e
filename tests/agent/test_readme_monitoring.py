"""The README's rollback, as it is typed."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.skipif(shutil.which("curl") is None, reason="the commands call curl")
def test_the_readmes_breach_is_rolled_back(tmp_path):
    readme = (ROOT / "README.md").read_text()
    block = re.search(r"<!-- monitor: begin -->\n```sh\n(.*?)```", readme, re.DOTALL)[1]
    (tmp_path / "golden_sets").symlink_to(ROOT / "golden_sets")
    commands = "set -e; trap 'kill $SERVER 2> killed || true' EXIT\n" + block.replace(
        "8080", str(free_port())
    )
    here = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-c", commands], cwd=tmp_path, capture_output=True, text=True, timeout=240,
        env=os.environ | {"PATH": f"{here}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '{"lines":2,"drawn":2,"duplicates":0,"foreign":0,"late":0,"unreadable":0}' in done.stdout
    assert (
        "docs-agent 1.1.1 on handbook: BREACH: invented_citations 1, limit 0 (n = 2)" in done.stderr
    )
    assert "docs-agent on handbook: rolled back from 1.1.1 to 1.0.0" in done.stderr
    assert (tmp_path / "try" / "live" / "handbook" / "docs-agent").read_text().strip() == "1.0.0"
    assert '"check":"invented_citations"' in done.stdout
    assert "verified: " in done.stdout
