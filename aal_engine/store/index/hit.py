"""What an index answers, whatever it is: hits, checked and in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from aal_engine.errors import RemoteError, shown
from aal_engine.measure.origin import Identity
from aal_engine.measure.run import Passage
from aal_engine.store.predicate import predicate
from aal_engine.store.schema import NAME

MAX_TEXT = 2**20
"""Characters that the text of one passage may have."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage or document that an index found.

    `doc_id` is the document of a passage, None where `id` is the document itself or the passage's id
    tells. The text is what an agent is shown.
    """

    id: str
    score: float
    doc_id: str | None = None
    text: str | None = field(default=None, repr=False)
    title: str | None = field(default=None, repr=False)
    url: str | None = field(default=None, repr=False)

    def passage(self, separator: str | None = None) -> Passage:
        """Return the hit as a run holds it.

        With a separator, what stands before the last one in an id is the id of the document.

        >>> Hit("kb-12#3", 2.5).passage("#").doc_id
        'kb-12'
        """
        doc_id = self.doc_id
        if doc_id is None and separator is not None:
            doc_id = self.id.rpartition(separator)[0] or None
        if doc_id is None:
            return Passage(self.id, None, self.score, self.text, self.title, self.url)
        return Passage(doc_id, self.id, self.score, self.text, self.title, self.url)


class Index(Protocol):
    """What every back end is, and what a customer's own Python index must be."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to k hits for each query, best first."""

    def identity(self) -> Identity:
        """Say which index this is."""


def ordered(name: str, found: Any, queries: int, k: int) -> list[list[Hit]]:
    """Return what an index answered as hits: best first, ties by id, k a query at most.

    Each hit may be a `Hit`, a mapping of its fields, or a pair of id and score. Ties are put in the
    order in which trec_eval and this engine break them: the greater id first.

    Raises:
        RemoteError: it is anything else; `name` says which index it was.
    """
    if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != queries:
        raise _wrong(name, f"did not answer each of {queries} queries with a list of hits")
    return [_list(name, one, k) for one in found]


def _list(name: str, found: Any, k: int) -> list[Hit]:
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise _wrong(name, "did not answer each query with a list of hits")
    hits = [_hit(name, one) for one in found]
    if len({(hit.doc_id, hit.id) for hit in hits}) != len(hits):
        raise _wrong(name, "found one passage twice for one query")
    hits.sort(key=lambda hit: (hit.score, hit.id.encode()), reverse=True)
    return hits[:k]


def _hit(name: str, found: Any) -> Hit:
    if isinstance(found, Hit):
        found = {
            key: value
            for key in ("id", "score", "doc_id", "text", "title", "url")
            if (value := getattr(found, key)) is not None
        }
    elif isinstance(found, Sequence) and not isinstance(found, str) and len(found) == 2:
        found = {"id": found[0], "score": found[1]}
    if not isinstance(found, Mapping) or not {"id", "score"} <= found.keys():
        raise _wrong(name, "found a hit that is not an id with a score")
    score = found["score"]
    # NumPy's numbers are numbers; true and false are none.
    if isinstance(score, bool) or not hasattr(score, "__float__") or isinstance(score, str):
        raise _wrong(name, "gave a score that is not a number")
    try:
        score = float(score)
    except (OverflowError, TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise _wrong(name, "gave a score that is not a finite number")
    doc = found.get("doc_id")
    return Hit(
        _id(name, found["id"]),
        score,
        None if doc is None else _id(name, doc),
        *(_text(name, key, found.get(key)) for key in ("text", "title", "url")),
    )


def _id(name: str, value: Any) -> str:
    if isinstance(value, bool) or not predicate("run.json#/$defs/key")(value):
        raise _wrong(name, "gave an id that is neither text nor a whole number")
    return str(value)


def _text(name: str, key: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise _wrong(name, f"gave a {key} that is not text of at most {MAX_TEXT} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _wrong(name, f"gave a {key} that is not Unicode text") from None
    return value


def identified(name: str, found: Any) -> Identity:
    """Return what an index says of itself, checked.

    Raises:
        RemoteError: it is not a name, with a count and a model or without.
    """
    if isinstance(found, Identity):
        found = {"name": found.name, "count": found.count, "model": found.model}
    told = dict(found) if isinstance(found, Mapping) else {}
    count, model = told.get("count"), told.get("model")
    if not isinstance(told.get("name"), str) or not NAME.fullmatch(told["name"]):
        raise _wrong(name, "does not name itself: identity() must give a name that is one word")
    if not (count is None or (type(count) is int and count >= 0)):
        raise _wrong(name, "gave a count in identity() that is not a whole number")
    if not (model is None or (isinstance(model, str) and NAME.fullmatch(model))):
        raise _wrong(name, "gave a model in identity() that is not one word")
    return Identity(told["name"], count, model)


def _wrong(name: str, what: str) -> RemoteError:
    return RemoteError(f"the index {shown(name)} {what}")
