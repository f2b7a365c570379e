"""How well weak support agrees with people: AUROC and flags on ExpertQA, MTRAG and RAGChecker.

    python tests/bench/weak_support.py FOLDER

FOLDER holds `expertqa/answers.jsonl`, `mtrag/reference_subset_with_human_evaluations.json` and
`ragchecker/human_labeled_data.json`, as their projects publish them (see the README of each).

ExpertQA: one claim at a time with the passages shown to the people who judged it; support that they
call complete against partial, incomplete or missing. MTRAG: one answer at a time, each claim judged
by all passages of its task; the median faithfulness of three people, 4 against 3 and less. RAGChecker: two
answers at a time, each judged by the reference answer alone; which of them people call the more
correct, against the difference of their scores. AUROC is
the chance that the better of two has the higher score, ties for half. A false flag is a weak claim
that people call supported.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np

from aal_engine.measure.answer.claims import Support
from aal_engine.measure.answer.examination import examine
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.run import Output, Passage

NUMBERED = re.compile(r"\[([0-9]+)\]")


def supports(answer: str, passages: list[Passage], cited: tuple[str, ...] = ()) -> list[Support]:
    """Return the support of each checked claim of an answer."""
    output = Output("case", answer=answer, retrieved=tuple(passages), citations=cited or None)
    found = examine(Case("case", ""), output, CitationStyle("index"), "en")
    return [claim.support for claim in found.statements if claim.support is not None]


def auroc(scores: list[float], good: list[bool]) -> float:
    """Return the area under the receiver operating characteristic (Mann-Whitney U)."""
    values, labels = np.array(scores), np.array(good)
    order = values.argsort()
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    for value in np.unique(values):
        ranks[values == value] = ranks[values == value].mean()
    positives = int(labels.sum())
    rank_sum = float(ranks[labels].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * (len(labels) - positives))


def report(name: str, scores: list[float], weak: list[bool], good: list[bool]) -> None:
    """Print one line of the table."""
    flagged = [w for w, g in zip(weak, good, strict=True) if g]
    caught = [w for w, g in zip(weak, good, strict=True) if not g]
    print(
        f"{name:28} {len(good):6} {sum(good) / len(good):9.2f} {auroc(scores, good):6.3f}"
        f" {sum(flagged) / len(flagged):11.3f} {sum(caught) / len(caught):7.3f}"
    )


def expertqa(file: Path) -> None:
    """Judge each claim that has passages and a label."""
    by_system: dict[str, list[tuple[float, bool, bool]]] = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for claim in row["claims"]:
            good = {"Complete": True, "Partial": False, "Incomplete": False, "Missing": False}.get(
                claim["support"] or ""
            )
            shown = [text.partition("\n\n")[2] for text in claim["evidence"]]
            passages = [Passage(f"e{place}", text=text) for place, text in enumerate(shown) if text]
            if good is None or not passages:
                continue
            text = NUMBERED.sub(" ", claim["claim_string"])
            for support in supports(text, passages, tuple(p.doc_id for p in passages)):
                by_system[row["system"]].append((support.share, support.weak, good))
    everything = [row for rows in by_system.values() for row in rows]
    for name, rows in [*sorted(by_system.items()), ("all", everything)]:
        scores, weak, good = map(list, zip(*rows, strict=True))
        report(f"ExpertQA {name}", scores, weak, good)


def mtrag(file: Path) -> None:
    """Judge each answer by the mean share of its claims; it is weak where half its claims are."""
    data = json.loads(file.read_text(encoding="utf-8"))
    texts = {row["document_id"]: row for row in data["documents"]}
    contexts = {row["task_id"]: row["contexts"] for row in data["tasks"]}
    scores, weak, good = [], [], []
    for row in data["evaluations"]:
        passages = [
            Passage(
                context["document_id"],
                text=texts[context["document_id"]]["text"],
                title=texts[context["document_id"]].get("title") or None,
            )
            for context in contexts[row["task_id"]]
        ]
        judged = row["annotations"]["faithfulness"]
        found = supports(row["model_response"], passages, tuple(p.doc_id for p in passages))
        if not passages or not found:
            continue
        scores.append(float(np.mean([support.share for support in found])))
        weak.append(sum(support.weak for support in found) * 2 >= len(found))
        good.append(median(int(vote["value"]) for vote in judged.values()) >= 4)
    report("MTRAG answers", scores, weak, good)


def ragchecker(file: Path) -> None:
    """Judge which of two answers a reference supports more; a pair counts from both its sides."""
    scores, weak, good = [], [], []
    for row in json.loads(file.read_text(encoding="utf-8")):
        label = row["correctness_label"]
        passages = [Passage("reference", text=NUMBERED.sub(" ", row["gt_answer"]))]
        found = [
            supports(NUMBERED.sub(" ", row[model]["response"]), passages, ("reference",))
            for model in ("model1", "model2")
        ]
        if not label or not all(found):
            continue
        means = [float(np.mean([support.share for support in each])) for each in found]
        flags = [sum(support.weak for support in each) * 2 >= len(each) for each in found]
        scores += [means[0] - means[1], means[1] - means[0]]
        weak += flags
        good += [label < 0, label > 0]
    report("RAGChecker pairs", scores, weak, good)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    print(f"{'set':28} {'n':>6} {'supported':>9} {'AUROC':>6} {'false flags':>11} {'caught':>7}")
    expertqa(folder / "expertqa" / "answers.jsonl")
    mtrag(folder / "mtrag" / "reference_subset_with_human_evaluations.json")
    ragchecker(folder / "ragchecker" / "human_labeled_data.json")


if __name__ == "__main__":
    main()
