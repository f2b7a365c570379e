"""How well each embedded back end finds Cranfield's documents: nDCG@10 over its 225 questions.

    python tests/bench/cranfield.py FOLDER [--model FOLDER]

FOLDER holds `cran.all.1400`, `cran.qry` and `cranqrel`. The model's folder holds `model.onnx` and
`tokenizer.json` of all-MiniLM-L6-v2; without it, what needs vectors is left out. Judgments are
used twice: relevant or not (codes 1 to 4), and graded (code 1, a complete answer, counts 4).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from postgres import Cluster, programs, running

from aal_engine.measure.golden import GoldenSet
from aal_engine.measure.record import summarise
from aal_engine.measure.run import Output, run_of
from aal_engine.measure.score import score
from aal_engine.store.corpus import load_corpus
from aal_engine.store.importer import import_trec
from aal_engine.store.index.embedder import Onnx
from aal_engine.store.index.fused import Dense
from aal_engine.store.index.opened import open_index
from aal_engine.store.new_pack import Declaration
from aal_engine.store.qrels import reversed_grades

K = 100
DOCUMENT = re.compile(r"^\.T\n(.*?)^\.A\n.*?^\.W\n?(.*)", re.MULTILINE | re.DOTALL)
GRADES: dict[str, Callable[[int], int]] = {
    "binary": lambda code: int(1 <= code <= 4),
    "graded": reversed_grades(4),
}


def write_corpus(source: Path, target: Path) -> None:
    """Turn the collection's own form into passages, a document each."""
    with target.open("w", encoding="utf-8") as file:
        for part in re.split(r"^\.I ", source.read_text(), flags=re.MULTILINE)[1:]:
            number, _, rest = part.partition("\n")
            found = DOCUMENT.search(rest)
            assert found is not None, number
            title, text = (" ".join(piece.split()) for piece in found.groups())
            file.write(json.dumps({"id": number.strip(), "title": title, "text": text}) + "\n")


def golden_sets(folder: Path, home: Path) -> dict[str, GoldenSet]:
    """Import the questions with each scale of grades."""
    sets = {}
    for name, grade in GRADES.items():
        sets[name] = import_trec(
            home / name,
            Declaration("cranfield", "retriever", 0, "public", "en"),
            qrels=folder / "cranqrel",
            topics=folder / "cran.qry",
            by_position=True,
            grade=grade,
        ).golden
    return sets


def vectors_of(home: Path, model: Path) -> list[list[float]]:
    dense = Dense(load_corpus(home / "cranfield.jsonl"), Onnx(model))
    held = {
        passage.doc_id: vector
        for passage, vector in zip(dense._passages, dense._vectors.tolist(), strict=True)
    }
    return [held[row["id"]] for row in rows(home)]


def rows(home: Path) -> list[dict[str, Any]]:
    text = (home / "cranfield.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def fill_postgresql(home: Path, cluster: Cluster, vectors: list[list[float]] | None) -> str:
    import psycopg

    dsn = cluster.conninfo()
    with psycopg.connect(dsn, autocommit=True) as connection:
        column = "int"
        if vectors is not None:
            connection.execute("CREATE EXTENSION vector")
            column = f"vector({len(vectors[0])})"
        connection.execute(f"CREATE TABLE d (id text, title text, body text, v {column})")
        for place, row in enumerate(rows(home)):
            vector = None if vectors is None else str(vectors[place])
            values = (row["id"], row["title"], row["text"], vector)
            connection.execute("INSERT INTO d VALUES (%s, %s, %s, %s)", values)
        connection.execute(
            "ALTER TABLE d ADD COLUMN words tsvector GENERATED ALWAYS AS "
            "(to_tsvector('english', title || ' ' || body)) STORED"
        )
        connection.execute("CREATE INDEX ON d USING gin (words)")
    return dsn


def fill_lancedb(home: Path, vectors: list[list[float]] | None) -> None:
    import lancedb

    held = [
        {**row, "all": f"{row['title']} {row['text']}"}
        | ({} if vectors is None else {"vector": vectors[place]})
        for place, row in enumerate(rows(home))
    ]
    table = lancedb.connect(str(home / "lance")).create_table("d", held)
    table.create_index("all", config=lancedb.index.FTS())


def fill_qdrant(home: Path, vectors: list[list[float]]) -> None:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(home / "qdrant"))
    params = models.VectorParams(size=len(vectors[0]), distance=models.Distance.COSINE)
    client.create_collection("d", vectors_config=params)
    points = [
        models.PointStruct(id=place, vector=vector, payload={"id": row["id"]})
        for place, (row, vector) in enumerate(zip(rows(home), vectors, strict=True))
    ]
    client.upsert("d", points)
    client.close()


@contextmanager
def with_pgvector() -> Iterator[Cluster | None]:
    found = importlib.util.find_spec("pgserver")
    if found is None or found.origin is None:
        yield None
        return
    with running(Path(found.origin).parent / "pginstall" / "bin") as cluster:
        yield cluster


def indexes(home: Path, model: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every back end that runs here, as an index.yaml has it."""
    corpus = {"passages": "cranfield.jsonl"}
    yield "tantivy", {"kind": "tantivy", **corpus}
    if programs() is not None:
        with running() as cluster:
            table = {"name": "d", "table": "d", "id": "id", "text": "body", "search": "words"}
            dsn = fill_postgresql(home, cluster, None)
            yield "postgresql", {"kind": "postgresql", "dsn": dsn, **table}
    vectors = None if model is None else vectors_of(home, model)
    fill_lancedb(home, vectors)
    lance = {"kind": "lancedb", "folder": "lance", "table": "d"}
    yield "lancedb, words", lance
    if model is None or vectors is None:
        return
    embed = {"embed": {"folder": str(model)}}
    yield "lancedb, vectors", {**lance, **embed}
    fill_qdrant(home, vectors)
    yield (
        "qdrant",
        {"kind": "qdrant", "folder": "qdrant", "collection": "d", "id": "id", **embed},
    )
    with with_pgvector() as cluster:
        if cluster is not None:
            dsn = fill_postgresql(home, cluster, vectors)
            table = {"name": "d", "table": "d", "id": "id", "embedding": "v"}
            yield "pgvector", {"kind": "pgvector", "dsn": dsn, **table, **embed}
    yield "fused", {"kind": "fused", **corpus, **embed}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        write_corpus(given.folder / "cran.all.1400", home / "cranfield.jsonl")
        golden = golden_sets(given.folder, home)
        cases = golden["binary"].cases
        for name, options in indexes(home, given.model and given.model.resolve()):
            with open_index(options, home, str) as index:
                start = time.perf_counter()
                found = index.search([case.question for case in cases], K)
                seconds = time.perf_counter() - start
            run = run_of(
                None,
                [
                    Output(case.id, retrieved=tuple(hit.passage() for hit in hits))
                    for case, hits in zip(cases, found, strict=True)
                ],
            )
            values = []
            for scale, suite in golden.items():
                table = score("retrieval", suite, run, version="1", engine="bench")
                mean = summarise(table, "2026-01-01T00:00:00.000Z").metrics["ndcg@10"].value
                values.append(f"{scale} {mean:.4f}")
            print(
                f"{name:<18} nDCG@10 {', '.join(values)}; {1000 * seconds / len(cases):.1f} ms a question"
            )


if __name__ == "__main__":
    main()
