"""The README's adapters, run: LangChain's with its own retriever, LlamaIndex's with a stand-in."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import doors
import pytest

from aal_engine.store.bundle import bundled
from aal_engine.store.index.opened import OPENERS, read_index
from aal_engine.store.index.python import open_python

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    """Write a README's module, with a retriever of ours as the customer's, and open its index."""

    def opened(name: str, retriever: object):
        code = re.search(rf"```python\n(# {name}\.py\n.*?)```", README, re.DOTALL)
        assert code is not None
        assert len(code[1].splitlines()) <= 26
        (tmp_path / f"{name}.py").write_text(code[1])
        monkeypatch.syspath_prepend(str(tmp_path))
        app = types.ModuleType("my_app")
        app.retriever = retriever
        monkeypatch.setitem(sys.modules, "my_app", app)
        return open_python(f"{name}:Index")

    yield opened
    for name in ("langchain_index", "llama_index_index"):
        sys.modules.pop(name, None)


TEXTS = {"kb-1": "Refunds take 30 days.", "kb-2": "Parcels ship within a week.", "kb-3": "More."}


def test_langchain(adapter):
    retrievers = pytest.importorskip("langchain_core.retrievers")
    documents = pytest.importorskip("langchain_core.documents")

    class Fixed(retrievers.BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            order = sorted(TEXTS, key=lambda key: query in TEXTS[key], reverse=True)
            return [
                documents.Document(id=key, page_content=TEXTS[key], metadata={"title": key.upper()})
                for key in order
            ]

    index = adapter("langchain_index", Fixed())
    [first, second] = index.search(["Parcels", "Refunds"], 2)
    assert [hit.id for hit in first] == ["kb-2", "kb-1"]
    assert second[0].text == TEXTS["kb-1"] and second[0].title == "KB-1"
    assert index.identity().name == "my-app"


class Node:
    """What the adapter uses of LlamaIndex's TextNode."""

    def __init__(self, key: str) -> None:
        self.node_id = key
        self.ref_doc_id = key.partition("-")[0]

    def get_content(self) -> str:
        return TEXTS[self.node_id]


class Scored:
    """What the adapter uses of LlamaIndex's NodeWithScore."""

    def __init__(self, key: str, score: float | None) -> None:
        self.node = Node(key)
        self.score = score


@pytest.mark.parametrize("scores", [[0.9, 0.5, 0.1], [None, None, None]])
def test_llama_index(adapter, scores):
    class Fixed:
        def retrieve(self, query):
            return [Scored(key, score) for key, score in zip(TEXTS, scores, strict=True)]

    index = adapter("llama_index_index", Fixed())
    [found] = index.search(["Refunds"], 2)
    assert [(hit.id, hit.doc_id) for hit in found] == [("kb-1", "kb"), ("kb-2", "kb")]
    assert found[0].text == TEXTS["kb-1"] and found[0].score > found[1].score


def test_the_dry_run_says_what_the_readme_says(tmp_path):
    section = README[README.index("## Your own index, your own agent") :]
    agent = re.search(r"```yaml\n(# agent\.yaml\n.*?)```", section, re.DOTALL)
    told = re.search(r"```text\n(dry run: .*?)```", section, re.DOTALL)
    assert agent is not None and told is not None
    (tmp_path / "agent.yaml").write_text(agent[1])
    pack = bundled("golden_sets/handbook")
    done = doors.call(
        "lighthouse", tmp_path, "evals", "run", "--pack", pack, "--index", pack / "corpus.jsonl",
        "--agent", "agent.yaml", "--version", "2.0.0", "--out", "out", "--dry-run",
        GATEWAY_KEY="sk-1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == told[1]


def test_the_readme_s_index_is_one_that_can_be_read(tmp_path):
    index = re.search(r"```yaml\n(# index\.yaml\n.*?)```", README, re.DOTALL)
    assert index is not None
    (tmp_path / "index.yaml").write_text(index[1])
    options, _ = read_index(str(tmp_path / "index.yaml"))
    assert options["kind"] == "opensearch"
    kinds = re.findall(r"^\| ((?:`[a-z]+`(?:, )?)+) \|", README, re.MULTILINE)
    named = {kind for cell in kinds for kind in re.findall("[a-z]+", cell)}
    assert set(OPENERS) <= named
