"""One verification of a stored ledger: what it asks for, what it reads, what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from aal_engine.decide import ledger as rules
from aal_engine.decide.ledger import Head, Meaning, Notice
from aal_engine.decide.merkle import leaf_hash
from aal_engine.errors import ChainBroken
from aal_engine.store import checkpoint, log
from aal_engine.store.log import Extent, Place, Reading


@dataclass(frozen=True, slots=True)
class Audit:
    """What a verification found: the head, the length of a torn tail, and what is odd.

    A torn tail (`torn` bytes, 0 if there is none) was never acknowledged to anybody; the next
    append sets it aside. `notices` name an entry's place and what is odd about it.
    """

    head: Head
    torn: int
    notices: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """How far the log was verified: the head, the place after its last line, and that line."""

    head: Head
    end: Place
    last: bytes


@dataclass(frozen=True, slots=True)
class View:
    """An open ledger between two appends: its folder, its log, and how far that reaches.

    A ledger that is not there yet has no folders to read.
    """

    root: int = -1
    entries: int = -1
    reach: Extent = Extent(0, 0)  # noqa: RUF009 it is frozen


@dataclass(frozen=True, slots=True)
class Rules:
    """What a verification asks for."""

    strict: bool
    pins: Mapping[int, bytes] = field(default_factory=dict)
    meaning: Meaning | None = None
    notice: Notice | None = None

    def hold(
        self, lines: Iterable[bytes], more: Mapping[int, bytes], trusted: Head | None = None
    ) -> Head:
        """Verify lines, against `more` pins too."""
        for size in self.pins.keys() & more.keys():
            if self.pins[size] != more[size]:
                raise ChainBroken(size - 1, "is not what was seen before: there are two ledgers")
        return rules.verify(
            lines,
            trusted=trusted,
            strict=self.strict,
            pins={**self.pins, **more},
            meaning=self.meaning,
            notice=self.notice,
        )


def followed(view: View, trusted: Head, told: Rules) -> tuple[Head, Reading]:
    """Verify what follows a head that was verified before, reading no more than its segment."""
    number = (trusted.size - 1) // log.LINES
    reading = Reading(view.entries, view.reach, Place(number, 0), number * log.LINES)
    lines = iter(reading)
    skipped = list(islice(lines, trusted.size - number * log.LINES))
    if len(skipped) < trusted.size - number * log.LINES:
        seq = number * log.LINES + len(skipped)
        raise ChainBroken(seq, f"is missing: the ledger once had {trusted.size} entries")
    if leaf_hash(skipped[-1]) != trusted.leaf:
        raise ChainBroken(trusted.size - 1, "is not the entry that was verified before")
    stated = checkpoint.stated(view.root, trusted.origin)
    own = {} if stated is None or stated.size < trusted.size else {stated.size: stated.root}
    return told.hold(lines, own, trusted), reading
