from __future__ import annotations

import json
import os
from contextlib import suppress

import pytest

from aal_engine.errors import Conflict, InputError, WriteError
from aal_engine.store.monitor_state import JOURNAL, SNAPSHOT, MonitorState
from aal_engine.store.seen import Seen, key_of


@pytest.fixture
def opened(tmp_path):
    made = []

    def open_(**more) -> MonitorState:
        made.append(MonitorState(tmp_path / "state", **more))
        return made[-1]

    yield open_
    for state in made:
        with suppress(OSError):
            state.close()


def test_what_was_committed_last_is_found(opened):
    first = opened()
    assert first.value is None
    first.commit({"n": 1}, [key_of("a")])
    first.commit({"n": 2}, [key_of("b")])
    first.close()
    second = opened()
    assert second.value == {"n": 2}
    assert key_of("a") in second.seen
    assert key_of("c") not in second.seen


def test_every_cut_of_the_last_line_leaves_the_commit_before(opened, tmp_path):
    first = opened()
    first.commit({"n": 1}, [])
    whole = (tmp_path / "state" / JOURNAL).stat().st_size
    first.commit({"n": 2}, [key_of("b")])
    first.close()
    journal = (tmp_path / "state" / JOURNAL).read_bytes()
    for cut in range(whole, len(journal)):
        (tmp_path / "state" / JOURNAL).write_bytes(journal[:cut])
        state = opened()
        assert state.value == {"n": 1}
        assert key_of("b") not in state.seen
        state.commit({"n": 3}, [])
        state.close()
        last = opened()
        assert last.value == {"n": 3}
        last.close()


def test_the_journal_is_folded_and_a_death_in_between_does_no_harm(opened, tmp_path):
    state = opened(most_journal=2_000)
    for n in range(200):
        before = (tmp_path / "state" / JOURNAL).read_bytes()
        state.seen.add(key_of(str(n)))
        state.commit({"n": n}, [key_of(str(n))])
    state.close()
    assert (tmp_path / "state" / JOURNAL).stat().st_size < 2_200
    assert json.loads((tmp_path / "state" / SNAPSHOT).read_bytes())["value"]["n"] > 150
    # The process died after the snapshot was written and before the journal was cut.
    (tmp_path / "state" / JOURNAL).write_bytes(before)
    again = opened()
    assert again.value["n"] >= 198
    assert all(key_of(str(n)) in again.seen for n in range(199))


def test_one_process_holds_a_state(opened):
    first = opened()
    with pytest.raises(Conflict, match="another process watches"):
        opened()
    first.close()
    opened()


def test_what_is_no_state_is_left_as_it_is(opened, tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / SNAPSHOT).write_text('{"v": 9}')
    with pytest.raises(InputError, match=r"snapshot\.json: is not the state of a monitor"):
        opened()
    assert (tmp_path / "state" / SNAPSHOT).read_text() == '{"v": 9}'


def test_a_full_disk_leaves_the_commit_before(opened, monkeypatch):
    state = opened()
    state.commit({"n": 1}, [])
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
    with pytest.raises(WriteError, match="journal was not written"):
        state.commit({"n": 2}, [])
    monkeypatch.undo()
    state.commit({"n": 3}, [])
    state.close()
    assert opened().value == {"n": 3}


def test_the_memory_of_ids_is_bounded():
    seen = Seen(limit=100)
    for n in range(1_000):
        seen.add(n)
    assert len(seen) <= 200
    assert all(n in seen for n in range(900, 1_000))
    other = Seen(limit=100)
    other.restore(seen.packed())
    assert all(n in other for n in range(900, 1_000))
