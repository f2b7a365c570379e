"""The ledger on disk: what is written where, what is refused, what is read back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from aal_engine.canonical import canonical
from aal_engine.decide.ledger import DEFAULT_ORIGIN
from aal_engine.errors import AppendRefused, ChainBroken, HeadMoved, LedgerUnreadable
from aal_engine.store import ledger as store
from aal_engine.store import log, mount
from aal_engine.store.ledger import Ledger

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "example.com/ledger"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def ledger(folder):
    Ledger.init(folder, ORIGIN, NOON)
    return Ledger.open(folder)


def segment(folder: Path, number: int = 0) -> Path:
    return folder / "log" / f"{number:08d}.jsonl"


def fill(folder: Path, count: int) -> None:
    """Append so many small entries at once."""
    Ledger.open(folder).append_all("breach", [{"n": n} for n in range(count)], NOON)


class TestStart:
    def test_init_writes_the_documented_files(self, folder):
        genesis = Ledger.init(folder, ORIGIN, NOON)
        assert genesis.body == {"hash": "sha-256", "origin": ORIGIN, "vkeys": []}
        assert segment(folder).read_bytes() == genesis.line + b"\n"
        assert (folder / ".gitattributes").read_text() == "log/*.jsonl -text -merge\n"
        assert sorted(os.listdir(folder)) == [".gitattributes", ".gitignore", ".lock", "log"]

    def test_a_second_init_is_told_and_changes_nothing(self, folder, ledger):
        before = segment(folder).read_bytes()
        with pytest.raises(AppendRefused, match="holds a ledger already"):
            Ledger.init(folder, "example.com/other", NOON)
        assert segment(folder).read_bytes() == before

    def test_an_origin_that_cannot_be_leaves_nothing_behind(self, folder):
        with pytest.raises(AppendRefused, match="origin"):
            Ledger.init(folder, "two words", NOON)
        assert not folder.exists()

    def test_opening_what_is_not_there_names_the_way_out(self, folder):
        with pytest.raises(LedgerUnreadable, match="aal ledger init --ledger ledger"):
            Ledger.open(folder)

    def test_with_create_the_first_append_starts_it(self, folder):
        ledger = Ledger.open(folder, create=True)
        head = ledger.verify()
        assert (head.size, head.origin, folder.exists()) == (0, DEFAULT_ORIGIN, False)
        entry = ledger.append("decision", {"n": 1}, NOON, expected=head)
        assert entry.seq == 1
        assert [e.kind for e in Ledger.open(folder).entries()] == ["genesis", "decision"]

    def test_with_create_an_empty_folder_will_do(self, folder):
        folder.mkdir()
        ledger = Ledger.open(folder, create=True, origin=ORIGIN)
        ledger.append("decision", {}, NOON)
        assert Ledger.open(folder).verify().origin == ORIGIN

    def test_with_create_a_ledger_that_is_there_stays(self, folder, ledger):
        Ledger.open(folder, create=True, origin="example.com/other").append("key", {}, NOON)
        head = ledger.verify()
        assert (head.origin, head.size) == (ORIGIN, 2)


class TestAppend:
    def test_an_entry_is_one_line_at_the_end(self, folder, ledger):
        before = segment(folder).read_bytes()
        entry = ledger.append("decision", {"n": 1}, NOON)
        assert segment(folder).read_bytes() == before + entry.line + b"\n"
        assert list(ledger.lines())[-1] == entry.line
        assert list(ledger.entries())[-1] == entry

    def test_many_entries_cost_one_write_and_one_sync(self, ledger, monkeypatch):
        calls = []
        for call in ("write", "fsync"):
            real = getattr(os, call)
            monkeypatch.setattr(
                os, call, lambda *a, _call=call, _real=real: (calls.append(_call), _real(*a))[1]
            )
        ledger.append_all("decision", [{"n": n} for n in range(128)], NOON)
        assert calls == ["write", "fsync"]

    def test_segments_hold_4096_lines(self, folder, ledger):
        fill(folder, 2 * log.LINES)
        counts = [segment(folder, n).read_bytes().count(b"\n") for n in range(3)]
        assert counts == [log.LINES, log.LINES, 1]
        head = ledger.verify(strict=False)
        assert head.size == 2 * log.LINES + 1
        assert len(head.edge) == 2

    def test_a_batch_may_cross_the_end_of_a_segment(self, folder, ledger):
        fill(folder, log.LINES - 3)
        ledger.append_all("decision", [{"n": n} for n in range(7)], NOON)
        assert ledger.verify().size == log.LINES + 5
        assert segment(folder, 1).read_bytes().count(b"\n") == 5

    def test_an_expected_head_that_moved_is_told_and_nothing_is_added(self, folder, ledger):
        head = ledger.verify()
        Ledger.open(folder).append("decision", {"n": 1}, NOON)
        before = segment(folder).read_bytes()
        with pytest.raises(HeadMoved, match="2 entries where 1 were expected"):
            ledger.append("decision", {"n": 2}, NOON, expected=head)
        assert segment(folder).read_bytes() == before
        assert ledger.append("decision", {"n": 2}, NOON, expected=ledger.verify()).seq == 2

    def test_what_may_not_be_written_leaves_the_log_as_it_was(self, folder, ledger):
        before = segment(folder).read_bytes()
        with pytest.raises(AppendRefused, match="2\\^53"):
            ledger.append_all("decision", [{"n": 1}, {"n": 2**54}], NOON)
        assert segment(folder).read_bytes() == before

    def test_once_returns_the_entry_that_is_there(self, folder, ledger):
        first = ledger.append("release", {"decision": 1}, NOON, once=True)
        ledger.append("breach", {}, NOON)
        later = NOON + timedelta(days=2)
        head = ledger.verify()
        assert Ledger.open(folder).append("release", {"decision": 1}, later, once=True) == first
        assert ledger.verify() == head

    def test_once_finds_it_even_where_the_head_moved_since(self, ledger):
        head = ledger.verify()
        first = ledger.append("release", {"decision": 1}, NOON, expected=head, once=True)
        assert ledger.append("release", {"decision": 1}, NOON, expected=head, once=True) == first

    def test_once_adds_the_rest_of_what_is_partly_there(self, ledger):
        ledger.append("decision", {"part": 1}, NOON)
        bodies = [{"part": 1}, {"part": 2}, {"part": 3}]
        seqs = [e.seq for e in ledger.append_all("decision", bodies, NOON, once=True)]
        assert seqs == [1, 2, 3]

    def test_once_tells_kinds_and_bodies_apart(self, ledger):
        ledger.append("quarantine", {"version": "1"}, NOON, once=True)
        assert ledger.append("clear", {"version": "1"}, NOON, once=True).seq == 2
        assert ledger.append("clear", {"version": "2"}, NOON, once=True).seq == 3

    def test_without_once_the_same_may_happen_again(self, ledger):
        assert [ledger.append("breach", {}, NOON).seq for _ in range(2)] == [1, 2]

    def test_a_writer_goes_on_from_what_others_added(self, folder, ledger):
        others = Ledger.open(folder)
        for n in range(6):
            entry = (ledger if n % 2 else others).append("breach", {"n": n}, NOON)
            assert entry.seq == n + 1
        assert ledger.verify() == others.verify()

    def test_threads_of_one_process_take_turns(self, folder, ledger):
        def work(writer: int) -> None:
            for n in range(20):
                ledger.append("breach", {"writer": writer, "n": n}, NOON)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seen = [(e.body["writer"], e.body["n"]) for e in list(ledger.entries())[1:]]
        assert sorted(seen) == [(writer, n) for writer in range(4) for n in range(20)]
        assert ledger.verify().size == 81


class TestBrokenTail:
    """An append never adds to a log that is not what was appended."""

    def _damage(self, folder, change):
        path = segment(folder)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(change(lines)))
        return path.read_bytes()

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(lambda lines: lines[:4] + lines[5:], id="a middle entry removed"),
            pytest.param(lambda lines: [*lines[:-1], lines[-1][:-9] + b"\n"], id="the last cut"),
            pytest.param(lambda lines: [*lines, b"\0" * 4096 + b"\n"], id="a line of NUL"),
            pytest.param(lambda lines: [*lines, lines[-1]], id="the last twice"),
            pytest.param(lambda lines: [x.replace(b"\n", b"\r\n") for x in lines], id="CRLF"),
            pytest.param(lambda lines: [b"\xef\xbb\xbf", *lines], id="byte order mark"),
        ],
    )
    @pytest.mark.parametrize("warm", [True, False])
    def test_append_refuses_and_changes_nothing(self, folder, ledger, change, warm):
        fill(folder, 8)
        writer = ledger if warm else Ledger.open(folder)
        before = self._damage(folder, change)
        with pytest.raises(ChainBroken):
            writer.append("breach", {}, NOON)
        assert segment(folder).read_bytes() == before

    def test_a_cut_that_this_process_saw_is_refused(self, folder, ledger):
        fill(folder, 8)
        assert ledger.verify().size == 9
        self._damage(folder, lambda lines: lines[:5])
        assert Ledger.open(folder).verify().size == 5
        with pytest.raises(ChainBroken, match="once had 9 entries"):
            ledger.append("breach", {}, NOON)
        with pytest.raises(ChainBroken, match="once had 9 entries"):
            ledger.verify()

    def test_a_segment_that_is_missing_is_named_by_its_first_entry(self, folder, ledger):
        fill(folder, 2 * log.LINES)
        segment(folder, 1).unlink()
        with pytest.raises(ChainBroken, match=r"entry 4096: 00000001\.jsonl is missing"):
            ledger.verify()

    def test_a_segment_that_is_not_full_is_named(self, folder, ledger):
        fill(folder, 2 * log.LINES)
        self._damage(folder, lambda lines: lines[:-1])
        with pytest.raises(ChainBroken) as caught:
            Ledger.open(folder).verify()
        assert caught.value.seq == log.LINES - 1

    def test_a_segment_that_holds_too_much_is_named(self, folder, ledger):
        fill(folder, 2 * log.LINES)
        with segment(folder).open("ab") as file:
            file.write(segment(folder, 1).read_bytes())
        segment(folder, 1).unlink()
        segment(folder, 2).unlink()
        with pytest.raises(ChainBroken) as caught:
            Ledger.open(folder).verify(strict=False)
        assert caught.value.seq == log.LINES

    def test_a_line_without_end_is_refused_before_it_is_read(self, folder, ledger):
        with segment(folder).open("ab") as file:
            file.truncate(1 << 31)
        with pytest.raises(ChainBroken, match="longer than 65,535 bytes"):
            Ledger.open(folder).verify()


class TestTornTail:
    def test_every_cut_of_an_append_keeps_what_was_acknowledged(self, folder, ledger):
        kept = segment(folder).read_bytes()
        entry = ledger.append("decision", {"n": 1}, NOON)
        for length in range(1, len(entry.line) + 1):
            segment(folder).write_bytes(kept + entry.line[:length])
            audit = Ledger.open(folder).audit()
            assert (audit.head.size, audit.torn) == (1, length)
        assert segment(folder).read_bytes() == kept + entry.line

    def test_reading_repairs_nothing(self, folder, ledger):
        with segment(folder).open("ab") as file:
            file.write(b'{"prev":"0')
        before = segment(folder).read_bytes()
        ledger.audit()
        list(ledger.entries())
        assert segment(folder).read_bytes() == before
        assert not (folder / "torn").exists()

    @pytest.mark.parametrize(
        "tail", [b'{"prev":"0', b"\0" * 500, b" ", b'{"prev":"0' + bytes(3_000_000)]
    )
    def test_the_next_append_sets_it_aside_and_tells(self, folder, ledger, tail):
        with segment(folder).open("ab") as file:
            file.write(tail)
        entry = ledger.append("decision", {"n": 1}, NOON)
        assert entry.seq == 1
        (name,) = ledger.set_aside
        assert (folder / name).read_bytes() == tail
        assert ledger.audit().torn == 0

    def test_an_empty_last_segment_is_one_that_was_about_to_be_written(self, folder, ledger):
        fill(folder, log.LINES - 1)
        segment(folder, 1).touch()
        assert ledger.verify().size == log.LINES
        assert ledger.append("breach", {}, NOON).seq == log.LINES
        assert segment(folder, 1).read_bytes().count(b"\n") == 1

    def test_a_genesis_that_was_cut_off_is_started_again(self, folder, ledger):
        line = segment(folder).read_bytes()
        segment(folder).write_bytes(line[:100])
        with pytest.raises(LedgerUnreadable, match="no ledger"):
            Ledger.open(folder).verify()
        Ledger.init(folder, ORIGIN, NOON)
        assert segment(folder).read_bytes() == line


class TestLinks:
    def test_a_link_at_the_locks_path_is_refused_and_not_followed(self, folder, ledger, tmp_path):
        target = tmp_path / "target"
        target.write_bytes(b"precious")
        (folder / ".lock").unlink()
        (folder / ".lock").symlink_to(target)
        before = target.stat()
        for act in (lambda: ledger.append("breach", {}, NOON), ledger.verify):
            with pytest.raises(LedgerUnreadable, match=r"\.lock is a symbolic link"):
                act()
        assert target.read_bytes() == b"precious"
        assert target.stat() == before

    def test_a_dangling_link_at_the_locks_path_makes_nothing(self, folder, ledger, tmp_path):
        (folder / ".lock").unlink()
        (folder / ".lock").symlink_to(tmp_path / "target")
        with pytest.raises(LedgerUnreadable):
            ledger.append("breach", {}, NOON)
        assert not (tmp_path / "target").exists()

    @pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
    def test_only_a_plain_file_is_a_lock(self, folder, ledger, make):
        (folder / ".lock").unlink()
        make(folder / ".lock")
        with pytest.raises(LedgerUnreadable, match=r"\.lock"):
            ledger.append("breach", {}, NOON)

    @pytest.mark.parametrize("which", [".", "log", "log/00000000.jsonl"])
    def test_no_part_of_a_ledger_is_reached_through_a_link(self, folder, ledger, which, tmp_path):
        real = folder / which
        moved = tmp_path / "moved"
        real.rename(moved)
        real.symlink_to(moved)
        for act in (lambda: Ledger.open(folder).append("breach", {}, NOON), ledger.verify):
            with pytest.raises(LedgerUnreadable):
                act()


class TestLock:
    def test_waiting_ends_and_names_who_holds_it(self, folder, ledger, monkeypatch):
        monkeypatch.setattr(store, "READER_WAIT", 0.05)
        code = (
            "import fcntl, os, sys\n"
            "lock = os.open(sys.argv[1], os.O_RDWR)\n"
            "fcntl.flock(lock, fcntl.LOCK_EX)\n"
            "print('held', flush=True)\n"
            "sys.stdin.read()\n"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", code, folder / ".lock"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with holder:
            holder.stdout.readline()
            waiting = Ledger.open(folder, wait=0.2)
            with pytest.raises(LedgerUnreadable, match=f"process {holder.pid} has held it"):
                waiting.append("breach", {}, NOON)
            assert ledger.verify().size == 1, "a reader does not wait for ever"
            holder.stdin.close()
        assert ledger.append("breach", {}, NOON).seq == 1

    def test_the_lock_file_outlives_every_append(self, folder, ledger):
        before = (folder / ".lock").stat().st_ino
        for _ in range(3):
            ledger.append("breach", {}, NOON)
        assert (folder / ".lock").stat().st_ino == before

    def test_a_lock_file_that_somebody_removed_gives_no_second_holder(self, folder, ledger):
        with ledger._writing():
            (folder / ".lock").unlink()
            with pytest.raises(LedgerUnreadable, match="is locked"):
                Ledger.open(folder, wait=0.1).append("breach", {}, NOON)
        assert ledger.append("breach", {}, NOON).seq == 1


class TestNetwork:
    def _claim(self, monkeypatch, folder, kind):
        device = folder.stat().st_dev
        rows = folder.parent / "mountinfo"
        rows.write_text(
            "22 1 0:21 / /proc rw - proc proc rw\n"
            f"36 35 {os.major(device)}:{os.minor(device)} / /mnt rw shared:1 - {kind} h:/x rw\n"
        )
        monkeypatch.setattr(mount, "_MOUNTS", rows)

    @pytest.mark.parametrize("kind", sorted(mount.NETWORK))
    def test_a_network_file_system_is_refused_unless_allowed(
        self, folder, ledger, monkeypatch, kind
    ):
        self._claim(monkeypatch, folder, kind)
        with pytest.raises(LedgerUnreadable, match=f"network file system \\({kind}\\)"):
            ledger.append("breach", {}, NOON)
        assert Ledger.open(folder, network=True).append("breach", {}, NOON).seq == 1
        assert ledger.verify().size == 2, "reading is not refused"

    def test_a_local_one_is_not(self, folder, ledger, monkeypatch):
        self._claim(monkeypatch, folder, "ext4")
        assert ledger.append("breach", {}, NOON).seq == 1

    def test_a_system_that_does_not_tell_is_taken_for_local(self, ledger, monkeypatch, tmp_path):
        monkeypatch.setattr(mount, "_MOUNTS", tmp_path / "absent")
        assert ledger.append("breach", {}, NOON).seq == 1


class TestRead:
    def test_a_ledger_without_the_right_to_write_is_read(self, folder, ledger):
        (folder / ".lock").unlink()
        assert ledger.verify().size == 1
        assert not (folder / ".lock").exists()

    def test_reading_goes_no_further_than_where_it_began(self, folder, ledger):
        fill(folder, 20)
        lines = ledger.lines()
        next(lines)
        fill(folder, 20)
        assert sum(1 for _ in lines) == 20

    def test_pins_and_meaning_reach_the_rules(self, folder, ledger):
        fill(folder, 3)
        head = ledger.verify()
        heard = []
        audit = ledger.audit(pins={4: head.root}, meaning=lambda entry: heard.append(entry.seq))
        assert (audit.head, heard) == (head, [0, 1, 2, 3])
        with pytest.raises(ChainBroken, match="written anew"):
            ledger.audit(pins={2: head.root})

    def test_a_clock_that_went_backwards_is_noticed(self, ledger):
        ledger.append("breach", {}, NOON - timedelta(hours=1))
        assert ledger.audit().notices == ((1, "is dated before the entry it follows"),)

    def test_names_in_messages_are_the_last_part_of_a_path(self, folder):
        with pytest.raises(LedgerUnreadable) as caught:
            Ledger.open(folder)
        assert str(folder.parent) not in str(caught.value)

    def test_the_published_ledger_is_read_from_where_it_lies(self, shared):
        path = shared / "data/ledger/golden-ledger"
        assert Ledger.open(path).verify().size == 9

    def test_what_is_read_back_is_what_was_given(self, ledger):
        body = {"a": 1, "b": [0.5, None, True, "x"], "c": {"d": {}}}
        entry = ledger.append("decision", body, NOON)
        assert list(ledger.entries())[1].body == body
        assert canonical(entry.body) == canonical(body)


@pytest.mark.parametrize("name", ["log/00000000.jsonl", "checkpoint"])
def test_a_pipe_in_a_files_place_is_refused_and_never_waited_for(tmp_path, name):
    Ledger.init(tmp_path / "ledger", "localhost/test", datetime(2026, 1, 1, tzinfo=UTC))
    place = tmp_path / "ledger" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(LedgerUnreadable, match="not a plain file"):
        ledger = Ledger.open(tmp_path / "ledger")
        ledger.verify()
        ledger.checkpoint()
