"""Makes packs from public test collections: TREC, BEIR, and the nuggets of TREC's RAG track."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from aal_engine.measure.golden import GoldenSet
from aal_engine.store.json_text import JSONProblem, decode
from aal_engine.store.new_pack import Declaration, write_pack
from aal_engine.store.qrels import Grade, Qrels, read_beir_qrels, read_qrels
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import MAX_FAULTS, FaultList, Source, open_input, read_lines
from aal_engine.store.topics import read_topics
from aal_engine.store.trec import topic_of

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Imported:
    """A pack that was made, and how many topics were left out because nothing judges them."""

    golden: GoldenSet
    left_out: int


def import_trec(
    out: Path,
    declaration: Declaration,
    *,
    qrels: Source,
    topics: Source,
    grade: Grade = int,
    by_position: bool = False,
) -> Imported:
    """Make a pack of kind retrieval from TREC qrels and topics.

    Topics without a judgment are left out, as trec_eval does. With `by_position` the qrels number
    topics by their place in the topics' file, from 1, and so do the cases.

    Raises:
        InputError: with every fault of the files, a judged query without a topic among them.
        WriteError: the pack could not be written.
    """
    judged = _read(qrels, lambda faults: read_qrels(qrels, faults, grade))
    texts = _read(topics, lambda faults: read_topics(topics, faults, by_position=by_position))
    return _retrieval(out, declaration, judged, texts, topics, "TREC qrels and topics")


def import_beir(
    out: Path, declaration: Declaration, *, folder: Path, split: str = "test", grade: Grade = int
) -> Imported:
    """Make a pack of kind retrieval from a BEIR folder: queries.jsonl and qrels/SPLIT.tsv.

    Raises:
        InputError: as for `import_trec`.
        WriteError: the pack could not be written.
    """
    qrels, queries = folder / "qrels" / f"{split}.tsv", folder / "queries.jsonl"
    judged = _read(qrels, lambda faults: read_beir_qrels(qrels, faults, grade))
    texts = _read(queries, lambda faults: read_topics(queries, faults))
    return _retrieval(out, declaration, judged, texts, queries, "BEIR")


def import_nuggets(
    out: Path,
    declaration: Declaration,
    *,
    nuggets: Source,
    topics: Source | None = None,
    qrels: Source | None = None,
) -> Imported:
    """Make a pack from nuggets: those that are vital become the points an answer must mention.

    A nugget becomes a phrase, to be found as it stands; an author will want to turn it into the
    words and numbers that matter. Topics are needed where the nuggets hold no query. With qrels
    the suite is of kind retrieval too, and topics that only they judge are left out.

    Raises:
        InputError: as for `import_trec`.
        WriteError: the pack could not be written.
    """
    texts = {} if topics is None else _read(topics, lambda faults: read_topics(topics, faults))
    judged: Qrels = {} if qrels is None else _read(qrels, lambda faults: read_qrels(qrels, faults))
    rows = _read(nuggets, lambda faults: _nuggets(nuggets, texts, faults))
    for row in rows:
        if qrels is not None:
            row["relevant"] = judged.get(row["id"], {})
    golden = write_pack(
        out,
        declaration,
        ("answers",) if qrels is None else ("retrieval", "answers"),
        rows,
        "Made from the nuggets of a TREC RAG track.",
    )
    known = {row["id"] for row in rows}
    return Imported(golden, len((texts.keys() | judged.keys()) - known))


def _read(source: Source, read: Callable[[FaultList], Any]) -> Any:
    faults = FaultList(source)
    value = read(faults)
    faults.settle()
    return value


def _retrieval(
    out: Path,
    declaration: Declaration,
    judged: Qrels,
    texts: Mapping[str, str],
    topics: Source,
    origin: str,
) -> Imported:
    faults = FaultList(topics)
    for query in list(judged.keys() - texts.keys())[:MAX_FAULTS]:
        faults.add("is judged, but has no topic with a text", case=query)
    faults.settle()
    rows: Iterable[Row] = (
        {"id": query, "question": texts[query], "relevant": judged[query]}
        for query in sorted(judged)
    )
    golden = write_pack(out, declaration, ("retrieval",), rows, f"Made from {origin}.")
    return Imported(golden, len(texts.keys() - judged.keys()))


def _nuggets(source: Source, texts: Mapping[str, str], faults: FaultList) -> list[Row]:
    rows: dict[str, Row] = {}
    with open_input(source) as file:
        for line, text in read_lines(file, faults):
            try:
                value = decode(text)
            except JSONProblem as problem:
                faults.add(problem.problem, line=line)
                continue
            case = topic_of(value)
            if not conforms("nuggets", value, faults, line=line, case=case):
                continue
            if case is None:
                faults.add("has no usable qid", line=line)
                continue
            question = value.get("query") or texts.get(case)
            if question is None:
                faults.add("has no query, and no topic of its id", line=line, case=case)
            elif case in rows:
                faults.add("has nuggets on an earlier line too", line=line, case=case)
            else:
                vital = [n["text"] for n in value["nuggets"] if n["importance"] == "vital"]
                rows[case] = {"id": case, "question": question, "must_mention": vital}
    if not rows and not faults.faults:
        faults.add("holds no nuggets")
    return [rows[case] for case in sorted(rows)]
