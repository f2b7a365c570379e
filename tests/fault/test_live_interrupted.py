"""A live run that is killed or interrupted goes on where it stopped, to the same record."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import doors
import live_pack
import pytest
from live_agents import chat, serving

COMMAND = (
    *(sys.executable, "-m", "aal_engine.agent.lighthouse", "evals", "run", "--pack", "support"),
    *("--index", "kb.jsonl", "--agent", "agent.yaml", "--version", "1.0.0"),
    *("--at", "2026-01-31T09:30:00Z"),
)


def started(folder: Path, out: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--out", out], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def result(folder: Path, out: str) -> dict[str, bytes]:
    """Every file of the results, and the run that they were made of."""
    return {
        str(path.relative_to(folder / out)): path.read_bytes()
        for path in (folder / out).rglob("*")
        if path.is_file() and path.name != "journal.jsonl"
    }


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_stopped_at_two_fifths_and_resumed(how, tmp_path):
    folder = live_pack.make(tmp_path, cases=25)
    stop_at, stopped = 30, []

    def behaviour(handler, body):
        time.sleep(0.005)
        if len(stopped) == 1 and len(server.seen) > stop_at:
            stopped[0].send_signal(how)
            stopped.append(stopped[0])
            time.sleep(0.2)
        chat(handler, body)

    with serving(behaviour) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", concurrency=3)
        assert called(folder, "whole").returncode == 0
        assert len(server.seen) == 75
        server.seen.clear()

        process = started(folder, "parts")
        stopped.append(process)
        _, told = process.communicate()
        assert process.returncode == {signal.SIGINT: 130}.get(how, -how), told
        if how == signal.SIGINT:
            assert "interrupted" in told
        assert not list((folder / "parts").glob("*.json"))
        journal = (folder / "parts" / "work" / "journal.jsonl").read_bytes()
        finished = journal.count(b'"family":')
        assert stop_at - 3 <= finished < 75
        asked = len(server.seen)

        done = called(folder, "parts")
        assert done.returncode == 0, done.stderr
        # What was under way when it stopped is asked again, and nothing that was finished.
        assert len(server.seen) - asked == 75 - finished
    assert result(folder, "parts") == result(folder, "whole")


def called(folder: Path, out: str = "out") -> doors.Done:
    return doors.call("lighthouse", folder, *COMMAND[3:], "--out", out)


def test_a_torn_line_is_asked_again_and_any_other_damage_is_told(tmp_path):
    folder = live_pack.make(tmp_path, cases=4)
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", concurrency=1)
        assert called(folder).returncode == 0
        before = result(folder, "out")
        path = folder / "out" / "work" / "journal.jsonl"
        whole = path.read_bytes()
        last = whole[: whole.rindex(b"\n", 0, -1) + 1]
        for torn in (last + whole[len(last) : len(last) + 40], whole[:-1], last + b"\0" * 50):
            path.write_bytes(torn)
            seen = len(server.seen)
            done = called(folder)
            assert done.returncode == 0, done.stderr
            assert len(server.seen) == seen + 1
            assert result(folder, "out") == before
            assert path.read_bytes().count(b"\n") == whole.count(b"\n")
        rows = whole.splitlines(keepends=True)
        damaged = {
            "in the middle": b"".join([*rows[:5], b"{broken\n", *rows[5:]]),
            "no head": b"".join(rows[1:]),
            "another file": b'{"schema": "x"}\n',
            "no time": whole.replace(b"2026-01-31T", b"then", 1),
            "a row of nothing": b"".join([*rows, b'{"family": "claude"}\n']),
        }
        for name, content in damaged.items():
            path.write_bytes(content)
            done = called(folder)
            assert done.returncode == 2 and "is no journal, or is damaged" in done.stderr, name
            assert path.read_bytes() == content


def test_two_at_one_run_are_refused(tmp_path):
    folder = live_pack.make(tmp_path, cases=6)

    def behaviour(handler, body):
        time.sleep(0.3)
        chat(handler, body)

    with serving(behaviour) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", concurrency=2)
        first = started(folder, "out")
        until = time.monotonic() + 30
        while not server.seen and time.monotonic() < until:
            time.sleep(0.02)
        second = started(folder, "out")
        _, told = second.communicate()
        assert second.returncode == 2 and "another process is at this run" in told
        _, told = first.communicate()
        assert first.returncode == 0, told
        assert len(server.seen) == 18


def test_the_files_of_the_work_folder_are_their_owner_s_alone(tmp_path):
    folder = live_pack.make(tmp_path, cases=2)
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        assert called(folder).returncode == 0
    work = folder / "out" / "work"
    assert work.stat().st_mode & 0o777 == 0o700
    for path in work.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path.name
    head = json.loads((work / "journal.jsonl").read_text().splitlines()[0])
    assert "They are your own" in head["note"]
