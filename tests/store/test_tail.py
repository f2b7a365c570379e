from __future__ import annotations

import json
import os
import random
import shutil
from dataclasses import asdict

import pytest

from aal_engine.errors import InputError
from aal_engine.store import tail as module
from aal_engine.store.live_output import MAX_OUTPUT
from aal_engine.store.position import Position
from aal_engine.store.tail import Tail, require_path


def line(n: int, size: int = 40) -> str:
    return json.dumps({"trace_id": f"t{n}", "answer": "x" * size}) + "\n"


def drained(tail: Tail) -> list[int]:
    ids = []
    while (chunk := tail.read()) is not None:
        ids += [int(json.loads(row)["trace_id"][1:]) for row in chunk.lines]
    return ids


def again(tail: Tail, path) -> Tail:
    """Another process that goes on from positions that went through JSON."""
    kept = json.loads(json.dumps([asdict(position) for position in tail.positions()]))
    tail.close()
    return Tail(path, [Position(**each) for each in kept])


@pytest.fixture
def log(tmp_path):
    return tmp_path / "out.jsonl"


def append(path, *numbers, end=True):
    with path.open("a") as file:
        text = "".join(map(line, numbers))
        file.write(text if end else text[:-1])


@pytest.mark.parametrize("name", ["out.jsonl.gz", "pipe"])
def test_what_is_never_read_is_refused_and_not_taken_for_an_empty_log(tmp_path, name):
    path = tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"\x1f\x8b")
    with pytest.raises(InputError, match=f"{name}: is no plain file of lines"):
        require_path(path)
    require_path(tmp_path)


def test_lines_are_read_once_as_they_come(log):
    append(log, 1, 2)
    tail = Tail(log)
    assert drained(tail) == [1, 2]
    assert drained(tail) == []
    append(log, 3)
    assert drained(tail) == [3]


def test_a_part_of_a_line_waits_for_the_rest(log):
    tail = Tail(log)
    text = line(1)
    for cut in range(1, len(text) - 2, 7):
        log.write_text(text[:cut])
        assert drained(Tail(log)) == []
    log.write_text(text[:20])
    assert drained(tail) == []
    with log.open("a") as file:
        file.write(text[20:])
    assert drained(tail) == [1]


def test_a_last_line_without_its_end_is_read_when_it_is_whole(log):
    append(log, 1, 2, end=False)
    tail = Tail(log)
    assert drained(tail) == [1, 2]
    with log.open("a") as file:
        file.write("\n" + line(3))
    assert drained(tail) == [3]


def test_a_file_that_is_not_there_yet_is_waited_for(log):
    tail = Tail(log)
    assert tail.read() is None
    append(log, 1)
    assert drained(tail) == [1]
    with pytest.raises(InputError, match="no such file"):
        require_path(log.with_name("other.jsonl"))


@pytest.mark.parametrize("name", ["out.jsonl.1", "out.jsonl-20260101"])
@pytest.mark.parametrize("restart", [False, True])
def test_a_renamed_file_is_read_to_its_end(log, name, restart):
    append(log, 1, 2)
    tail = Tail(log)
    assert drained(tail) == [1, 2]
    append(log, 3)
    log.rename(log.with_name(name))
    append(log, 4)
    if restart:
        tail = again(tail, log)
    assert drained(tail) == [3, 4]


def test_a_file_that_is_removed_while_it_is_followed_is_read_to_its_end(log):
    append(log, 1)
    tail = Tail(log)
    assert drained(tail) == [1]
    append(log, 2)
    with log.open("a") as file:
        file.write('{"trace_id": "t3"')
    log.unlink()
    append(log, 4)
    assert drained(tail) == [2, 4]
    assert tail.torn == 1


@pytest.mark.parametrize("restart", [False, True])
def test_copytruncate_neither_loses_nor_repeats(log, restart):
    append(log, *range(40))
    tail = Tail(log)
    assert drained(tail) == list(range(40))
    append(log, 40, 41)
    if restart:
        tail = again(tail, log)
    shutil.copy(log, log.with_name("out.jsonl.1"))
    os.truncate(log, 0)
    append(log, 42)
    assert sorted(drained(tail)) == [40, 41, 42]
    assert drained(again(tail, log)) == []


def test_a_file_written_anew_to_a_greater_length_is_seen(log):
    append(log, *range(5))
    tail = Tail(log)
    drained(tail)
    log.write_text("".join(map(line, range(10, 30))))
    assert drained(tail) == list(range(10, 30))


def test_an_inode_that_is_used_again_begins_anew(log):
    append(log, 1)
    tail = Tail(log)
    drained(tail)
    position = tail.positions()[0]
    log.unlink()
    append(log, 5, 6, 7)
    about = log.stat()
    position.device, position.inode = about.st_dev, about.st_ino
    assert drained(Tail(log, [position])) == [5, 6, 7]


def test_a_folder_is_read_whole_but_for_what_is_no_log(tmp_path):
    append(tmp_path / "a.jsonl", 1)
    append(tmp_path / "b.ndjson", 2)
    append(tmp_path / "c.log.1", 3)
    for name in ("d.jsonl.gz", ".hidden.jsonl", "e.jsonl.tmp", "notes.txt", "state"):
        append(tmp_path / name, 9)
    (tmp_path / "f.jsonl").mkdir()
    os.mkfifo(tmp_path / "g.jsonl")
    (tmp_path / "h.jsonl").symlink_to(tmp_path / "a.jsonl")
    assert sorted(drained(Tail(tmp_path))) == [1, 2, 3]


def test_more_files_than_may_be_open(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_OPEN", 3)
    for n in range(11):
        append(tmp_path / f"{n:02}.jsonl", n)
    tail = Tail(tmp_path)
    assert sorted(drained(tail)) == list(range(11))
    append(tmp_path / "00.jsonl", 50)
    append(tmp_path / "10.jsonl", 51)
    assert sorted(drained(tail)) == [50, 51]
    assert drained(again(tail, tmp_path)) == []


def test_a_line_that_is_too_long_is_left_out_and_costs_no_memory(log):
    with log.open("w") as file:
        file.write(line(1))
        file.write('{"trace_id": "t2", "answer": "' + "x" * (6 * MAX_OUTPUT) + '"}\n')
        file.write(line(3))
    tail = Tail(log)
    ids, too_long = [], 0
    while (chunk := tail.read()) is not None:
        ids += chunk.lines
        too_long += chunk.too_long
        tail = again(tail, log)
    assert [json.loads(row)["trace_id"] for row in ids] == ["t1", "t3"]
    assert too_long == 1


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_lost_or_repeated_whatever_is_done_to_the_log(tmp_path, seed):
    log = tmp_path / "out.jsonl"
    draw = random.Random(seed)
    tail, read, written = Tail(log), [], 0
    for step in range(120):
        match draw.choice("aaaaarckpo"):
            case "a":
                with log.open("a") as file:
                    for _ in range(draw.randrange(30)):
                        file.write(line(written, draw.randrange(400)))
                        written += 1
            case "p":
                text = line(written)
                cut = draw.randrange(1, len(text))
                with log.open("a") as file:
                    file.write(text[:cut])
                    file.flush()
                    read += drained(tail)
                    file.write(text[cut:])
                written += 1
            case "r" if log.exists():
                log.rename(tmp_path / f"out.jsonl.{step}")
            case "c" if log.exists():
                shutil.copy(log, tmp_path / f"out.jsonl.{step}")
                os.truncate(log, 0)
            case "k":
                tail = again(tail, log)
            case "o":
                read += drained(tail)
    read += drained(tail)
    assert sorted(set(read)) == list(range(written))
    assert len(read) == len(set(read))
