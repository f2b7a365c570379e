"""The text forms of TREC: run files, and the answer files of its RAG track."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Output, Passage
from aal_engine.store.predicate import predicate
from aal_engine.store.ranked import RankedLists
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList

_CLOSING = re.compile(r"[.!?]\s*\Z")
_BLANKS = re.compile(r"[ \t\n\v\f\r]+")
_BEYOND = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def read_trec_run(
    lines: Iterable[tuple[int, str]], faults: FaultList, *, only: Collection[str] | None = None
) -> Iterator[tuple[int, Output]]:
    """Return the first line and the output of every query of a TREC run file, or of `only` some.

    Rows are those of `trec_rows`, and those of other queries are checked all the same.
    """
    lists = RankedLists(faults, only=only)
    for row in trec_rows(lines, faults):
        lists.add(*row)
    return lists.outputs()


def trec_rows(
    lines: Iterable[tuple[int, str]], faults: FaultList
) -> Iterator[tuple[int, str, str, float]]:
    """Yield the line, the query, the document and the score of every row of a TREC run file.

    A row is `query Q0 document rank score tag`, columns apart by any of C's blanks; the tag may be
    left out. The order of a list is that of the scores, so the rank is not read. A line that starts
    with `#` is a comment, as in trec_eval 10. NaN and the
    infinities are NaN; what is no number at all is a fault.
    """
    for number, text in lines:
        columns = _BLANKS.split(text.strip(" \t\n\v\f\r"))
        if columns[0].startswith("#"):
            continue
        if len(columns) not in (5, 6):
            faults.add(f"has {len(columns)} columns where a TREC run has 6 or 5", line=number)
            continue
        query, _, doc, _, score = columns[:5]
        if _DECIMAL.fullmatch(score):
            yield number, query, doc, float(score)
        elif _BEYOND.fullmatch(score):
            yield number, query, doc, math.nan
        else:
            # The row may be prose, and its first word no id: none of it is told.
            faults.add("has a score that is not a number", line=number)


def is_trec_answer(row: Any) -> bool:
    """Whether a row is one of a TREC RAG answer file rather than of a run of our own."""
    return isinstance(row, dict) and "references" in row and isinstance(row.get("answer"), list)


def topic_of(row: Any) -> str | None:
    """Return the topic id of a TREC RAG row, None if it has no usable one."""
    if not isinstance(row, dict):
        return None
    metadata = row.get("metadata")
    places = [row, metadata] if isinstance(metadata, dict) else [row]
    for place in places:
        for key in ("topic_id", "narrative_id", "qid"):
            value = place.get(key)
            if value is not None and predicate("case.json#/$defs/id")(value):
                return str(value)
    return None


def read_trec_answer(row: Any, line: int, style: CitationStyle, faults: FaultList) -> Output | None:
    """Return the output of one row of a TREC RAG answer file, or None with its faults noted.

    A row has `references` (ids of passages) and `answer`, sentences with their `citations`: whole
    numbers that count the references from 0, or ids of references. The references become what was
    retrieved. The sentences become one text in which each citation stands before its sentence's
    closing mark, written as the pack's style has it: `[n]`, counted from the pack's base, or
    `[id]`. A citation of no reference stands beside the text as `references[…]`, a name that
    nothing retrieved has: it is seen to be invented, and can be taken for no other.
    """
    case = topic_of(row)
    if case is None:
        faults.add("has no usable topic_id or narrative_id", line=line)
    if not conforms("trec_answer", row, faults, line=line, case=case) or case is None:
        return None
    references = [str(reference) for reference in row["references"]]
    if len(set(references)) < len(references):
        faults.add("names a reference twice", line=line, case=case, field="references")
        return None
    invented: list[str] = []
    sentences = []
    for sentence in row["answer"]:
        markers = ""
        for cited in sentence.get("citations") or ():
            place = references.index(cited) if cited in references else cited
            if isinstance(place, str) or place >= len(references):
                invented.append(f"references[{cited}]")
            elif style.mode == "id":
                markers += f"[{references[place]}]"
            else:
                markers += f"[{place + style.base}]"
        sentences.append(_cited(sentence["text"].strip(), markers))
    return Output(
        case,
        retrieved=tuple(map(Passage, references)),
        answer=" ".join(sentences),
        citations=tuple(invented) or None,
    )


def _cited(sentence: str, markers: str) -> str:
    if not markers:
        return sentence
    closing = _CLOSING.search(sentence)
    if closing is None:
        return f"{sentence} {markers}"
    return f"{sentence[: closing.start()]} {markers}{sentence[closing.start() :]}"
