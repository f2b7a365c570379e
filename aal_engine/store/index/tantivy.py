"""The default back end: tantivy, embedded, BM25 over stemmed words of titles and texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aal_engine.errors import InputError, MissingExtra, RemoteError
from aal_engine.measure.origin import Identity
from aal_engine.store.corpus import Corpus, key_of
from aal_engine.store.index.hit import Hit

STEMMERS: Mapping[str, str] = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Languages with a stemmer, by their ISO 639-1 codes."""

LONGEST_WORD = 40
WRITER_MEMORY = 64 * 2**20
_WORD = re.compile(r"\w+")


class Tantivy:
    """A tantivy index with its passages at hand."""

    def __init__(
        self,
        index: Any,
        identity: Identity,
        fields: Sequence[str],
        key: str,
        stored: Mapping[str, str],
    ) -> None:
        self._index = index
        self._identity = identity
        self._fields = list(fields)
        self._key = key
        self._stored = stored
        self._searcher = index.searcher()

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to k passages that share words with each query, best first."""
        return [self._hits(query, k) for query in queries]

    def identity(self) -> Identity:
        """Say which passages these are, by the start of their digest."""
        return self._identity

    def _hits(self, query: str, k: int) -> list[Hit]:
        # A question is words, not the library's query language.
        words = " ".join(_WORD.findall(query.lower()))
        if not words:
            return []
        try:
            parsed, _ = self._index.parse_query_lenient(words, self._fields)
            found = self._searcher.search(parsed, k, count=False).hits
            return [self._hit(score, self._searcher.doc(address)) for score, address in found]
        except ValueError:
            raise RemoteError("tantivy could not search its index") from None

    def _hit(self, score: float, document: Any) -> Hit:
        told = {name: document.get_first(field) for name, field in self._stored.items()}
        key = document.get_first(self._key)
        if key is None:
            raise RemoteError("tantivy found a document without an id")
        return Hit(str(key), score, **told)


def _library() -> Any:
    try:
        import tantivy
    except ImportError:
        raise MissingExtra("the embedded index", "index") from None
    return tantivy


def tantivy_of(corpus: Corpus, language: str = "en") -> Tantivy:
    """Index a corpus in memory.

    Raises:
        MissingExtra: tantivy is not installed.
        InputError: there is no stemmer for the language.
    """
    tantivy = _library()
    if language not in STEMMERS:
        raise InputError.at(
            "has no stemmer", field="language", way_out="one of " + ", ".join(STEMMERS)
        )
    builder = tantivy.SchemaBuilder()
    for name in ("title", "text"):
        builder.add_text_field(name, stored=True, tokenizer_name=f"{language}_stem")
    for name in ("id", "doc_id", "url"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw")
    index = tantivy.Index(builder.build())
    if language != "en":
        index.register_tokenizer(f"{language}_stem", _analyzer(tantivy, language))
    # The library breaks ties by the order in which passages came: by one thread, greatest id first.
    writer = index.writer(WRITER_MEMORY, 1)
    for passage in sorted(corpus.passages, key=lambda one: key_of(one).encode(), reverse=True):
        fields = {"id": key_of(passage), "text": passage.text}
        if passage.title is not None:
            fields["title"] = passage.title
        if passage.passage_id is not None:
            fields["doc_id"] = passage.doc_id
        writer.add_document(tantivy.Document(**fields))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    identity = Identity(
        f"{corpus.name}@{corpus.digest[:12]}", len(corpus.passages), f"tantivy/{language}_stem"
    )
    stored = {"doc_id": "doc_id", "text": "text", "title": "title"}
    return Tantivy(index, identity, ("title", "text"), "id", stored)


def _analyzer(tantivy: Any, language: str) -> Any:
    kept = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for one in (
        tantivy.Filter.remove_long(LONGEST_WORD),
        tantivy.Filter.lowercase(),
        tantivy.Filter.stemmer(STEMMERS[language]),
    ):
        kept = kept.filter(one)
    return kept.build()


def open_tantivy(folder: Path, options: Mapping[str, Any]) -> Tantivy:
    """Open an index that stands on disk already, of whatever schema.

    `options` name its fields: `id`, the `search` fields, and `doc_id`, `text`, `title` if it has
    them stored.

    Raises:
        MissingExtra: tantivy is not installed.
        InputError: there is no such index.
    """
    tantivy = _library()
    try:
        index = tantivy.Index.open(str(folder))
        index.reload()
        count = index.searcher().num_docs
    except (ValueError, OSError):
        raise InputError.at("is not an index of tantivy", file=folder) from None
    stored = {name: options[name] for name in ("doc_id", "text", "title") if name in options}
    identity = Identity(options["name"], count, "tantivy")
    return Tantivy(
        index, identity, options.get("search", ["text"]), options.get("id", "id"), stored
    )
