"""METRICS: every metric's name, direction, range, and the floor that it belongs to.

The gate takes the direction of a metric from this table, never from its name. A metric joins the
product by joining the table; the law tests run over every entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from aal_engine.errors import Fault, InputError, shown
from aal_engine.measure.retrieval.metrics import parse

Kind: TypeAlias = Literal["retrieval", "answers"]
Applies: TypeAlias = Literal["case", "output"]
Direction: TypeAlias = Literal["higher", "lower", "none"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what is better, what values it takes, and which floor it shows.

    `direction` `none` marks a reading that helps to interpret others and is compared with nothing.
    `floor` names the count that must be zero. `binary` metrics are 0 or 1 for a single output, so
    that a pair of runs is compared by McNemar's exact test. `applies` says what decides whether a
    metric is measured on a case: the case alone, or also what the agent wrote (an answer without a
    claim has no citation rate). Every metric lies between 0 and 1.
    """

    stem: str
    kind: Kind
    says: str
    direction: Direction = "higher"
    binary: bool = False
    floor: str | None = None
    applies: Applies = "case"


_TABLE = (
    Metric("recall", "retrieval", "relevant in the top k / all relevant"),
    Metric("precision", "retrieval", "relevant in the top k / k"),
    Metric("mrr", "retrieval", "1 / rank of the first relevant document"),
    Metric("ndcg", "retrieval", "graded gain, log2 discount, over the ideal"),
    Metric("ndcg_exp", "retrieval", "nDCG with the gain 2^grade - 1"),
    Metric(
        "success",
        "retrieval",
        "a relevant document stands in the top k",
        binary=True,
    ),
    Metric(
        "best_first", "retrieval", "rank 1 holds a document of the case's top grade", binary=True
    ),
    Metric("map", "retrieval", "mean of precision at each relevant document"),
    Metric("r_precision", "retrieval", "precision at the number of relevant documents"),
    Metric("bpref", "retrieval", "relevant above judged irrelevant documents"),
    Metric("rbp", "retrieval", "rank-biased precision"),
    Metric("err", "retrieval", "expected reciprocal rank"),
    Metric(
        "judged",
        "retrieval",
        "share of the top k that is judged",
        direction="none",
    ),
    Metric("hole", "retrieval", "unjudged in the top k / k", direction="none"),
    Metric(
        "grounded", "answers", "no citation is invented", binary=True, floor="invented_citations"
    ),
    Metric("complete", "answers", "every required point is present", binary=True),
    Metric("point_recall", "answers", "required points present / required points"),
    Metric("citation_rate", "answers", "claims with a citation / claims", applies="output"),
    Metric(
        "weak_support",
        "answers",
        "cited claims that their passages hardly support / cited claims",
        direction="lower",
        applies="output",
    ),
    Metric(
        "citation_precision",
        "answers",
        "citations whose passage supports the claim / citations",
        applies="output",
    ),
    Metric(
        "citation_recall",
        "answers",
        "claims supported by what they cite / claims",
        applies="output",
    ),
    Metric("abstention", "answers", "abstains exactly where the case expects it", binary=True),
    Metric(
        "forbidden_claims",
        "answers",
        "share of answers that make a forbidden claim",
        direction="lower",
        binary=True,
        floor="forbidden_claims",
    ),
)

METRICS: Mapping[str, Metric] = {metric.stem: metric for metric in _TABLE}

FLOORS: tuple[str, ...] = ("invented_citations", "forbidden_claims")

ANSWER_METRICS: tuple[str, ...] = tuple(m.stem for m in _TABLE if m.kind == "answers")
DEFAULT_RETRIEVAL_METRICS: tuple[str, ...] = (
    "recall@10",
    "precision@10",
    "mrr",
    "ndcg@10",
    "success@1",
)


def metric(name: str) -> Metric:
    """Return the table's entry for a metric's full name.

    Raises:
        InputError: no metric has this name, or its cutoff is missing or out of place.

    >>> metric("ndcg@10").direction, metric("weak_support").direction
    ('higher', 'lower')
    """
    stem = name.partition("@")[0]
    entry = METRICS.get(stem)
    if entry is None or (entry.kind == "answers" and stem != name):
        raise InputError(
            Fault(f"no metric is named {shown(name)}"), way_out="metrics: " + ", ".join(METRICS)
        )
    if entry.kind == "retrieval":
        parse(name)
    return entry
