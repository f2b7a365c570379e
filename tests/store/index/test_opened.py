"""Every back end that runs here, for real, through an index.yaml or its short form."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_agents import serving
from postgres import running
from small_corpus import ROWS, vectors

from aal_engine.errors import InputError, MissingExtra, RemoteError
from aal_engine.measure.origin import Identity
from aal_engine.store.index.opened import open_index, read_index

HOSTILE = (
    "",
    "   ",
    "???",
    'AND OR NOT ( "',
    "title:(x",
    "a' OR 1=1 --",
    "\u0000",
    "🦀" * 50,
    "x" * 5000,
)


def write(path: Path, **options: object) -> str:
    path.write_text(json.dumps(options))  # JSON is YAML
    return str(path)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "kb.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def secret(name: str) -> str:
    raise AssertionError(f"{name} was asked for")


EMBED = {"target": "small_corpus:embed", "model": "three-words"}


def tantivy(corpus, folder, cluster):
    return str(corpus)


def tantivy_folder(corpus, folder, cluster):
    import tantivy as library

    builder = library.SchemaBuilder()
    for name in ("key", "doc", "heading"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw")
    builder.add_text_field("body", stored=True, tokenizer_name="en_stem")
    (folder / "disk").mkdir()
    index = library.Index(builder.build(), path=str(folder / "disk"))
    writer = index.writer(15_000_000, 1)
    for row in ROWS:
        body = f"{row['title']} {row['text']}"
        writer.add_document(library.Document(key=row["id"], doc=row["doc_id"], body=body))
    writer.commit()
    writer.wait_merging_threads()
    return write(folder / "index.yaml", kind="tantivy", folder="disk", name="kb", id="key",
                 doc_id="doc", text="body", search=["body"])  # fmt: skip


def fused(corpus, folder, cluster):
    return write(folder / "index.yaml", kind="fused", passages=corpus.name, embed=EMBED)


def postgresql(corpus, folder, cluster):
    import psycopg

    dsn = cluster.conninfo()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute('CREATE TABLE "kb" (id text, doc text, title text, "text" text)')
        for row in ROWS:
            values = (row["id"], row["doc_id"], row["title"], row["text"])
            connection.execute("INSERT INTO kb VALUES (%s, %s, %s, %s)", values)
    return write(folder / "index.yaml", kind="postgresql", name="kb", dsn=dsn, table="public.kb",
                 id="id", doc_id="doc", title="title", text="text")  # fmt: skip


def qdrant(corpus, folder, cluster):
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder / "q"))
    params = models.VectorParams(size=3, distance=models.Distance.COSINE)
    client.create_collection("kb", vectors_config=params)
    points = [
        models.PointStruct(id=place, vector=vector, payload=row)
        for place, (row, vector) in enumerate(zip(ROWS, vectors(), strict=True))
    ]
    client.upsert("kb", points)
    client.close()
    return write(folder / "index.yaml", kind="qdrant", folder="q", collection="kb", id="id",
                 doc_id="doc_id", title="title", text="text",
                 embed=EMBED)  # fmt: skip


def lancedb(corpus, folder, cluster, vectors_too=False):
    import lancedb as library

    held = [
        {**row, "vector": vector, "all": f"{row['title']} {row['text']}"}
        for row, vector in zip(ROWS, vectors(), strict=True)
    ]
    table = library.connect(str(folder / "l")).create_table("kb", held)
    table.create_index("all", config=library.index.FTS())
    embed = {"embed": EMBED} if vectors_too else {}
    return write(folder / "index.yaml", kind="lancedb", folder="l", table="kb", id="id",
                 doc_id="doc_id", title="title", text="text", **embed)  # fmt: skip


def lancedb_vectors(*given):
    return lancedb(*given, vectors_too=True)


BUILDERS = {
    "tantivy": tantivy,
    "tantivy folder": tantivy_folder,
    "fused": fused,
    "postgresql": postgresql,
    "qdrant": qdrant,
    "lancedb": lancedb,
    "lancedb vectors": lancedb_vectors,
}
MODELS = {
    "tantivy": "tantivy/en_stem",
    "tantivy folder": "tantivy",
    "fused": "tantivy/en_stem+three-words/rrf60",
    "postgresql": "postgresql/english",
    "qdrant": "three-words",
    "lancedb": "lancedb/fts",
    "lancedb vectors": "three-words",
}


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_back_end_finds_names_and_folds(kind, corpus, tmp_path, postgres):
    with open_index(*read_index(BUILDERS[kind](corpus, tmp_path, postgres)), secret) as index:
        queries = ["When are refunds paid to cards?", "How do parcels ship?", "What price?"]
        refunds, shipping, price = index.search(queries, 2)
        assert {hit.doc_id for hit in refunds} == {"refund"} and len(refunds) == 2
        assert shipping[0].id == "ship#1" and shipping[0].passage().doc_id == "ship"
        assert price[0].id == "price#1" and "dollars & cents" in price[0].text
        for hits in (refunds, shipping, price):
            scores = [hit.score for hit in hits]
            assert scores == sorted(scores, reverse=True)
        told = index.identity()
        assert told.count == 4 and told.model == MODELS[kind] and told.name.startswith("kb")
        assert index.search([], 5) == []
        for hits in index.search(HOSTILE, 3):
            assert len(hits) <= 3
        again = index.search(queries, 2)
        assert again == [refunds, shipping, price]


def test_a_changed_passage_changes_the_name_of_a_corpus(corpus):
    def name() -> str:
        with open_index(*read_index(str(corpus)), secret) as index:
            return index.identity().name

    before = name()
    corpus.write_text(corpus.read_text().replace("30 days", "31 days"))
    assert before.startswith("kb@") and name() != before


@pytest.fixture(scope="module")
def pgvector() -> Iterator[str]:
    """A database with pgvector: of the server at hand, or of the one that a package carries."""
    found = importlib.util.find_spec("pgserver")
    if found is None or found.origin is None:
        pytest.skip("no PostgreSQL with pgvector is at hand: pip install pgserver")
    with running(Path(found.origin).parent / "pginstall" / "bin") as cluster:
        yield cluster.conninfo()


@pytest.mark.parametrize(("distance", "best"), [("cosine", 1.0), ("l2", 0.0), ("inner", 1.0)])
def test_pgvector(distance, best, tmp_path, pgvector):
    import psycopg

    with psycopg.connect(pgvector, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"CREATE TABLE by_{distance} (id text, doc text, v vector(3))")
        connection.execute(
            f"INSERT INTO by_{distance} VALUES ('r1', 'r', '[1,0,0]'), ('s1', 's', '[0,1,0]')"
        )
    given = write(tmp_path / "i.yaml", kind="pgvector", name="kb", dsn=pgvector, table=f"by_{distance}",
                  id="id", doc_id="doc", embedding="v", distance=distance, embed=EMBED)  # fmt: skip
    with open_index(*read_index(given), secret) as index:
        [hits] = index.search(["ship"], 2)
        assert [(hit.id, hit.doc_id) for hit in hits] == [("s1", "s"), ("r1", "r")]
        assert hits[0].score == pytest.approx(best, abs=0.03)
        assert index.identity() == Identity("kb", 2, "three-words")


def test_a_database_is_only_read_and_its_errors_say_little(tmp_path, corpus, postgres):
    given = postgresql(corpus, tmp_path, postgres)
    options, home = read_index(given)
    with open_index(options, home, secret) as index:
        import psycopg

        with pytest.raises(psycopg.Error, match="read-only"):
            index._connection.execute("CREATE TABLE x (y int)")
    with (
        open_index({**options, "table": "gone"}, home, secret) as index,
        pytest.raises(RemoteError, match="PostgreSQL says 42P01"),
    ):
        index.search(["Qx-question-Zw"], 1)
    lost = {**options, "dsn": "host=/nowhere/Qx user=Zw"}
    with pytest.raises(RemoteError) as refused, open_index(lost, home, secret):
        pass
    assert "Qx" not in str(refused.value) and "Zw" not in str(refused.value)


def answers(request: dict) -> dict:
    """The bodies that an index of one's own reads and writes, whatever carries them."""
    if "identity" in request:
        return {"name": "own", "count": 3, "model": None}
    asked = request["search"]
    if "fail" in asked["queries"]:
        return {"error": "Qx-question-Zw"}
    hits = [{"id": f"d{n}", "score": 1 / (n + 1), "text": query} for query in asked["queries"]
            for n in range(asked["k"] + 1)]  # fmt: skip
    size = asked["k"] + 1
    return {"hits": [hits[n : n + size] for n in range(0, len(hits), size)]}


PROGRAM = f"""
import json, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from test_opened import answers
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({{"id": row["id"], **answers(row)}}), flush=True)
"""


@pytest.mark.parametrize("kind", ["http", "command"])
def test_an_index_of_one_s_own_answers_the_same_bodies_over_any_wire(kind, tmp_path):
    with serving(lambda handler, body: handler.reply(answers(body))) as server:
        if kind == "http":
            options, home = read_index(server.url)
        else:
            command = [sys.executable, "-c", PROGRAM]
            options, home = read_index(write(tmp_path / "i.yaml", kind="command", command=command))
        with open_index(options, home, secret) as index:
            first, second = index.search(["x", "y"], 2)
            assert [hit.id for hit in first] == ["d0", "d1"] and second[0].text == "y"
            assert index.identity() == Identity("own", 3, None)
            with pytest.raises(RemoteError, match="with an error") as refused:
                index.search(["fail"], 1)
            assert "Qx" not in str(refused.value)


@pytest.mark.parametrize("status", [500, 404, 200])
def test_an_index_that_fails_raises_and_is_asked_again_where_that_helps(status):
    body = b"<html>" if status == 200 else b"{}"
    with serving(lambda handler, _: handler.reply(body, status)) as server:
        options = {"kind": "http", "url": server.url, "tries": 2}
        with open_index(options, Path(), secret) as index, pytest.raises(RemoteError):
            index.search(["x"], 1)
        assert len(server.seen) == (2 if status == 500 else 1)


def test_a_key_goes_to_the_index_and_nowhere_else(tmp_path):
    with serving(lambda handler, body: handler.reply(answers(body))) as server:
        given = write(tmp_path / "i.yaml", kind="http", url=server.url, key_from="INDEX_KEY")
        with open_index(*read_index(given), {"INDEX_KEY": "sk-Qx"}.__getitem__) as index:
            index.search(["x"], 1)
        assert server.keys == ["Bearer sk-Qx"]


REFUSED = {
    "no kind": {},
    "an unknown kind": {"kind": "magic"},
    "an unknown key": {"kind": "http", "url": "http://h", "token": "x"},
    "a key in the open": {"kind": "http", "url": "http://h", "key": "sk"},
    "no url": {"kind": "http"},
    "two sources": {"kind": "tantivy", "passages": "a.jsonl", "folder": "b"},
    "a password": {"kind": "postgresql", "name": "n", "table": "t", "id": "i", "text": "t",
                   "dsn": "postgresql://u:p@h/d"},
    "no dsn": {"kind": "postgresql", "name": "n", "table": "t", "id": "i", "text": "t"},
    "a table with a quote": {"kind": "postgresql", "name": "n", "table": 't"; --', "id": "i",
                             "text": "t", "dsn": "dbname=x"},
    "no embedder": {"kind": "qdrant", "collection": "c", "folder": "f", "embed": {"model": "m"}},
    "no model": {"kind": "fused", "passages": "kb.jsonl", "embed": {"target": "small_corpus:embed"}},
    "no such language": {"kind": "tantivy", "passages": "kb.jsonl", "language": "xx"},
    "no such folder": {"kind": "lancedb", "folder": "gone", "table": "t"},
    "no such file": {"kind": "tantivy", "passages": "gone.jsonl"},
    "no such module": {"kind": "python", "target": "no_such_module:search"},
    "no index": {"kind": "python", "target": "json:JSONDecoder"},
    "no model files": {"kind": "fused", "passages": "kb.jsonl", "embed": {"folder": "."}},
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_make_no_index_are_refused(name, corpus, tmp_path):
    given = write(tmp_path / "i.yaml", **REFUSED[name])
    with pytest.raises(InputError) as refused, open_index(*read_index(given), secret):
        pass
    assert str(tmp_path) not in str(refused.value)


EXTRAS = {
    "tantivy": ("tantivy", "index"),
    "fused": ("onnxruntime", "minilm"),
    "postgresql": ("psycopg", "postgresql"),
    "qdrant": ("qdrant_client", "qdrant"),
    "lancedb": ("lancedb", "lancedb"),
    "http": ("httpx", "live"),
    "opensearch": ("httpx", "live"),
}
NAMED = {
    "tantivy": {"passages": "kb.jsonl"},
    "fused": {"passages": "kb.jsonl", "embed": {"folder": "."}},
    "postgresql": {"name": "n", "table": "t", "id": "i", "text": "t", "dsn": "dbname=x"},
    "qdrant": {"folder": ".", "collection": "c", "embed": EMBED},
    "lancedb": {"folder": ".", "table": "t"},
    "http": {"url": "http://127.0.0.1:1"},
    "opensearch": {"url": "http://127.0.0.1:1", "index": "i"},
}


@pytest.mark.parametrize("kind", EXTRAS)
def test_a_library_that_is_not_installed_is_named_by_its_extra(kind, corpus, monkeypatch):
    library, extra = EXTRAS[kind]
    monkeypatch.setitem(sys.modules, library, None)
    options = {"kind": kind, **NAMED[kind]}
    with (
        pytest.raises(MissingExtra, match=r"needs an extra") as missing,
        open_index(options, corpus.parent, secret),
    ):
        pass
    assert missing.value.extra == extra
