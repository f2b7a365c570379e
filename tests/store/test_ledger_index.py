"""The index of a ledger: it finds what is there, and is built again wherever it could not be right."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from aal_engine.errors import ChainBroken
from aal_engine.store import ledger_index
from aal_engine.store.ledger import Ledger
from aal_engine.store.ledger_index import LedgerIndex
from aal_engine.store.ledger_query import Filters

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "example.com/ledger"
EVERYTHING = Filters()


def body(n: int, part=(1, 1), **more):
    family = "gpt" if n % 2 else "claude"
    return {
        "agent": f"agent-{n % 3}",
        "pack": "handbook",
        "version": f"1.{n}.0",
        "verdict": "blocked" if n % 4 else "released",
        "decision": f"{n:064x}",
        "part": part if isinstance(part, int) else list(part),
        "records": [
            {"kind": kind, "suite": "core", "model_family": family, "passed": n % 4 == 0}
            for kind in ("retrieval", "answers")
        ],
        **more,
    }


@pytest.fixture
def folder(tmp_path):
    Ledger.init(tmp_path / "ledger", ORIGIN, NOON)
    return tmp_path / "ledger"


def fill(folder, start, stop):
    ledger = Ledger.open(folder)
    ledger.append_all("decision", [body(n) for n in range(start, stop)], NOON)


def log(folder):
    return folder / "log/00000000.jsonl"


def marked(rest):
    """Return the bytes of an index file that nothing but what it says betrays."""
    return f"aal-ledger-index/1 {hashlib.sha256(rest).hexdigest()}\n".encode() + rest


def numbers(index, asked=EVERYTHING, before=None, limit=-1):
    return [entry.seq for entry in index.entries(asked, before, limit)]


@pytest.fixture
def kept(folder, monkeypatch):
    """A ledger whose index has been written to its file."""
    monkeypatch.setattr(ledger_index, "WORTH_KEEPING", 1)
    fill(folder, 1, 13)
    LedgerIndex(folder).catch_up()
    return folder / "cache/index"


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_index_that_others_could_write_is_not_believed(folder, kept, mode):
    """It might leave entries out, and who finds none would take that for the ledger's word."""
    assert kept.stat().st_mode & 0o777 == 0o600
    index = LedgerIndex(folder)
    with index._rows:
        index._rows.execute("DELETE FROM entry WHERE seq = 7")
    index._save(index._seen)
    assert 7 not in numbers(LedgerIndex(folder))
    kept.chmod(mode)
    fresh = LedgerIndex(folder)
    fresh.catch_up()
    assert 7 in numbers(fresh)


class TestFinding:
    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            (Filters(), range(12, -1, -1)),
            (Filters(kinds=("genesis",)), [0]),
            (Filters(kinds=("genesis", "decision"), version="1.7.0"), [7]),
            (Filters(agent="agent-1"), [10, 7, 4, 1]),
            (Filters(pack="other"), []),
            (Filters(verdict="released"), [12, 8, 4]),
            (Filters(family="claude"), [12, 10, 8, 6, 4, 2]),
            (Filters(family="claude", passed=False), [10, 6, 2]),
            (Filters(suite="core", scored="answers", agent="agent-0"), [12, 9, 6, 3]),
            (Filters(decision=f"{5:064x}"), [5]),
            (Filters(since="2026-05-01T12:00:00.000Z", until="2026-05-01T12:00:00.000Z"), []),
        ],
        ids=str,
    )
    def test_entries_by_what_they_are(self, folder, asked, found):
        fill(folder, 1, 13)
        index = LedgerIndex(folder)
        index.catch_up()
        assert numbers(index, asked) == list(found)

    def test_pages_meet_without_a_gap_while_entries_are_added(self, folder):
        fill(folder, 1, 8)
        index = LedgerIndex(folder)
        index.catch_up()
        first = numbers(index, limit=3)
        fill(folder, 8, 13)
        index.catch_up()
        assert first + numbers(index, before=first[-1]) == list(range(7, -1, -1))

    def test_what_stands_in_another_segment_is_read_from_it(self, folder):
        ledger = Ledger.open(folder)
        bodies = [{"n": n} for n in range(4_100)]
        entries = ledger.append_all("breach", bodies, NOON + timedelta(days=1))
        index = LedgerIndex(folder, keep=False)
        index.catch_up()
        assert index.entries(Filters(since="2026-05-02"), None, 8)[::-1] == entries[-8:]

    @pytest.mark.parametrize("stop", [1, 2])
    def test_a_decision_counts_once_its_last_part_is_there(self, folder, stop):
        ledger = Ledger.open(folder)
        parts = [body(4, part=[place, 3]) for place in (1, 2, 3)]
        ledger.append_all("decision", parts[:stop], NOON)
        index = LedgerIndex(folder)
        index.catch_up()
        assert index.decisions(Filters(), None, -1) == []
        assert index.records(Filters(), None, -1) == []
        ledger.append_all("decision", parts[stop:], NOON)
        index.catch_up()
        (decision,) = index.decisions(Filters(), None, -1)
        assert [entry.body["part"] for entry in decision] == [[1, 3], [2, 3], [3, 3]]
        found = index.records(Filters(), None, 4)
        assert [(entry.seq, place, end) for entry, place, end in found] == [
            (3, 1, 3),
            (3, 0, 3),
            (2, 1, 3),
            (2, 0, 3),
        ]
        assert len(index.records(Filters(), (2, 1), -1)) == 3

    @pytest.mark.parametrize("parts", [[[2, 3], [3, 3]], [[1, 2], [1, 2]], [[1, 3], [3, 3]]])
    def test_a_decision_of_which_a_part_is_missing_is_none(self, folder, parts):
        Ledger.open(folder).append_all("decision", [body(4, part=p) for p in parts], NOON)
        index = LedgerIndex(folder)
        index.catch_up()
        assert index.decisions(Filters(), None, -1) == []

    @pytest.mark.parametrize(
        "odd", [{"part": 7}, {"part": [True, 1]}, {"records": {}}, {"records": [7]}, {"agent": 7}]
    )
    def test_bodies_of_any_shape_are_taken_in(self, folder, odd):
        Ledger.open(folder).append("decision", body(4, **odd), NOON)
        index = LedgerIndex(folder)
        index.catch_up()
        assert numbers(index) == [1, 0]


class TestChange:
    def test_only_what_is_new_is_read(self, folder, kept, monkeypatch):
        fill(folder, 13, 15)
        taken = []
        real = ledger_index.take_up
        monkeypatch.setattr(
            ledger_index,
            "take_up",
            lambda rows, entry, at: (taken.append(entry.seq), real(rows, entry, at)),
        )
        index = LedgerIndex(folder)
        assert (index.catch_up().size, taken, index.rebuilt) == (15, [13, 14], None)
        assert index.entries(Filters(version="1.14.0"), None, 1)[0].body["version"] == "1.14.0"

    def test_a_log_that_was_cut_is_indexed_again(self, folder, kept):
        index = LedgerIndex(folder)
        log(folder).write_bytes(b"".join(log(folder).read_bytes().splitlines(True)[:5]))
        assert index.catch_up().size == 5
        assert "cut or written anew" in index.rebuilt
        assert numbers(index) == [4, 3, 2, 1, 0]

    def test_another_ledger_in_its_place_is_indexed_again(self, folder, kept):
        shutil.rmtree(folder / "log")
        Ledger.init(folder, "example.com/other", NOON)
        Ledger.open(folder).append_all("decision", [body(n) for n in range(20)], NOON)
        index = LedgerIndex(folder)
        assert index.catch_up().origin == "example.com/other"
        assert index.rebuilt is not None
        assert numbers(index, Filters(version="1.19.0")) == [20]

    def test_a_line_that_was_edited_is_not_shown(self, folder, kept):
        log(folder).write_bytes(log(folder).read_bytes().replace(b'"1.6.0"', b'"1.6.9"'))
        index = LedgerIndex(folder)
        index.catch_up()
        assert numbers(index, Filters(version="1.7.0")) == [7]
        with pytest.raises(ChainBroken, match="entry 6: is not what was verified before"):
            numbers(index)

    def test_what_is_added_and_does_not_follow_is_told_and_not_taken_in(self, folder, kept):
        index = LedgerIndex(folder)
        index.catch_up()
        raw = log(folder).read_bytes()
        with log(folder).open("ab") as file:
            file.write(raw.splitlines(True)[-1])
        with pytest.raises(ChainBroken, match="entry 13"):
            index.catch_up()
        assert numbers(index) == list(range(12, -1, -1))


class TestFile:
    def test_every_flipped_bit_is_noticed_and_the_index_built_again(self, folder, kept):
        whole = kept.read_bytes()
        for place in range(0, len(whole), len(whole) // 97):
            kept.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            index = LedgerIndex(folder)
            assert index.catch_up().size == 13, place
            assert index.rebuilt is not None, place
            assert numbers(index, Filters(agent="agent-1")) == [10, 7, 4, 1]
            assert kept.read_bytes() == whole

    @pytest.mark.parametrize("text", [b"", b"{}\n", b"[]\n", b"\xff", b"[" * 100_000])
    def test_what_is_no_index_is_built_again(self, folder, kept, text):
        for raw in (text, marked(text)):
            kept.write_bytes(raw)
            assert LedgerIndex(folder).catch_up().size == 13
            assert LedgerIndex(folder).rebuilt is None

    def test_a_database_of_another_shape_is_not_asked(self, folder, kept):
        _, header, database = kept.read_bytes().split(b"\n", 2)
        rows = sqlite3.connect(":memory:")
        rows.deserialize(database)
        rows.execute("CREATE VIEW surprise AS SELECT 1")
        rows.commit()
        changed = rows.serialize()
        rows.close()
        kept.write_bytes(marked(header + b"\n" + changed))
        assert LedgerIndex(folder).rebuilt is not None

    def test_a_pipe_or_a_link_in_its_place_is_passed_over(self, folder, kept, tmp_path):
        kept.unlink()
        os.mkfifo(kept)
        assert LedgerIndex(folder).catch_up().size == 13
        shutil.rmtree(kept.parent)
        (tmp_path / "elsewhere").mkdir()
        kept.parent.symlink_to(tmp_path / "elsewhere")
        assert LedgerIndex(folder).catch_up().size == 13
        assert list((tmp_path / "elsewhere").iterdir()) == []

    def test_it_is_not_for_git(self, folder, kept):
        assert (kept.parent / ".gitignore").read_text() == "*\n"

    def test_a_small_ledger_has_none(self, folder):
        fill(folder, 1, 13)
        LedgerIndex(folder).catch_up()
        assert not (folder / "cache").exists()
