"""Say what in a pack keeps it from telling a good agent from a bad one; nothing is an error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aal_engine.errors import Fault, shown
from aal_engine.measure.answer.doubt import Doubt, absent_documents, doubts, unsupported
from aal_engine.measure.answer.naming import naming_doubts
from aal_engine.measure.evidence import cases_for, smallest_drop
from aal_engine.measure.golden import GoldenSet, Pack
from aal_engine.measure.run import Passage
from aal_engine.measure.text.language import TABLED, language_of
from aal_engine.service.golden import open_pack
from aal_engine.store.corpus import Corpus, load_corpus
from aal_engine.store.golden import PACK_FILE, warnings

CORPUS = "corpus.jsonl"
"""The file of a pack's folder that is its corpus where none is named."""


@dataclass(frozen=True, slots=True)
class Linted:
    """What was looked at, and every warning in the order of the pack's suites and cases."""

    pack: str
    cases: int
    passages: int | None
    warnings: tuple[Fault, ...]


def lint(folder: Path, *, corpus: Path | None = None, tolerance: float = 0.05) -> Linted:
    """Return what is doubtful in a pack.

    `corpus` holds the passages that answers can come from; without it `corpus.jsonl` of the pack's
    folder, if that is there. `tolerance` is how far a metric may fall between releases.

    Raises:
        InputError: the pack or the corpus cannot be used.
    """
    pack, sets = open_pack(folder)
    beside = (folder.parent if folder.name == PACK_FILE else folder) / CORPUS
    source = corpus if corpus is not None else beside if beside.is_file() else None
    passages = None if source is None else load_corpus(source)
    found = [*_of_pack(pack, sets, passages)]
    for golden in sets:
        found += [*_of_size(golden, tolerance), *warnings(golden)]
        told = [*doubts(golden)] if "answers" in golden.suite.kinds else []
        told += _of_corpus(golden, passages)
        found += [
            Fault(doubt.problem, golden.suite.file, case=doubt.case, field=doubt.field)
            for doubt in sorted(told, key=lambda doubt: doubt.case)
        ]
    return Linted(
        pack.name,
        sum(len(golden.cases) for golden in sets),
        None if passages is None else len(passages.passages),
        tuple(found),
    )


def _of_pack(pack: Pack, sets: Sequence[GoldenSet], corpus: Corpus | None) -> Iterator[Fault]:
    code = language_of(pack.language).code
    if code not in TABLED:
        yield Fault(
            f"{shown(pack.language)} has no tables of its own: nothing counts as denied or as an "
            f"abstention; phrases, numbers and citations work ({', '.join(TABLED)} have tables)",
            PACK_FILE,
            field="language",
        )
    ids = {doc for golden in sets for case in golden.cases for doc in case.relevant}
    if corpus is not None:
        ids |= {passage.doc_id for passage in corpus.passages}
    for problem in naming_doubts(ids, pack.citations):
        yield Fault(problem, PACK_FILE, field="citations")


def _of_size(golden: GoldenSet, tolerance: float) -> Iterator[Fault]:
    needed = cases_for(tolerance)
    for kind, measured in (
        ("retrieval", [case.expect == "answer" for case in golden.cases]),
        ("answers", [case.expect == "abstain" or bool(case.must_mention) for case in golden.cases]),
    ):
        n = sum(measured)
        if kind in golden.suite.kinds and n < needed:
            drop = math.ceil(smallest_drop(n) * 1000) / 1000
            yield Fault(
                f"{n} cases that {kind} is measured on show no drop below {drop:.3f} reliably, and "
                f"the tolerance is {tolerance:g}: {needed} cases would, at the least",
                golden.suite.file,
            )


def _of_corpus(golden: GoldenSet, corpus: Corpus | None) -> Iterator[Doubt]:
    if corpus is None:
        return
    yield from absent_documents(golden, {passage.doc_id for passage in corpus.passages})
    if "answers" in golden.suite.kinds:
        wanted = {doc for case in golden.cases for doc in case.relevant}
        # Most points stand in relevant documents: read first, they leave little to look for.
        ordered = sorted(corpus.passages, key=lambda passage: passage.doc_id not in wanted)
        yield from unsupported(golden, map(_whole, ordered))


def _whole(passage: Passage) -> str:
    return "\n\n".join(filter(None, (passage.title, passage.text)))
