"""Faults that other ledgers had, one test each, named by the public list of cases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import doors
import pytest
from specimen import breach, record, released

from aal_engine.decide.body import bodies
from aal_engine.decide.key import ED25519, SignerKey
from aal_engine.errors import AppendRefused, ChainBroken, LedgerUnreadable
from aal_engine.store import ledger_index, lock
from aal_engine.store.ledger import Ledger

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "example.com/ledger"
KEY = SignerKey(ORIGIN, ED25519, bytes(32))

ledger = partial(doors.call, "ledger")


@pytest.fixture
def folder(tmp_path):
    """The folder around a ledger of six entries."""
    Ledger.init(tmp_path / "ledger", ORIGIN, NOON)
    incidents = [breach(n, check=f"check-{n}").body() for n in range(5)]
    Ledger.open(tmp_path / "ledger").append_all("breach", incidents, NOON)
    (tmp_path / "keys.txt").write_text(f"log {KEY.verifier().encode()}\nquorum none\n")
    return tmp_path


def log(folder: Path) -> Path:
    return folder / "ledger/log/00000000.jsonl"


def sign(folder: Path) -> None:
    opened = Ledger.open(folder / "ledger")
    opened.sign([KEY], NOON, opened.verify())


def test_L1_one_byte_of_a_stored_value(folder):
    raw = log(folder).read_bytes()
    log(folder).write_bytes(raw.replace(b'"check-2"', b'"check-7"'))
    done = ledger(folder, "verify")
    assert done.returncode == 3
    assert "ledger entry 3:" in done.stderr


def test_L2_one_bit_of_the_cache(folder, monkeypatch):
    monkeypatch.setattr(ledger_index, "WORTH_KEEPING", 1)
    whole = ledger(folder, "show", "--agent", "desk")
    cache = folder / "ledger/cache/index"
    kept = cache.read_bytes()
    for place in range(0, len(kept), len(kept) // 50):
        cache.write_bytes(kept[:place] + bytes([kept[place] ^ 1]) + kept[place + 1 :])
        done = ledger(folder, "show", "--agent", "desk")
        assert (done.returncode, done.stdout) == (0, whole.stdout)
        assert "the index's file is not what was written; it was built again" in done.stderr
        assert cache.read_bytes() == kept


def test_L3_a_middle_entry_removed_and_appends_go_on(folder):
    lines = log(folder).read_bytes().splitlines(keepends=True)
    log(folder).write_bytes(b"".join(lines[:2] + lines[3:]))
    before = log(folder).read_bytes()
    with pytest.raises(ChainBroken, match="entry 2"):
        Ledger.open(folder / "ledger").append("breach", breach(9).body(), NOON)
    assert log(folder).read_bytes() == before
    assert "ledger entry 2:" in ledger(folder, "verify").stderr


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_L4_the_folder_is_not_synced_after_a_rename(folder):
    (folder / "key").write_text(KEY.encode())
    (folder / "key").chmod(0o600)
    command = [sys.executable, "-m", "aal_engine.agent.ledger", "checkpoint", "--key", "key"]
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", "ledger"]
    inject = ["-e", "inject=fsync:error=EIO:when=1+"]
    done = subprocess.run(
        [*strace, *inject, *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert "the checkpoint was not written" in done.stderr
    assert ledger(folder, "verify").returncode == 0


def test_L5_init_twice_at_the_same_time(tmp_path):
    command = [sys.executable, "-m", "aal_engine.agent.ledger", "init"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=60) for process in both]
    assert sorted(process.returncode for process in both) == [0, 3]
    assert sum(b"holds a ledger already" in err for _, err in told) == 1
    assert Ledger.open(tmp_path / "ledger").verify().size == 1


def test_L6_the_lock_is_not_unlinked(folder):
    path = folder / "ledger" / lock.NAME
    before = path.stat().st_ino
    Ledger.open(folder / "ledger").append("breach", breach(9).body(), NOON)
    assert path.stat().st_ino == before
    root = os.open(folder / "ledger", os.O_RDONLY)
    with lock.exclusive(root):
        path.unlink()  # as somebody might by hand: a second holder has to wait all the same
        waiting = Ledger.open(folder / "ledger", wait=0.05)
        with pytest.raises(LedgerUnreadable, match="locked"):
            waiting.append("breach", breach(10).body(), NOON)
    os.close(root)


def test_L7_a_link_at_the_locks_path(folder):
    target = folder / "target"
    target.write_bytes(b"untouched")
    path = folder / "ledger" / lock.NAME
    path.unlink()
    path.symlink_to(target)
    with pytest.raises(LedgerUnreadable, match="symbolic link"):
        Ledger.open(folder / "ledger").append("breach", breach(9).body(), NOON)
    assert target.read_bytes() == b"untouched"


def test_L8_a_key_and_an_unsigned_ledger(folder):
    done = ledger(folder, "verify", "--policy", "keys.txt")
    assert (done.returncode, done.stdout) == (5, "")
    sign(folder)
    assert ledger(folder, "verify", "--policy", "keys.txt").returncode == 0


def test_L9_an_integer_that_readers_do_not_agree_on(folder):
    before = log(folder).read_bytes()
    with pytest.raises(AppendRefused, match=r"beyond 2\^53 - 1"):
        Ledger.open(folder / "ledger").append("breach", {"n": 2**54}, NOON)
    assert log(folder).read_bytes() == before


def test_L10_an_envelope_without_a_keyid(folder):
    decision, _ = released(record(version="1.0.0"))
    Ledger.open(folder / "ledger").append_all("decision", bodies(decision), NOON)
    public = ledger(folder, "key", "new", "--p256", "--out", "key.pem").stdout
    (folder / "pub.pem").write_text(public)
    told = json.loads(ledger(folder, "export", "6", "--key", "key.pem").stdout)
    del told["signatures"][0]["keyid"]
    (folder / "envelope").write_text(json.dumps(told))
    assert ledger(folder, "check-export", "envelope", "--key", "pub.pem").returncode == 0


def test_L11_a_proof_against_a_root_that_nobody_pinned(folder):
    sign(folder)
    (folder / "proof").write_text(ledger(folder, "prove", "2").stdout)
    (folder / "entry").write_bytes(log(folder).read_bytes().splitlines(keepends=True)[2])
    check = ["check-proof", "proof", "--entry", "entry"]
    alone = ledger(folder, *check)
    assert alone.returncode == 5
    assert "proves nothing alone" in alone.stderr
    assert ledger(folder, *check, "--policy", "keys.txt").returncode == 0


def test_every_case_of_the_list_is_here(shared):
    lines = (shared / "cases/ledger.jsonl").read_text("utf-8").splitlines()
    wanted = {json.loads(line)["id"] for line in lines}
    assert wanted == {name.split("_")[1] for name in globals() if name.startswith("test_L")}
