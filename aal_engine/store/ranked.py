"""Ranked lists gathered from rows of query, document and score, in whatever order they come."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import repeat

from aal_engine.measure.run import Output, Passage
from aal_engine.store.predicate import predicate
from aal_engine.store.text_file import FaultList


class _List:
    """One query's list as it grows: flat arrays, for a run may have millions of rows."""

    __slots__ = ("docs", "lines", "scores")

    def __init__(self) -> None:
        self.docs: list[str] = []
        self.scores = array("d")
        self.lines = array("Q")


class RankedLists:
    """Gathers the rows of a run that says nothing but what was retrieved."""

    def __init__(
        self, faults: FaultList, *, ranks: bool = False, only: Collection[str] | None = None
    ) -> None:
        """With `ranks`, the numbers given are ranks: the smallest stands first.

        With `only`, every row is checked, but the lists of these queries alone are kept.
        """
        self._faults = faults
        self._ranks = ranks
        self._only = only
        self._lists: dict[str, _List] = {}

    def add(self, line: int, query: str, doc: str, number: float) -> None:
        """Take one row; `number` is a score, or a rank."""
        found = self._lists.get(query)
        if found is None:
            if not predicate("case.json#/$defs/id")(query):
                self._faults.add("has a query id that cannot be a case id", line=line)
                return
            found = self._lists[query] = _List()
        if not math.isfinite(number):
            what = "rank" if self._ranks else "score"
            self._faults.add(f"has a {what} that is not a finite number", line=line, case=query)
            return
        if self._only is not None and query not in self._only:
            return
        found.docs.append(doc)
        found.scores.append(number)
        found.lines.append(line)

    def outputs(self) -> Iterator[tuple[int, Output]]:
        """Yield the first line and the output of every query."""
        for query, found in self._lists.items():
            if not found.docs:
                continue
            self._repeats(query, found)
            if self._ranks:
                order = sorted(range(len(found.docs)), key=found.scores.__getitem__)
                passages = tuple(Passage(found.docs[place]) for place in order)
            else:
                passages = tuple(map(Passage, found.docs, repeat(None), found.scores))
            yield found.lines[0], Output(query, retrieved=passages)

    def _repeats(self, query: str, found: _List) -> None:
        self._repeat("document", found.docs, query, found.lines)
        if self._ranks:
            self._repeat("rank", found.scores, query, found.lines)

    def _repeat(
        self, what: str, values: Sequence[str | float], query: str, lines: Sequence[int]
    ) -> None:
        if len(set(values)) == len(values):
            return
        first: dict[str | float, int] = {}
        for value, line in zip(values, lines, strict=True):
            if value in first:
                self._faults.add(
                    f"has the {what} of line {first[value]} again", line=line, case=query
                )
            else:
                first[value] = line
