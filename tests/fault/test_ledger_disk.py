"""The disk fails under the ledger: full, at its limit, or unable to sync. Nothing is half-written.

Each fault is a real one where a test can cause it (a file-size limit, a full file system, a system
call that fails under strace), and else the call is made to fail in place.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from aal_engine.errors import AppendRefused
from aal_engine.store import log
from aal_engine.store.ledger import Ledger

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "example.com/ledger"

APPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from aal_engine.errors import AalError
from aal_engine.store.ledger import Ledger
ledger = Ledger.open(Path(sys.argv[1]))
done = 0
try:
    while done < int(sys.argv[2]):
        ledger.append("breach", {"n": done, "filler": "x" * 200}, datetime.now(UTC))
        done += 1
except AalError as error:
    print(done, type(error).__name__, error)
else:
    print(done, "all")
"""


@pytest.fixture
def folder(tmp_path):
    Ledger.init(tmp_path / "ledger", ORIGIN, NOON)
    return tmp_path / "ledger"


def segment(folder, number=0):
    return folder / "log" / f"{number:08d}.jsonl"


def snapshot(folder):
    return {path.name: path.read_bytes() for path in (folder / "log").iterdir()}


def append_in_a_process(folder, count, *prefix, preexec=None):
    ran = subprocess.run(
        [*prefix, sys.executable, "-c", APPEND, str(folder), str(count)],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=preexec,
    )
    done, _, told = ran.stdout.strip().partition(" ")
    assert done.isdigit(), ran.stderr
    return int(done), told


class Calls:
    """Makes the nth call of a function of `os` fail, either before or after it took effect."""

    def __init__(self, monkeypatch, call, nth, error, *, persisted):
        self.real = getattr(os, call)
        self.left = nth
        self.error = error
        self.persisted = persisted
        self.failed = False
        monkeypatch.setattr(os, call, self)

    def __call__(self, *args, **kwargs):
        self.left -= 1
        if self.left:
            return self.real(*args, **kwargs)
        if self.persisted:
            self.real(*args, **kwargs)
        self.failed = True
        raise self.error


class TestEveryCall:
    """Each system call of an append fails twice: once without effect, once after it."""

    ERRORS = (
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EIO, "Input/output error"),
        KeyboardInterrupt(),
    )

    @pytest.mark.parametrize("persisted", [False, True])
    @pytest.mark.parametrize("error", ERRORS, ids=["ENOSPC", "EIO", "interrupted"])
    @pytest.mark.parametrize(
        ("call", "nth", "before"),
        [
            ("write", 1, 3),
            ("fsync", 1, 3),
            # The first entry of a new segment: its file, and the folder that names it.
            ("write", 1, log.LINES),
            ("fsync", 1, log.LINES),
            ("fsync", 2, log.LINES),
        ],
    )
    def test_a_failed_append_leaves_the_log_as_it_was_and_the_next_one_works(
        self, folder, monkeypatch, persisted, error, call, nth, before
    ):
        ledger = Ledger.open(folder)
        ledger.append_all("breach", [{"n": n} for n in range(before - 1)], NOON)
        head, stored = ledger.verify(strict=False), snapshot(folder)
        with monkeypatch.context() as patch:
            calls = Calls(patch, call, nth, error, persisted=persisted)
            refused = AppendRefused if isinstance(error, OSError) else KeyboardInterrupt
            with pytest.raises(refused) as caught:
                ledger.append("breach", {"n": -1}, NOON, expected=head)
            assert calls.failed
        if isinstance(error, OSError):
            assert error.strerror in str(caught.value)
            assert str(folder.parent) not in str(caught.value)
        assert snapshot(folder) == stored
        assert ledger.append("breach", {"n": -1}, NOON, expected=head).seq == before
        assert Ledger.open(folder).verify(strict=False).size == before + 1

    def test_a_write_that_takes_only_a_part_is_a_failure(self, folder, monkeypatch):
        stored = snapshot(folder)
        real = os.write
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda file, data: real(file, data[:100]))
            with pytest.raises(AppendRefused, match="took only a part"):
                Ledger.open(folder).append("breach", {}, NOON)
        assert snapshot(folder) == stored

    def test_a_batch_over_two_segments_is_taken_back_from_both(self, folder, monkeypatch):
        ledger = Ledger.open(folder)
        ledger.append_all("breach", [{"n": n} for n in range(log.LINES - 3)], NOON)
        stored = snapshot(folder)
        with monkeypatch.context() as patch:
            Calls(patch, "write", 2, OSError(errno.ENOSPC, "No space left"), persisted=True)
            with pytest.raises(AppendRefused):
                ledger.append_all("breach", [{"n": n} for n in range(9)], NOON)
        assert snapshot(folder) == stored

    def test_an_entry_that_cannot_be_taken_back_is_told_as_such(self, folder, monkeypatch):
        with monkeypatch.context() as patch:
            Calls(patch, "fsync", 1, OSError(errno.EIO, "Input/output error"), persisted=False)
            Calls(patch, "ftruncate", 1, OSError(errno.EIO, "Input/output error"), persisted=False)
            with pytest.raises(AppendRefused, match="could not be taken back"):
                Ledger.open(folder).append("breach", {}, NOON)
        assert Ledger.open(folder).verify().size == 2

    @pytest.mark.parametrize("call", ["write", "fsync", "rename", "mkdir"])
    def test_a_torn_tail_that_cannot_be_set_aside_stays(self, folder, monkeypatch, call):
        with segment(folder).open("ab") as file:
            file.write(b"torn")
        stored = snapshot(folder)
        with monkeypatch.context() as patch:
            error = OSError(errno.ENOSPC, "No space left on device")
            if call == "write":
                patch.setattr(os, "fdopen", lambda *_: (_ for _ in ()).throw(error))
            else:
                Calls(patch, call, 1, error, persisted=False)
            with pytest.raises(AppendRefused, match="torn tail cannot be set aside"):
                Ledger.open(folder).append("breach", {}, NOON)
        assert snapshot(folder) == stored


def test_a_file_size_limit_stops_appends_at_a_whole_line(folder):
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done, told = append_in_a_process(folder, 100, preexec=limit)
    assert 0 < done < 100
    assert "AppendRefused nothing was added to the ledger: the disk is full or at a limit" in told
    audit = Ledger.open(folder).audit()
    assert (audit.head.size, audit.torn) == (done + 1, 0)
    assert segment(folder).stat().st_size <= 10_000


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 kB; needs the right to mount."""
    point = tmp_path / "disk"
    point.mkdir()
    mount = shutil.which("mount") or "mount"
    asked = [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(point)]
    if subprocess.run(asked, capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    yield point
    subprocess.run([shutil.which("umount") or "umount", str(point)], check=True)


def test_a_full_disk_stops_appends_at_a_whole_line(small_disk):
    folder = small_disk / "ledger"
    Ledger.init(folder, ORIGIN, NOON)
    (small_disk / "ballast").write_bytes(b"x" * 16_384)
    done, told = append_in_a_process(folder, 1_000)
    assert 0 < done < 1_000
    assert "AppendRefused nothing was added to the ledger: the disk is full or at a limit" in told
    audit = Ledger.open(folder).audit()
    assert (audit.head.size, audit.torn) == (done + 1, 0)
    (small_disk / "ballast").unlink()
    assert append_in_a_process(folder, 3) == (3, "all")
    assert Ledger.open(folder).verify().size == done + 4


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize(
    ("inject", "said"),
    [
        ("fsync:error=EIO:when=3", "Input/output error"),
        ("fsync:error=ENOSPC:when=3", "No space left on device"),
        ("write:error=ENOSPC:when=3", "No space left on device"),
    ],
)
def test_a_system_call_that_fails_is_reported_and_taken_back(folder, inject, said):
    # Only calls on the log count: strace counts those alone that touch this path.
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(segment(folder))]
    done, told = append_in_a_process(folder, 10, *strace, "-e", f"inject={inject}")
    assert done == 2
    assert told.startswith(f"AppendRefused nothing was added to the ledger: {said}")
    audit = Ledger.open(folder).audit()
    assert (audit.head.size, audit.torn) == (3, 0)


def test_the_folder_is_synced_when_a_segment_is_new(folder, monkeypatch):
    ledger = Ledger.open(folder)
    ledger.append_all("breach", [{"n": n} for n in range(log.LINES - 1)], NOON)
    synced = []
    real = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda file: (synced.append(stat.S_ISDIR(os.fstat(file).st_mode)), real(file))
    )
    ledger.append("breach", {}, NOON)
    assert synced == [False, True]
