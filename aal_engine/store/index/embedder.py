"""Turns questions into vectors, for indexes that are searched by them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from aal_engine.errors import InputError, MissingExtra, RemoteError
from aal_engine.store.exchange import Exchange
from aal_engine.store.failure import Failure
from aal_engine.store.pace import Pace, persistent

if TYPE_CHECKING:
    from collections.abc import Callable

Vectors = npt.NDArray[np.float32]

BATCH = 64
MAX_TOKENS = 256
"""Tokens of a text that all-MiniLM-L6-v2 was trained to read; what follows is left out."""


class Embedder(Protocol):
    """What turns texts into vectors; `model` names it in the record."""

    model: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, of shape (texts, dimensions)."""


class Onnx:
    """A sentence encoder in ONNX: mean of the last layer's states over the tokens, of length 1.

    This is the pooling of all-MiniLM-L6-v2 (Reimers and Gurevych, 2019). A folder holds
    `model.onnx` and `tokenizer.json`, as the model's publishers offer them.
    """

    def __init__(self, folder: Path, *, model: str | None = None, max_tokens: int = MAX_TOKENS):
        """Load the model.

        Raises:
            MissingExtra: onnxruntime or tokenizers is not installed.
            InputError: the folder does not hold such a model.
        """
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra("a local embedding model", "minilm") from None
        self.model = model or folder.name
        for name in ("model.onnx", "tokenizer.json"):
            if not (folder / name).is_file():
                raise InputError.at(f"has no {name}", file=folder, field="embed.folder")
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._tokenizer.enable_truncation(max_tokens)
            self._tokenizer.enable_padding()
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # The libraries raise what they like, and quote the path.
            raise InputError.at(
                f"is not a model that can be loaded: {type(error).__name__}", file=folder
            ) from None
        self._inputs = {one.name for one in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 a text, of shape (texts, dimensions)."""
        # Texts of like length share a batch, so that little is spent on padding.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        parts = [
            self._batch([texts[place] for place in order[start : start + BATCH]])
            for start in range(0, len(order), BATCH)
        ]
        vectors = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
        placed: Vectors = np.empty_like(vectors)
        placed[order] = vectors
        return placed

    def _batch(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        given = {
            "input_ids": np.array([one.ids for one in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        states = self._session.run(None, {k: v for k, v in given.items() if k in self._inputs})[0]
        if states.ndim == 3:
            weights = mask[:, :, None].astype(np.float32)
            states = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return unit(states)


class Called:
    """A customer's own function from texts to vectors."""

    def __init__(self, act: Callable[[list[str]], Any], model: str) -> None:
        self._act = act
        self.model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text.

        Raises:
            RemoteError: the function raised, or returned something else.
        """
        try:
            return _checked(self._act(list(texts)), len(texts))
        except RemoteError:
            raise
        except (Exception, SystemExit) as error:  # Its words may quote a question.
            raise RemoteError(f"the embedder raised {type(error).__name__}") from None


class Served:
    """An OpenAI-compatible endpoint: `POST URL/embeddings` with `model` and `input`."""

    def __init__(self, exchange: Callable[[], Exchange], model: str) -> None:
        self._exchange = exchange
        self.model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text.

        Raises:
            RemoteError: the endpoint did not answer with as many vectors.
        """
        return _checked(asyncio.run(self._asked(list(texts))), len(texts))

    async def _asked(self, texts: Sequence[str]) -> list[Any]:
        vectors: list[Any] = []
        try:
            async with self._exchange() as exchange:
                for start in range(0, len(texts), BATCH):
                    body = {"model": self.model, "input": list(texts[start : start + BATCH])}
                    once = partial(exchange.post, body, "/embeddings")
                    reply, _ = await persistent(once, Pace(), str(start))
                    data = sorted(reply["data"], key=lambda item: item["index"])
                    vectors += [item["embedding"] for item in data]
        except Failure as failure:
            raise RemoteError(f"the embedder did not answer: {failure.word}") from None
        except (KeyError, TypeError, LookupError):
            raise RemoteError("the embedder answered with something else than vectors") from None
        return vectors


def _checked(found: Any, texts: int) -> Vectors:
    try:
        vectors = np.asarray(found, np.float32)
    except (TypeError, ValueError):
        raise RemoteError("the embedder gave something else than vectors") from None
    if not texts:
        return np.empty((0, 0), np.float32)
    if vectors.ndim != 2 or len(vectors) != texts or not np.isfinite(vectors).all():
        raise RemoteError("the embedder did not give one finite vector for each text")
    return vectors


def unit(vectors: Vectors) -> Vectors:
    """Return vectors scaled to length 1; one of length 0 stays.

    >>> unit(np.array([[3.0, 4.0]], np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return scaled


def embedder_of(
    options: Mapping[str, Any], home: Path, exchange: Callable[[Mapping[str, Any]], Exchange]
) -> Embedder:
    """Return the embedder that `embed:` of an index asks for.

    Raises:
        InputError: it names none of folder, target and url, or it cannot be made.
        MissingExtra: a library for it is not installed.
    """
    named = [key for key in ("folder", "target", "url") if key in options]
    if len(named) != 1:
        raise InputError.at("needs one of folder, target and url", field="embed")
    if "folder" in options:
        return Onnx(
            home / options["folder"],
            model=options.get("model"),
            max_tokens=options.get("max_tokens", MAX_TOKENS),
        )
    if "model" not in options:
        raise InputError.at("is missing: it names the model in the record", field="embed.model")
    if "url" in options:
        return Served(lambda: exchange(options), options["model"])
    from aal_engine.store.index.python import imported

    return Called(imported(options["target"]), options["model"])
