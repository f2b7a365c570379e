"""Relevance judgments: TREC qrels, and the tab-separated ones of BEIR."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from aal_engine.store.predicate import predicate
from aal_engine.store.text_file import FaultList, Source, open_input, read_lines

Qrels: TypeAlias = dict[str, dict[str, int]]
"""A grade under each document's id, under each query's id."""

Grade: TypeAlias = Callable[[int], int]

_WHOLE = re.compile(r"[-+]?[0-9]{1,4}")


def reversed_grades(best: int) -> Grade:
    """Return the scale turned round: 1, the best, becomes `best`, and `best` becomes 1.

    What lies outside of 1 to `best` means not relevant, and becomes 0.

    >>> list(map(reversed_grades(4), (1, 4, 5, -1)))
    [4, 1, 0, 0]
    """
    return lambda grade: best + 1 - grade if 1 <= grade <= best else 0


def read_qrels(source: Source, faults: FaultList, grade: Grade = int) -> Qrels:
    """Return the judgments of a TREC file: `query iteration document grade`.

    The iteration may be left out; a line that starts with `#` is a comment. A document judged
    twice with two grades is a fault.
    """
    return _judgments(_trec(source, faults), faults, grade)


def read_beir_qrels(source: Source, faults: FaultList, grade: Grade = int) -> Qrels:
    """Return the judgments of a BEIR file: tabs, a header line, query, document and grade."""
    return _judgments(_beir(source, faults), faults, grade)


Row: TypeAlias = tuple[int, str, str, str]


def _trec(source: Source, faults: FaultList) -> Iterator[Row]:
    with open_input(source) as file:
        for line, text in read_lines(file, faults):
            columns = text.split()
            if columns[0].startswith("#"):
                continue
            if len(columns) in (3, 4):
                yield line, columns[0], columns[-2], columns[-1]
            else:
                faults.add(f"has {len(columns)} columns where qrels have 4 or 3", line=line)


def _beir(source: Source, faults: FaultList) -> Iterator[Row]:
    with open_input(source) as file:
        for line, text in read_lines(file, faults):
            columns = [column.strip() for column in text.rstrip("\r\n").split("\t")]
            if line == 1 and columns[-1] == "score":
                continue
            if len(columns) == 3:
                yield line, columns[0], columns[1], columns[2]
            else:
                faults.add("has not the three columns of BEIR, apart by tabs", line=line)


def _judgments(rows: Iterator[Row], faults: FaultList, grade: Grade) -> Qrels:
    qrels: Qrels = {}
    for line, query, doc, written in rows:
        if not predicate("case.json#/$defs/id")(query):
            faults.add("has a query id that cannot be a case id", line=line)
        elif not predicate("case.json#/$defs/document")(doc):
            faults.add("has a document id that cannot be one", line=line, case=query)
        elif not _WHOLE.fullmatch(written) or abs(int(written)) > 1000:
            faults.add("has a grade that is not a whole number up to 1000", line=line, case=query)
        else:
            value = grade(int(written))
            if qrels.setdefault(query, {}).setdefault(doc, value) != value:
                faults.add("judges a document again, with another grade", line=line, case=query)
    if not qrels and not faults.faults:
        faults.add("holds no judgment")
    return qrels
