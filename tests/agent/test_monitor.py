from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest
from deployed import gated
from specimen import KEY
from traffic import PACK, output
from typer.testing import CliRunner

from aal_engine.agent.monitor import app
from aal_engine.errors import InputError
from aal_engine.service.release import open_desk, promote

POLICY = """\
model_families: {allow: [claude]}
monitor:
  salt: s
  sampling: {internal: [100, 100, 100, 100], confidential: [100, 100, 100, 100],
             restricted: [100, 100, 100, 100]}
"""
INVENTED = "As said [7]."


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "pack.yaml").write_text(PACK)
    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, *rows):
    with path.open("ab") as file:
        file.writelines(row + b"\n" for row in rows)


ASKED = ("--pack", "pack", "--policy", "policy.yaml")


def call(*arguments, stdin=None):
    return CliRunner().invoke(app, [*arguments, *ASKED], input=stdin, catch_exceptions=True)


def test_a_breach_that_was_rolled_back_is_told_by_the_exit_code(place):
    ledger = gated(place / "ledger", "1.0.0", "1.1.0")
    desk = open_desk(ledger, place / "policy.yaml", str, lambda: datetime.now(UTC))
    for version in ("1.0.0", "1.1.0"):
        promote(desk, KEY, version)
    write(place / "out.jsonl", output("a", "1.1.0", INVENTED))
    done = call("out.jsonl", "--once")
    assert "1.1.0" not in done.stdout
    assert done.exit_code == 1
    assert call("out.jsonl", "--once").exit_code == 0


@pytest.mark.parametrize("how", ["--once", "--follow"])
def test_a_log_that_is_never_read_is_refused(place, how):
    (place / "out.jsonl.gz").write_bytes(b"\x1f\x8b")
    done = call("out.jsonl.gz", how, "--dry-run")
    assert isinstance(done.exception, InputError)
    assert "is no plain file of lines" in str(done.exception)


def test_a_log_is_checked_once_without_leaving_a_trace(place):
    write(place / "out.jsonl", output("a", "1.0.0"), output("b", "1.0.0", INVENTED))
    done = call("out.jsonl", "--once", "--dry-run")
    assert done.exit_code == 1
    assert "breach        1.0.0  invented_citations  1 of 2" in done.stdout
    assert sorted(path.name for path in place.iterdir()) == ["out.jsonl", "pack", "policy.yaml"]


def test_standard_input_is_read_to_its_end(place):
    done = call("-", "--once", "--dry-run", "--format", "json", stdin=output("a", "1.0.0") + b"\n")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["totals"]["drawn"] == 1


def test_what_was_read_is_not_read_again(place):
    gated(place / "ledger", "1.0.0")
    write(place / "out.jsonl", output("a", "1.0.0"))
    assert call("out.jsonl", "--once").exit_code == 0
    write(place / "out.jsonl", output("b", "1.0.0"), output("a", "1.0.0"))
    done = call("out.jsonl", "--once", "--format", "json")
    totals = json.loads(done.stdout)["totals"]
    assert (totals["lines"], totals["drawn"], totals["duplicates"]) == (3, 2, 1)


def test_no_text_is_kept_or_told(place):
    mark = "xylophone-4711"
    gated(place / "ledger", "1.0.0")
    bad = f"{mark} [7]"
    rows = [output(mark, "1.0.0", bad), b'{"trace_id": "' + mark.encode(), output("b", mark, bad)]
    write(place / "out.jsonl", *rows)
    done = call("out.jsonl", "--once")
    kept = [path.read_bytes() for folder in ("monitor", "ledger") for path in (place / folder).rglob("*") if path.is_file()]  # fmt: skip
    texts = [done.stdout, done.stderr, *(each.decode(errors="replace") for each in kept)]
    # A version is a name, which is told; the marks in the trace id and the answer are not.
    assert not [text for text in texts if mark in text.replace(f" {mark} ", "").replace(f'"{mark}"', "")]  # fmt: skip


def test_standard_input_cannot_be_followed(place):
    assert "has an end" in str(call("-").exception)


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_killed_while_it_follows_nothing_is_lost_or_counted_twice(place, kill):
    gated(place / "ledger", "1.0.0")
    log = place / "out.jsonl"
    log.touch()
    journal = place / "monitor" / "journal"
    command = [sys.executable, "-m", "aal_engine.agent.monitor", "out.jsonl", *ASKED]
    sent = 0
    for round_ in range(3):
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        before = journal.stat().st_size if journal.exists() else 0
        for _ in range(5):
            write(log, *(output(f"t{sent + n}", "1.0.0") for n in range(100)))
            sent += 100
            time.sleep(0.05 * round_)
        deadline = time.monotonic() + 20
        while not (journal.exists() and journal.stat().st_size > before):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        if round_ == 1:
            log.rename(place / "out.jsonl.1")
        os.kill(running.pid, kill)
        code = running.wait(20)
        assert code == (0 if kill == signal.SIGTERM else -kill)
        assert running.stderr.read() == b""
        running.stderr.close()
    done = call("out.jsonl", "--once", "--format", "json")
    told = json.loads(done.stdout)
    assert told["totals"]["drawn"] == sent == 1_500
    assert {row["measured"] for row in told["checks"]} == {sent}
