"""LanceDB, embedded: full-text search, or vectors where an embedding model is named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aal_engine.errors import InputError, MissingExtra, RemoteError, shown
from aal_engine.measure.origin import Identity
from aal_engine.store.index.embedder import Embedder
from aal_engine.store.index.hit import Hit, ordered

_WORD = re.compile(r"\w+")


class LanceDB:
    """One table of a folder."""

    def __init__(self, home: Path, options: Mapping[str, Any], embedder: Embedder | None) -> None:
        """Open the table.

        Raises:
            MissingExtra: lancedb is not installed.
            InputError: there is no such table.
        """
        try:
            import lancedb
        except ImportError:
            raise MissingExtra("an index in LanceDB", "lancedb") from None
        self._options = options
        self._name: str = options["table"]
        self._embedder = embedder
        folder = home / options["folder"]
        if not folder.is_dir():
            raise InputError.at("no such folder", file=folder, field="folder")
        self._table = self._did(lambda: lancedb.connect(str(folder)).open_table(self._name))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to k rows for each query.

        Raises:
            RemoteError: the table cannot be searched so.
        """
        if self._embedder is None:
            found = [self._by_words(query, k) for query in queries]
        else:
            found = [self._near(vector, k) for vector in self._embedder.embed(queries)]
        return ordered(self._name, found, len(queries), k)

    def identity(self) -> Identity:
        """Say which table this is, how many rows it has, and the model."""
        count = self._did(self._table.count_rows)
        model = "lancedb/fts" if self._embedder is None else self._embedder.model
        return Identity(self._options.get("name", self._name), count, model)

    def _by_words(self, query: str, k: int) -> list[dict[str, Any]]:
        words = " ".join(_WORD.findall(query))
        if not words:
            return []
        rows = self._did(lambda: self._table.search(words, query_type="fts").limit(k).to_list())
        return [self._hit(row, row["_score"]) for row in rows]

    def _near(self, vector: Any, k: int) -> list[dict[str, Any]]:
        distance = self._options.get("distance", "cosine")
        column = self._options.get("vector", "vector")
        rows = self._did(
            lambda: (
                self._table.search(vector, vector_column_name=column)
                .distance_type(distance)
                .limit(k)
                .to_list()
            )
        )
        return [self._hit(row, 1.0 - row["_distance"]) for row in rows]

    def _hit(self, row: Mapping[str, Any], score: float) -> dict[str, Any]:
        told = {
            name: row.get(self._options[name])
            for name in ("doc_id", "text", "title")
            if name in self._options
        }
        return {"id": row.get(self._options.get("id", "id")), "score": score, **told}

    def _did(self, act: Any) -> Any:
        try:
            return act()
        except Exception as error:  # The library's words quote queries and paths.
            raise RemoteError(
                f"the index {shown(self._name)} did not answer: {type(error).__name__}"
            ) from None
