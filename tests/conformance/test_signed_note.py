"""Signed-note vectors, and keys of every kind against the library that made them."""

from __future__ import annotations

import json

import pytest

from aal_engine.decide.key import KINDS, SignerKey, signer_key, verifier_key
from aal_engine.decide.note import Note, parse, verified
from aal_engine.errors import NoTrustedKey

CHECKPOINT = "example.com/ledger\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"


@pytest.fixture(scope="module")
def vectors(shared):
    return json.loads((shared / "data/ledger/note/signed_note.json").read_text())


def test_published_keys_good_and_bad(vectors):
    for vkey in vectors["keys"]["good"]:
        assert verifier_key(vkey).encode() == vkey
    for vkey in vectors["keys"]["bad"]:
        with pytest.raises(NoTrustedKey):
            verifier_key(vkey)


def test_published_notes_good_and_bad(vectors):
    for case in vectors["open"]:
        raw = bytes.fromhex(case["note"])
        keys = [verifier_key(vkey) for vkey in case["keys"]]
        if "error" in case:
            with pytest.raises(NoTrustedKey):
                verified(parse(raw), keys)
        else:
            assert len(verified(parse(raw), keys)) == case["verified"], case["desc"]


def test_the_example_of_the_specification(vectors):
    example = vectors["c2sp_example"]
    key = verifier_key(example["key"])
    note = parse(bytes.fromhex(example["note"]))
    assert verified(note, [key]) == [key]
    assert note.encode().hex() == example["note"]


def test_the_published_private_key_signs_the_published_note(vectors):
    key = signer_key(vectors["signer_test_only"])
    assert key.encode() == vectors["signer_test_only"]
    raw = bytes.fromhex(vectors["open"][0]["note"])
    note = parse(raw)
    assert Note(note.text).signed(key, 0).signatures == note.signatures[:1]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_key_signs_and_is_read_back(kind):
    key = SignerKey("example.com/ledger", kind, bytes(range(32)))
    assert signer_key(key.encode()) == key
    assert verifier_key(key.verifier().encode()) == key.verifier()
    note = parse(Note(CHECKPOINT).signed(key, 1_700_000_000).encode())
    assert verified(note, [key.verifier()]) == [key.verifier()]
    other = Note(CHECKPOINT.replace("\n7\n", "\n8\n"), note.signatures)
    with pytest.raises(NoTrustedKey, match="not good"):
        verified(other, [key.verifier()])
    assert bytes(range(32)).hex() not in repr(key)


@pytest.mark.parametrize("kind", KINDS)
def test_signing_again_takes_the_place_of_the_earlier_signature(kind):
    key = SignerKey("example.com/ledger", kind, bytes(32))
    note = Note(CHECKPOINT).signed(key, 1).signed(key, 2)
    assert len(note.signatures) == 1


@pytest.mark.parametrize("text", ["", "PRIVATE+KEY+", "PRIVATE+KEY+a+00000000+AQ==", "a+b+c"])
def test_what_is_no_private_key_is_refused_without_showing_it(text):
    with pytest.raises(NoTrustedKey) as caught:
        signer_key(text + "secret")
    assert "secret" not in str(caught.value)
