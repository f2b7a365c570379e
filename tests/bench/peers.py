"""Other scorers on one workload of `retrieval.py`, each as a whole process.

    python tests/bench/peers.py NAME RUN QRELS

RUN is a TREC run or, by its suffix, Parquet of `query_id`, `doc_id` and `score`; QRELS are TREC
qrels. Prints the means as JSON. Every peer computes a value per query and measure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from statistics import fmean

CUTOFFS = (10, 100, 1000)
MEASURES = (
    "recall@10",
    "recall@100",
    "recall@1000",
    "precision@10",
    "mrr@10",
    "ndcg@10",
    "success@1",
    "map",
)

COUNTS = {
    **{f"recall@{k}": f"count(*) FILTER (grade > 0 AND rank <= {k}) / relevant" for k in CUTOFFS},
    "precision@10": "count(*) FILTER (grade > 0 AND rank <= 10) / 10",
    "mrr@10": "coalesce(max(1 / rank) FILTER (grade > 0 AND rank <= 10), 0)",
    "ndcg@10": "coalesce(sum(grade / log2(rank + 1)) FILTER (rank <= 10), 0) / ideal",
    "success@1": "count(*) FILTER (grade > 0 AND rank = 1)",
    "map": "coalesce(sum(hit / rank) FILTER (grade > 0), 0) / relevant",
}
SQL = f"""
WITH qrels AS (
    SELECT query_id, doc_id, grade FROM read_csv('{{qrels}}', delim=' ', header=false, columns={{{{
        'query_id': 'VARCHAR', 'q0': 'VARCHAR', 'doc_id': 'VARCHAR', 'grade': 'INTEGER'}}}})
), places AS (
    SELECT *, row_number() OVER (PARTITION BY query_id ORDER BY grade DESC) AS place FROM qrels
), judged AS (
    SELECT query_id, count(*) FILTER (grade > 0) AS relevant,
        sum(grade / log2(place + 1)) FILTER (place <= 10) AS ideal
    FROM places GROUP BY query_id
), ranked AS (
    SELECT query_id, doc_id,
        row_number() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS rank
    FROM {{run}}
), hits AS (
    SELECT query_id, grade, rank,
        count(*) FILTER (grade > 0) OVER (PARTITION BY query_id ORDER BY rank) AS hit
    FROM ranked JOIN qrels USING (query_id, doc_id)
), cases AS (
    SELECT query_id, {", ".join(f'{sql} AS "{name}"' for name, sql in COUNTS.items())}
    FROM judged LEFT JOIN hits USING (query_id) GROUP BY query_id, relevant, ideal
)
SELECT * FROM cases
"""
TEXT_COLUMNS = ("query_id", "q0", "doc_id", "place", "score", "tag")


def duckdb(run: str, qrels: str) -> Mapping[str, float]:
    import duckdb

    types = ", ".join(
        f"'{name}': '{'DOUBLE' if name == 'score' else 'VARCHAR'}'" for name in TEXT_COLUMNS
    )
    table = (
        f"read_parquet('{run}')"
        if run.endswith(".parquet")
        else f"read_csv('{run}', delim=' ', header=false, columns={{{types}}})"
    )
    cases = duckdb.sql(SQL.format(run=table, qrels=qrels)).fetchnumpy()
    return {name: float(cases[name].mean()) for name in MEASURES}


def polars(run: str, qrels: str) -> Mapping[str, float]:
    import polars as pl

    def text(path: str, names: tuple[str, ...], kinds: Mapping[str, type]) -> pl.LazyFrame:
        schema = {name: kinds.get(name, pl.String) for name in names}
        return pl.scan_csv(path, separator=" ", has_header=False, schema=schema, quote_char=None)

    judged = text(qrels, ("query_id", "q0", "doc_id", "grade"), {"grade": pl.Int64})
    rows = (
        pl.scan_parquet(run)
        if run.endswith(".parquet")
        else text(run, TEXT_COLUMNS, {"score": pl.Float64})
    ).select("query_id", "doc_id", "score")
    place = pl.int_range(1, pl.len() + 1).over("query_id")
    ideal = (
        judged.sort("query_id", "grade", descending=True)
        .with_columns(place=place)
        .group_by("query_id")
        .agg(
            relevant=(pl.col("grade") > 0).sum(),
            ideal=(pl.col("grade") / (pl.col("place") + 1).log(2))
            .filter(pl.col("place") <= 10)
            .sum(),
        )
    )
    rank, relevant = pl.col("rank"), pl.col("grade") > 0
    hits = (
        rows.sort("query_id", "score", "doc_id", descending=True)
        .with_columns(rank=place)
        .join(judged, on=["query_id", "doc_id"])
        .sort("query_id", "rank")
        .with_columns(hit=relevant.cum_sum().over("query_id"))
        .group_by("query_id")
        .agg(
            *(((rank <= k) & relevant).sum().alias(f"hits@{k}") for k in CUTOFFS),
            first=rank.filter(relevant).min(),
            gain=(pl.col("grade") / (rank + 1).log(2)).filter(rank <= 10).sum(),
            precisions=(pl.col("hit") / rank).filter(relevant).sum(),
        )
    )
    cases = (
        ideal.join(hits, on="query_id", how="left")
        .select(
            *((pl.col(f"hits@{k}") / pl.col("relevant")).alias(f"recall@{k}") for k in CUTOFFS),
            (pl.col("hits@10") / 10).alias("precision@10"),
            pl.when(pl.col("first") <= 10).then(1 / pl.col("first")).alias("mrr@10"),
            (pl.col("gain") / pl.col("ideal")).alias("ndcg@10"),
            (pl.col("first") == 1).cast(pl.Float64).alias("success@1"),
            (pl.col("precisions") / pl.col("relevant")).alias("map"),
        )
        .fill_null(0.0)
        .collect()
    )
    return {name: float(cases[name].mean()) for name in MEASURES}


def lists(run: str) -> dict[str, dict[str, float]]:
    """Return a Parquet run as the dictionaries that some peers take."""
    import pyarrow.parquet as pq

    found: dict[str, dict[str, float]] = {}
    with pq.ParquetFile(run) as file:
        for batch in file.iter_batches():
            for query, doc, score in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                found.setdefault(query, {})[doc] = score
    return found


def pytrec_eval(run: str, qrels: str) -> Mapping[str, float]:
    import pytrec_eval

    names = {
        **{f"recall@{k}": f"recall_{k}" for k in CUTOFFS},
        "precision@10": "P_10",
        "ndcg@10": "ndcg_cut_10",
        "success@1": "success_1",
        "map": "map",
    }
    with open(qrels) as file:
        judged = pytrec_eval.parse_qrel(file)
    if run.endswith(".parquet"):
        rows = lists(run)
    else:
        with open(run) as file:
            rows = pytrec_eval.parse_run(file)
    asked = {"recall.10,100,1000", "P.10", "recip_rank", "ndcg_cut.10", "success.1", "map"}
    cases = pytrec_eval.RelevanceEvaluator(judged, asked).evaluate(rows)
    means = {name: fmean(case[key] for case in cases.values()) for name, key in names.items()}
    # It has no cutoff for this measure: a first hit below rank 10 is less than 1 / 10.
    first = [case["recip_rank"] for case in cases.values()]
    return means | {"mrr@10": fmean(value if value >= 0.1 else 0.0 for value in first)}


def ir_measures(run: str, qrels: str) -> Mapping[str, float]:
    import ir_measures as ir

    names = ("R@10", "R@100", "R@1000", "P@10", "RR@10", "nDCG@10", "Success@1", "AP")
    measures = [ir.parse_measure(name) for name in names]
    rows = lists(run) if run.endswith(".parquet") else ir.read_trec_run(run)
    sums = dict.fromkeys(measures, 0.0)
    queries = set()
    for value in ir.iter_calc(measures, ir.read_trec_qrels(qrels), rows):
        sums[value.measure] += value.value
        queries.add(value.query_id)
    return {
        name: sums[measure] / len(queries) for name, measure in zip(MEASURES, measures, strict=True)
    }


def ranx(run: str, qrels: str) -> Mapping[str, float]:
    from ranx import Qrels, Run, evaluate

    names = [
        *(f"recall@{k}" for k in CUTOFFS),
        *("precision@10", "mrr@10", "ndcg@10", "hit_rate@1", "map"),
    ]
    rows = (
        Run.from_dict(lists(run)) if run.endswith(".parquet") else Run.from_file(run, kind="trec")
    )
    means = evaluate(Qrels.from_file(qrels, kind="trec"), rows, names, make_comparable=True)
    return dict(zip(MEASURES, (float(means[name]) for name in names), strict=True))


PEERS: Mapping[str, Callable[[str, str], Mapping[str, float]]] = {
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
    "duckdb": duckdb,
    "polars": polars,
}

if __name__ == "__main__":
    print(json.dumps(PEERS[sys.argv[1]](*sys.argv[2:])))
