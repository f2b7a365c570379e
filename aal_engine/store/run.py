"""Reads what an agent did, in any of four formats, into a run per model family."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import BinaryIO, Literal, TypeAlias

from aal_engine.errors import InputError
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Output, Run, run_of
from aal_engine.store.json_text import JSONProblem, decode
from aal_engine.store.output import RowReader
from aal_engine.store.parquet_run import MAGIC, read_parquet_run
from aal_engine.store.predicate import schema
from aal_engine.store.schema import NAME
from aal_engine.store.text_file import FaultList, Source, open_input, read_lines
from aal_engine.store.trec import is_trec_answer, read_trec_answer, read_trec_run

Format: TypeAlias = Literal["jsonl", "parquet", "trec", "trec-rag"]
Found: TypeAlias = "Iterator[tuple[int, Output]]"

_STYLE = CitationStyle()


@dataclass(frozen=True, slots=True)
class RunFile:
    """What a run file holds: a run for each model family, in order of their names.

    A run of retrieval alone may name no family: it stands under None, alone.
    `unread` counts, for every key that is no field of a run, the rows that carry it: agents' logs
    hold more than is scored.
    """

    format: Format
    runs: Mapping[str | None, Run]
    unread: Mapping[str, int]


def load_run(
    source: Source,
    *,
    default_family: str | None = None,
    citations: CitationStyle = _STYLE,
) -> RunFile:
    """Read a run file: JSON Lines, Parquet, a TREC run or a TREC RAG answer file.

    The format is told by the content. `source` is a path (of a file or a FIFO) or `-`; text may be
    compressed by gzip or Zstandard. Rows that name no model family are of `default_family`.
    `citations` is how the pack cites; only a TREC RAG answer file needs it.

    Raises:
        InputError: with every fault that was found: a row that is no output, a case with two
            outputs of one family and attempt, a passage listed twice, a score that is not a finite
            number, an answer of no family.
    """
    faults = FaultList(source)
    gathered = _Gathered(faults, default_family)
    reader = RowReader(faults)
    with open_input(source) as file:
        form, found = _read(source, file, reader, citations, faults)
        for line, output in found:
            gathered.add(line, output)
    gathered.finish()
    faults.settle()
    return RunFile(form, gathered.runs(), dict(sorted(reader.unread.items())))


def check_family(name: str | None) -> None:
    """Do nothing if a model family may have this name, or none is given.

    Raises:
        InputError: it may not.
    """
    if name is not None and not NAME.fullmatch(name):
        raise InputError.at(f"must be {schema('name.json')['description']}", field="family")


def _read(
    source: Source,
    file: BinaryIO,
    reader: RowReader,
    citations: CitationStyle,
    faults: FaultList,
) -> tuple[Format, Found]:
    if _is_parquet(file):
        if not file.seekable():
            raise InputError.at("Parquet is not read from a pipe; name a file", file=faults.file)
        return "parquet", read_parquet_run(source, reader, faults)
    lines = read_lines(file, faults)
    first = next(lines, None)
    if first is None:
        return "jsonl", iter(())
    lines = chain([first], lines)
    start = first[1].lstrip()
    if start.startswith("["):
        raise InputError.at(
            "starts a JSON list; a run has one JSON object a line", file=faults.file, line=first[0]
        )
    if not start.startswith("{"):
        return "trec", read_trec_run(lines, faults)
    try:
        answers = is_trec_answer(decode(first[1], constants=True))
    except JSONProblem:
        if start.strip() == "{":
            raise InputError.at(
                "starts an object that goes on over lines; a run has one JSON object a line",
                file=faults.file,
                line=first[0],
            ) from None
        answers = False
    if answers:
        return "trec-rag", _rows(lines, reader, citations, faults)
    return "jsonl", _rows(lines, reader, None, faults)


def _is_parquet(file: BinaryIO) -> bool:
    peek = getattr(file, "peek", None)
    try:
        return peek is not None and peek(len(MAGIC)).startswith(MAGIC)
    except (OSError, EOFError, zlib.error):
        # A damaged stream: whoever reads its lines tells how far it can be read.
        return False


def _rows(
    lines: Iterator[tuple[int, str]],
    reader: RowReader,
    answers: CitationStyle | None,
    faults: FaultList,
) -> Found:
    """Yield the outputs of JSON Lines; `answers` is given where they are TREC RAG answers."""
    for line, text in lines:
        try:
            row = decode(text, constants=True)
        except JSONProblem as problem:
            faults.add(problem.problem, line=line)
            continue
        if answers is None:
            output = reader.output(row, line)
        else:
            output = read_trec_answer(row, line, answers, faults)
        if output is not None:
            yield line, output


class _Gathered:
    """The outputs of a file under family, case and attempt, each with its line."""

    def __init__(self, faults: FaultList, default_family: str | None) -> None:
        check_family(default_family)
        self._faults = faults
        self._default = default_family
        self._found: dict[str | None, dict[tuple[str, int], tuple[int, Output]]] = {}
        self._answers = False

    def add(self, line: int, output: Output) -> None:
        """Take one output."""
        family = output.model_family or self._default
        if output.model_family is None and family is not None:
            output = replace(output, model_family=family)
        self._answers |= output.answer is not None
        key = (output.case_id, output.attempt)
        known = self._found.setdefault(family, {})
        if key in known:
            self._faults.add(
                f"is attempt {output.attempt} of the same case and family as line {known[key][0]}",
                line=line,
                case=output.case_id,
            )
        else:
            known[key] = (line, output)

    def finish(self) -> None:
        """Note what only the whole file shows."""
        homeless = self._found.get(None)
        if homeless and (self._answers or len(self._found) > 1):
            rows = "a row" if len(homeless) == 1 else f"{len(homeless)} rows"
            self._faults.add(
                f"is missing in {rows}; name the family with --family",
                line=min(line for line, _ in homeless.values()),
                field="model_family",
            )
        if not self._found and self._default is None and not self._faults.faults:
            self._faults.add("holds no output")

    def runs(self) -> dict[str | None, Run]:
        """Return the runs; a file without a row is an empty run of the default family."""
        found = self._found or {self._default: {}}
        return {
            family: run_of(family, [output for _, output in found[family].values()])
            for family in sorted(found, key=lambda family: family or "")
        }
