import errno
import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from aal_engine.errors import InputError
from aal_engine.store import text_file
from aal_engine.store.text_file import FaultList, open_input, read_lines, read_whole


def lines(path):
    faults = FaultList(path)
    with open_input(path) as file:
        return list(read_lines(file, faults)), [str(fault) for fault in faults.faults]


@pytest.fixture
def put(tmp_path):
    def write(name, data):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


def test_blank_lines_count_but_are_not_given(put):
    assert lines(put("a", "x\n\n  \ny")) == ([(1, "x\n"), (4, "y")], [])


def test_a_byte_order_mark_and_crlf_are_accepted(put):
    found, faults = lines(put("a", b"\xef\xbb\xbfx\r\ny\r\n"))
    assert ([text.strip() for _, text in found], faults) == (["x", "y"], [])


def test_every_line_that_is_not_utf8_is_named(put):
    found, faults = lines(put("a", b"x\n\xff\ny\n\xc3(\n"))
    assert [number for number, _ in found] == [1, 3]
    assert faults == [
        "a:2: is not UTF-8 text at byte 1 of the line",
        "a:4: is not UTF-8 text at byte 1 of the line",
    ]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_told_once(put, encoding):
    data = "\ufeffx\ny\n".encode(encoding)
    assert lines(put("a", data)) == ([], ["a:1: is UTF-16 text; save it as UTF-8"])
    faults = FaultList("a")
    assert read_whole(put("a", data), faults) is None
    assert [fault.problem for fault in faults.faults] == ["is UTF-16 text; save it as UTF-8"]


def test_gzip_and_zstandard_are_told_by_their_first_bytes(put):
    text = b"x\ny\n" * 1000
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(text)
    plain = lines(put("plain", text))
    assert lines(put("a", gzip.compress(text))) == plain
    assert lines(put("b", packed.getvalue().to_pybytes())) == plain
    assert len(plain[0]) == 2000


def test_a_compressed_file_that_is_cut_off_is_a_fault(put):
    whole = gzip.compress(os.urandom(200_000))
    _, faults = lines(put("a.gz", whole[:-100_000]))
    assert faults[-1].endswith("cannot be read to its end: it is cut off or damaged")
    damaged = bytearray(gzip.compress(b"x\n" * 100_000))
    damaged[20:60] = b"\0" * 40
    _, faults = lines(put("b.gz", bytes(damaged)))
    assert faults[-1].endswith("cannot be read to its end: it is cut off or damaged")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: path.mkdir(), "secret-name: is a folder where a file is needed"),
        (lambda _: None, "secret-name: no such file"),
        (
            lambda path: path.symlink_to(path),
            "secret-name: cannot be read: too many levels of symbolic links",
        ),
    ],
)
def test_what_cannot_be_opened_is_told_without_its_folder(tmp_path, make, problem):
    folder = tmp_path / "MARKER"
    folder.mkdir()
    make(folder / "secret-name")
    with pytest.raises(InputError) as caught:
        lines(folder / "secret-name")
    assert str(caught.value) == problem
    assert caught.value.__suppress_context__


def test_a_file_that_may_not_be_read_is_told(put, monkeypatch):
    def refused(path, *_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    path = put("a", "x")
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputError, match=r"\Aa: cannot be read: permission denied\Z"):
        lines(path)


def test_a_line_over_the_bound_ends_the_reading(put, monkeypatch):
    monkeypatch.setattr(text_file, "MAX_LINE", 2**20)
    path = put("a", b"ok\n" + b"x" * (2**20 + 1) + b"\nnever read\n")
    assert lines(path) == ([(1, "ok\n")], ["a:2: the line is longer than 1 MiB"])


def test_two_gigabytes_in_one_line_end_at_once_and_in_bounded_memory(tmp_path):
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "')
        file.truncate(2 * 2**30)
    code = (
        "import sys, resource\n"
        "from aal_engine.store.text_file import *\n"
        "faults = FaultList(sys.argv[1])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "with open_input(sys.argv[1]) as file: list(read_lines(file, faults))\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "print(faults.faults[0], grown < 64 * 1024, sep='|')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True, timeout=20
    )
    assert done.stdout == "huge.jsonl:1: the line is longer than 16 MiB|True\n"


def test_a_whole_file_has_a_bound_too(put, monkeypatch):
    monkeypatch.setattr(text_file, "MAX_WHOLE", 2**20)
    faults = FaultList("a.yaml")
    assert read_whole(put("a.yaml", b"x" * (2**20 + 1)), faults) is None
    assert [str(fault) for fault in faults.faults] == ["a.yaml: is larger than 1 MiB"]


def test_a_whole_file_that_is_cut_off_is_told(put):
    faults = FaultList("a.yaml")
    packed = gzip.compress(os.urandom(2000))
    assert read_whole(put("a.yaml", packed[:-1000]), faults) is None
    assert [str(fault) for fault in faults.faults] == [
        "a.yaml: cannot be read to its end: it is cut off or damaged"
    ]


def test_a_whole_file_that_is_not_utf8_is_told_with_its_line(put):
    faults = FaultList("a.yaml")
    assert read_whole(put("a.yaml", b"x\ny\n\xff"), faults) is None
    assert [str(fault) for fault in faults.faults] == ["a.yaml:3: is not UTF-8 text"]


def test_a_fifo_is_read(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(b"x\ny\n"))
    writer.start()
    try:
        assert lines(path) == ([(1, "x\n"), (2, "y\n")], [])
    finally:
        writer.join()


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\n\xff\n")))
    assert lines("-") == (
        [(1, "x\n")],
        ["standard input:2: is not UTF-8 text at byte 1 of the line"],
    )


def test_reading_stops_when_nothing_new_is_learned(put):
    found, faults = lines(put("a", b"\xff\n" * 5000))
    assert (found, len(faults)) == ([], text_file.MAX_FAULTS)
