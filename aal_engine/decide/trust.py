"""Whom an auditor trusts (C2SP tlog-policy): keys of logs and witnesses, and how many must agree.

```
log example.com/ledger+d3aabd5f+AeM9…
witness W1 witness.example/w1+9fa473ca+BJ/G…
witness W2 …
group both all W1 W2
quorum both
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aal_engine.decide.checkpoint import Checkpoint, parse_text
from aal_engine.decide.key import COSIGNATURE, ED25519, ML_DSA_44, VerifierKey, verifier_key
from aal_engine.decide.note import parse, verified
from aal_engine.errors import Fault, InputError, NoTrustedKey, shown

NONE = "none"
_LOG_KINDS = (ED25519, ML_DSA_44)
_WITNESS_KINDS = (COSIGNATURE, ML_DSA_44)


@dataclass(frozen=True, slots=True)
class Group:
    """So many of these witnesses and groups have to agree."""

    needed: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys of logs and of witnesses by name, groups of witnesses, and the quorum."""

    logs: tuple[VerifierKey, ...]
    witnesses: Mapping[str, VerifierKey]
    groups: Mapping[str, Group]
    quorum: str

    def following(self, vkeys: Sequence[str]) -> Trust:
        """Return the trust that holds these keys of logs too."""
        known = {key.encode() for key in self.logs}
        more = [verifier_key(vkey) for vkey in dict.fromkeys(vkeys) if vkey not in known]
        return replace(self, logs=(*self.logs, *more))

    def opened(self, raw: bytes) -> Checkpoint:
        """Return the checkpoint of a signed note that these keys vouch for.

        Raises:
            NoTrustedKey: as in `vouched`.
        """
        return self.vouched(raw)[0]

    def vouched(self, raw: bytes) -> tuple[Checkpoint, list[VerifierKey]]:
        """Return the checkpoint of a signed note, and the log's keys that signed it.

        Raises:
            NoTrustedKey: it is malformed, no trusted log signed it, a signature is not good, or
                too few witnesses cosigned it.
        """
        note = parse(raw)
        checkpoint = parse_text(note.text)
        logs = [key for key in self.logs if key.name == checkpoint.origin]
        if not logs:
            raise NoTrustedKey(
                f"no key of a log named {shown(checkpoint.origin)} is trusted",
                way_out="add its log line to the policy, if you know the key from elsewhere",
            )
        good = verified(note, [*logs, *self.witnesses.values()])
        signers = [key for key in good if key in logs]
        if not signers:
            raise NoTrustedKey("no trusted key of the log signed the checkpoint")
        agreed = {name for name, key in self.witnesses.items() if key in good}
        if not self._agrees(self.quorum, agreed):
            raise NoTrustedKey(
                f"too few witnesses cosigned the checkpoint of size {checkpoint.size}: "
                f"the quorum {shown(self.quorum)} is not reached"
            )
        return checkpoint, signers

    def _agrees(self, name: str, agreed: set[str]) -> bool:
        if name == NONE:
            return True
        group = self.groups.get(name)
        if group is None:
            return name in agreed
        return sum(self._agrees(member, agreed) for member in group.members) >= group.needed


def read_trust(text: str, file: str) -> Trust:
    """Read a policy of trust; `file` is its name for messages.

    Raises:
        InputError: with every line that cannot be used.
    """
    reading = _Reading(file)
    for number, line in enumerate(text.split("\n"), 1):
        words = line.replace("\t", " ").split()
        if words and not words[0].startswith("#"):
            reading.line(number, words)
    if reading.quorum is None and not reading.faults:
        reading.faults.append(Fault("has no quorum line; `quorum none` asks for no witness", file))
    if reading.faults or reading.quorum is None:
        raise InputError(reading.faults)
    return Trust(tuple(reading.logs), reading.witnesses, reading.groups, reading.quorum)


@dataclass
class _Reading:
    """A policy while it is read: what its lines have defined so far, and what is wrong."""

    file: str
    logs: list[VerifierKey] = field(default_factory=list)
    witnesses: dict[str, VerifierKey] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    quorum: str | None = None
    grouped: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)

    def line(self, number: int, words: Sequence[str]) -> None:
        rule = _RULES.get(words[0])
        try:
            if rule is None:
                raise ValueError("starts with none of " + ", ".join(_RULES))
            rule(self, words[1:])
        except NoTrustedKey as error:
            self.faults.append(Fault(error.message, self.file, number))
        except ValueError as error:
            self.faults.append(Fault(str(error), self.file, number))

    def log(self, words: Sequence[str]) -> None:
        if len(words) not in {1, 2}:
            raise ValueError("is not of the form: log VKEY [URL]")
        self.logs.append(self._key(words[0], _LOG_KINDS, self.logs))

    def witness(self, words: Sequence[str]) -> None:
        if len(words) not in {2, 3}:
            raise ValueError("is not of the form: witness NAME VKEY [URL]")
        self._new(words[0])
        known = list(self.witnesses.values())
        self.witnesses[words[0]] = self._key(words[1], _WITNESS_KINDS, known)

    def group(self, words: Sequence[str]) -> None:
        if len(words) < 3:
            raise ValueError("is not of the form: group NAME all|any|COUNT MEMBER...")
        name, count, *members = words
        self._new(name)
        for member in members:
            if member not in self.witnesses and member not in self.groups:
                raise ValueError(f"names {shown(member)}, which no line above defines")
            if member in self.grouped:
                raise ValueError(f"names {shown(member)}, which is in a group already")
            self.grouped.add(member)
        needed = {"any": 1, "all": len(members)}.get(count)
        if needed is None:
            needed = int(count) if count.isascii() and count.isdecimal() else 0
        if not 1 <= needed <= len(members):
            raise ValueError(f"needs a count from 1 to {len(members)}")
        self.groups[name] = Group(needed, tuple(members))

    def set_quorum(self, words: Sequence[str]) -> None:
        if len(words) != 1 or self.quorum is not None:
            raise ValueError("is not the one line of the form: quorum NAME")
        name = words[0]
        if name != NONE and name not in self.witnesses and name not in self.groups:
            raise ValueError(f"names {shown(name)}, which no line above defines")
        self.quorum = name

    def _new(self, name: str) -> None:
        if name == NONE or name in self.witnesses or name in self.groups:
            raise ValueError(f"defines {shown(name)}, which is taken")

    def _key(self, vkey: str, kinds: Sequence[int], known: Sequence[VerifierKey]) -> VerifierKey:
        key = verifier_key(vkey)
        if key.kind not in kinds:
            raise ValueError("gives a key of a type that does not sign this")
        if any(key.public == other.public for other in known):
            raise ValueError("gives a public key for the second time")
        return key


_RULES: Mapping[str, Callable[[_Reading, Sequence[str]], None]] = {
    "log": _Reading.log,
    "witness": _Reading.witness,
    "group": _Reading.group,
    "quorum": _Reading.set_quorum,
}
