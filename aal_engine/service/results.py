"""What a deployment evaluated, released and runs, as its ledger says: for those who read it.

Rows are JSON as readers get it: names, numbers and times, never a text. Lists go from the newest to
the oldest. A ledger that is not there yet has nothing in it.
"""

from __future__ import annotations

import base64
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from aal_engine.decide.body import CHECK_COLUMNS
from aal_engine.decide.ledger import Head
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Serving
from aal_engine.errors import LedgerError, NotFound, shown
from aal_engine.service.history import serving, summaries
from aal_engine.service.ledger import verify
from aal_engine.service.ledger_reader import Decided, Evaluated, Filters, LedgerReader
from aal_engine.store.ledger import Ledger

__all__ = ["Filters", "Results", "Row"]

Row: TypeAlias = dict[str, Any]

LOG = "log"
"""The folder that a ledger's folder has once it was started."""


class Results:
    """Reads one ledger, and what was appended since the last reading; safe in several threads."""

    def __init__(self, folder: Path, *, keep: bool = True) -> None:
        """Without `keep` no index is written beside the ledger."""
        self._folder = folder
        self._keep = keep
        self._reader: LedgerReader | None = None
        self._lock = Lock()

    def head(self) -> Head | None:
        """Return how far the ledger reaches, None where there is none yet.

        Raises:
            LedgerError: it is broken or cannot be read.
        """
        reader = self.reader()
        return None if reader is None else reader.head()

    def reader(self) -> LedgerReader | None:
        """Return what reads the ledger's entries, None where there is none yet."""
        with self._lock:
            if self._reader is None and (self._folder / LOG).is_dir():
                self._reader = LedgerReader(self._folder, keep=self._keep)
            return self._reader

    def checkpoint(self) -> bytes | None:
        """Return the bytes of the latest checkpoint, unverified, None if nothing was signed.

        Raises:
            LedgerError: as `head`.
        """
        return None if self.reader() is None else Ledger.open(self._folder).checkpoint()

    def evals(
        self, asked: Filters, *, before: tuple[int, int] | None = None, limit: int
    ) -> list[tuple[tuple[int, int], Row]]:
        """Return a page of eval records, each with its key; the last key asks for the next page.

        Raises:
            LedgerError: as `head`.
        """
        reader = self.reader()
        found = [] if reader is None else reader.evals(asked, before=before, limit=limit)
        return [(each.key, eval_row(each)) for each in found]

    def eval(self, seq: int, place: int) -> Row:
        """Return the eval record with this key.

        Raises:
            NotFound: there is none.
            LedgerError: as `head`.
        """
        page = self.evals(Filters(), before=(seq, place + 1), limit=1)
        if not page or page[0][0] != (seq, place):
            raise NotFound("there is no such eval record")
        return page[0][1]

    def releases(
        self, asked: Filters, *, before: int | None = None, limit: int
    ) -> list[tuple[int, Row]]:
        """Return a page of decisions of the gate, each with its key.

        Raises:
            LedgerError: as `head`.
        """
        reader = self.reader()
        if reader is None:
            return []
        found = reader.decisions(asked, before=before, limit=limit)
        states = {key: serving(reader, key) for key in {_key(each) for each in found}}
        return [(each.key, release_row(each, states[_key(each)])) for each in found]

    def release(self, digest: str) -> Row:
        """Return a decision with every check and record, by its digest.

        Raises:
            NotFound: there is none.
            LedgerError: as `head`.
        """
        reader = self.reader()
        asked = Filters(decision=digest)
        found = [] if reader is None else reader.decisions(asked, limit=1)
        if reader is None or not found:
            raise NotFound(f"there is no decision {shown(digest)}")
        decided = found[0]
        records = [each for each in reader.evals(asked, limit=-1) if each.decided == decided.seq]
        return {
            **release_row(decided, serving(reader, _key(decided))),
            "checks": [
                dict(zip(CHECK_COLUMNS, row, strict=True))
                for part in decided.parts
                for row in part["checks"]["rows"]
            ],
            "evals": [eval_row(each) for each in reversed(records)],
        }

    def verified(self) -> Row:
        """Verify the whole ledger, chain and meaning, and return what was found.

        `holds` is false where it is broken or cannot be read, and `problem` says why.
        """
        found = dict.fromkeys(("origin", "root", "at", "problem"), None)
        if self.reader() is None:
            return {**found, "holds": True, "entries": 0}
        try:
            head = verify(self._folder).audit.head
        except LedgerError as error:
            return {**found, "holds": False, "entries": 0, "problem": error.message}
        root = base64.b64encode(head.root).decode()
        return {
            **found,
            "holds": True,
            "entries": head.size,
            "origin": head.origin,
            "root": root,
            "at": head.at,
        }

    def agents(self) -> list[Row]:
        """Return every agent and pack that has a decision: what serves, and what was decided last.

        Raises:
            LedgerError: as `head`.
        """
        reader = self.reader()
        if reader is None:
            return []
        return [
            {
                **_state(each.serving),
                "agent": each.key.agent,
                "pack": each.key.pack,
                "last": release_row(each.recent[0], each.serving) if each.recent else None,
            }
            for each in summaries(reader, limit=-1)
        ]


def eval_row(found: Evaluated) -> Row:
    """Return an eval record as readers get it."""
    record = found.record
    return {
        "id": f"{found.seq}-{found.place}",
        "pack": found.pack,
        "agent": found.agent,
        "version": found.version,
        "model_family": record["model_family"],
        "suite": record["suite"],
        "kind": record["kind"],
        "passed": record["passed"],
        "metrics": {
            name: {"value": value, "n": n} for name, (value, n) in record["metrics"].items()
        },
        "cases": record["cases"],
        "scored": record["scored"],
        "at": found.at,
        "release": found.decision,
        "verdict": found.verdict,
        "entry": found.seq,
        "record": record["record"],
        "golden_set": record["golden_set"],
        "run": record["run"],
        "engine": record["engine"],
    }


def _key(decided: Decided) -> AgentKey:
    first = decided.parts[0]
    return AgentKey(first["agent"], first["pack"])


def release_row(decided: Decided, state: Serving) -> Row:
    """Return a decision as readers of lists get it; `state` is its agent's."""
    first = decided.parts[0]
    version = first["version"]
    released = first["verdict"] == "released"
    return {
        "id": first["decision"],
        "agent": first["agent"],
        "pack": first["pack"],
        "version": version,
        "verdict": first["verdict"],
        "model_families": first["model_families"],
        "decided_at": first["decided_at"],
        "at": decided.at,
        "entry": decided.seq,
        "baseline": first["baseline"],
        "policy": first["policy"],
        "engine": first["engine"],
        "blocking": sum(
            not row[CHECK_COLUMNS.index("ok")] and not row[CHECK_COLUMNS.index("advisory")]
            for part in decided.parts
            for row in part["checks"]["rows"]
        ),
        "serving": released and state.version == version,
        "quarantined": version in state.quarantined,
    }


def _state(state: Serving) -> Row:
    live = state.live
    return {
        "serving": state.version,
        "since": None if live is None else live.at,
        "pending": None if state.pending is None else state.pending.version,
        "quarantined": sorted(state.quarantined),
        "halted": state.halt is not None,
    }
