"""TREC run files in columns: a piece of the text at a time, each parsed as a whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.ids import packed
from aal_engine.store.read_ahead import map_ahead
from aal_engine.store.text_file import BOM, MAX_LINE, FaultList, read_lines
from aal_engine.store.trec import trec_rows

QUERY, DOC, SCORE = "query_id", "doc_id", "score"
_NAMES = (QUERY, "iteration", DOC, "rank", SCORE, "tag")
_TYPES = {QUERY: pa.string(), DOC: pa.string(), SCORE: pa.float64()}
_WIDTHS = (5, 6)
_PIECE = 2**20
"""Bytes of text parsed at a time, so that they stay in the processor's cache meanwhile."""

_LINE, _SPACE, _COMMENT = b"\n", b" ", b"#"
_BLANK = np.isin(np.arange(256), np.frombuffer(b" \t\v\f\r", np.uint8))


def trec_batches(file: BinaryIO) -> Iterator[pa.RecordBatch]:
    """Yield the rows that `trec_rows` yields, as batches of query, document and score.

    Raises:
        InputError: rows cannot be used; which ones is for `trec_rows` to tell.
    """
    for batches in map_ahead(_batches, _pieces(file)):
        yield from batches


def _batches(piece: bytes) -> list[pa.RecordBatch]:
    plain = _plain(piece)
    table = None if plain is None else _parsed(plain)
    return [_row_by_row(piece)] if table is None else table.to_batches()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the text in pieces of whole lines."""
    rest = b""
    first = True
    while read := file.read(_PIECE):
        piece = rest + read
        if first:
            piece = piece.removeprefix(BOM)
            first = False
        end = piece.rfind(_LINE) + 1
        if end:
            yield piece[:end]
        rest = piece[end:]
        if len(rest) > MAX_LINE:
            raise InputError.at("the line is too long")
    if rest:
        yield rest


def _plain(piece: bytes) -> bytes | None:
    """Return the text with its columns one space apart, or None where it has comments."""
    if _COMMENT in piece and (piece.startswith(_COMMENT) or _LINE + _COMMENT in piece):
        return None
    text = np.frombuffer(piece, np.uint8)
    low = text <= _SPACE[0]
    plain = np.count_nonzero(text == _SPACE[0]) + np.count_nonzero(text == _LINE[0])
    if not low[0] and plain == np.count_nonzero(low) and not (low[1:] & low[:-1]).any():
        return piece
    return _spaced(text)


def _spaced(text: NDArray[np.uint8]) -> bytes:
    """Make one space of each run of blanks, and nothing of those at either end of a line."""
    blank = _BLANK[text]
    text = np.where(blank, np.uint8(_SPACE[0]), text)
    ends = np.append(blank[1:] | (text[1:] == _LINE[0]), np.True_)
    text = text[~(blank & ends)]
    begins = np.append(np.True_, text[:-1] == _LINE[0])
    spaced: bytes = text[~(begins & (text == _SPACE[0]))].tobytes()
    return spaced


def _parsed(text: bytes) -> pa.Table | None:
    """Parse lines of columns that are one space apart, None where they are not all alike."""
    from pyarrow import csv

    # Without a line's end, all but the last byte, which is no space, is looked at.
    width = text.count(_SPACE, 0, text.find(_LINE)) + 1
    if width not in _WIDTHS:
        return None
    try:
        return csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(use_threads=False, block_size=len(text), column_names=_NAMES[:width]),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(
                include_columns=list(_TYPES),
                column_types=_TYPES,
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None


def _row_by_row(piece: bytes) -> pa.RecordBatch:
    faults = FaultList("")
    rows = list(trec_rows(read_lines(io.BytesIO(piece), faults), faults))
    faults.settle()
    scores = np.array([row[3] for row in rows], np.float64)
    return pa.RecordBatch.from_arrays(
        [
            packed([row[1] for row in rows]).cast(pa.string()),
            packed([row[2] for row in rows]).cast(pa.string()),
            pa.Array.from_buffers(pa.float64(), len(rows), [None, pa.py_buffer(scores)]),
        ],
        names=[QUERY, DOC, SCORE],
    )
