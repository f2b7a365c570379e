"""The pointer file: whole at any moment, read back, refused where it cannot be."""

from __future__ import annotations

import os

import pytest

from aal_engine.decide.deployment import Pointer
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed
from aal_engine.store.order import Order
from aal_engine.store.pointer import PointerActuator

KEY = AgentKey("desk", "support")


def order(version, key=KEY):
    return Order(key, version, "token")


def test_it_holds_the_version_and_a_line_feed(tmp_path):
    pointer = PointerActuator(Pointer(), tmp_path)
    pointer.act(order("1.10.0"))
    assert (tmp_path / "live/support/desk").read_bytes() == b"1.10.0\n"
    assert pointer.read(KEY) == "1.10.0"


def test_stopped_it_is_empty(tmp_path):
    pointer = PointerActuator(Pointer(), tmp_path)
    pointer.act(order("1.0.0"))
    pointer.act(order(None))
    assert (tmp_path / "live/support/desk").read_bytes() == b""
    assert pointer.read(KEY) is None


def test_where_there_is_no_file_nothing_serves(tmp_path):
    assert PointerActuator(Pointer(), tmp_path).read(KEY) is None


def test_two_agents_never_share_a_file(tmp_path):
    pointer = PointerActuator(Pointer(), tmp_path)
    pointer.act(order("1", AgentKey("a/b", "c")))
    pointer.act(order("2", AgentKey("b", "c/a")))
    pointer.act(order("3", AgentKey("b", "c")))
    assert [pointer.read(AgentKey(*key)) for key in (("a/b", "c"), ("b", "c/a"), ("b", "c"))] == [
        "1",
        "2",
        "3",
    ]


@pytest.mark.parametrize(
    ("leads_to", "why"), [(None, "gone"), ("nowhere", "gone"), ("1.0.0", "refused")]
)
def test_an_artefact_that_is_gone_is_told_from_one_that_cannot_be_seen(tmp_path, leads_to, why):
    pointer = PointerActuator(Pointer(artifacts="builds/{version}"), tmp_path)
    (tmp_path / "builds").mkdir()
    if leads_to is not None:
        (tmp_path / "builds" / "1.0.0").symlink_to(leads_to)
    with pytest.raises(ActFailed) as told:
        pointer.act(order("1.0.0"))
    assert told.value.why == why
    assert pointer.read(KEY) is None


@pytest.mark.parametrize("key", [AgentKey("policy.yaml", ".."), AgentKey("..", "support")])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, key):
    (tmp_path / "policy.yaml").write_text("kept")
    pointer = PointerActuator(Pointer(), tmp_path)
    with pytest.raises(ActFailed, match="is not handed on"):
        pointer.act(order("1.0.0", key))
    with pytest.raises(ActFailed, match="is not handed on"):
        pointer.read(key)
    assert (tmp_path / "policy.yaml").read_text() == "kept"


@pytest.mark.parametrize("raw", [b"1.0.0\n2.0.0\n", b"\xff\xfe", b"x" * 5000, b"1\x000"])
def test_what_is_no_version_is_not_taken_for_one(tmp_path, raw):
    pointer = PointerActuator(Pointer(), tmp_path)
    pointer.act(order("1.0.0"))
    (tmp_path / "live/support/desk").write_bytes(raw)
    with pytest.raises(ActFailed) as told:
        pointer.read(KEY)
    assert told.value.why == "unreadable"


def test_a_version_without_its_artefact_is_gone(tmp_path):
    pointer = PointerActuator(Pointer(artifacts="builds/{agent}/{version}"), tmp_path)
    (tmp_path / "builds/desk/1.0.0").mkdir(parents=True)
    pointer.act(order("1.0.0"))
    with pytest.raises(ActFailed) as told:
        pointer.act(order("0.9.0"))
    assert told.value.why == "gone"
    assert pointer.read(KEY) == "1.0.0"


def test_a_symbolic_link_in_its_place_is_refused_and_its_target_untouched(tmp_path):
    pointer = PointerActuator(Pointer(), tmp_path)
    pointer.act(order("1.0.0"))
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "live/support/desk").unlink()
    os.symlink(other, tmp_path / "live/support/desk")
    with pytest.raises(ActFailed) as told:
        pointer.act(order("1.1.0"))
    assert told.value.why == "refused"
    assert other.read_text() == "mine"


def test_a_file_where_its_folder_should_be_is_told_without_the_path(tmp_path):
    (tmp_path / "live").write_text("")
    with pytest.raises(ActFailed) as told:
        PointerActuator(Pointer(), tmp_path).act(order("1.0.0"))
    assert str(tmp_path) not in str(told.value)


def test_a_name_that_no_policy_allows_goes_into_no_path(tmp_path):
    pointer = PointerActuator(Pointer(artifacts="builds/{version}"), tmp_path)
    with pytest.raises(ActFailed, match="the version has a name"):
        pointer.act(order("../../etc/passwd"))
