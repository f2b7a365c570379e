"""What a ledger can show to those who do not have it: proofs, and signed statements."""

from __future__ import annotations

import base64
from pathlib import Path

from aal_engine.canonical import canonical
from aal_engine.decide.attestation import PAYLOAD_TYPE, attested, read_subject, rows
from aal_engine.decide.checkpoint import Checkpoint, parse_text
from aal_engine.decide.entry import MAX_LINE
from aal_engine.decide.envelope import public_key, read_envelope, seal
from aal_engine.decide.key import unbase64
from aal_engine.decide.merkle import consistency_proof, consistent, leaf_hash
from aal_engine.decide.note import parse
from aal_engine.decide.proof import prove, read_proof
from aal_engine.decide.trust import read_trust
from aal_engine.errors import ChainBroken, Fault, InputError, NoTrustedKey, file_name
from aal_engine.service.ledger import verify
from aal_engine.store.key_file import read_secret
from aal_engine.store.ledger import Ledger
from aal_engine.store.text_file import open_input, read_text


def inclusion(folder: Path, seq: int) -> bytes:
    """Return the inclusion proof of an entry against the latest checkpoint (a tlog-proof).

    Raises:
        LedgerError: the ledger is broken, nothing is signed, or the entry is not covered.
    """
    raw, size, leaves = _signed(folder)
    if not 0 <= seq < size:
        raise InputError(Fault(f"the checkpoint covers entries 0 to {size - 1}", field="SEQ"))
    return prove(leaves, seq, raw).encode()


def check_inclusion(path: Path, entry: Path, policy: Path | None) -> Checkpoint:
    """Return the checkpoint that a proof ties an entry's line to.

    Without a policy nobody vouches for that checkpoint.

    Raises:
        ChainBroken: the proof is not of this line.
        NoTrustedKey: it is malformed, or the policy's keys do not vouch for its checkpoint.
    """
    found = read_proof(read_text(path).encode())
    with open_input(entry) as file:
        line = file.read(MAX_LINE + 2)
    stated = found.leads_from(leaf_hash(line.removesuffix(b"\n")))
    return stated if policy is None else _opened(policy, found.checkpoint)


def consistency(folder: Path, size: int) -> str:
    """Return the proof that the latest checkpoint's tree starts with its first entries.

    One base64 hash a line (RFC 6962, section 2.1.2).

    Raises:
        LedgerError: the ledger is broken, or nothing is signed.
        InputError: the checkpoint covers fewer entries.
    """
    _, now, leaves = _signed(folder)
    if not 1 <= size <= now:
        raise InputError(Fault(f"the checkpoint covers 1 to {now} entries", field="SIZE"))
    path = consistency_proof(leaves, size)
    return "".join(f"{base64.b64encode(each).decode()}\n" for each in path)


def check_consistency(
    path: Path, old: Path, new: Path, policy: Path | None
) -> tuple[Checkpoint, Checkpoint]:
    """Return two checkpoints of which a proof shows that the newer only adds to the older.

    With a policy its keys have to vouch for both.

    Raises:
        ChainBroken: it does not show that: the ledger was written anew in between.
        InputError: the proof cannot be read.
        NoTrustedKey: a checkpoint is malformed, or not signed by the policy's keys.
    """
    raws = [read_text(each).encode() for each in (old, new)]
    first, second = (
        parse_text(parse(raw).text) if policy is None else _opened(policy, raw) for raw in raws
    )
    hashes = [unbase64(line) for line in read_text(path).split()]
    if any(len(each) != 32 for each in hashes):
        raise InputError.at("is not a proof of consistency: one base64 hash a line", file=path)
    if first.origin != second.origin:
        raise ChainBroken(0, "is the genesis of two ledgers: the checkpoints differ in origin")
    if not consistent(first.size, second.size, first.root, second.root, hashes):
        raise ChainBroken(first.size - 1, "is not shown to be what it was: the proof misses a root")
    return first, second


def export(
    folder: Path, seq: int, key: Path, *, predicate: str = "summary", subject: str | None = None
) -> bytes:
    """Return a decision as an in-toto statement in a DSSE envelope; `seq` is one of its entries.

    Raises:
        LedgerError: the ledger is broken, or the key cannot sign.
        InputError: the entry is not one of a complete decision, or the subject cannot be read.
    """
    # Not at the top: it opens a database, which nothing else here needs.
    from aal_engine.service.ledger_reader import LedgerReader

    about = None if subject is None else read_subject(subject)
    origin = verify(folder).audit.head.origin
    parts = LedgerReader(folder, keep=False).parts(seq)
    if parts is None:
        raise InputError(Fault("is not an entry of a complete decision", field="SEQ"))
    told = attested(origin, parts, about)
    statement = told.summary() if predicate == "summary" else told.checks(rows(parts))
    return seal(canonical(statement), PAYLOAD_TYPE, read_secret(key).encode())


def check_export(path: Path, key: Path) -> str:
    """Return the statement in an envelope that a public key signed.

    Raises:
        InputError: it is no envelope of an in-toto statement.
        NoTrustedKey: the key did not sign it.
    """
    envelope = read_envelope(read_text(path).encode(), file_name(path))
    payload = envelope.vouched(public_key(read_text(key).encode()))
    if envelope.payload_type != PAYLOAD_TYPE:
        raise InputError.at("holds no in-toto statement", file=path)
    return payload.decode() + "\n"


def _signed(folder: Path) -> tuple[bytes, int, list[bytes]]:
    """Verify a ledger's chain; return its latest checkpoint, its size, and the leaves it covers."""
    ledger = Ledger.open(folder)
    raw = ledger.checkpoint()
    if raw is None:
        raise NoTrustedKey(
            "nothing is signed that a proof could lead to",
            way_out="sign the ledger first: aal ledger checkpoint --key FILE",
        )
    ledger.verify(strict=False)
    size = parse_text(parse(raw).text).size
    return raw, size, ledger.leaves()[:size]


def _opened(policy: Path, raw: bytes) -> Checkpoint:
    return read_trust(read_text(policy), policy.name).opened(raw)
