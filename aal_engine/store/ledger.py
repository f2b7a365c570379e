"""The release ledger on disk: plain files that several processes append to.

```
ledger/log/00000000.jsonl    the entries
ledger/checkpoint            what a key signed of them last; see `checkpoint`
ledger/pending/              what branches left to be appended; see `pending`
ledger/cache/                an index for readers; see `ledger_index`
ledger/torn/                 what cut-off appends left, set aside
ledger/.gitattributes        keeps git from merging or converting the log
ledger/.gitignore            what is not committed
ledger/.lock                 held by the one writer; never removed
```

Files and folders are never reached through symbolic links.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from aal_engine.canonical import JSON, canonical
from aal_engine.decide import ledger as rules
from aal_engine.decide.checkpoint import Checkpoint, of_head
from aal_engine.decide.entry import Entry, parse, record_of
from aal_engine.decide.key import SignerKey
from aal_engine.decide.ledger import DEFAULT_ORIGIN, Head, Meaning
from aal_engine.decide.merkle import leaf_hash
from aal_engine.decide.note import Note
from aal_engine.errors import (
    AppendRefused,
    ChainBroken,
    HeadMoved,
    LedgerUnreadable,
    WriteError,
    file_name,
)
from aal_engine.store import checkpoint, lock, log
from aal_engine.store.audit import Audit, Rules, Seen, View, followed
from aal_engine.store.ledger_folder import furnish, make, opened, set_aside
from aal_engine.store.log import Extent, Line, Reading
from aal_engine.store.mount import refuse_network

READER_WAIT = 2.0
NO_PINS: Mapping[int, bytes] = MappingProxyType({})


class Ledger:
    """One ledger in one folder. Safe to use from several threads and processes at once.

    `set_aside` names what cut-off appends had left and an append of this object moved to `torn/`.
    """

    def __init__(
        self, folder: Path, *, origin: str | None = None, network: bool = False, wait: float
    ) -> None:
        self.set_aside: list[str] = []
        self._path = folder
        self._origin = origin
        self._network = network  # or found not to be one
        self._wait = wait
        self._seen: Seen | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        create: bool = False,
        origin: str = DEFAULT_ORIGIN,
        network: bool = False,
        wait: float = lock.WAIT,
    ) -> Ledger:
        """Open the ledger in a folder.

        With `create` the folder need not be there yet: the first append starts the ledger, under
        `origin`. `network` allows a network file system, whose locks may not hold. `wait` is how
        long an append waits for its turn, in seconds.

        Raises:
            LedgerUnreadable: there is no ledger and `create` is not set, or it cannot be opened.
        """
        ledger = cls(folder, origin=origin if create else None, network=network, wait=wait)
        if os.path.lexists(folder) or not create:
            with ledger._reading():
                return ledger
        return ledger

    @classmethod
    def init(
        cls,
        folder: Path,
        origin: str,
        at: datetime,
        *,
        vkeys: Sequence[str] = (),
        previous: Mapping[str, JSON] | None = None,
        network: bool = False,
        wait: float = lock.WAIT,
    ) -> Entry:
        """Start a ledger in a folder, and return its genesis entry.

        `vkeys` are the keys that may sign it, `previous` the checkpoint of the ledger before.

        Raises:
            AppendRefused: there is a ledger already, the origin cannot name one, or a key is none
                of this ledger.
        """
        ledger = cls(folder, origin=origin, network=network, wait=wait)
        head = rules.empty(origin)
        genesis = rules.link(head, "genesis", rules.genesis_body(origin, vkeys, previous), at)
        with ledger._writing() as (root, entries):
            head, reach = ledger._caught_up(root, entries)
            if head.size:
                raise AppendRefused(
                    f"{file_name(folder)} holds a ledger already; it stays as it is",
                    way_out=f"see it with: aal ledger show --ledger {file_name(folder)}",
                )
            log.append(entries, reach, [genesis.line], 0)
        return genesis

    def lines(self) -> Iterator[bytes]:
        """Yield the stored lines without line feeds, unverified; a torn tail is left out."""
        with self._reading() as view:
            yield from Reading(view.entries, view.reach)

    def entries(self) -> Iterator[Entry]:
        """Yield the entries, each read but their chain not verified: `audit` does that."""
        for seq, line in enumerate(self.lines()):
            yield parse(line, seq, strict=False)

    def audit(
        self,
        *,
        strict: bool = True,
        trusted: Head | None = None,
        pins: Mapping[int, bytes] = NO_PINS,
        meaning: Meaning | None = None,
    ) -> Audit:
        """Verify the ledger; `strict`, `pins` and `meaning` as in the rules.

        It is read from its genesis on, or from right after a head that was verified before. The
        root in the ledger's own checkpoint must be its root at that size, whoever signed it.
        Nothing is changed, and no right to write is needed. A ledger that is still to be created
        has a head of size 0.

        Raises:
            ChainBroken: the stored log is not what was appended.
            LedgerUnreadable: it cannot be opened.
        """
        notices: list[tuple[int, str]] = []
        told = Rules(strict, pins, meaning, lambda seq, what: notices.append((seq, what)))
        with self._reading() as view:
            if trusted is None:
                reading = Reading(view.entries, view.reach)
                head = self._verified(view.root, reading, told)
            else:
                head, reading = followed(view, trusted, told)
        return Audit(head, len(reading.torn), tuple(notices))

    def verify(self, *, strict: bool = True, meaning: Meaning | None = None) -> Head:
        """Verify the ledger from its genesis and return its head: `audit` in short."""
        return self.audit(strict=strict, meaning=meaning).head

    def follow(self, seen: Seen | None, each: Meaning) -> Seen | None:
        """Verify what was added after `seen`, give `each` its entries, and return how far that is.

        The chain and the form of lines are verified, from the genesis on where `seen` is None.
        Returns None where the log no longer holds what was seen: it was cut, written anew, or is
        another one.

        Raises:
            ChainBroken: what was added does not follow.
            LedgerUnreadable: the ledger cannot be opened.
        """
        told = Rules(strict=True, meaning=each)
        with self._reading() as view:
            if seen is None:
                reading = Reading(view.entries, view.reach)
                head = self._verified(view.root, reading, told)
            elif not log.holds(view.entries, view.reach, seen.end, seen.last):
                return None
            else:
                reading = Reading(view.entries, view.reach, seen.end, seen.head.size)
                head = told.hold(reading, {}, seen.head)
                if head == seen.head:
                    return seen
            return Seen(head, reading.end, reading.last)

    def pick(self, lines: Sequence[Line]) -> list[Entry]:
        """Return the entries of these lines, read where they stand.

        Raises:
            ChainBroken: a line is not the one that was verified there.
            LedgerUnreadable: the ledger cannot be opened.
        """
        with self._reading() as view:
            return [
                parse(raw, line.seq, strict=False, leaf=line.leaf)
                for line, raw in zip(lines, log.picked(view.entries, lines), strict=True)
            ]

    def append(
        self,
        kind: str,
        body: Mapping[str, JSON],
        at: datetime,
        *,
        expected: Head | None = None,
        once: bool = False,
    ) -> Entry:
        """Append one entry, durably; see `append_all`."""
        return self.append_all(kind, [body], at, expected=expected, once=once)[0]

    def append_all(
        self,
        kind: str,
        bodies: Sequence[Mapping[str, JSON]],
        at: datetime,
        *,
        expected: Head | None = None,
        once: bool = False,
    ) -> list[Entry]:
        """Append entries of one kind under one lock and one sync, and return them.

        `expected` is the head that the caller decided on. With `once`, a body that the ledger holds
        already under this kind is not written again, whenever that was; its entry is returned in
        its place. So an append can be repeated after any failure.

        Raises:
            HeadMoved: somebody appended after `expected`.
            ChainBroken: the log is broken; nothing is added to it.
            AppendRefused: an entry may not be written, or the disk failed; the log is as it was.
            LedgerUnreadable: the ledger cannot be opened or locked.
        """
        with self._writing() as (root, entries):
            head, reach = self._caught_up(root, entries)
            wanted = {_record(kind, body) for body in bodies} if once else set()
            known = _held(Reading(entries, reach), wanted) if once else {}
            new: list[Entry] = []
            after = head
            if head.size == 0:
                genesis = rules.link(head, "genesis", rules.genesis_body(head.origin), at)
                new.append(genesis)
                after = rules.extend(head, genesis)
            result = []
            for body in bodies:
                entry = known.get(_record(kind, body)) if once else None
                if entry is None:
                    entry = rules.link(after, kind, body, at)
                    new.append(entry)
                    after = rules.extend(after, entry)
                result.append(entry)
            if after != head:
                _require_same(expected, head)
                end = log.append(entries, reach, [entry.line for entry in new], head.size)
                self._seen = Seen(after, end, new[-1].line)
        return result

    def find(self, records: Collection[bytes], since: int) -> dict[bytes, Entry]:
        """Return the entries from `since` on that hold one of these records, by their record.

        A record is the canonical bytes of a kind and a body (see `entry.record_of`).
        """
        held = _held(self.lines(), records)
        return {record: entry for record, entry in held.items() if entry.seq >= since}

    def leaves(self) -> list[bytes]:
        """Return the leaf hashes of all stored lines, unverified: for proofs, which carry a root."""
        return [leaf_hash(line) for line in self.lines()]

    def checkpoint(self) -> bytes | None:
        """Return the bytes of the latest checkpoint, unverified, or None if nothing was signed."""
        with self._reading() as view:
            return checkpoint.latest(view.root) if view.root >= 0 else None

    def checkpoints(self, since: int) -> dict[int, bytes]:
        """Return the checkpoints of `since` entries and more, unverified, by size."""
        with self._reading() as view:
            return checkpoint.kept(view.root, since) if view.root >= 0 else {}

    def stamps(self) -> dict[int, bytes]:
        """Return the time-stamp responses over kept checkpoints, unverified, by size."""
        with self._reading() as view:
            return checkpoint.stamps(view.root) if view.root >= 0 else {}

    def stamp(self, size: int, response: bytes) -> None:
        """Keep a time-stamp response over the checkpoint of a size, which the caller verified.

        Raises:
            AppendRefused: the disk failed.
        """
        with self._writing() as (root, _):
            try:
                checkpoint.stamp(root, size, response)
            except WriteError as error:
                raise AppendRefused(f"the time stamp was not kept: {error.message}") from None

    def sign(self, keys: Sequence[SignerKey], at: datetime, head: Head) -> Note:
        """Sign a head that the caller verified, and write it as the latest checkpoint.

        Raises:
            HeadMoved: somebody appended after it.
            AppendRefused: a key has another name than the ledger, or the disk failed.
        """
        if any(key.name != head.origin for key in keys):
            raise AppendRefused(
                f"a ledger's own key has its name, {head.origin}",
                way_out=f"make one with: aal ledger key new --name {head.origin} --out FILE",
            )
        with self._writing() as (root, entries):
            now, _ = self._caught_up(root, entries)
            _require_same(head, now)
            return checkpoint.publish(root, of_head(head), keys, at, keep=True)

    def cosign(self, key: SignerKey, at: datetime, seen: Checkpoint) -> Note:
        """Add a witness's cosignature to the latest checkpoint, which must state what it saw.

        Raises:
            HeadMoved: the latest checkpoint is another one by now.
            AppendRefused: the disk failed.
        """
        with self._writing() as (root, _):
            if checkpoint.stated(root) != seen:
                raise HeadMoved("the ledger has another checkpoint by now; look at it again")
            return checkpoint.publish(root, seen, [key], at, keep=False)

    @contextmanager
    def _reading(self) -> Iterator[View]:
        """Open the log, and look how far it reaches between two appends."""
        with ExitStack() as stack:
            try:
                root = stack.enter_context(opened(self._path))
                entries = stack.enter_context(opened(log.NAME, root))
            except FileNotFoundError:
                if self._origin is None:
                    raise self._absent() from None
                view = View()
            else:
                with lock.shared(root, READER_WAIT):
                    view = View(root, entries, log.extent(entries))
            yield view

    @contextmanager
    def _writing(self) -> Iterator[tuple[int, int]]:
        """Open the ledger's folder and its log as the only writer; make them where allowed."""
        with ExitStack() as stack:
            try:
                if self._origin is not None:
                    make(self._path)
                root = stack.enter_context(opened(self._path))
                if not self._network:
                    refuse_network(root)
                    self._network = True
                stack.enter_context(lock.exclusive(root, self._wait))
                if self._origin is not None:
                    furnish(root)
                entries = stack.enter_context(opened(log.NAME, root))
            except FileNotFoundError:
                raise self._absent() from None
            yield root, entries

    def _caught_up(self, root: int, entries: int) -> tuple[Head, Extent]:
        """Verify what was added since this process last looked, and tidy the log's end.

        The caller holds the lock. What this process has seen must still stand.
        """
        reach = log.extent(entries)
        seen = self._seen
        if seen is not None and log.holds(entries, reach, seen.end, seen.last):
            reading = Reading(entries, reach, seen.end, seen.head.size)
            head = rules.verify(reading, trusted=seen.head, strict=False)
            if head != seen.head:
                self._seen = Seen(head, reading.end, reading.last)
        else:
            reading = Reading(entries, reach)
            head = self._verified(root, reading, Rules(strict=False))
        if reading.torn:
            self.set_aside.append(set_aside(root, entries, reading.end, reading.torn))
            reach = Extent(reach.segments, reading.end.offset)
        return head, reach

    def _verified(self, root: int, reading: Reading, told: Rules) -> Head:
        """Verify a reading from the genesis on, and against what was seen of it before.

        That is what this process has read, and what the ledger's own checkpoint states.
        """
        lines = iter(reading)
        first = next(lines, None)
        stated = checkpoint.stated(root) if root >= 0 else None
        if first is None and stated is None and self._seen is None and not told.pins:
            if self._origin is None:
                raise self._absent()
            return rules.empty(self._origin)
        seen = {} if self._seen is None else {self._seen.head.size: self._seen.head.root}
        own = {} if stated is None else {stated.size: stated.root}
        head = told.hold(chain(() if first is None else (first,), lines), {**own, **seen})
        if stated is not None and stated.origin != head.origin:
            raise ChainBroken(0, "the ledger's checkpoint is of another ledger")
        self._seen = Seen(head, reading.end, reading.last)
        return head

    def _absent(self) -> LedgerUnreadable:
        name = file_name(self._path)
        return LedgerUnreadable(
            f"there is no ledger in {name}",
            way_out=f"is this the right folder? pass --ledger; or start one: "
            f"aal ledger init --ledger {name}",
        )


def _record(kind: str, body: Mapping[str, JSON]) -> bytes:
    return canonical({"body": body, "kind": kind})


def _held(lines: Iterable[bytes], wanted: Collection[bytes]) -> dict[bytes, Entry]:
    """Return the entries that hold one of these records, by their record; the last of each."""
    held = {}
    for seq, line in enumerate(lines):
        record = record_of(line)
        if record in wanted:
            held[record] = parse(line, seq)
    return held


def _require_same(expected: Head | None, head: Head) -> None:
    if expected is not None and (expected.size, expected.leaf) != (head.size, head.leaf):
        raise HeadMoved(
            f"the ledger has {head.size} entries where {expected.size} were expected: "
            "somebody appended in between",
            way_out="read the ledger again and decide again",
        )
