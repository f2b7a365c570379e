"""Durable replacement: the old bytes or the new ones, nothing between, nothing left over."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from aal_engine.errors import WriteError
from aal_engine.store.atomic import replacing, write_atomic


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "decision.json"
    path.write_bytes(b"old")
    return path


def _fail_at(monkeypatch, call: str, error: BaseException, nth: int = 1):
    """Make the nth call of a function of `os` fail; all others go through."""
    real = getattr(os, call)
    calls = 0

    def failing(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == nth:
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(os, call, failing)


def test_a_new_file_is_written(tmp_path):
    write_atomic(tmp_path / "new", b"bytes")
    assert (tmp_path / "new").read_bytes() == b"bytes"
    assert os.listdir(tmp_path) == ["new"]


def test_an_old_file_is_replaced_and_keeps_its_mode(target):
    target.chmod(0o640)
    write_atomic(target, b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_the_file_and_then_its_folder_are_synced(target, monkeypatch):
    done = []
    for call in ("fsync", "rename"):
        real = getattr(os, call)

        def noted(first, *args, _call=call, _real=real, **kwargs):
            if _call == "fsync":
                done.append("fsync folder" if stat.S_ISDIR(os.fstat(first).st_mode) else "fsync")
            else:
                done.append("rename")
            return _real(first, *args, **kwargs)

        monkeypatch.setattr(os, call, noted)
    write_atomic(target, b"new")
    assert done == ["fsync", "rename", "fsync folder"]


FAULTS = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EIO, "Input/output error"),
    KeyboardInterrupt(),
]


@pytest.mark.parametrize("error", FAULTS, ids=["ENOSPC", "EIO", "interrupted"])
@pytest.mark.parametrize("call", ["fsync", "rename", "fchmod"])
def test_whatever_fails_before_the_rename_leaves_the_old_file_alone(
    target, monkeypatch, call, error
):
    _fail_at(monkeypatch, call, error)
    with pytest.raises(WriteError if isinstance(error, OSError) else KeyboardInterrupt):
        write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert os.listdir(target.parent) == [target.name]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt()])
def test_a_block_that_ends_badly_replaces_nothing(target, error):
    def interrupted():
        with replacing(target) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)):
        interrupted()
    assert target.read_bytes() == b"old"
    assert os.listdir(target.parent) == [target.name]


def test_a_folder_that_cannot_be_synced_is_told(target, monkeypatch):
    _fail_at(monkeypatch, "fsync", OSError(errno.EIO, "Input/output error"), nth=2)
    with pytest.raises(WriteError, match="Input/output error"):
        write_atomic(target, b"new")
    assert target.read_bytes() in {b"old", b"new"}
    assert os.listdir(target.parent) == [target.name]


def test_a_message_names_the_file_and_no_folder(tmp_path):
    with pytest.raises(WriteError) as caught:
        write_atomic(tmp_path / "absent" / "decision.json", b"")
    assert str(caught.value) == "decision.json was not written: No such file or directory"
    assert caught.value.__suppress_context__


def _folder(path):
    path.mkdir()


def _pipe(path):
    os.mkfifo(path)


def _link(path):
    path.with_name("pointed-at").write_bytes(b"precious")
    path.symlink_to(path.with_name("pointed-at"))


@pytest.mark.parametrize("make", [_folder, _pipe, _link])
def test_only_a_regular_file_is_replaced(tmp_path, make):
    path = tmp_path / "out"
    make(path)
    before = path.lstat()
    with pytest.raises(WriteError, match="not a regular file"):
        write_atomic(path, b"new")
    after = path.lstat()
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert all(p.read_bytes() == b"precious" for p in tmp_path.glob("pointed-at"))
