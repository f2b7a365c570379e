"""What an audit keeps, and reads back."""

from __future__ import annotations

import base64
import json

import pytest
from specimen import record, released, replayed

from aal_engine.decide.keyring import Succession
from aal_engine.decide.ledger import Head
from aal_engine.decide.replay import Replay
from aal_engine.errors import InputError
from aal_engine.store.audit_state import State, load_state, save_state

HEAD = Head("example.com/ledger", 3, bytes(32), (bytes(32), bytes(range(32))), "2026")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.json"


def test_all_that_was_known_is_read_back(path):
    known = replayed(released(record())[0]).known()
    assert known.releases
    state = State(HEAD, known, (Succession("a", "b"),), strict=False)
    save_state(path, state)
    assert load_state(path) == state
    assert Replay(load_state(path).known).known() == known


def test_meaning_may_be_left_out(path):
    save_state(path, State(HEAD, None))
    assert load_state(path) == State(HEAD, None)


def test_there_is_none_at_first(path):
    assert load_state(path) is None


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("format", "aal-ledger-state/1"),
        ("size", 2),
        ("size", "3"),
        ("size", True),
        ("origin", 7),
        ("leaf", "00"),
        ("edge", []),
        ("edge", 7),
        ("known", "!"),
        ("known", base64.b64encode(b"\xc1").decode()),
        ("known", base64.b64encode(b"\x81\xa4keys\x01").decode()),
        ("followed", [["a"]]),
        ("followed", None),
        ("strict", 1),
    ],
)
def test_a_state_that_cannot_be_is_refused(path, member, value):
    save_state(path, State(HEAD, replayed().known()))
    path.write_text(json.dumps({**json.loads(path.read_text()), member: value}))
    with pytest.raises(InputError, match=r"state\.json: is not the state of an audit"):
        load_state(path)
