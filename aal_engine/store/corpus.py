"""Passages to index: JSON Lines, one passage a line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aal_engine.canonical import canonical
from aal_engine.errors import file_name
from aal_engine.measure.run import Passage
from aal_engine.store.json_text import JSONProblem, decode
from aal_engine.store.predicate import predicate
from aal_engine.store.text_file import FaultList, open_input, read_lines

ID_KEYS = ("passage_id", "id", "_id", "doc_id")
"""Where a passage's id is looked for, in this order; `_id` is BEIR's."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages of a file in its order, and the SHA-256 of their ids and texts."""

    name: str
    passages: tuple[Passage, ...]
    digest: str


def load_corpus(path: Path) -> Corpus:
    """Read a corpus: objects with an id, a `text` and, if they like, `doc_id` and `title`.

    Raises:
        InputError: with every line that is no passage, or has the id of another.
    """
    faults = FaultList(path)
    passages: list[Passage] = []
    lines: dict[str, int] = {}
    digest = hashlib.sha256()
    with open_input(path) as file:
        for line, text in read_lines(file, faults):
            try:
                passage = _passage(decode(text))
            except JSONProblem as problem:
                faults.add(problem.problem, line=line)
                continue
            if passage is None:
                faults.add(
                    "is not a passage: an id (passage_id, id, _id or doc_id) and a text", line=line
                )
                continue
            key = key_of(passage)
            if lines.setdefault(key, line) != line:
                faults.add(f"has the id of line {lines[key]}", line=line)
            passages.append(passage)
            digest.update(canonical([key, passage.doc_id, passage.title, passage.text]) + b"\n")
    if not passages and not faults.faults:
        faults.add("holds no passage")
    faults.settle()
    return Corpus(file_name(path).partition(".")[0], tuple(passages), digest.hexdigest())


def key_of(passage: Passage) -> str:
    """Return the id of a passage, which is its document's where a document is one passage."""
    return passage.passage_id or passage.doc_id


def _passage(row: Any) -> Passage | None:
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        return None
    is_id = predicate("run.json#/$defs/key")
    ids = [str(row[key]) for key in ID_KEYS if is_id(row.get(key))]
    title = row.get("title")
    if not ids or not isinstance(title, str | None):
        return None
    doc = str(row["doc_id"]) if is_id(row.get("doc_id")) else ids[0]
    return Passage(doc, None if ids[0] == doc else ids[0], None, row["text"], title or None)
