"""Set evaluations against the first of them, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from aal_engine.decide.question import unique
from aal_engine.errors import InputError, shown
from aal_engine.measure.comparison import Compared, compare_tables
from aal_engine.measure.metric import Kind
from aal_engine.measure.record import EvalRecord, summarise
from aal_engine.store.record import load_records
from aal_engine.store.table import FOLDER, find_tables

FILES = ("retrieval.json", "answers.json")
"""The records files that are looked for where a folder is named."""


class Side(NamedTuple):
    """One evaluation's part in a comparison; `place` counts the evaluations from 1."""

    place: int
    version: str
    model_family: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One suite of an evaluation against the same suite of the first."""

    kind: Kind
    suite: str
    first: Side
    other: Side
    compared: Compared


class _Evaluated(NamedTuple):
    """A record, its table, and the place of its evaluation."""

    place: int
    record: EvalRecord
    table: pa.Table

    @property
    def side(self) -> Side:
        return Side(self.place, self.record.version, self.record.model_family)


def compare_evaluations(
    paths: Sequence[Path], *, families: bool = False
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Return the comparisons, and notes on what has nothing to be compared with.

    A path is a records file or a folder that `aal evaluate` wrote; the per-case tables are beside
    it. Records of the same kind, suite and model family are set against those of the first path
    that has them; with `families`, those of the same kind and suite, whatever their family.

    Raises:
        InputError: a file cannot be used, a record does not follow from its table, or there is
            nothing to compare.
    """
    groups: dict[tuple[str, ...], list[_Evaluated]] = {}
    for place, path in enumerate(paths, start=1):
        for found in _evaluated(path, place):
            record = found.record
            family = () if families else (record.model_family or "",)
            groups.setdefault((record.kind, record.suite, *family), []).append(found)
    comparisons: list[Comparison] = []
    notes: list[str] = []
    for _, (first, *others) in sorted(groups.items()):
        if not others:
            notes.append(f"{_named(first)} has nothing to be compared with")
            continue
        told = compare_tables(first.table, [other.table for other in others])
        for other, compared in zip(others, told, strict=True):
            if not compared.cases:
                notes.append(f"{_named(first)} and {_named(other)} have no case in common")
                continue
            kind, suite = first.record.kind, first.record.suite
            comparisons.append(Comparison(kind, suite, first.side, other.side, compared))
    if not comparisons:
        raise InputError.at(
            f"there is nothing to compare: {notes[0]}",
            way_out="name two evaluations of the same pack, or one and --families",
        )
    return tuple(comparisons), tuple(notes)


def _evaluated(path: Path, place: int) -> Iterator[_Evaluated]:
    for file in _files(path):
        records = unique(load_records(file)).values()
        tables = find_tables([record.table for record in records], [file.parent / FOLDER])
        for record in records:
            table = tables.get(record.table)
            if table is None:
                raise InputError.at(
                    f"the per-case table of suite {shown(record.suite)} is not beside it",
                    file=file,
                    way_out="keep the folder `tables` that `aal evaluate` writes with the records",
                )
            if summarise(table, record.scored_at).canonical() != record.canonical():
                raise InputError.at(
                    f"the record of suite {shown(record.suite)} does not follow from its table",
                    file=file,
                    way_out="score the run again with `aal evaluate`",
                )
            yield _Evaluated(place, record, table)


def _files(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return [path]
    found = [path / name for name in FILES if (path / name).is_file()]
    if not found:
        raise InputError.at(
            f"holds neither {' nor '.join(FILES)}", file=path, way_out="make them: aal evaluate"
        )
    return found


def _named(found: _Evaluated) -> str:
    record = found.record
    family = "" if record.model_family is None else f" of {shown(record.model_family)}"
    return f"{record.kind} {shown(record.suite)}{family} in evaluation {found.place}"
