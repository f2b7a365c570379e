from __future__ import annotations

import numpy as np
import pytest

from aal_engine.errors import RemoteError
from aal_engine.measure.origin import Identity
from aal_engine.store.index.hit import MAX_TEXT, Hit, identified, ordered


def ids(found, k=10):
    return [hit.id for hit in ordered("mine", [found], 1, k)[0]]


def test_best_first_ties_by_the_greater_id_as_the_measure_has_them():
    assert ids([("a", 1.0), ("c", 2.0), ("b", 1.0), ("é", 1.0)]) == ["c", "é", "b", "a"]


def test_no_more_than_was_asked_for():
    assert ids([("a", 1), ("b", 2), ("c", 3)], k=2) == ["c", "b"]


def test_hits_come_in_three_forms():
    mapping = {"id": 7, "score": np.float32(3), "text": "t", "title": "T", "doc_id": "d", "more": 1}
    [[first, second, third]] = ordered("mine", [[("a", 1), mapping, Hit("h", 2.0)]], 1, 10)
    assert first == Hit("7", 3.0, "d", "t", "T")
    assert (second, third) == (Hit("h", 2.0), Hit("a", 1.0))


def test_a_document_is_named_by_the_index_or_by_the_separator():
    assert Hit("kb#7", 1.0).passage().doc_id == "kb#7"
    assert Hit("kb#7", 1.0).passage("#").doc_id == "kb"
    assert Hit("kb#7", 1.0).passage("#").passage_id == "kb#7"
    assert Hit("kb#7", 1.0, "other").passage("#").doc_id == "other"
    assert Hit("plain", 1.0).passage("#").doc_id == "plain"


FAULTS = {
    "nothing": None,
    "text": "hits",
    "an error for a list": {"error": "down"},
    "too few lists": [],
    "too many lists": [[], []],
    "a list of text": ["ab"],
    "no list": [7],
    "no hit": [[None]],
    "no score": [[{"id": "a"}]],
    "no id": [[{"score": 1}]],
    "score null": [[("a", None)]],
    "score text": [[("a", "1.0")]],
    "score true": [[("a", True)]],
    "score NaN": [[("a", float("nan"))]],
    "score infinite": [[("a", float("inf"))]],
    "id null": [[(None, 1)]],
    "id empty": [[("", 1)]],
    "id true": [[(True, 1)]],
    "id with a line": [[("a\nb", 1)]],
    "id a float": [[(1.5, 1)]],
    "twice": [[("a", 1), ("a", 2)]],
    "text no text": [[{"id": "a", "score": 1, "text": 7}]],
    "text too long": [[{"id": "a", "score": 1, "text": "x" * (MAX_TEXT + 1)}]],
    "text half a pair": [[{"id": "a", "score": 1, "text": "\ud800"}]],
    "doc_id a list": [[{"id": "a", "score": 1, "doc_id": []}]],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_list_of_hits_is_an_error_and_never_an_empty_list(fault):
    with pytest.raises(RemoteError, match="the index mine"):
        ordered("mine", FAULTS[fault], 1, 10)


def test_an_identity():
    told = {"name": "kb", "count": 7, "model": "minilm", "more": 1}
    assert identified("mine", told) == Identity("kb", 7, "minilm")
    assert identified("mine", Identity("kb")) == Identity("kb")
    for wrong in (None, {}, "kb", {"name": "two words"}, {"name": "kb", "count": -1},
                  {"name": "kb", "count": True}, {"name": "kb", "model": 7}):  # fmt: skip
        with pytest.raises(RemoteError, match="the index mine"):
            identified("mine", wrong)


@pytest.mark.parametrize("score", [10**400, np.array([1.0, 2.0])], ids=["huge", "array"])
def test_a_score_that_no_float_can_hold_is_told(score):
    with pytest.raises(RemoteError, match="not a finite number"):
        ids([("a", score)])
