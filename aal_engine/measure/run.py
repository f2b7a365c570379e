"""Runs: what an agent retrieved and wrote, one output per case and attempt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from json.encoder import encode_basestring

import numpy as np

from aal_engine.canonical import canonical
from aal_engine.errors import Fault, InputError
from aal_engine.measure.retrieval.ids import packed
from aal_engine.measure.retrieval.list_digest import ListDigest, lists_digest


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved passage, in the order in which the agent saw it.

    `score` is a finite float64 or None where the run gives only an order.
    """

    doc_id: str
    passage_id: str | None = None
    score: float | None = None
    text: str | None = field(default=None, repr=False)
    title: str | None = field(default=None, repr=False)
    url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Output:
    """What the agent did for one case in one attempt.

    `retrieved` is None where the run says nothing of retrieval, and empty where nothing came back:
    the two are not the same. `citations` are structured citations (ids, or indexes as the pack
    counts them) that the agent gave beside its text. `error` marks an attempt that failed; it
    holds a short word (`timeout`), never a text.
    """

    case_id: str
    attempt: int = 1
    model_family: str | None = None
    retrieved: tuple[Passage, ...] | None = None
    answer: str | None = field(default=None, repr=False)
    citations: tuple[str | int, ...] | None = None
    latency_ms: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The outputs of one model family, ordered by case id and attempt, and their digest.

    `model_family` is None where nothing says which model it was, as in a run of retrieval alone.
    `digest` is the SHA-256 of the outputs' canonical bytes in that order, or, of a run of retrieval
    alone, that of `aal_engine.measure.retrieval.list_digest`; the file's format and the order in which it has
    the outputs do not change it.
    """

    model_family: str | None
    outputs: tuple[Output, ...]
    digest: str


def run_of(model_family: str | None, outputs: Iterable[Output]) -> Run:
    """Return the run that outputs of one model family make, in whatever order they come.

    Raises:
        InputError: two outputs are of the same case and attempt; every such case is named.
    """
    ordered = tuple(sorted(outputs, key=lambda output: (output.case_id, output.attempt)))
    twice = [
        Fault(f"attempt {after.attempt} is there twice", case=after.case_id)
        for before, after in pairwise(ordered)
        if (before.case_id, before.attempt) == (after.case_id, after.attempt)
    ]
    if twice:
        raise InputError(twice)
    listed = bool(ordered) and all(map(_is_list, ordered))
    digest = _lists_digest(model_family, ordered) if listed else outputs_digest(ordered)
    return Run(model_family, ordered, digest)


def _is_list(output: Output) -> bool:
    """Whether an output says nothing but which documents were retrieved, and their scores."""
    if output.answer is not None or output.retrieved is None:
        return False
    listed = tuple(
        Passage(p.doc_id, score=p.score) for p in output.retrieved if p.score is not None
    )
    return output == Output(output.case_id, model_family=output.model_family, retrieved=listed)


def _lists_digest(model_family: str | None, outputs: Iterable[Output]) -> str:
    lists = ListDigest()
    for output in outputs:
        assert output.retrieved is not None
        scores = np.array([passage.score for passage in output.retrieved], np.float64)
        docs = packed([passage.doc_id for passage in output.retrieved])
        lists.add([output.case_id], np.array([0, scores.size]), docs, scores)
    return lists_digest(model_family, lists.digests())


def outputs_digest(outputs: Iterable[Output]) -> str:
    """Return the SHA-256, in hexadecimal, of the canonical bytes of outputs in the order given.

    The bytes are those of RFC 8785 for a list of objects with every field of `Output` and
    `Passage` spelled out, null where it is None. They are put together here piece by piece, since
    a run may hold a hundred megabytes of text.

    >>> outputs_digest([]) == hashlib.sha256(b"[]").hexdigest()
    True
    """
    sha = hashlib.sha256()
    start = "["
    for output in outputs:
        for piece in _pieces(output):
            sha.update((start + piece).encode())
            start = ""
        start = ","
    sha.update(b"[]" if start == "[" else b"]")
    return sha.hexdigest()


def _pieces(output: Output) -> Iterator[str]:
    """Yield an output's canonical text in parts; the keys stand in the order of their names."""
    cited = output.citations
    yield (
        f'{{"answer":{_text(output.answer)},"attempt":{output.attempt},'
        f'"case_id":{_text(output.case_id)},"citations":'
    )
    yield (
        "null"
        if cited is None
        else f"[{','.join(_text(c) if isinstance(c, str) else str(c) for c in cited)}]"
    )
    yield (
        f',"error":{_text(output.error)},"latency_ms":{_number(output.latency_ms)},'
        f'"model_family":{_text(output.model_family)},"retrieved":'
    )
    if output.retrieved is None:
        yield "null}"
    else:
        yield f"[{','.join(map(_passage, output.retrieved))}]}}"


def _passage(passage: Passage) -> str:
    return (
        f'{{"doc_id":{_text(passage.doc_id)},"passage_id":{_text(passage.passage_id)},'
        f'"score":{_number(passage.score)},"text":{_text(passage.text)},'
        f'"title":{_text(passage.title)},"url":{_text(passage.url)}}}'
    )


def _text(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)


def _number(number: float | None) -> str:
    if number is None:
        return "null"
    shortest = repr(number)
    # Python and RFC 8785 write a number alike wherever Python needs no exponent, but for `.0`.
    if "e" in shortest:
        return canonical(number).decode()
    if shortest.endswith(".0"):
        return shortest[:-2] if number else "0"
    return shortest
