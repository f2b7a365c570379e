"""The published ledger in this format: verified, and written again byte for byte."""

from __future__ import annotations

import base64
import json
from datetime import datetime

import pytest

from aal_engine.decide.ledger import empty, extend, link, verify


@pytest.fixture(scope="module")
def golden(shared):
    return shared / "data/ledger/golden-ledger"


@pytest.fixture(scope="module")
def lines(golden):
    return (golden / "log/00000000.jsonl").read_bytes().splitlines()


def _checkpoint(path):
    origin, size, root = path.read_text("utf-8").splitlines()[:3]
    return origin, int(size), base64.b64decode(root)


@pytest.mark.parametrize("strict", [True, False])
def test_it_verifies_to_the_root_of_its_checkpoint(golden, lines, strict):
    head = verify(lines, strict=strict)
    assert (head.origin, head.size, head.root) == _checkpoint(golden / "checkpoint")


def test_it_agrees_with_every_checkpoint_it_ever_had(golden, lines):
    pins = {}
    for path in (golden / "checkpoints").iterdir():
        _, size, root = _checkpoint(path)
        pins[size] = root
    assert set(pins) == {5, 9}
    assert verify(lines, pins=pins).size == 9


def test_appending_its_records_again_gives_its_bytes(lines):
    head = empty("aal.example/acme/release-ledger")
    for line in lines:
        record = json.loads(line)["rec"]
        at = datetime.fromisoformat(record["at"])
        entry = link(head, record["kind"], record["body"], at)
        assert entry.line == line
        head = extend(head, entry)
    assert head == verify(lines)
