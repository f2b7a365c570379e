"""The whole path on public collections that nobody here wrote."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import doors
import pyarrow.parquet as pq
import pytest
import pytrec_eval

MEASURES = {
    "recall@10": "recall_10",
    "precision@10": "P_10",
    "mrr": "recip_rank",
    "ndcg@10": "ndcg_cut_10",
    "success@1": "success_1",
}


def done_well(done: doors.Done) -> doors.Done:
    assert done.returncode == 0, done.stderr
    return done


def imported(folder: Path, name: str, *arguments: str) -> Path:
    done_well(doors.call("golden", folder, "import", "trec", *arguments, "--out", name))
    return folder / name


def scored(folder: Path, pack: str, run: str) -> dict:
    """Evaluate a run of retrieval alone and return its record."""
    arguments = ("--pack", pack, "--run", run, "--version", "1", "--out", f"evals-{pack}")
    done_well(doors.call("evaluate", folder, *arguments))
    (record,) = json.loads((folder / f"evals-{pack}" / "retrieval.json").read_text())["records"]
    return record


def per_case(folder: Path, pack: str) -> dict[str, dict[str, float]]:
    (path,) = (folder / f"evals-{pack}" / "tables").glob("*.parquet")
    rows = pq.ParquetFile(path).read().to_pylist()
    return {row["case_id"]: {name: row[name] for name in MEASURES} for row in rows}


def trec_eval(qrels: dict, run: dict) -> dict[str, dict[str, float]]:
    """Return trec_eval's values with `-c`: a query that the run lacks counts 0."""
    names = {"recall.10", "P.10", "recip_rank", "ndcg_cut.10", "success.1"}
    values = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
    return {
        query: {ours: values.get(query, {}).get(theirs, 0.0) for ours, theirs in MEASURES.items()}
        for query in qrels
    }


def agree(record: dict, ours: dict, theirs: dict) -> None:
    assert ours.keys() == theirs.keys()
    for query, values in theirs.items():
        assert ours[query] == pytest.approx(values, abs=1e-9), query
    for name in MEASURES:
        mean = math.fsum(values[name] for values in theirs.values()) / len(theirs)
        assert record["metrics"][name]["value"] == pytest.approx(mean, abs=1e-9)


def test_cacm_with_a_bm25_run_has_trec_evals_values(shared, tmp_path):
    cacm = shared / "data" / "ir" / "cacm"
    imported(
        tmp_path,
        "cacm",
        *("--qrels", str(cacm / "qrels.cacm.txt"), "--topics", str(cacm / "topics.cacm.txt")),
    )
    record = scored(tmp_path, "cacm", str(cacm / "cacm-bm25.run.txt"))
    qrels: dict = defaultdict(dict)
    for line in (cacm / "qrels.cacm.txt").read_text().splitlines():
        query, _, doc, grade = line.split()
        qrels[query][doc] = int(grade)
    run: dict = defaultdict(dict)
    for line in (cacm / "cacm-bm25.run.txt").read_text().splitlines():
        query, _, doc, _, score, _ = line.split()
        run[query][doc] = float(score)
    agree(record, per_case(tmp_path, "cacm"), trec_eval(dict(qrels), dict(run)))
    assert 0.2 < record["metrics"]["ndcg@10"]["value"] < 0.6


WORD = re.compile(r"[a-z]+")


def bm25(documents: dict[str, Counter], queries: dict[str, list[str]]) -> dict[str, dict]:
    """Rank the 100 best documents for each query, plainly."""
    lengths = {doc: sum(terms.values()) for doc, terms in documents.items()}
    average = sum(lengths.values()) / len(lengths)
    postings: dict[str, list[str]] = defaultdict(list)
    for doc, terms in documents.items():
        for term in terms:
            postings[term].append(doc)
    ranked = {}
    for query, terms in queries.items():
        scores: Counter = Counter()
        for term in terms:
            holders = postings.get(term, ())
            rarity = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
            for doc in holders:
                often = documents[doc][term]
                scores[doc] += rarity * often / (often + 0.9 * (0.6 + 0.4 * lengths[doc] / average))
        ranked[query] = dict(scores.most_common(100))
    return ranked


def test_cranfield_whose_scale_is_reversed_and_whose_queries_are_numbered_by_place(
    shared, tmp_path
):
    home = shared / "data" / "ir" / "cranfield"
    imported(
        tmp_path,
        "cranfield",
        *("--qrels", str(home / "cranqrel"), "--topics", str(home / "cran.qry")),
        *("--qrels-number", "position", "--reverse-grades", "4"),
    )
    cases = [
        json.loads(line)
        for line in (tmp_path / "cranfield" / "cases.jsonl").read_text().splitlines()
    ]
    assert len(cases) == 225
    grades = Counter(grade for case in cases for grade in case["relevant"].values())
    assert {grade for grade in grades if grade > 0} == {1, 2, 3, 4}
    assert (grades[4], grades[3], grades[2], grades[1]) == (128, 387, 734, 363)
    documents = {}
    for part in (home / "cran.all.1400").read_text().split("\n.I ")[0:]:
        number, _, rest = part.removeprefix(".I ").partition("\n")
        documents[number.strip()] = Counter(WORD.findall(rest.lower()))
    assert len(documents) == 1_400
    run = bm25(documents, {case["id"]: WORD.findall(case["question"].lower()) for case in cases})
    with (tmp_path / "run.txt").open("w") as file:
        for query, ranked in run.items():
            for rank, (doc, score) in enumerate(ranked.items(), 1):
                file.write(f"{query} Q0 {doc} {rank} {score!r} bm25\n")
    record = scored(tmp_path, "cranfield", "run.txt")
    qrels = {case["id"]: case["relevant"] for case in cases}
    agree(record, per_case(tmp_path, "cranfield"), trec_eval(qrels, run))
    # Read with the scale the wrong way round, the same run falls well below this.
    assert record["metrics"]["ndcg@10"]["value"] > 0.3


def lay(
    folder: Path, name: str, suites: dict[str, list[dict]], rows: dict[str, list[dict]]
) -> None:
    """Write a pack of answer suites, and a run file for each of `rows`."""
    (folder / name).mkdir()
    listed = "".join(f"  {suite}: {{file: {suite}.jsonl, kinds: [answers]}}\n" for suite in suites)
    (folder / name / "pack.yaml").write_text(
        f"name: {name}\nagent: {name}\nautonomy: 0\nsensitivity: public\n"
        f"citations: {{mode: index, base: 1}}\nsuites:\n{listed}"
    )
    for suite, cases in suites.items():
        (folder / name / f"{suite}.jsonl").write_text(
            "".join(json.dumps(case) + "\n" for case in cases)
        )
    for run, outputs in rows.items():
        (folder / f"{run}.jsonl").write_text(
            "".join(json.dumps(output) + "\n" for output in outputs)
        )


PLACE = re.compile(r"\[(\d+)\]\s*(\S*)\s*(.*)", re.DOTALL)


def expertqa_row(answer: dict) -> dict:
    """What a system retrieved and wrote: its list of sources, with the passages that are given."""
    passages = {}
    for claim in answer["claims"]:
        for evidence in claim["evidence"]:
            if match := PLACE.match(evidence):
                passages.setdefault(int(match[1]), match[3])
    retrieved = []
    for place, source in enumerate(answer["attribution"], 1):
        match = PLACE.match(source)
        url = match[2] if match else source
        text = {"text": passages[place]} if passages.get(place) else {}
        retrieved.append({"doc_id": f"{place}", "url": url, **text})
    return {
        "id": answer["id"],
        "model_family": answer["system"],
        "retrieved": retrieved,
        "answer": answer["answer_string"],
    }


def test_expertqa_of_six_systems_is_scored_gated_and_recorded(shared, tmp_path):
    lines = (shared / "data" / "answers" / "expertqa" / "answers.jsonl").read_text().splitlines()
    systems = defaultdict(list)
    for answer in map(json.loads, lines):
        systems[answer["system"]].append(answer)
    lay(
        tmp_path,
        "expertqa",
        {
            system: [{"id": answer["id"], "question": answer["question"]} for answer in answers]
            for system, answers in systems.items()
        },
        {
            system: [expertqa_row(answer) for answer in answers]
            for system, answers in systems.items()
        },
    )
    current = []
    invented = {}
    for system in systems:
        out = f"out-{system}"
        done_well(
            doors.call(
                "evaluate",
                tmp_path,
                *("--pack", "expertqa", "--suite", system, "--run", f"{system}.jsonl"),
                *("--version", "2023.1", "--out", out),
            )
        )
        current += ["--current", f"{out}/answers.json"]
        (path,) = (tmp_path / out / "tables").glob("*.parquet")
        for row in pq.ParquetFile(path).read().to_pylist():
            if row["count.invented_citations"]:
                invented[row["case_id"]] = row["count.invented_citations"]
    # Its [49] and [50] were copied from the footnotes of a passage.
    assert invented["expertqa-00064"] == 2
    (tmp_path / "policy.yaml").write_text(
        f"model_families: {{allow: [{', '.join(systems)}]}}\nfirst_release: allow\n"
    )
    gate = ("--policy", "policy.yaml", "--record", "decision.json")
    done = doors.call("gate", tmp_path, *current, *gate)
    assert done.returncode == 1, done.stderr
    decision = json.loads((tmp_path / "decision.json").read_text())
    assert len(decision["records"]) == len(systems) == 6
    assert decision["checks"][0]["check"] == "invented_citations"
    done_well(doors.call("ledger", tmp_path, "verify"))


def test_mtrag_of_three_models_is_scored_gated_and_recorded(shared, tmp_path):
    home = shared / "data" / "answers" / "mtrag"
    whole = json.loads((home / "reference_subset_with_human_evaluations.json").read_text())
    texts = {document["document_id"]: document for document in whole["documents"]}
    cases, retrieved = [], {}
    for task in whole["tasks"]:
        case = {"id": task["task_id"].replace("<::>", "-"), "question": task["input"][-1]["text"]}
        if task["Answerability"] == ["UNANSWERABLE"]:
            case["expect"] = "abstain"
        cases.append(case)
        retrieved[task["task_id"]] = [
            {
                "doc_id": context["document_id"],
                "title": texts[context["document_id"]].get("title"),
                "text": texts[context["document_id"]]["text"],
            }
            for context in task["contexts"]
        ]
    rows = [
        {
            "id": each["task_id"].replace("<::>", "-"),
            "model_family": each["model_id"],
            "retrieved": retrieved[each["task_id"]],
            "answer": each["model_response"],
        }
        for each in whole["evaluations"]
    ]
    lay(tmp_path, "mtrag", {"main": cases}, {"run": rows})
    done_well(
        doors.call(
            "evaluate",
            tmp_path,
            *("--pack", "mtrag", "--run", "run.jsonl", "--version", "2024.1", "--out", "out"),
        )
    )
    records = json.loads((tmp_path / "out" / "answers.json").read_text())["records"]
    assert [record["model_family"] for record in records] == [
        "gpt-4o",
        "llama-3.1-405b-instruct",
        "reference",
    ]
    for record in records:
        assert record["golden_set"]["cases"] == 159
        assert record["counts"]["missing_outputs"] == 0
        # They were not asked for citations, and give none.
        assert record["metrics"]["citation_rate"]["value"] < 0.01
        assert record["metrics"]["grounded"]["value"] == 1.0
        assert record["metrics"]["abstention"]["value"] > 0.75
    (tmp_path / "policy.yaml").write_text(
        "model_families: {allow: [gpt-4o, llama-3.1-405b-instruct]}\nfirst_release: allow\n"
    )
    gate = ("--current", "out/answers.json", "--policy", "policy.yaml", "--record", "d.json")
    done = done_well(doors.call("gate", tmp_path, *gate))
    assert "reference is not allowed by the policy" in done.stdout
    done_well(doors.call("ledger", tmp_path, "verify"))
