"""Pages of a ledger for those who read it: entries, decisions and eval records by filters.

Pages go from the newest to the oldest. The key of the last item of a page, given as `before`, asks
for the page after it; an entry that is appended meanwhile moves no page. What a ledger does not
hold is an empty page, never an error. A limit of -1 is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from aal_engine.decide.entry import Entry
from aal_engine.decide.ledger import Head
from aal_engine.decide.release import AgentKey
from aal_engine.store.ledger_index import LedgerIndex
from aal_engine.store.ledger_query import Filters

__all__ = ["Decided", "Evaluated", "Filters", "LedgerReader"]

PAGE = 50
EVERYTHING = Filters()

_NAMES = ("agent", "pack", "version", "verdict", "decision")


@dataclass(frozen=True, slots=True)
class Decided:
    """A complete decision: the bodies of its parts in order, `seq` and `at` of the last.

    Every part has the same `agent`, `pack`, `version`, `verdict`, `decision` and so on; `checks`
    and `records` are the parts' own. `key` is the page's key.
    """

    seq: int
    at: str
    parts: tuple[Mapping[str, Any], ...]

    @property
    def key(self) -> int:
        """What `before` takes."""
        return self.seq


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An eval record of a decision, as the ledger holds it, and the decision's names.

    `record` has `kind`, `suite`, `model_family`, `golden_set`, `cases`, `scored`, `record` (its
    digest), `table`, `run`, `passed`, `engine`, `metrics` (name to [value, n]) and `floors`.
    `decided` is the number of the entry that ends the decision. `key` is the page's key.
    """

    seq: int
    place: int
    at: str
    decided: int
    agent: str
    pack: str
    version: str
    verdict: str
    decision: str
    record: Mapping[str, Any]

    @property
    def key(self) -> tuple[int, int]:
        """What `before` takes."""
        return self.seq, self.place


class LedgerReader:
    """Reads one ledger through an index that it keeps; safe to use from several threads.

    Each call first takes in what was appended since the last one, in the time that those entries
    take. Without `keep` nothing is written beside the ledger.
    """

    def __init__(self, folder: Path, *, keep: bool = True) -> None:
        self._index = LedgerIndex(folder, keep=keep)
        self._lock = Lock()

    @property
    def rebuilt(self) -> str | None:
        """Why an index that stood here was thrown away, None if none was."""
        return self._index.rebuilt

    def head(self) -> Head:
        """Return how far the ledger reaches now: origin, size, root and the last entry's time.

        Raises:
            LedgerError: what was added does not follow, or the ledger cannot be read.
        """
        with self._lock:
            return self._index.catch_up()

    def entries(
        self, asked: Filters = EVERYTHING, *, before: int | None = None, limit: int = PAGE
    ) -> list[Entry]:
        """Return a page of entries of any kind; the key is an entry's `seq`.

        For releases: `Filters(kinds=("release", "rollback"), agent=...)`.

        Raises:
            LedgerError: as `head`, or an entry was changed since it was indexed.
        """
        with self._lock:
            self._index.catch_up()
            return self._index.entries(asked, before, limit)

    def decisions(
        self, asked: Filters = EVERYTHING, *, before: int | None = None, limit: int = PAGE
    ) -> list[Decided]:
        """Return a page of complete decisions; what the gate released: `verdict="released"`.

        One decision: `Filters(decision=DIGEST)`.

        Raises:
            LedgerError: as `entries`.
        """
        with self._lock:
            self._index.catch_up()
            found = self._index.decisions(asked, before, limit)
        return [Decided(e[-1].seq, e[-1].at, tuple(part.body for part in e)) for e in found]

    def subjects(self, *, after: AgentKey | None = None, limit: int = PAGE) -> list[AgentKey]:
        """Return the agents and packs that have a complete decision, by name, those after one.

        Raises:
            LedgerError: as `head`.
        """
        with self._lock:
            self._index.catch_up()
            return [AgentKey(*each) for each in self._index.subjects(after, limit)]

    def tree(self) -> tuple[Head, list[bytes]]:
        """Return the head and the leaf hashes that lead to its root, 32 bytes each, in order.

        Raises:
            LedgerError: as `head`.
        """
        with self._lock:
            return self._index.catch_up(), self._index.leaves()

    def parts(self, seq: int) -> list[Entry] | None:
        """Return the entries of the complete decision that an entry belongs to, None if of none.

        Raises:
            LedgerError: as `entries`.
        """
        with self._lock:
            self._index.catch_up()
            return self._index.parts(seq)

    def evals(
        self,
        asked: Filters = EVERYTHING,
        *,
        before: tuple[int, int] | None = None,
        limit: int = PAGE,
    ) -> list[Evaluated]:
        """Return a page of eval records of complete decisions.

        One record: `Filters(record=DIGEST)`.

        Raises:
            LedgerError: as `entries`.
        """
        with self._lock:
            self._index.catch_up()
            found = self._index.records(asked, before, limit)
        return [_evaluated(*each) for each in found]


def _evaluated(entry: Entry, place: int, decided: int) -> Evaluated:
    body: Mapping[str, Any] = entry.body
    names = {name: str(body.get(name, "")) for name in _NAMES}
    return Evaluated(entry.seq, place, entry.at, decided, **names, record=body["records"][place])
