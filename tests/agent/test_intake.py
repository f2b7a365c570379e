"""A real run on loopback: `aal serve` watches what is posted, and rolls back a planted breach."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from datetime import UTC, datetime

from deployed import gated
from specimen import KEY
from traffic import PACK, output
from typer.testing import CliRunner

from aal_engine.agent.serve import app
from aal_engine.service.ledger import verify
from aal_engine.service.release import open_desk, promote
from aal_engine.store.ledger import Ledger
from aal_engine.store.policy import load_policy

POLICY = """\
model_families: {allow: [claude]}
monitor:
  salt: s
  sampling: {internal: [100, 100, 100, 100], confidential: [100, 100, 100, 100],
             restricted: [100, 100, 100, 100]}
"""


def asked(url: str, body: bytes | None = None) -> dict:
    call = urllib.request.Request(url, body, {"content-type": "application/x-ndjson"})
    with urllib.request.urlopen(call, timeout=10) as answer:
        return json.load(answer)


def test_a_planted_citation_is_rolled_back_in_pointer_ledger_and_api(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "pack.yaml").write_text(PACK)
    (tmp_path / "policy.yaml").write_text(POLICY)
    ledger = gated(tmp_path / "ledger", "1.0.0", "1.1.0")
    policy = load_policy(tmp_path / "policy.yaml")
    desk = open_desk(ledger, policy, lambda _: None, lambda: datetime.now(UTC))
    for version in ("1.0.0", "1.1.0"):
        assert promote(desk, KEY, version).ended == "promoted"
    pointers = {path: path.read_text() for path in (tmp_path / "live").rglob("*") if path.is_file()}
    (pointer,) = [path for path, text in pointers.items() if "1.1.0" in text]
    command = [sys.executable, "-m", "aal_engine.agent.serve", "--port", "0", "--monitor", "pack",
               "--policy", "policy.yaml", "--ledger", "ledger"]  # fmt: skip
    serving = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        line = serving.stderr.readline()
        url = line.removeprefix("listening on ").strip()
        rows = [output(f"t{n}", "1.1.0") for n in range(200)]
        assert asked(f"{url}/v1/outputs", b"\n".join(rows))["drawn"] == 200
        assert pointer.read_text().count("1.1.0") == 1
        told = asked(f"{url}/v1/outputs", output("planted", "1.1.0", "As said [7]."))
        assert told["drawn"] == 1
        deadline = time.monotonic() + 20
        while "1.0.0" not in pointer.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(1.5)
        shown = asked(f"{url}/v1/outputs")
        assert {row["version"] for row in shown["checks"]} == {"1.0.0"}
        assert asked(f"{url}/v1/outputs", rows[0])["duplicates"] == 1
        assert asked(f"{url}/v1/outputs", output("u", "1.1.0", "As said [7]."))["late"] == 1
    finally:
        serving.send_signal(signal.SIGTERM)
        _, errors = serving.communicate(timeout=20)
    assert serving.returncode in (0, -signal.SIGTERM)
    assert "desk 1.1.0 on support: BREACH: invented_citations 1, limit 0 (n = 201)" in errors
    assert "rolled back from 1.1.0 to 1.0.0" in errors
    verify(ledger)
    kinds = [entry.kind for entry in Ledger.open(ledger).entries()]
    assert kinds.count("breach") == 1
    texts = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and p.suffix != ".yaml")  # fmt: skip
    assert b"As said" not in texts


def test_what_cannot_be_watched_is_refused_before_it_listens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AAL_INTAKE_TOKEN", raising=False)
    run = CliRunner().invoke
    assert "--monitor goes by a policy" in str(run(app, ["--monitor", "pack"]).exception)
    named = ["--monitor", "pack", "--policy", "policy.yaml"]
    assert "no such file" in str(run(app, [*named]).exception)
    refused = run(app, [*named, "--host", "0.0.0.0"]).exception
    assert "AAL_INTAKE_TOKEN: outputs are taken from other machines only" in str(refused)
