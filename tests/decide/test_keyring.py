"""Which keys a ledger names, and which changes of them cannot be."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from aal_engine.decide.checkpoint import Checkpoint
from aal_engine.decide.key import COSIGNATURE, ED25519, SignerKey
from aal_engine.decide.keyring import Keyring, Succession, follow
from aal_engine.decide.ledger import empty, extend, genesis_body, link
from aal_engine.decide.note import Note
from aal_engine.decide.trust import read_trust
from aal_engine.errors import AppendRefused, ChainBroken

NOW = datetime(2026, 1, 31, tzinfo=UTC)
ORIGIN = "example.com/ledger"
A, B, C = (SignerKey(ORIGIN, ED25519, bytes([n]) * 32) for n in (1, 2, 3))
WITNESS = SignerKey(ORIGIN, COSIGNATURE, bytes(32))
OTHER = SignerKey("example.com/other", ED25519, bytes(32))


def vkey(key):
    return key.verifier().encode()


def ring(*bodies, first=(A,)):
    """Return the keyring after a genesis that names keys, and key entries."""
    head, keyring = empty(ORIGIN), Keyring()
    genesis = ("genesis", genesis_body(ORIGIN, [vkey(key) for key in first]))
    for kind, body in [genesis, *(("key", body) for body in bodies)]:
        entry = link(head, kind, body, NOW)
        keyring, head = keyring.after(entry), extend(head, entry)
    return keyring


def change(added, retired):
    return {"added": [vkey(k) for k in added], "retired": [vkey(k) for k in retired]}


def test_a_key_takes_over_from_another():
    keyring = ring(change([B], [A]), change([C], []))
    assert keyring.in_force == (vkey(B), vkey(C))
    assert [each.seq for each in keyring.changes] == [1, 2]


@pytest.mark.parametrize(
    "body",
    [
        change([], [A]),
        change([A], []),
        change([B], [B]),
        change([B], [C]),
        change([B, B], [A]),
        change([WITNESS], [A]),
        change([OTHER], [A]),
        {"added": [vkey(B)]},
        {"added": ["example.com/ledger+00000000+AAAA"], "retired": []},
        {"added": vkey(B), "retired": []},
        {"added": 7, "retired": []},
        {"added": [7], "retired": []},
        {"added": {vkey(B): 1}, "retired": []},
    ],
)
def test_a_change_that_cannot_be_breaks_the_ledger(body):
    with pytest.raises(ChainBroken, match="entry 1"):
        ring(body)


def test_a_change_is_refused_before_it_is_written():
    keyring = ring()
    assert keyring.changed([vkey(B)], [vkey(A)]) == change([B], [A])
    for added, retired in ([[], [A]], [[A], []], [[WITNESS], []], [[B], [C]]):
        with pytest.raises(AppendRefused):
            keyring.changed([vkey(k) for k in added], [vkey(k) for k in retired])


def test_a_ledger_that_names_no_keys_lets_any_sign_and_hands_over_from_any():
    keyring = ring(first=())
    keyring.require_signer([vkey(C)])
    keyring = ring(change([B], [A]), first=())
    with pytest.raises(AppendRefused, match="none of them"):
        keyring.require_signer([vkey(A)])


class TestFollowing:
    TRUST = read_trust(f"log {vkey(A)}\nquorum none\n", "policy")

    def note(self, size, *keys):
        note = Note(Checkpoint(ORIGIN, size, bytes(32)).text())
        for key in keys:
            note = note.signed(key, 0)
        return note.encode()

    def followed(self, notes, *bodies):
        return list(follow(self.TRUST, ring(*bodies), notes))

    def test_the_old_key_vouches_for_the_new_one(self):
        notes = {2: self.note(2, A, B)}
        assert self.followed(notes, change([B], [A])) == [Succession(vkey(A), vkey(B))]

    def test_step_by_step(self):
        notes = {2: self.note(2, A, B), 3: self.note(3, B, C)}
        steps = self.followed(notes, change([B], [A]), change([C], [B]))
        assert steps == [Succession(vkey(A), vkey(B)), Succession(vkey(B), vkey(C))]

    @pytest.mark.parametrize(
        ("size", "keys"),
        [(2, [B]), (2, [A]), (1, [A, B]), (2, [C, B])],
        ids=["new alone", "old alone", "before the entry", "another old one"],
    )
    def test_not_without_both_over_the_entry(self, size, keys):
        assert self.followed({size: self.note(size, *keys)}, change([B], [A])) == []
