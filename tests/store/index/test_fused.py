"""Rank fusion and embedding, on vectors of our own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from live_agents import serving
from small_corpus import ROWS, embed

from aal_engine.errors import RemoteError
from aal_engine.store.corpus import load_corpus
from aal_engine.store.exchange import Address, Exchange
from aal_engine.store.index.embedder import Called, Onnx, Served, unit
from aal_engine.store.index.fused import RANK_CONSTANT, Dense, Fused, fused_ranks
from aal_engine.store.index.hit import Hit
from aal_engine.store.index.tantivy import tantivy_of


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "kb.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return load_corpus(path)


def test_the_sum_of_reciprocal_ranks():
    scores = fused_ranks([["a", "b", "c"], ["c", "a"]])
    assert RANK_CONSTANT == 60
    assert scores == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62, "c": 1 / 63 + 1 / 61})
    assert fused_ranks([]) == {}


def test_dense_search_is_by_cosine_and_ties_go_to_the_greater_id(corpus):
    dense = Dense(corpus, Called(embed, "three-words"))
    [hits] = dense.search(["refund"], 4)
    vectors = unit(np.array(embed([f"{row['title']}\n{row['text']}" for row in ROWS]), np.float32))
    asked = unit(np.array(embed(["refund"]), np.float32))[0]
    expected = {row["id"]: float(vector @ asked) for row, vector in zip(ROWS, vectors, strict=True)}
    assert [hit.id for hit in hits] == sorted(
        expected, key=lambda one: (round(expected[one], 6), one), reverse=True
    )
    for hit in hits:
        assert hit.score == pytest.approx(expected[hit.id], abs=1e-5)
    assert [len(found) for found in dense.search(["refund", "ship"], 1)] == [1, 1]


def test_what_both_find_comes_before_what_one_finds(corpus):
    class Fixed:
        def __init__(self, *ids):
            self.ids = ids

        def search(self, queries, k):
            return [[Hit(one, 9.0 - n) for n, one in enumerate(self.ids[:k])] for _ in queries]

        def identity(self):
            return tantivy_of(corpus).identity()

    fused = Fused([Fixed("a", "b"), Fixed("b", "c")])
    [hits] = fused.search(["x"], 2)
    assert [hit.id for hit in hits] == ["b", "a"]
    assert hits[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused.identity().model == "tantivy/en_stem+tantivy/en_stem/rrf60"
    # Two that each stand first in one list tie, and the greater id wins.
    [tied] = Fused([Fixed("a"), Fixed("c")]).search(["x"], 2)
    assert [hit.id for hit in tied] == ["c", "a"]


@pytest.mark.parametrize(
    "found", [None, [], [[1.0], [2.0]], [[float("nan"), 1.0]], [["x"]], [1.0], [[1.0], [1.0, 2.0]]]
)
def test_what_is_no_vector_a_text_is_an_error(found):
    with pytest.raises(RemoteError):
        Called(lambda texts: found, "m").embed(["one text"])


def test_an_embedder_that_raises_does_not_tell_what():
    def broken(texts):
        raise ValueError(texts[0])

    with pytest.raises(RemoteError) as refused:
        Called(broken, "m").embed(["Qx-question-Zw"])
    assert "Qx" not in str(refused.value)


def test_vectors_from_an_endpoint_come_in_the_order_of_the_texts():
    def behaviour(handler, body):
        data = [{"index": n, "embedding": embed([text])[0]} for n, text in enumerate(body["input"])]
        handler.reply({"data": data[::-1], "model": body["model"]})

    texts = [f"refund {'ship ' * n}" for n in range(130)]
    with serving(behaviour) as server:
        served = Served(lambda: Exchange(Address(server.url)), "three-words")
        vectors = served.embed(texts)
        assert len(server.seen) == 3
    assert np.allclose(vectors, np.array(embed(texts)))


def test_an_endpoint_that_fails_is_an_error():
    for reply in ({}, {"data": [{"index": 0}]}, {"data": []}, []):
        with serving(lambda handler, _, reply=reply: handler.reply(reply)) as server:
            served = Served(lambda url=server.url: Exchange(Address(url)), "m")
            with pytest.raises(RemoteError):
                served.embed(["x"])


def model_in(folder: Path, dimensions: int = 8) -> Path:
    """A sentence encoder of the shape of MiniLM's, with weights that are drawn and tiny."""
    onnx = pytest.importorskip("onnx", reason="needs onnx to make a model to load")
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "refund", "ship"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = np.random.default_rng(7).normal(size=(len(vocabulary), dimensions))
    helper, types = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("Gather", ["weights", "input_ids"], ["last_hidden_state"])],
        "encoder",
        [
            helper.make_tensor_value_info(name, types.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("last_hidden_state", types.FLOAT,
                                       ["batch", "length", dimensions])],
        [onnx.numpy_helper.from_array(weights.astype(np.float32), "weights")],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, str(folder / "model.onnx"))
    return folder


def test_a_local_model_is_loaded_and_pools_the_tokens_that_are_there(tmp_path):
    model = Onnx(model_in(tmp_path / "tiny-encoder"))
    both = model.embed(["refund ship", "refund", "ship", "refund ship ship refund other"])
    assert model.model == "tiny-encoder" and both.shape == (4, 8)
    assert np.allclose(np.linalg.norm(both, axis=1), 1)
    # A text alone or in a batch with a longer one, padded: the same vector.
    assert np.allclose(model.embed(["refund"])[0], both[1], atol=1e-6)
    assert both[0] @ both[1] > both[2] @ both[1]
