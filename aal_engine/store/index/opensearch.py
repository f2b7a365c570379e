"""OpenSearch and Elasticsearch, which answer to the same search request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from aal_engine.canonical import JSON
from aal_engine.errors import RemoteError, shown
from aal_engine.measure.origin import Identity
from aal_engine.store.exchange import Exchange
from aal_engine.store.index.hit import Hit, ordered
from aal_engine.store.index.wire import Asker
from aal_engine.store.pace import Pace

FIELDS = ("title", "text")


class OpenSearch:
    """Full-text search over the fields of one index."""

    def __init__(
        self, exchange: Callable[[], Exchange], options: Mapping[str, Any], pace: Pace
    ) -> None:
        self._index: str = options["index"]
        self._fields = list(options.get("search", FIELDS))
        self._columns = {
            key: options.get(key, default)
            for key, default in (("doc_id", None), ("text", "text"), ("title", "title"))
        }
        self._key: str | None = options.get("id")
        self._model: str = options["kind"]
        self._asker = Asker(self._index, exchange, pace)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to k documents for each query.

        Raises:
            RemoteError: a search failed, or answered from a part of the shards alone.
        """
        found = [self._hits(query, k) for query in queries]
        return ordered(self._index, found, len(queries), k)

    def identity(self) -> Identity:
        """Say which index this is and how many documents it holds."""
        reply = self._asker.ask(lambda exchange: exchange.get(f"/{quote(self._index)}/_count"))
        count = reply.get("count") if isinstance(reply, dict) else None
        if type(count) is not int:
            raise RemoteError(f"the index {shown(self._index)} did not say what it holds")
        return Identity(self._index, count, self._model)

    def close(self) -> None:
        """Close the connections."""
        self._asker.close()

    def _hits(self, query: str, k: int) -> list[dict[str, Any]]:
        columns = [one for one in (*self._columns.values(), self._key) if one is not None]
        body: dict[str, JSON] = {
            "size": k,
            "_source": list(columns),
            "query": {
                "multi_match": {"query": query, "fields": self._fields, "type": "most_fields"}
            },
        }
        path = f"/{quote(self._index)}/_search"
        reply = self._asker.ask(lambda exchange: exchange.post(body, path))
        try:
            # A part of the shards is not the index: what they found must not be scored for it.
            if reply["timed_out"] or reply["_shards"]["failed"]:
                raise RemoteError(f"the index {shown(self._index)} answered in part only")
            return [self._hit(hit) for hit in reply["hits"]["hits"]]
        except (KeyError, TypeError, AttributeError):
            raise RemoteError(f"the index {shown(self._index)} answered without hits") from None

    def _hit(self, hit: Mapping[str, Any]) -> dict[str, Any]:
        source = hit.get("_source") or {}
        told = {key: source.get(column) for key, column in self._columns.items() if column}
        return {
            "id": hit["_id"] if self._key is None else source[self._key],
            "score": hit["_score"],
            **told,
        }
