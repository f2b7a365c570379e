"""Document ids that answers cannot cite as their pack says."""

from __future__ import annotations

import pytest

from aal_engine.measure.answer.naming import naming_doubts
from aal_engine.measure.golden import CitationStyle


@pytest.mark.parametrize(
    ("mode", "ids", "says"),
    [
        ("index", ["7", "12"], "never document 7"),
        ("id", ["a[1]", "b"], "1 document ids (a[1] is one) hold a bracket"),
        ("id", ["a,b", "c;d"], "2 document ids (a,b is one) hold a mark that parts lists"),
        ("id", ["KB‑9", "kb-9"], "look alike"),
    ],
)
def test_what_is_surprising(mode, ids, says):
    (doubt,) = naming_doubts(ids, CitationStyle(mode))
    assert says in doubt


@pytest.mark.parametrize(
    ("mode", "ids"),
    [("index", ["7", "kb-1"]), ("index", ["a[1]"]), ("id", ["7", "12", "kb-1"]), ("id", [])],
)
def test_what_is_not(mode, ids):
    assert list(naming_doubts(ids, CitationStyle(mode))) == []
