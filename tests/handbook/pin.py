"""Pins the project's own ledger: what CI holds it against.

    python tests/handbook/pin.py --key FILE     verify against the present pin, then sign anew
    python tests/handbook/pin.py                the same with a key that is made here and forgotten

The pin is a signed checkpoint in `.ci/ledger`, outside of the ledger, and the public key beside it. A
release re-pins after its decision stands in the ledger. With a key of the maintainers that lives
outside of the repository, anybody can tell who signed; with one that is forgotten, nobody can sign
another history either, and the pin is worth what the repository's own history is.
"""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime
from pathlib import Path

from aal_engine.decide.checkpoint import of_head
from aal_engine.decide.key import ED25519, SEED_BYTES, SignerKey
from aal_engine.decide.note import Note
from aal_engine.service.ledger import verify
from aal_engine.store.atomic import write_atomic
from aal_engine.store.key_file import load_key

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "ledger"
PIN = ROOT / ".ci/ledger/checkpoint"
KEYS = ROOT / ".ci/ledger/keys.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description="Pin the project's own ledger.")
    parser.add_argument("--key", help="file of the private key, named as the ledger is")
    source = parser.parse_args().key
    pinned = {"policy": KEYS, "checkpoint": PIN} if PIN.exists() else {}
    head = verify(LEDGER, **pinned).audit.head
    key = load_key(source) if source else SignerKey(head.origin, ED25519, os.urandom(SEED_BYTES))
    if key.name != head.origin:
        parser.error(f"the key has another name than the ledger, {head.origin}")
    note = Note(of_head(head).text()).signed(key, int(datetime.now(UTC).timestamp()))
    write_atomic(KEYS, f"log {key.verifier().encode()}\nquorum none\n".encode())
    write_atomic(PIN, note.encode())
    print(f"pinned: {head.size} entries of {head.origin}")


if __name__ == "__main__":
    main()
