"""OpenSearch and Elasticsearch against replies in the form in which both servers write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from live_agents import Handler, serving

from aal_engine.errors import RemoteError
from aal_engine.measure.origin import Identity
from aal_engine.store.index.opened import open_index

SHARDS = {"total": 5, "successful": 5, "skipped": 0, "failed": 0}
FOUND: dict[str, Any] = {
    "took": 3,
    "timed_out": False,
    "_shards": SHARDS,
    "hits": {
        "total": {"value": 2, "relation": "eq"},
        "max_score": 4.2,
        "hits": [
            {"_index": "kb", "_id": "a", "_score": 4.2,
             "_source": {"text": "Refunds take 30 days.", "title": "Refunds", "doc": "refund"}},
            {"_index": "kb", "_id": "b", "_score": 4.2, "_source": {"text": "More.", "doc": "x"}},
        ],
    },
}  # fmt: skip
OPTIONS = {"index": "kb", "doc_id": "doc", "search": ["title^2", "text"], "tries": 1}


def recorded(search: Any, status: int = 200):
    def behaviour(handler: Handler, body: dict[str, Any]) -> None:
        if handler.path == "/kb/_count":
            handler.reply({"count": 7, "_shards": SHARDS})
        elif handler.path == "/kb/_search":
            handler.reply(search, status)
        else:
            handler.reply({"error": "no handler"}, 400)

    return behaviour


@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_a_search(kind):
    with serving(recorded(FOUND)) as server:
        options = {**OPTIONS, "kind": kind, "url": server.url}
        with open_index(options, Path(), str) as index:
            [hits] = index.search(['How long? "AND" title:x'], 5)
            assert index.identity() == Identity("kb", 7, kind)
    assert [(hit.id, hit.doc_id, hit.score) for hit in hits] == [
        ("b", "x", 4.2),
        ("a", "refund", 4.2),
    ]
    assert hits[1].text == "Refunds take 30 days." and hits[0].title is None
    sent = server.seen[0]
    assert sent["size"] == 5 and set(sent["_source"]) == {"doc", "text", "title"}
    # The question goes in as words to match, never as a query of the server's language.
    assert sent["query"]["multi_match"]["query"] == 'How long? "AND" title:x'
    assert sent["query"]["multi_match"]["fields"] == ["title^2", "text"]


def test_nothing_found_is_nothing_found():
    nothing = {**FOUND, "hits": {"total": {"value": 0}, "max_score": None, "hits": []}}
    assert search(nothing) == [[]]


def search(reply: Any, status: int = 200):
    with serving(recorded(reply, status)) as server:
        options = {**OPTIONS, "kind": "opensearch", "url": server.url}
        with open_index(options, Path(), str) as index:
            return index.search(["Qx-question-Zw"], 5)


FAULTS = {
    "a part of the shards failed": ({**FOUND, "_shards": {**SHARDS, "failed": 1}}, 200),
    "it ran out of time": ({**FOUND, "timed_out": True}, 200),
    "no such index": ({"error": {"type": "index_not_found_exception"}, "status": 404}, 404),
    "overloaded": ({"error": {"type": "circuit_breaking_exception"}, "status": 429}, 429),
    "another program": (b"<html>It works!</html>", 200),
    "no hits": ({"took": 1, "timed_out": False, "_shards": SHARDS}, 200),
    "a list": ([], 200),
    "a hit without a score": (
        {**FOUND, "hits": {"hits": [{"_id": "a", "_score": None, "_source": {}}]}},
        200,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_is_never_an_empty_list(fault):
    with pytest.raises(RemoteError) as refused:
        search(*FAULTS[fault])
    assert "Qx" not in str(refused.value)
