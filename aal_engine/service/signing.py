"""Keys of a ledger, and the checkpoints that they sign."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from aal_engine.canonical import JSON
from aal_engine.decide.checkpoint import Checkpoint, of_head
from aal_engine.decide.entry import Entry
from aal_engine.decide.envelope import new_private_key
from aal_engine.decide.key import COSIGNATURE, ED25519, ML_DSA_44, is_name
from aal_engine.decide.keyring import Keyring
from aal_engine.decide.ledger import Head, extend
from aal_engine.decide.replay import Replay
from aal_engine.decide.trust import read_trust
from aal_engine.errors import AppendRefused, Fault, InputError
from aal_engine.service.ledger import verify
from aal_engine.store.key_file import load_key, write_secret
from aal_engine.store.key_file import new_key as save_new_key
from aal_engine.store.ledger import Ledger
from aal_engine.store.ledger_folder import is_ledger
from aal_engine.store.text_file import read_text


def new_key(path: Path, name: str, *, witness: bool = False, ml_dsa: bool = False) -> str:
    """Make a private key in a new file, and return its public key (a vkey).

    Raises:
        InputError: no key can have this name.
        WriteError: the file is there already, or cannot be written.
    """
    if not is_name(name):
        raise InputError(Fault("a key's name has no spaces and no plus signs", field="--name"))
    _require_outside(path)
    kind = ML_DSA_44 if ml_dsa else COSIGNATURE if witness else ED25519
    return save_new_key(path, name, kind).verifier().encode()


def new_p256_key(path: Path) -> str:
    """Make a private key for exports (ECDSA, P-256, PEM) in a new file; return its public key.

    Raises:
        WriteError: the file is there already, or cannot be written.
    """
    _require_outside(path)
    secret, public = new_private_key()
    write_secret(path, secret)
    return public


def _require_outside(path: Path) -> None:
    """Do nothing if a key's file would not stand in a ledger's folder, which people publish."""
    if any(is_ledger(folder) for folder in path.resolve().parents):
        raise InputError.at(
            "would stand among a ledger's files, which are published",
            file=path,
            way_out="name a file outside of it",
        )


def public_key(key: str) -> str:
    """Return the public key (a vkey) of a private one.

    Raises:
        NoTrustedKey: it is none, or others may read its file.
    """
    return load_key(key).verifier().encode()


def sign(folder: Path, keys: Sequence[str], *, now: datetime) -> Checkpoint:
    """Verify a ledger, and sign its size and root as its latest checkpoint.

    Raises:
        LedgerError: it is broken, or a key cannot sign it.
    """
    signers = [load_key(key) for key in keys]
    keyring, head = _known(folder)
    keyring.require_signer([signer.verifier().encode() for signer in signers])
    Ledger.open(folder).sign(signers, now, head)
    return of_head(head)


def rotate(
    folder: Path, old: str, new: Sequence[str], *, stay: bool, now: datetime
) -> tuple[Entry, Checkpoint]:
    """Let new keys take over from an old one: an entry says so, and all of them sign it.

    With `stay` the old key stays in force beside them. An act that was cut off between the entry
    and the signatures is finished by the same call.

    Raises:
        LedgerError: the ledger is broken, or the keys cannot be changed so.
    """
    signers = [load_key(key) for key in (old, *new)]
    vkey, *added = [signer.verifier().encode() for signer in signers]
    retired = [] if stay else [vkey]
    keyring, head = _known(folder)
    last = keyring.changes[-1] if keyring.changes else None
    ledger = Ledger.open(folder)
    if last is not None and set(added) <= set(last.added) and list(last.retired) == retired:
        body: dict[str, JSON] = {"added": list(last.added), "retired": retired}
        entry = ledger.append("key", body, now, once=True)
    else:
        keyring.require_signer([vkey])
        if stay and not keyring.in_force:
            added = [vkey, *added]
        body = keyring.changed(added, retired)
        entry = ledger.append("key", body, now, expected=head)
        head = extend(head, entry)
    ledger.sign(signers, now, head)
    return entry, of_head(head)


def _known(folder: Path) -> tuple[Keyring, Head]:
    """Verify a ledger; return the keys that it names, and its head."""
    replay = Replay()
    head = Ledger.open(folder).verify(meaning=replay)
    return replay.keys, head


def cosign(folder: Path, key: str, policy: Path, state: Path, *, now: datetime) -> Checkpoint:
    """Cosign the latest checkpoint as a witness: it follows from all that this witness saw before.

    `state` is the witness's own memory; `policy` names the log's key.

    Raises:
        LedgerError: the ledger is broken, not signed by that key, or not what was seen before.
    """
    signer = load_key(key)
    if signer.kind == ED25519:
        raise AppendRefused(
            "this key signs as a ledger, not as a witness",
            way_out="make one with: aal ledger key new --witness --name NAME --out FILE",
        )
    report = verify(folder, policy=policy, state=state)
    ledger = Ledger.open(folder)
    trust = read_trust(read_text(policy), policy.name)
    trust = trust.following([each.new for each in report.followed])
    seen = trust.opened(ledger.checkpoint() or b"")
    if seen.size != report.audit.head.size:
        raise AppendRefused(
            f"{report.uncovered} entries follow the checkpoint; a witness signs whole ledgers",
            way_out="sign them first: aal ledger checkpoint --key FILE",
        )
    ledger.cosign(signer, now, seen)
    return seen
