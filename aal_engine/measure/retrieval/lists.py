"""Ranked lists in rows of a case each: judged wherever the rows are, and put together after.

A row holds a case's id, a list of document ids and a list of their scores, of one length. So no
row needs another one: batches of them are judged apart, on as many machines as there are, and
what comes back of each is small: the ranks of its judged documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aal_engine.errors import Fault, InputError
from aal_engine.measure.retrieval.columns import Columns, parts
from aal_engine.measure.retrieval.judged import IntArray, Judged, Qrels
from aal_engine.measure.retrieval.list_digest import ListDigest
from aal_engine.measure.retrieval.reading import judge_columns

_INTEGERS: Final = pa.list_(pa.int64())
PLACED: Final = pa.schema(
    [
        ("case", pa.string()),
        ("retrieved", pa.int64()),
        ("ties", pa.int64()),
        ("grades", _INTEGERS),
        ("ranks", _INTEGERS),
        ("digest", pa.string()),
        ("fault", pa.string()),
    ]
)
"""What `placed` finds for a case: as `Judged` and `ListDigest` have it, or what is wrong with it."""


def is_listed(kind: pa.DataType) -> bool:
    """Whether a column of this type holds a list in each row."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def long_rows(batch: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """Return rows of a retrieved document each, made of rows of a case each.

    Raises:
        InputError: a column is missing or holds no lists, a list is null, or the two lists of a row
            differ in length.
    """
    docs, scores = _lists(batch, columns.doc), _lists(batch, str(columns.score))
    lengths = _lengths(docs)
    uneven = np.flatnonzero(lengths != _lengths(scores))
    if uneven.size:
        raise InputError.at(
            f"row {uneven[0] + 1} has not one score for each document", field=columns.score
        )
    if batch.schema.get_field_index(columns.query) < 0:
        raise InputError.at(
            "is not among the run's columns, or is there twice", field=columns.query
        )
    row = np.repeat(np.arange(batch.num_rows, dtype=np.int32), lengths)
    queries = batch.column(columns.query)
    if pa.types.is_dictionary(queries.type):
        queries = queries.dictionary_decode()
    return pa.RecordBatch.from_arrays(
        [
            pa.DictionaryArray.from_arrays(_integers(row, pa.int32()), queries),
            docs.flatten(),
            scores.flatten(),
        ],
        names=[columns.query, columns.doc, str(columns.score)],
    )


def placed(
    batches: Iterable[pa.RecordBatch],
    qrels: Mapping[str, Qrels],
    columns: Columns | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield, batch by batch, what each case's list says of its judged documents, see `PLACED`.

    Cases that `qrels` does not have are placed too: their lists are checked and digested, and have
    no ranks. Cases whose lists are empty are left out. What is wrong with a list stands beside its
    case, so that whoever gathers the batches tells of all.
    """
    names = columns or Columns()
    for batch in batches:
        try:
            rows = long_rows(batch, names)
            if rows.num_rows:
                yield _placed(rows, qrels, names)
        except InputError as error:
            yield _refused(error.faults)


def gathered(
    ids: Sequence[str], qrels: Sequence[Qrels], found: pa.Table
) -> tuple[Judged, Mapping[str, str]]:
    """Put together what `placed` found, for Q queries; and return each case's list digest.

    Raises:
        InputError: a list cannot be used, or a case is there twice.
    """
    _refuse(found)
    digests = dict(
        zip(found.column("case").to_pylist(), found.column("digest").to_pylist(), strict=True)
    )
    number = {case: place for place, case in enumerate(ids)}
    found = found.combine_chunks()
    at = np.array([number.get(case, -1) for case in digests], np.int64)
    kept = np.flatnonzero(at >= 0)
    absent = np.setdiff1d(np.arange(len(ids)), at)
    held = found.take(_integers(kept, pa.int64()))
    lacking = [np.array(list(qrels[query].values()), np.int64) for query in absent.tolist()]
    retrieved = np.zeros(len(ids), np.int64)
    ties = np.zeros(len(ids), np.int64)
    retrieved[at[kept]] = held.column("retrieved").to_numpy()
    ties[at[kept]] = held.column("ties").to_numpy()
    grades = held.column("grades").combine_chunks()
    grade = [_flat(grades), *lacking]
    rank = [_flat(held.column("ranks").combine_chunks()), *map(np.zeros_like, lacking)]
    query = [
        np.repeat(at[kept], _lengths(grades)),
        np.repeat(absent, [grades.size for grades in lacking]),
    ]
    return Judged.arrange(
        np.concatenate(query),
        np.concatenate(grade),
        np.concatenate(rank),
        retrieved=retrieved,
        ties=ties,
    ), digests


def again(case: str) -> Fault:
    """Say that a run has a case twice."""
    return Fault("attempt 1 is there twice", case=case)


def _placed(rows: pa.RecordBatch, qrels: Mapping[str, Qrels], columns: Columns) -> pa.RecordBatch:
    bounds, ids, docs, scores = parts(rows, columns, 0)
    _refuse_twice(ids)
    judged, _ = judge_columns(ids, [qrels.get(case, {}) for case in ids], lambda: [rows], columns)
    lists = ListDigest()
    lists.add(ids, bounds, docs, scores)
    offsets = _integers(judged.offsets.astype(np.int32), pa.int32())
    return pa.RecordBatch.from_arrays(
        [
            pa.array(ids, pa.string()),
            _integers(judged.retrieved, pa.int64()),
            _integers(judged.ties, pa.int64()),
            pa.ListArray.from_arrays(offsets, _integers(judged.grade, pa.int64())),
            pa.ListArray.from_arrays(offsets, _integers(judged.rank, pa.int64())),
            pa.array(list(lists.digests().values()), pa.string()),
            pa.nulls(len(ids), pa.string()),
        ],
        schema=PLACED,
    )


def _refused(faults: Sequence[Fault]) -> pa.RecordBatch:
    """Return faults in the place of what was found; a case is named apart from its fault."""
    return pa.RecordBatch.from_pylist(
        [
            {"case": fault.case, "fault": str(replace(fault, case=None)), "grades": [], "ranks": []}
            for fault in faults
        ],
        schema=PLACED,
    )


def _refuse(found: pa.Table) -> None:
    wrong = found.filter(pc.is_valid(found.column("fault")))
    cases = wrong.column("case").to_pylist()
    if cases:
        faults = zip(cases, wrong.column("fault").to_pylist(), strict=True)
        raise InputError(Fault(fault, case=case) for case, fault in faults)
    _refuse_twice(found.column("case").to_pylist())


def _refuse_twice(cases: Sequence[str]) -> None:
    if len(set(cases)) < len(cases):
        held = Counter(cases)
        raise InputError(again(case) for case in sorted(held) if held[case] > 1)


def _lists(batch: pa.RecordBatch, name: str) -> pa.Array:
    place = batch.schema.get_field_index(name)
    if place < 0:
        raise InputError.at("is not among the run's columns, or is there twice", field=name)
    column = batch.column(place)
    if not is_listed(column.type):
        raise InputError.at(f"holds {column.type}, not lists", field=name)
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py() + 1
        raise InputError.at(f"row {row} has no list", field=name)
    return column


def _lengths(lists: pa.Array) -> IntArray:
    lengths = pc.list_value_length(lists).cast(pa.int64())
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)


def _flat(lists: pa.Array) -> IntArray:
    return np.asarray(lists.flatten().to_numpy(zero_copy_only=False), np.int64)


def _integers(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(
        kind, values.size, [None, pa.py_buffer(np.ascontiguousarray(values))]
    )
