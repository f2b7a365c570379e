"""Runs in Parquet: a row an output, a row a retrieved document, or a row a list of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from aal_engine.errors import InputError
from aal_engine.measure.retrieval.lists import is_listed
from aal_engine.measure.run import Output
from aal_engine.store.json_text import named
from aal_engine.store.output import FIELDS, RowReader
from aal_engine.store.ranked import RankedLists
from aal_engine.store.remote import is_address, open_address
from aal_engine.store.text_file import FaultList, Source

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

MAGIC = b"PAR1"
QUERY_COLUMNS = ("query_id", "query", "qid", "q_id", "query-id", "topic_id", "case_id", "id")
DOC_COLUMNS = ("doc_id", "doc", "docno", "docid", "corpus-id")
VALUE_COLUMNS = ("score", "rank")
_BATCH = 4_096


def read_parquet_run(
    source: Source,
    reader: RowReader,
    faults: FaultList,
    *,
    only: Collection[str] | None = None,
) -> Iterator[tuple[int, Output]]:
    """Yield the row, from 1, and the output of every row or every query of a Parquet file.

    A file with an `id` column and one of the other fields of a run has a row for each output, its
    `retrieved` a list of structs. A file with a query, a document, and a score or a rank column
    has a row for each retrieved document; the rank is used only where there is no score. Where the
    last two columns hold lists, a row has the documents and scores of its query. With
    `only`, all its rows are checked and the queries named there alone are yielded.

    Raises:
        InputError: it is not a Parquet file, or has the columns of neither form.
    """
    import pyarrow as pa

    try:
        with open_parquet(source) as file:
            if is_wide(file.schema_arrow.names):
                yield from _wide(file, reader)
            else:
                yield from _long(file, reader, faults, only)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError.at("is not Parquet that can be read", file=faults.file) from None


@contextmanager
def open_parquet(source: Source, **options: Any) -> Iterator[ParquetFile]:
    """Give a Parquet file, at a path or an address, to read; `options` are pyarrow's."""
    import pyarrow.parquet as pq

    with ExitStack() as opened:
        place: Any = source
        if is_address(source):
            place = opened.enter_context(open_address(str(source)))
        yield opened.enter_context(pq.ParquetFile(place, **options))


def is_wide(names: Sequence[str]) -> bool:
    """Whether columns of these names are those of a run with a row for each output."""
    return "id" in names and not FIELDS.isdisjoint(set(names) - {"id"})


def list_columns(names: Sequence[str]) -> tuple[str | None, str | None, str | None]:
    """Return the query's, the document's, and the score's or the rank's column; None for none."""
    return _first(QUERY_COLUMNS, names), _first(DOC_COLUMNS, names), _first(VALUE_COLUMNS, names)


def _wide(file: ParquetFile, reader: RowReader) -> Iterator[tuple[int, Output]]:
    columns = [name for name in file.schema_arrow.names if name in FIELDS]
    _leave(file, reader, columns)
    number = 0
    for batch in file.iter_batches(_BATCH, columns=columns):
        for row in batch.to_pylist():
            number += 1
            output = reader.output(row, number)
            if output is not None:
                yield number, output


def _long(
    file: ParquetFile, reader: RowReader, faults: FaultList, only: Collection[str] | None
) -> Iterator[tuple[int, Output]]:
    query, doc, value = list_columns(file.schema_arrow.names)
    if query is None or doc is None or value is None:
        raise InputError.at(
            "has neither the columns of a run nor a query, a document and a score column",
            file=faults.file,
            way_out=f"query column: {', '.join(QUERY_COLUMNS)}; document column: "
            f"{', '.join(DOC_COLUMNS)}; and score or rank",
        )
    _leave(file, reader, [query, doc, value])
    lists = RankedLists(faults, ranks=value == "rank", only=only)
    if all(is_listed(file.schema_arrow.field(name).type) for name in (doc, value)):
        _listed(file, (query, doc, value), faults, lists)
        yield from lists.outputs()
        return
    number = 0
    for batch in file.iter_batches(_BATCH, columns=[query, doc, value]):
        cells = [batch.column(name).to_pylist() for name in (query, doc, value)]
        for case, document, amount in zip(*cells, strict=True):
            number += 1
            if not isinstance(case, str | int) or not isinstance(document, str | int):
                faults.add("has no query or document id that is text or a number", line=number)
            else:
                numeric = isinstance(amount, int | float)
                lists.add(number, str(case), str(document), amount if numeric else math.nan)
    yield from lists.outputs()


def _listed(
    file: ParquetFile, columns: tuple[str, str, str], faults: FaultList, lists: RankedLists
) -> None:
    rows: dict[str, int] = {}
    number = 0
    for batch in file.iter_batches(_BATCH // 64, columns=list(columns)):
        cells = [batch.column(name).to_pylist() for name in columns]
        for case, documents, amounts in zip(*cells, strict=True):
            number += 1
            if not isinstance(case, str | int) or documents is None or amounts is None:
                faults.add("has no query id, or no list", line=number)
            elif len(documents) != len(amounts):
                faults.add("has not one number for each document", line=number)
            elif (earlier := rows.setdefault(str(case), number)) != number:
                faults.add(f"is the list of the same query as row {earlier}", line=number)
            else:
                for document, amount in zip(documents, amounts, strict=True):
                    if isinstance(document, str | int) and isinstance(amount, int | float):
                        lists.add(number, str(case), str(document), amount)
                    else:
                        faults.add("lists what is no document or no number", line=number)


def _first(known: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in known if name in names), None)


def _leave(file: ParquetFile, reader: RowReader, columns: Sequence[Any]) -> None:
    for name in file.schema_arrow.names:
        if name not in columns:
            reader.leave(named(name), file.metadata.num_rows)
