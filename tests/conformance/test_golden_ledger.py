"""The published ledger in this format: verified, and written again byte for byte."""

from __future__ import annotations

import base64
import json
from datetime import datetime

import pytest

from aal_engine.decide.ledger import empty, extend, link, verify
from aal_engine.decide.merkle import consistency_proof, consistent, leaf_hash, tree_root
from aal_engine.decide.proof import prove, read_proof
from aal_engine.decide.trust import read_trust
from aal_engine.errors import ChainBroken, NoTrustedKey


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


@pytest.fixture(scope="module")
def trust(golden):
    return read_trust((golden / "policy").read_text("utf-8"), "policy")


def test_its_policy_vouches_for_its_checkpoint(golden, trust):
    found = trust.opened((golden / "checkpoint").read_bytes())
    assert (found.origin, found.size, found.root) == _checkpoint(golden / "checkpoint")


def test_a_checkpoint_without_its_witness_misses_the_quorum(golden, trust):
    with pytest.raises(NoTrustedKey, match="quorum W1 is not reached"):
        trust.opened((golden / "checkpoints/000000000009").read_bytes())


@pytest.mark.parametrize("place", [2, 34, 60, 120, 200, 300])
def test_a_checkpoint_with_one_byte_changed_is_not_trusted(golden, trust, place):
    raw = bytearray((golden / "checkpoint").read_bytes())
    raw[place] ^= 1
    with pytest.raises(NoTrustedKey):
        trust.opened(bytes(raw))


def test_its_proof_is_written_again_byte_for_byte(golden, lines, trust):
    raw = (golden / "entry-7.tlog-proof").read_bytes()
    leaves = [leaf_hash(line) for line in lines]
    assert prove(leaves, 7, (golden / "checkpoint").read_bytes()).encode() == raw
    proof = read_proof(raw)
    assert proof.leads_from(leaves[7]) == trust.opened(proof.checkpoint)
    with pytest.raises(ChainBroken, match="entry 7"):
        proof.leads_from(leaves[6])


def test_its_consistency_proof(golden, lines):
    told = (golden / "consistency-5-9.txt").read_text().split()
    path = [base64.b64decode(each) for each in told]
    leaves = [leaf_hash(line) for line in lines]
    assert consistency_proof(leaves, 5) == path
    assert consistent(5, 9, tree_root(leaves[:5]), tree_root(leaves), path)
