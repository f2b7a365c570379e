"""Which keys a ledger says may sign it, and how one takes over from another.

The genesis entry names the first keys, and each `key` entry adds some and retires others:

    {"added": ["example.com/ledger+..."], "retired": ["example.com/ledger+..."]}

A ledger that names its own keys proves nothing by it. But who trusted a key before can follow to
the next one: the old key signs a checkpoint that covers the entry which names the new one, and the
new key signs the same checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from aal_engine.canonical import JSON
from aal_engine.decide.checkpoint import Checkpoint
from aal_engine.decide.entry import Entry
from aal_engine.decide.key import ED25519, ML_DSA_44, VerifierKey, verifier_key
from aal_engine.decide.note import parse, verified
from aal_engine.decide.trust import Trust
from aal_engine.errors import AppendRefused, ChainBroken, NoTrustedKey


class Change(NamedTuple):
    """The entry `seq` added and retired these keys (vkeys)."""

    seq: int
    added: tuple[str, ...]
    retired: tuple[str, ...]


class Succession(NamedTuple):
    """Who trusts `old` may trust `new` (vkeys): the old key vouched for it."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys in force (vkeys), and every change of them; none where the ledger names none."""

    origin: str = ""
    in_force: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()

    def after(self, entry: Entry) -> Keyring:
        """Return the keyring after a genesis or key entry.

        Raises:
            ChainBroken: it is not one that names keys, or changes what is not so.
        """
        body: Mapping[str, Any] = entry.body
        try:
            if entry.kind == "genesis":
                return Keyring(body["origin"], _vkeys(body["vkeys"], body["origin"]))
            added = _vkeys(body["added"], self.origin)
            retired = _vkeys(body["retired"], self.origin)
        except (KeyError, TypeError, NoTrustedKey):
            raise ChainBroken(entry.seq, "names keys that this engine cannot read") from None
        why = self._fault(added, retired)
        if why is not None:
            raise ChainBroken(entry.seq, f"is a change of keys that cannot be: {why}")
        stay = tuple(key for key in self.in_force if key not in retired)
        change = Change(entry.seq, added, retired)
        return replace(self, in_force=(*stay, *added), changes=(*self.changes, change))

    def require_signer(self, vkeys: Sequence[str]) -> None:
        """Do nothing if one of these keys may sign the ledger now.

        Raises:
            AppendRefused: the ledger names its keys, and none of these is in force.
        """
        if self.in_force and not set(vkeys) & set(self.in_force):
            raise AppendRefused(
                "the ledger names the keys that may sign it, and this is none of them",
                way_out="see them with: aal ledger show --kind genesis --kind key --format json",
            )

    def changed(self, added: Sequence[str], retired: Sequence[str]) -> dict[str, JSON]:
        """Return the body of the entry that makes a change.

        Raises:
            AppendRefused: the change cannot be.
        """
        try:
            _vkeys(list(added), self.origin)
            why = self._fault(added, retired)
        except TypeError:
            why = f"a key of this ledger has its name, {self.origin}, and signs checkpoints"
        if why is not None:
            raise AppendRefused(f"the keys cannot be changed so: {why}")
        return {"added": list(added), "retired": list(retired)}

    def _fault(self, added: Sequence[str], retired: Sequence[str]) -> str | None:
        if not added:
            return "no key is added"
        if set(added) & {*self.in_force, *retired}:
            return "a key is added that is in force"
        if set(added) & {vkey for change in self.changes for vkey in change.retired}:
            return "a key is added that was retired"
        if self.in_force and not set(retired) <= set(self.in_force):
            return "a key is retired that is not in force"
        return None

    def vouches(self, vkey: str, change: Change, size: int) -> bool:
        """Say whether a key's word for a change counts, at a checkpoint of this size.

        It does where nothing but this change retired the key: who steals a key that was retired
        before must not bring another one in with it.
        """
        return self._retired(size).get(vkey, change.seq) == change.seq

    def _retired(self, size: int) -> dict[str, int]:
        """Return the keys that the first entries retired, and by which of them."""
        return {v: c.seq for c in self.changes if c.seq < size for v in c.retired}

    def require_in_force(self, checkpoint: Checkpoint, signers: Sequence[VerifierKey]) -> None:
        """Do nothing if one of a checkpoint's signers was still in force at its size.

        Raises:
            NoTrustedKey: the entries that it covers retired all of them.
        """
        gone = self._retired(checkpoint.size)
        if all(key.encode() in gone for key in signers):
            seq = max(gone[key.encode()] for key in signers)
            raise NoTrustedKey(
                f"entry {seq} retired the key that signed the checkpoint of size {checkpoint.size}",
                way_out="trust the key that took over: aal ledger show --kind key --format json",
            )


def follow(trust: Trust, keyring: Keyring, notes: Mapping[int, bytes]) -> Iterator[Succession]:
    """Yield whom else to trust, from checkpoints by size whose roots are the ledger's own."""
    for change in keyring.changes:
        new = [verifier_key(vkey) for vkey in change.added]
        for size in sorted(size for size in notes if size > change.seq):
            found = [
                Succession(old.encode(), key.encode())
                for old in _signers(notes[size], trust.logs)
                for key in _signers(notes[size], new)
                if old.name == key.name == keyring.origin
                and keyring.vouches(old.encode(), change, size)
            ]
            if found:
                yield from found
                trust = trust.following([each.new for each in found])
                break


def _signers(raw: bytes, keys: Sequence[VerifierKey]) -> list[VerifierKey]:
    try:
        return verified(parse(raw), keys)
    except NoTrustedKey:
        return []


def _vkeys(told: Any, origin: str) -> tuple[str, ...]:
    if not isinstance(told, list) or not all(isinstance(vkey, str) for vkey in told):
        raise TypeError
    keys = [verifier_key(vkey) for vkey in told]
    if any(key.name != origin or key.kind not in (ED25519, ML_DSA_44) for key in keys):
        raise TypeError
    if len(set(told)) != len(told):
        raise TypeError
    return tuple(told)
