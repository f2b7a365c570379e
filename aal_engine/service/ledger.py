"""Acts on the release ledger that a person asks for by name: start it, sign it, verify it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from aal_engine.decide.checkpoint import Checkpoint, of_head, parse_text
from aal_engine.decide.entry import Entry
from aal_engine.decide.key import COSIGNATURE, ED25519, ML_DSA_44, is_name
from aal_engine.decide.ledger import Head
from aal_engine.decide.merkle import leaf_hash
from aal_engine.decide.note import parse
from aal_engine.decide.proof import prove, read_proof
from aal_engine.decide.replay import Replay
from aal_engine.decide.trust import read_trust
from aal_engine.errors import AppendRefused, ChainBroken, Fault, InputError, NoTrustedKey
from aal_engine.store.audit import Audit
from aal_engine.store.audit_state import load_state, save_state
from aal_engine.store.key_file import load_key
from aal_engine.store.key_file import new_key as save_new_key
from aal_engine.store.ledger import Ledger
from aal_engine.store.text_file import FaultList, read_whole

BARE = """\
What this does not show: without a key or a head kept from before, a ledger whose last entries were
cut off, or one that was written anew from its first entry, looks the same. Keep the size and the
root where nobody who writes the ledger can change them, and compare them next time.
"""


def start(folder: Path, origin: str, *, now: datetime, network: bool = False) -> Entry:
    """Start a ledger and return its genesis entry.

    Raises:
        LedgerError: there is one already, or the folder cannot be used.
    """
    return Ledger.init(folder, origin, now, network=network)


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification found, and what vouches for it.

    `covered` is the size of the largest checkpoint that the policy's keys signed, None without a
    policy. `since` is the size at which an earlier verification had ended, 0 for a whole one.
    """

    audit: Audit
    covered: int | None = None
    since: int = 0

    @property
    def uncovered(self) -> int:
        """Entries that no signed checkpoint covers; 0 without a policy."""
        return 0 if self.covered is None else self.audit.head.size - self.covered


def verify(
    folder: Path,
    *,
    strict: bool = True,
    meaning: bool = True,
    policy: Path | None = None,
    checkpoint: Path | None = None,
    state: Path | None = None,
) -> Report:
    """Verify a ledger: its chain and tree, its lines' form, and what its entries mean.

    With a `policy` (C2SP tlog-policy) the checkpoints have to be signed by its keys. `checkpoint`
    is one kept from before: the ledger must still start with what it states. `state` is a file
    that remembers how far all was well: only later entries are read, and their meaning, which
    needs those before, is left out; it is written anew when all is well.

    Raises:
        ChainBroken: it is not what was appended, or an entry does not follow from those before.
        NoTrustedKey: there is a policy, and none of its keys vouches for the ledger.
        LedgerUnreadable: it cannot be opened.
        InputError: the policy, the checkpoint or the state cannot be read.
    """
    ledger = Ledger.open(folder)
    trust = None if policy is None else read_trust(_text(policy), policy.name)
    known = None if state is None else load_state(state)
    raws = [] if checkpoint is None else [_text(checkpoint).encode()]
    own = ledger.checkpoint() if trust is not None else None
    raws += [] if own is None else [own]
    if trust is not None and not raws:
        raise NoTrustedKey(
            "the ledger is not signed: no key vouches for it",
            way_out="sign it with: aal ledger checkpoint --key FILE",
        )
    stated = [parse_text(parse(raw).text) if trust is None else trust.opened(raw) for raw in raws]
    if checkpoint is not None and known is not None and stated[0].size < known.size:
        raise InputError.at(
            "is older than the state, before which nothing is read",
            file=checkpoint,
            way_out="verify with one of the two",
        )
    replay = Replay() if meaning and known is None else None
    audit = ledger.audit(strict=strict, trusted=known, pins=_pins(stated, known), meaning=replay)
    if any(each.origin != audit.head.origin for each in stated):
        raise ChainBroken(0, "is the genesis of another ledger than the checkpoint's")
    if replay is not None:
        replay.ended()
        if replay.unfinished:
            cut = f"decisions before it were cut off while they were written: {replay.unfinished}"
            audit = replace(audit, notices=(*audit.notices, (audit.head.size, cut)))
    if state is not None:
        save_state(state, audit.head)
    covered = None if trust is None else max(each.size for each in stated)
    return Report(audit, covered, 0 if known is None else known.size)


def _pins(stated: Sequence[Checkpoint], known: Head | None) -> dict[int, bytes]:
    """Return the roots to hold the ledger against; what was verified before is not read again."""
    pins: dict[int, bytes] = {}
    for each in stated:
        if known is not None and each.size < known.size:
            continue
        if pins.setdefault(each.size, each.root) != each.root:
            raise ChainBroken(each.size - 1, "is in two checkpoints of one size that differ")
    return pins


def _text(path: Path) -> str:
    faults = FaultList(path)
    text = read_whole(path, faults)
    faults.settle()
    return text or ""


def new_key(path: Path, name: str, *, witness: bool = False, ml_dsa: bool = False) -> str:
    """Make a private key in a new file, and return its public key (a vkey).

    Raises:
        InputError: no key can have this name.
        WriteError: the file is there already, or cannot be written.
    """
    if not is_name(name):
        raise InputError(Fault("a key's name has no spaces and no plus signs", field="--name"))
    kind = ML_DSA_44 if ml_dsa else COSIGNATURE if witness else ED25519
    return save_new_key(path, name, kind).verifier().encode()


def sign(folder: Path, keys: Sequence[str], *, now: datetime) -> Checkpoint:
    """Verify a ledger, and sign its size and root as its latest checkpoint.

    Raises:
        LedgerError: it is broken, or a key cannot sign it.
    """
    signers = [load_key(key) for key in keys]
    head = verify(folder).audit.head
    Ledger.open(folder).sign(signers, now, head)
    return of_head(head)


def cosign(folder: Path, key: str, policy: Path, state: Path, *, now: datetime) -> Checkpoint:
    """Cosign the latest checkpoint as a witness: it follows from all that this witness saw before.

    `state` is the witness's own memory; `policy` names the log's key.

    Raises:
        LedgerError: the ledger is broken, not signed by that key, or not what was seen before.
    """
    signer = load_key(key)
    report = verify(folder, policy=policy, state=state)
    ledger = Ledger.open(folder)
    seen = read_trust(_text(policy), policy.name).opened(ledger.checkpoint() or b"")
    if seen.size != report.audit.head.size:
        raise AppendRefused(
            f"{report.uncovered} entries follow the checkpoint; a witness signs whole ledgers",
            way_out="sign them first: aal ledger checkpoint --key FILE",
        )
    ledger.cosign(signer, now, seen)
    return seen


def proof(folder: Path, seq: int) -> bytes:
    """Return the inclusion proof of an entry against the latest checkpoint (a tlog-proof).

    Raises:
        LedgerError: the ledger is broken, nothing is signed, or the entry is not covered.
    """
    ledger = Ledger.open(folder)
    raw = ledger.checkpoint()
    if raw is None:
        raise NoTrustedKey(
            "nothing is signed that a proof could lead to",
            way_out="sign the ledger first: aal ledger checkpoint --key FILE",
        )
    ledger.verify(strict=False)
    size = parse_text(parse(raw).text).size
    if not 0 <= seq < size:
        raise InputError(Fault(f"the checkpoint covers entries 0 to {size - 1}", field="SEQ"))
    return prove(ledger.leaves()[:size], seq, raw).encode()


def check_proof(path: Path, entry: Path, policy: Path | None) -> Checkpoint:
    """Return the checkpoint that a proof ties an entry's line to.

    Without a policy nobody vouches for that checkpoint.

    Raises:
        ChainBroken: the proof is not of this line.
        NoTrustedKey: it is malformed, or the policy's keys do not vouch for its checkpoint.
    """
    found = read_proof(_text(path).encode())
    stated = found.leads_from(leaf_hash(_text(entry).encode().removesuffix(b"\n")))
    if policy is None:
        return stated
    return read_trust(_text(policy), policy.name).opened(found.checkpoint)


def told(report: Report, *, meaning: bool = True) -> str:
    """Return what a verification found, in words."""
    audit, head = report.audit, report.audit.head
    follows = meaning and not report.since
    lines = [
        f"verified: {_entries(head.size)} of {head.origin}, the last of {head.at}",
        f"  root {base64.b64encode(head.root).decode()}",
        f"  the chain holds{', and each entry follows from those before it' if follows else ''}",
    ]
    if report.since:
        lines.append(f"  read from entry {report.since} on; what they mean needs a whole reading")
    if report.covered is not None:
        lines.append(f"  trusted keys vouch for the first {_entries(report.covered)}")
    lines += [f"warning: entry {seq} {what}" for seq, what in audit.notices]
    if audit.torn:
        lines.append(
            f"torn tail: {audit.torn} bytes of an append that was cut off follow the last entry; "
            "nobody was told that it succeeded, and the next append sets them aside"
        )
    if report.uncovered:
        lines.append(f"uncovered: no signed checkpoint covers the last {report.uncovered} entries")
    return "\n".join(lines) + "\n" + ("" if report.covered is not None else BARE)


def _entries(count: int) -> str:
    return f"{count} entry" if count == 1 else f"{count} entries"


def checked(folder: Path) -> str:
    """Verify a ledger and return what that found, in words.

    Raises:
        LedgerError: as in `verify`.
    """
    return told(verify(folder))
