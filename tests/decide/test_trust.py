"""Policies of trust: which files are read, and which quorums are reached."""

from __future__ import annotations

import pytest

from aal_engine.decide.key import COSIGNATURE, ED25519, SignerKey
from aal_engine.decide.note import Note
from aal_engine.decide.trust import read_trust
from aal_engine.errors import InputError, NoTrustedKey

ORIGIN = "example.com/ledger"
TEXT = f"{ORIGIN}\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
LOG = SignerKey(ORIGIN, ED25519, b"L" * 32)
W = [SignerKey(f"witness.example/{n}", COSIGNATURE, bytes([n]) * 32) for n in range(3)]
VKEY = LOG.verifier().encode()
WITNESSES = "".join(f"witness W{n} {key.verifier().encode()}\n" for n, key in enumerate(W))


def policy(rest: str) -> str:
    return f"# keys\n\nlog {VKEY} https://example.com\n{WITNESSES}{rest}"


def signed(*keys: SignerKey) -> bytes:
    note = Note(TEXT)
    for key in keys:
        note = note.signed(key, 1_700_000_000)
    return note.encode()


@pytest.mark.parametrize(
    ("rest", "by", "trusted"),
    [
        ("quorum none\n", [LOG], True),
        ("quorum none\n", [W[0]], False),
        ("quorum W1\n", [LOG, W[1]], True),
        ("quorum W1\n", [LOG, W[0], W[2]], False),
        ("group g 2 W0 W1 W2\nquorum g\n", [LOG, W[0], W[2]], True),
        ("group g 2 W0 W1 W2\nquorum g\n", [LOG, W[0]], False),
        ("group g any W0 W1\n\tgroup h all g W2\nquorum h\n", [LOG, W[1], W[2]], True),
        ("group g any W0 W1\ngroup h all g W2\nquorum h\n", [LOG, W[0], W[1]], False),
    ],
)
def test_a_checkpoint_is_trusted_when_the_log_and_the_quorum_signed(rest, by, trusted):
    trust = read_trust(policy(rest), "policy")
    if trusted:
        assert trust.opened(signed(*by)).size == 7
    else:
        with pytest.raises(NoTrustedKey):
            trust.opened(signed(*by))


def test_a_log_of_another_name_is_not_trusted():
    other = SignerKey("example.com/other", ED25519, b"O" * 32).verifier().encode()
    with pytest.raises(NoTrustedKey, match=r"no key of a log named example\.com/ledger"):
        read_trust(f"log {other}\nquorum none\n", "policy").opened(signed(LOG))


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("", "no quorum line"),
        ("quorum none\nquorum none\n", "one line"),
        ("quorum W9\n", "no line above defines"),
        ("group g 3 W0 W1\nquorum g\n", "count from 1 to 2"),
        ("group g 0 W0\nquorum g\n", "count from 1 to 1"),
        ("group g any W0\ngroup h any W0\nquorum h\n", "in a group already"),
        ("group W0 any W1\nquorum W0\n", "which is taken"),
        ("group none any W1\nquorum none\n", "which is taken"),
        ("group g any\nquorum none\n", "is not of the form"),
        (f"log {VKEY}\nquorum none\n", "for the second time"),
        (f"witness X {VKEY}\nquorum none\n", "does not sign this"),
        ("log nonsense\nquorum none\n", "not a public key"),
        ("logs x\nquorum none\n", "starts with none of"),
    ],
)
def test_a_policy_that_cannot_be_used_names_its_line(rest, said):
    with pytest.raises(InputError, match=said):
        read_trust(policy(rest), "policy")
