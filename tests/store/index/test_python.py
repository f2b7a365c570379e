"""A customer's own Python may do anything: it is told as an error, and never ends the gate as passed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from aal_engine.errors import InputError, RemoteError
from aal_engine.store.index.embedder import Called
from aal_engine.store.index.python import PythonIndex, open_python


class Lazy(Sequence):
    def __len__(self):
        return 1

    def __getitem__(self, place):
        raise LookupError("Qx-question-Zw")


class Index:
    def __init__(self, act):
        self.act = act

    def search(self, queries, k):
        return self.act()

    def identity(self):
        return self.act()


@pytest.mark.parametrize(
    ("act", "told"),
    [(lambda: sys.exit(0), "raised SystemExit"), (Lazy, "raised LookupError|does not name itself")],
    ids=["exits", "lazy"],
)
def test_what_an_index_does_instead_of_answering_is_an_error_without_its_words(act, told):
    index = PythonIndex(Index(act), "mine")
    for ask in (lambda: index.search(["q"], 3), index.identity):
        with pytest.raises(RemoteError, match=told) as error:
            ask()
        assert "Qx-question-Zw" not in str(error.value)


def test_an_embedder_that_exits_is_an_error():
    with pytest.raises(RemoteError, match="raised SystemExit"):
        Called(lambda texts: sys.exit(0), "m").embed(["q"])


@pytest.mark.parametrize(
    ("source", "told"),
    [("import sys; sys.exit(0)", "imported"), ("def Made():\n    raise SystemExit(0)", "made")],
    ids=["imported", "made"],
)
def test_a_module_that_exits_is_refused(source, told, tmp_path, monkeypatch):
    name = f"exits_when_{told}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=f"cannot be {told}: SystemExit"):
        open_python(f"{name}:Made")
