"""Putting records into a ledger's one order: those that branches left pending, and those of a fork."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from aal_engine.decide.checkpoint import parse_text
from aal_engine.decide.entry import Entry
from aal_engine.decide.ledger import extend
from aal_engine.decide.note import parse
from aal_engine.decide.pending import Pending
from aal_engine.decide.replay import Replay, judged
from aal_engine.errors import AppendRefused, ChainBroken, HeadMoved
from aal_engine.store.ledger import Ledger
from aal_engine.store.pending import taken_up, waiting

TRIES = 8
"""Times that all is looked at again because somebody appended in between."""


@dataclass(slots=True)
class Taken:
    """What was put into the log, and what was not.

    `known` counts what stood there already; `refused` says of each group of records that no longer
    follows from the ledger what it is, and why.
    """

    entries: list[Entry] = field(default_factory=list)
    known: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def sequence(folder: Path, *, now: datetime) -> Taken:
    """Append what waits in `pending/`, the oldest first, and remove the files that it waited in.

    What is cut off anywhere is finished by the same call: records that stand in the log are not
    written again. Records that no longer follow (a decision whose baseline is not the last release
    any more) stay where they are.

    Raises:
        InputError: a pending file is not what was written; nothing is appended.
        LedgerError: the ledger is broken or cannot be written.
    """
    return _taken(folder, waiting(folder), now, lambda name: taken_up(folder, name), since=0)


def repair(folder: Path, own: Path, *, now: datetime) -> tuple[int, Taken]:
    """Append the records that a fork of this ledger has and this one lacks; return where it forked.

    `own` is the folder of the fork: the ledger as one's own branch had it. Its records are appended
    anew, after all that stands here.

    Raises:
        AppendRefused: the two are not one ledger up to some entry, or a checkpoint of the fork was
            signed over what would move: two signed histories are nothing to be mended.
        LedgerError: one of the two is broken, or this one cannot be written.
    """
    fork = Ledger.open(own)
    head = fork.verify(meaning=Replay())
    here = Ledger.open(folder)
    if here.verify(strict=False).origin != head.origin:
        raise AppendRefused("the two are ledgers of different origins, not forks of one")
    pairs = zip(fork.lines(), here.lines(), strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if common == 0:
        raise AppendRefused("the two have no entry in common: neither is a fork of the other")
    covered = _covered(fork)
    if covered > common:
        raise AppendRefused(
            f"a checkpoint over {covered} entries of the fork was signed, and it forked after "
            f"{common}: whoever holds that checkpoint would find this ledger broken",
            way_out="keep both, and settle it among people; nothing was appended",
        )
    groups = {f"entry {e.seq} of the fork": p for e, p in _groups(fork.entries(), common)}
    return common, _taken(folder, groups, now, lambda _: None, since=common)


def _covered(ledger: Ledger) -> int:
    own = ledger.checkpoint()
    notes = [*ledger.checkpoints(0).values(), *([] if own is None else [own])]
    return max((parse_text(parse(raw).text).size for raw in notes), default=0)


def _groups(entries: Iterable[Entry], start: int) -> Iterator[tuple[Entry, Pending]]:
    """Yield records from an entry on, the parts of a decision together."""
    parts: list[Entry] = []
    for entry in entries:
        if entry.seq < start:
            continue
        body: Mapping[str, Any] = entry.body
        place, of = body["part"] if entry.kind == "decision" else (1, 1)
        if parts and (entry.kind != "decision" or place == 1):
            parts = []
        parts.append(entry)
        if entry.kind != "decision" or place == of:
            yield parts[0], Pending(entry.at, entry.kind, tuple(each.body for each in parts))
            parts = []


def _taken(
    folder: Path,
    groups: dict[str, Pending],
    now: datetime,
    done: Callable[[str], None],
    *,
    since: int,
) -> Taken:
    """Append groups of records, but those that stand in the log from an entry on."""
    taken = Taken()
    for _ in range(TRIES):
        with suppress(HeadMoved):
            _take(folder, groups, now, done, since, taken)
            return taken
    raise HeadMoved(
        f"the ledger grew {TRIES} times while records were put into it",
        way_out="run the same command again: what was appended is not appended twice",
    )


def _take(
    folder: Path,
    groups: dict[str, Pending],
    now: datetime,
    done: Callable[[str], None],
    since: int,
    taken: Taken,
) -> None:
    ledger, replay = Ledger.open(folder), Replay()
    head = ledger.verify(meaning=replay)
    known = replay.known()
    held = ledger.find({r for group in groups.values() for r in group.records()}, since)
    taken.refused.clear()
    for name, group in list(groups.items()):
        if held.keys() >= set(group.records()):
            taken.known += 1
        else:
            try:
                after = judged(known, head.size, group.kind, group.bodies, now)
            except ChainBroken as broken:
                taken.refused[name] = broken.why
                continue
            entries = ledger.append_all(group.kind, group.bodies, now, expected=head)
            for entry in entries:
                head = extend(head, entry)
            known = after
            taken.entries += entries
        done(name)
        del groups[name]
