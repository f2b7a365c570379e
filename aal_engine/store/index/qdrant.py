"""Qdrant: a collection in a local folder or on a server, searched by vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aal_engine.errors import InputError, MissingExtra, RemoteError, shown
from aal_engine.measure.origin import Identity
from aal_engine.store.index.embedder import Embedder
from aal_engine.store.index.hit import Hit, ordered


class Qdrant:
    """One collection and the model that its vectors are of."""

    def __init__(
        self, home: Path, options: Mapping[str, Any], embedder: Embedder, key: str | None
    ) -> None:
        """Open the collection.

        Raises:
            MissingExtra: qdrant-client is not installed.
            InputError: neither a folder nor a URL is named.
            RemoteError: there is no such collection.
        """
        try:
            from qdrant_client import QdrantClient
        except ImportError:
            raise MissingExtra("an index in Qdrant", "qdrant") from None
        if ("folder" in options) == ("url" in options):
            raise InputError.at("needs a folder or a url", field="index")
        self._collection: str = options["collection"]
        self._options = options
        self._embedder = embedder
        timeout = int(options.get("timeout", 60))
        if "folder" in options:
            folder = home / options["folder"]
            if not folder.is_dir():
                raise InputError.at("no such folder", file=folder, field="folder")
            self._client = self._did(lambda: QdrantClient(path=str(folder)))
        else:
            self._client = self._did(
                lambda: QdrantClient(url=options["url"], api_key=key, timeout=timeout)
            )

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return the k points of the collection that are nearest to each query.

        Raises:
            RemoteError: Qdrant refused or did not answer.
        """
        found = [self._hits(vector, k) for vector in self._embedder.embed(queries).tolist()]
        return ordered(self._collection, found, len(queries), k)

    def identity(self) -> Identity:
        """Say which collection this is, how many points it has, and the model."""
        counted = self._did(lambda: self._client.count(self._collection, exact=True))
        name = self._options.get("name", self._collection)
        return Identity(name, counted.count, self._embedder.model)

    def close(self) -> None:
        """Close the collection."""
        self._client.close()

    def _hits(self, vector: list[float], k: int) -> list[dict[str, Any]]:
        answer = self._did(
            lambda: self._client.query_points(
                self._collection,
                query=vector,
                using=self._options.get("vector"),
                limit=k,
                with_payload=True,
            )
        )
        return [self._hit(point) for point in answer.points]

    def _hit(self, point: Any) -> dict[str, Any]:
        payload = point.payload or {}
        key = self._options.get("id")
        told = {
            name: payload.get(self._options[name])
            for name in ("doc_id", "text", "title")
            if name in self._options
        }
        return {"id": point.id if key is None else payload.get(key), "score": point.score, **told}

    def _did(self, act: Any) -> Any:
        try:
            return act()
        except Exception as error:  # The client raises what its transport does, with addresses.
            raise RemoteError(
                f"the index {shown(self._collection)} did not answer: {type(error).__name__}"
            ) from None
