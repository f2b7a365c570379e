"""Runs at addresses, through fsspec's store in memory."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aal_engine.errors import InputError, MissingExtra
from aal_engine.store.golden import load_golden
from aal_engine.store.long_run import open_lists
from aal_engine.store.pattern import matching
from aal_engine.store.remote import is_address, open_address
from aal_engine.store.run import load_run

PACK = """\
name: p
agent: a
autonomy: 0
sensitivity: public
suites:
  core: {file: core.jsonl, kinds: [retrieval]}
"""
ROWS = [("1", "a", 3.0), ("1", "b", 2.0), ("2", "c", 1.0)]
TEXT = "".join(f"{query} Q0 {doc} 1 {score} x\n" for query, doc, score in ROWS).encode()


@pytest.fixture
def store():
    """An empty store, and what writes to it."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield lambda name, data: system.pipe_file(f"/runs/{name}", data)
    system.store.clear()


@pytest.fixture
def cases(tmp_path):
    (tmp_path / "pack.yaml").write_text(PACK)
    (tmp_path / "core.jsonl").write_text(
        '{"id": "1", "question": "?", "relevant": {"b": 1}}\n'
        '{"id": "2", "question": "?", "relevant": {"c": 1}}\n'
    )
    return load_golden(tmp_path, "core").cases


def parquet(rows):
    buffer = io.BytesIO()
    columns = zip(*rows, strict=True)
    names = ("query_id", "doc_id", "score")
    pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("run.txt", TEXT),
        ("run.txt.gz", gzip.compress(TEXT, mtime=0)),
        ("run.txt.zst", pa.compress(TEXT, "zstd", asbytes=True)),
        ("run.parquet", parquet(ROWS)),
    ],
)
def test_a_run_at_an_address_is_read_as_the_same_file_is(store, cases, tmp_path, name, data):
    store(name, data)
    (tmp_path / name).write_bytes(data)
    away = open_lists([f"memory://runs/{name}"], None)
    here = open_lists([tmp_path / name], None)
    assert away.judge(cases).rank.tolist() == here.judge(cases).rank.tolist()
    assert away.digest == here.digest
    both = (load_run(f"memory://runs/{name}"), load_run(tmp_path / name))
    assert both[0].runs[None].digest == both[1].runs[None].digest


def test_outputs_with_answers_at_an_address_are_read(store):
    store("run.jsonl", b'{"id": "1", "answer": "yes", "model_family": "f"}\n')
    assert load_run("memory://runs/run.jsonl").runs["f"].outputs[0].answer == "yes"


def test_a_pattern_of_addresses_gives_them_in_order(store):
    for name in ("b.txt", "a.txt", "c.gz"):
        store(name, b"")
    assert matching("memory://runs/*.txt") == ["memory:///runs/a.txt", "memory:///runs/b.txt"]
    with pytest.raises(InputError, match="matches no file"):
        matching("memory://runs/*.none")


def test_what_is_not_there_is_told_without_its_bucket(store):
    with pytest.raises(InputError) as told, open_address("memory://secret-bucket/run.txt"):
        pass
    assert str(told.value) == "run.txt: no such file"


def test_a_scheme_that_nothing_opens_names_the_way_out():
    with pytest.raises(InputError, match="install the fsspec package"), open_address("nope://x/y"):
        pass


def test_a_store_that_fails_in_the_middle_is_told_without_its_words(store, monkeypatch):
    store("run.txt", TEXT)

    def fail(self, length=-1):
        raise RuntimeError("https://user:secret@host/bucket")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFile.read", fail, raising=False)
    with pytest.raises(InputError) as told:
        load_run("memory://runs/run.txt")
    assert "secret" not in str(told.value)
    assert str(told.value).startswith("run.txt")


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r"aal-engine\[remote\]"), open_address("s3://x/y"):
        pass


@pytest.mark.parametrize("source", ["-", "run.txt", "/a/b://c", Path("s3:/x/y"), "C:/x"])
def test_paths_are_no_addresses(source):
    assert not is_address(source)
