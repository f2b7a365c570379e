"""Starting a release ledger, and verifying it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from aal_engine.canonical import JSON
from aal_engine.decide.checkpoint import Checkpoint, parse_text
from aal_engine.decide.entry import Entry
from aal_engine.decide.keyring import Keyring, Succession, follow
from aal_engine.decide.ledger import Head
from aal_engine.decide.merkle import tree_root
from aal_engine.decide.note import parse
from aal_engine.decide.replay import Replay
from aal_engine.decide.trust import Trust, read_trust
from aal_engine.errors import AppendRefused, ChainBroken, InputError, NoTrustedKey
from aal_engine.store.audit import Audit
from aal_engine.store.audit_state import State, load_state, save_state
from aal_engine.store.ledger import Ledger
from aal_engine.store.text_file import read_text

BARE = """\
What this does not show: without a key or a head kept from before, a ledger whose last entries were
cut off, or one that was written anew from its first entry, looks the same. Keep the size and the
root where nobody who writes the ledger can change them, and compare them next time.
"""


def start(
    folder: Path,
    origin: str,
    *,
    now: datetime,
    vkeys: Sequence[str] = (),
    after: Path | None = None,
    network: bool = False,
) -> Entry:
    """Start a ledger and return its genesis entry.

    `vkeys` are the public keys that may sign it. `after` is the folder of a ledger of another
    origin that this one goes on from: its first entry holds that one's last checkpoint.

    Raises:
        LedgerError: there is one already, the folder cannot be used, or the ledger before is
            broken, or not signed to its end.
    """
    previous = None if after is None else _last_of(after)
    if previous is not None and previous["origin"] == origin:
        raise AppendRefused(
            "a ledger that goes on from another needs an origin of its own",
            way_out="name it with: --origin",
        )
    return Ledger.init(folder, origin, now, vkeys=vkeys, previous=previous, network=network)


def _last_of(folder: Path) -> dict[str, JSON]:
    """Return the checkpoint that ends a ledger, as the genesis entry of the next one holds it."""
    head = verify(folder).audit.head
    raw = Ledger.open(folder).checkpoint()
    if raw is None or parse_text(parse(raw).text).size != head.size:
        raise NoTrustedKey(
            "no checkpoint covers the whole of the ledger before",
            way_out="sign it first: aal ledger checkpoint --key FILE",
        )
    return {
        "origin": head.origin,
        "size": head.size,
        "root": base64.b64encode(head.root).decode(),
        "checkpoint": hashlib.sha256(raw).hexdigest(),
    }


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification found, and what vouches for it.

    `covered` is the size of the largest checkpoint that the policy's keys signed, None without a
    policy. `since` is the size at which an earlier verification had ended, 0 for a whole one.
    `followed` are keys that took over from keys of the policy and do not stand in it.
    """

    audit: Audit
    covered: int | None = None
    since: int = 0
    followed: tuple[Succession, ...] = ()

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

    With a `policy` (C2SP tlog-policy) the checkpoints have to be signed by its keys, or by keys that
    took over from them. `checkpoint` is one kept from before: the ledger must still start with what
    it states. `state` is a file that remembers how far all was well: only later entries are read,
    and held against what was known there; it is written anew when all is well.

    Raises:
        ChainBroken: it is not what was appended, or an entry does not follow from those before.
        NoTrustedKey: there is a policy, and none of its keys vouches for the ledger.
        LedgerUnreadable: it cannot be opened.
        InputError: the policy, the checkpoint or the state cannot be read.
    """
    ledger = Ledger.open(folder)
    trust = None if policy is None else read_trust(read_text(policy), policy.name)
    before = None if state is None else _state(state, meaning=meaning, strict=strict)
    known = None if before is None else before.head
    notes = [] if checkpoint is None else [read_text(checkpoint).encode()]
    stated = [_stated(raw, checkpoint) for raw in notes]
    if stated and known is not None and stated[0].size < known.size:
        raise InputError.at(
            "is older than the state, before which nothing is read",
            file=checkpoint,
            way_out="verify with one of the two",
        )
    own = ledger.checkpoint()
    kept = ledger.checkpoints(0 if known is None else known.size)
    replay = Replay(None if before is None else before.known) if meaning else None
    audit = ledger.audit(
        strict=strict,
        trusted=known,
        pins=_pins([*stated, *_own(kept)]),
        meaning=replay,
    )
    if any(each.origin != audit.head.origin for each in stated):
        raise ChainBroken(0, "is the genesis of another ledger than the checkpoint's")
    if own is not None and known is not None:
        _require_earlier(ledger, parse_text(parse(own).text), known)
    keys = Keyring() if replay is None else replay.keys
    followed = () if before is None else before.followed
    covered, unlisted = None, dict[str, Succession]()
    if trust is not None:
        followed = _followed(trust, keys, {**kept, **_fresh(own, known)}, followed)
        listed = {key.encode() for key in trust.logs}
        unlisted = {each.new: each for each in followed if each.new not in listed}
        trust = trust.following(list(unlisted))
        covered = _covered(trust, keys, own, notes)
    if state is not None:
        now = None if replay is None else replay.known()
        save_state(state, State(audit.head, now, followed, strict))
    return Report(
        _with_unfinished(audit, replay),
        covered,
        0 if known is None else known.size,
        tuple(unlisted.values()),
    )


def _stated(raw: bytes, file: Path | None) -> Checkpoint:
    try:
        return parse_text(parse(raw).text)
    except NoTrustedKey:
        raise InputError.at("is not a signed checkpoint", file=file) from None


def _state(path: Path, *, meaning: bool, strict: bool) -> State | None:
    state = load_state(path)
    for asked, done, what, option in (
        (meaning, state is None or state.known is not None, "meaning", "--no-meaning"),
        (strict, state is None or state.strict, "the canonical form of lines", "--fast"),
    ):
        if asked and not done:
            raise InputError.at(
                f"remembers a verification that left {what} out",
                file=path,
                way_out=f"remove it to verify from the first entry on, or pass {option} again",
            )
    return state


def _pins(stated: Iterable[Checkpoint]) -> dict[int, bytes]:
    """Return the roots to hold the ledger against."""
    pins: dict[int, bytes] = {}
    for each in stated:
        if pins.setdefault(each.size, each.root) != each.root:
            raise ChainBroken(each.size - 1, "is in two checkpoints of one size that differ")
    return pins


def _own(kept: Mapping[int, bytes]) -> Iterable[Checkpoint]:
    """Yield what the checkpoints state that the ledger kept by size."""
    for size, raw in kept.items():
        try:
            checkpoint = parse_text(parse(raw).text)
        except NoTrustedKey:
            checkpoint = None
        if checkpoint is None or checkpoint.size != size:
            raise ChainBroken(max(size - 1, 0), f"checkpoints/{size:012d} was changed")
        yield checkpoint


def _fresh(own: bytes | None, known: Head | None) -> dict[int, bytes]:
    """Return the latest checkpoint by its size, if this verification has seen its root."""
    size = 0 if own is None else parse_text(parse(own).text).size
    return {} if own is None or (known is not None and size < known.size) else {size: own}


def _require_earlier(ledger: Ledger, stated: Checkpoint, known: Head) -> None:
    """Do nothing unless a checkpoint of less than what was known is of another history.

    What was known is not read again by an audit that goes on from it, so its hashes are taken here.
    """
    if stated.size >= known.size:
        return
    leaves = ledger.leaves()[: known.size]
    if tree_root(leaves) != known.root:
        raise ChainBroken(known.size - 1, "is not the entry that was verified before")
    if tree_root(leaves[: stated.size]) != stated.root:
        raise ChainBroken(
            max(stated.size - 1, 0),
            f"the checkpoint of size {stated.size} is of other entries: two histories were signed",
        )


def _followed(
    trust: Trust, keys: Keyring, kept: Mapping[int, bytes], before: Iterable[Succession]
) -> tuple[Succession, ...]:
    """Return the keys that took over from trusted ones, then or now; a policy takes trust back."""
    trusted = {key.encode() for key in trust.logs}
    followed = []
    for each in before:
        if each.old in trusted:
            trusted.add(each.new)
            followed.append(each)
    new = follow(trust.following([each.new for each in followed]), keys, kept)
    return tuple(dict.fromkeys([*followed, *new]))


def _covered(trust: Trust, keys: Keyring, own: bytes | None, stated: Sequence[bytes]) -> int:
    """Return the size that trusted keys vouch for, by the ledger's checkpoint and those kept."""
    sizes = [] if own is None else [_vouched(trust, keys, own)]
    for raw in stated:
        try:
            sizes.append(_vouched(trust, keys, raw))
        except NoTrustedKey:
            # What was kept is a memory, held against the ledger already: it may be from before the
            # witnesses signed, or before its key was distrusted.
            if not sizes:
                raise
    if not sizes:
        raise NoTrustedKey(
            "the ledger is not signed: no key vouches for it",
            way_out="sign it with: aal ledger checkpoint --key FILE",
        )
    return max(sizes)


def _vouched(trust: Trust, keys: Keyring, raw: bytes) -> int:
    checkpoint, signers = trust.vouched(raw)
    keys.require_in_force(checkpoint, signers)
    return checkpoint.size


def _with_unfinished(audit: Audit, replay: Replay | None) -> Audit:
    if replay is None:
        return audit
    replay.ended()
    if not replay.unfinished:
        return audit
    cut = f"decisions before it were cut off while they were written: {replay.unfinished}"
    return replace(audit, notices=(*audit.notices, (audit.head.size, cut)))


def told(report: Report, *, meaning: bool = True) -> str:
    """Return what a verification found, in words."""
    audit, head = report.audit, report.audit.head
    lines = [
        f"verified: {counted(head.size)} of {head.origin}, the last of {head.at}",
        f"  root {base64.b64encode(head.root).decode()}",
        f"  the chain holds{', and each entry follows from those before it' if meaning else ''}",
    ]
    if report.since:
        lines.append(f"  read from entry {report.since} on; those before were verified earlier")
    if report.covered is not None:
        lines.append(f"  trusted keys vouch for the first {counted(report.covered)}")
    lines += [
        f"warning: a trusted key was followed by {new}; add it to your policy"
        for new in dict.fromkeys(each.new for each in report.followed)
    ]
    lines += [f"warning: entry {seq} {what}" for seq, what in audit.notices]
    if audit.torn:
        lines.append(
            f"torn tail: {audit.torn} bytes of an append that was cut off follow the last entry; "
            "nobody was told that it succeeded, and the next append sets them aside"
        )
    if report.uncovered:
        lines.append(f"uncovered: no signed checkpoint covers the last {counted(report.uncovered)}")
    return "\n".join(lines) + "\n" + ("" if report.covered is not None else BARE)


def counted(count: int) -> str:
    """Return so many entries in words."""
    return f"{count} entry" if count == 1 else f"{count} entries"


def checked(folder: Path) -> str:
    """Verify a ledger and return what that found, in words.

    Raises:
        LedgerError: as in `verify`.
    """
    return told(verify(folder))
