"""Doors under faults of the machine: interrupted, out of disk, fed with monsters."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from specimen import record

from aal_engine.store.record import written

POLICY = "model_families:\n  allow: [claude]\nfirst_release: allow\n"
PACK = (
    "name: support\nagent: desk\nautonomy: 1\nsensitivity: internal\n"
    "citations: {mode: index, base: 1}\n"
    "suites:\n  core: {file: core.jsonl, kinds: [answers]}\n"
)
GATE = ("gate", "--current", "answers.json", "--policy", "policy.yaml", "--record", "decision.json")
EVALUATE = ("evaluate", "--pack", "support", "--run", "run.jsonl", "--version", "1", "--out", "out")
GIBIBYTE = 2**30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "answers.json").write_text(written([record()]))
    (tmp_path / "support").mkdir()
    (tmp_path / "support" / "pack.yaml").write_text(PACK)
    cases = [{"id": f"c{n}", "question": "?", "must_mention": ["x"]} for n in range(2_000)]
    rows = [{"id": case["id"], "model_family": "claude", "answer": "x"} for case in cases]
    for name, lines in (("support/core.jsonl", cases), ("run.jsonl", rows)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def started(folder: Path, door: str, *arguments: str, **limits) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", f"aal_engine.agent.{door}", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **limits,
    )


def interruptible() -> None:
    # A shell's background job starts with SIGINT ignored, and so would its children.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def opened(pipe: Path) -> Iterator[None]:
    """Open a pipe for writing as soon as somebody reads it."""
    deadline = time.monotonic() + 30
    while True:
        try:
            end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:
            assert time.monotonic() < deadline, "nobody opened the pipe"
            time.sleep(0.01)
    try:
        yield
    finally:
        os.close(end)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("door", [GATE, EVALUATE], ids=lambda door: door[0])
def test_an_interruption_is_told_and_leaves_nothing_half_written(folder, door):
    waiting = folder / "pipe"
    os.mkfifo(waiting)
    arguments = ["pipe" if part in ("answers.json", "run.jsonl") else part for part in door]
    before = files(folder)
    process = started(folder, *arguments, preexec_fn=interruptible)
    # The other end can be opened once the door has opened its own: it is reading by then.
    with opened(waiting):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told.startswith("interrupted")
    assert "Traceback" not in told
    assert files(folder) == before


@pytest.mark.parametrize("delay", [0.0, 0.3, 0.6, 0.9, 1.2])
def test_an_interruption_at_any_moment_leaves_whole_files(folder, delay):
    process = started(folder, *EVALUATE, preexec_fn=interruptible)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    for name in files(folder):
        assert not name.endswith(".tmp"), name
        if name.startswith("out/") and name.endswith(".json"):
            json.loads((folder / name).read_text())


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


@pytest.mark.parametrize(("door", "code"), [(GATE, 3), (EVALUATE, 2)], ids=["gate", "evaluate"])
def test_a_full_disk_is_told_and_leaves_nothing_half_written(folder, door, code):
    process = started(folder, *door, preexec_fn=small_files)
    _, told = process.communicate(timeout=30)
    assert process.returncode == code, told
    assert "the disk is full" in told or "File too large" in told
    assert "Traceback" not in told
    left = [
        name
        for name in files(folder)
        if name.endswith((".tmp", ".parquet")) or name in ("decision.json", "out/answers.json")
    ]
    assert left == []


def test_a_ledger_that_met_a_full_disk_goes_on_when_there_is_room(folder):
    started(folder, *GATE, preexec_fn=small_files).communicate(timeout=30)
    process = started(folder, *GATE)
    out, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    assert "ledger as entry 1" in out


def measured() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (3 * GIBIBYTE, 3 * GIBIBYTE))


@pytest.mark.parametrize(
    ("door", "replaced"),
    [
        (GATE, "answers.json"),
        (GATE, "policy.yaml"),
        (EVALUATE, "run.jsonl"),
        (EVALUATE, "support/core.jsonl"),
        (EVALUATE, "support/pack.yaml"),
    ],
    ids=lambda part: part if isinstance(part, str) else part[0],
)
def test_a_line_of_two_gibibytes_is_refused_without_being_read(folder, door, replaced):
    with (folder / replaced).open("wb") as file:
        file.write(b'{"id": "')
        file.truncate(2 * GIBIBYTE)
    process = started(folder, *door, preexec_fn=measured)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2, told
    assert Path(replaced).name in told
