"""The release ledger's rules: how entries chain, and what a verifier holds against them.

Each entry names the hash of the line before it; the same hashes are the leaves of an RFC 6962
tree. So a changed, removed, added or moved line shows in the line after it. What no chain can show
by itself is a cut tail or a whole ledger written anew: for that a verifier brings what it saw
before, as a `Head` or as the root of an earlier size.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain

from aal_engine.canonical import JSON
from aal_engine.decide import entry as entries
from aal_engine.decide.entry import AT, FRAME, PREV, Entry
from aal_engine.decide.merkle import grow, grow_all, root_of
from aal_engine.errors import AppendRefused, ChainBroken

DEFAULT_ORIGIN = "localhost/release-ledger"
MAX_ORIGIN = 200
TURN = timedelta(seconds=10)
"""How long a writer may wait for its turn; its entry's time is from before that."""

_PLACE = re.compile(rb',"seq":(\d{1,16}),"v":1\}\r?\Z')

_START = b'{"prev":"%b","rec":{"at":"'
_BLOCK = 4_096

Meaning = Callable[[Entry], None]
Notice = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of a ledger of `size` entries: enough to append, and to verify what follows.

    `leaf` is the last entry's hash (32 bytes), which the next entry names; `edge` are the roots of
    the perfect subtrees, largest first; `at` is the last entry's time, empty before the first.
    """

    origin: str
    size: int
    leaf: bytes
    edge: tuple[bytes, ...] = field(default=(), repr=False)
    at: str = ""

    @property
    def root(self) -> bytes:
        """The RFC 6962 root over all entries, 32 bytes."""
        return root_of(self.edge)


def genesis_prev(origin: str) -> str:
    """Return what a ledger's first entry names as its predecessor, 64 hexadecimal digits.

    >>> genesis_prev("aal.example/acme/release-ledger")[:16]
    'bc56ee28fc5d833b'
    """
    return hashlib.sha256(f"aal-ledger/v1\n{origin}\n".encode()).hexdigest()


def genesis_body(
    origin: str, vkeys: Sequence[str] = (), previous: Mapping[str, JSON] | None = None
) -> dict[str, JSON]:
    """Return the body of the first entry: the hash in use, the origin, the keys that may sign.

    `previous` is the checkpoint of the ledger of another origin that this one goes on from.
    """
    body: dict[str, JSON] = {"hash": "sha-256", "origin": origin, "vkeys": list(vkeys)}
    return body if previous is None else {**body, "previous": previous}


def empty(origin: str) -> Head:
    """Return the head of a ledger without entries.

    Raises:
        AppendRefused: the origin cannot name a ledger (C2SP signed-note key name: not empty, no
            spaces, no plus sign; here also printable and at most 200 characters).
    """
    if (
        not 0 < len(origin) <= MAX_ORIGIN
        or not origin.isprintable()
        or any(c.isspace() or c == "+" for c in origin)
    ):
        raise AppendRefused(
            "an origin is 1 to 200 printable characters without spaces and plus signs",
            way_out="name it as a path below a domain of yours: example.com/release-ledger",
        )
    return Head(origin, 0, bytes.fromhex(genesis_prev(origin)))


def link(head: Head, kind: str, body: Mapping[str, JSON], at: datetime) -> Entry:
    """Return the entry that follows a head. `extend(head, entry)` is the head after it.

    Raises:
        AppendRefused: see `entry.write`; or a first entry that is not genesis, or a later one
            that is.
    """
    if (kind == "genesis") != (head.size == 0):
        raise AppendRefused("genesis is the first entry of a ledger, and only that")
    return entries.write(head.size, head.leaf.hex(), kind, body, at)


def extend(head: Head, entry: Entry) -> Head:
    """Return the head after an entry that `link` made for it."""
    edge = list(head.edge)
    grow(edge, head.size, entry.leaf)
    return Head(head.origin, head.size + 1, entry.leaf, tuple(edge), entry.at)


def verify(
    lines: Iterable[bytes],
    *,
    trusted: Head | None = None,
    strict: bool = True,
    pins: Mapping[int, bytes] | None = None,
    meaning: Meaning | None = None,
    notice: Notice | None = None,
) -> Head:
    """Verify stored lines (without line feeds) and return the head after the last.

    The lines start right after `trusted`, or at the genesis entry where that is None. `strict`
    also holds each line against `entry.parse`; without it only hashes, places and the frame of the
    lines are checked. `pins` are roots (32 bytes) that the ledger had at earlier sizes. `meaning`
    is given each entry and raises where it does not follow from those before. `notice` is told
    what is odd but proves nothing: the place, and what it is.

    Raises:
        ChainBroken: with the place of the entry that shows it, and which rule it breaks.
    """
    walk = iter(lines)
    pins = pins or {}
    head = trusted
    if head is None:
        first = next(walk, None)
        if first is None:
            raise ChainBroken(0, "is missing: a ledger starts with its genesis entry")
        head = _opened(first)
        walk = chain((first,), walk)
    edge, leaf, size, at = list(head.edge), head.leaf, head.size, head.at.encode()
    _check_pin(pins, size, edge)
    grown, leaves = size, list[bytes]()  # The tree takes leaves up block by block.
    for line in walk:
        if not line.endswith(b'},"seq":%d,"v":1}' % size) or not line.startswith(
            _START % leaf.hex().encode()
        ):
            raise _unfit(line, size, leaf, walk)
        leaf = hashlib.sha256(b"\x00" + line).digest()
        if strict or meaning:
            entry = entries.parse(line, size, strict=strict, leaf=leaf)
            _check_genesis(entry, head.origin)
            if meaning:
                meaning(entry)
        if notice and line[AT] < at and _is_before(line[AT], at):
            notice(size, "is dated before the entry it follows")
        at = line[AT]
        leaves.append(leaf)
        size += 1
        if size in pins or len(leaves) == _BLOCK:
            grow_all(edge, grown, leaves)
            grown, leaves = size, []
            _check_pin(pins, size, edge)
    grow_all(edge, grown, leaves)
    missing = [pinned for pinned in pins if pinned > size]
    if missing:
        raise ChainBroken(size, f"is missing: the ledger once had {max(missing)} entries")
    return Head(head.origin, size, leaf, tuple(edge), at.decode())


def _is_before(time: bytes, other: bytes) -> bool:
    """Say whether a time is earlier than another, by more than writers wait for each other."""
    try:
        apart = datetime.fromisoformat(other.decode()) - datetime.fromisoformat(time.decode())
    except (ValueError, TypeError):
        return True  # A line's form was not looked at; it is odd enough.
    return apart > TURN


def _opened(first: bytes) -> Head:
    """Return the empty head that a genesis line claims to follow."""
    genesis = entries.parse(first, 0, strict=False)
    origin = genesis.body.get("origin")
    if not isinstance(origin, str):
        raise ChainBroken(0, "names no origin")
    try:
        return empty(origin)
    except AppendRefused:
        raise ChainBroken(0, "names an origin that no ledger can have") from None


def _unfit(line: bytes, size: int, leaf: bytes, rest: Iterator[bytes]) -> ChainBroken:
    """Say why a line does not follow on an entry with this hash."""
    framed = all(line[where] == text for where, text in FRAME)
    if not framed or not line.endswith(b'},"seq":%d,"v":1}' % size):
        return _misplaced(line, size)
    return _unlinked(line, size, rest)


def _check_genesis(entry: Entry, origin: str) -> None:
    if (entry.kind == "genesis") != (entry.seq == 0):
        raise ChainBroken(entry.seq, "genesis is the first entry of a ledger, and only that")
    if entry.seq == 0 and entry.body.get("origin") != origin:
        raise ChainBroken(0, "is the genesis of another ledger")


def _check_pin(pins: Mapping[int, bytes], size: int, edge: Sequence[bytes]) -> None:
    pinned = pins.get(size)
    if pinned is not None and pinned != root_of(edge):
        raise ChainBroken(
            max(size - 1, 0),
            f"the first {size} entries are not those that were seen before: "
            "the ledger was written anew, or this is another one",
        )


def _misplaced(line: bytes, size: int) -> ChainBroken:
    """Say why a line cannot stand at this place."""
    try:
        entries.parse(line, size)
    except ChainBroken as broken:
        said = _PLACE.search(line)
        if said and int(said[1]) != size:
            return ChainBroken(
                size,
                f"stands at place {size} and calls itself {int(said[1])}: "
                "entries were removed, inserted or moved",
            )
        return broken
    return ChainBroken(size, "does not have the form of an entry")


def _unlinked(line: bytes, size: int, rest: Iterator[bytes]) -> ChainBroken:
    """Name the entry at fault where a line does not name the hash of the one before.

    If the line after agrees with this one, this one is as it was appended, and the one before it
    was changed; else this one was.
    """
    if size == 0:
        return ChainBroken(0, "does not follow from its origin")
    following = next(rest, None)
    intact = hashlib.sha256(b"\x00" + line).hexdigest().encode()
    if following is None or following[PREV] == intact:
        return ChainBroken(size - 1, f"is not what entry {size} was chained to: it was changed")
    return ChainBroken(size, f"is not chained to entry {size - 1}: it was changed or put there")
