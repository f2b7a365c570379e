"""A golden set and a run in, one per-case table out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from aal_engine.measure.answer import AnswerCounts, judge_answer
from aal_engine.measure.golden import Case, GoldenSet
from aal_engine.measure.judged import Ranking, judge
from aal_engine.measure.metric import ANSWER_METRICS, Kind
from aal_engine.measure.retrieval import retrieval_metric
from aal_engine.measure.run import Output, Run
from aal_engine.measure.table import Floats, Source, case_table

NOT_APPLICABLE = float("nan")


@dataclass(frozen=True, slots=True)
class Row:
    """One case and one attempt at it; `output` is None where the run lacks the case."""

    case: Case
    digest: str
    attempt: int
    output: Output | None


def score(
    kind: Kind,
    golden: GoldenSet,
    run: Run,
    *,
    version: str,
    engine: str,
    foreign: int = 0,
    seen: Callable[[int], None] = lambda _: None,
) -> pa.Table:
    """Return the per-case table of a run, see `aal_engine.measure.table` for its columns.

    A case without an output is a row too: it scores zero on retrieval and is not complete.
    `foreign` is the number of outputs for cases that the pack does not have. `seen` is called with
    the number of rows that were judged since the last call.

    Raises:
        InputError: an output lists a document twice, or a score is not a finite number.
    """
    rows = list(_rows(golden, run))
    source = Source(
        kind=kind,
        pack=golden.pack.name,
        agent=golden.pack.agent,
        version=version,
        model_family=run.model_family,
        suite=golden.suite.name,
        golden_set=golden.digest,
        golden_cases=len(golden.cases),
        run=run.digest,
        engine=engine,
        foreign_outputs=foreign,
    )
    measured = _SCORERS[kind](golden, rows, seen)
    slices = sorted({name for case in golden.cases for name in case.slices})
    return case_table(
        source,
        [row.case.id for row in rows],
        [row.digest for row in rows],
        [row.attempt for row in rows],
        measured.missing,
        {name: [name in row.case.slices for row in rows] for name in slices},
        measured.counts,
        measured.metrics,
    )


def carries(kind: Kind, run: Run) -> bool:
    """Whether a run says anything of retrieval, or of answers."""
    if kind == "retrieval":
        return any(output.retrieved is not None for output in run.outputs)
    return any(output.answer is not None for output in run.outputs)


def _rows(golden: GoldenSet, run: Run) -> Iterator[Row]:
    attempts: dict[str, list[Output]] = {}
    for output in run.outputs:
        attempts.setdefault(output.case_id, []).append(output)
    for case in golden.cases:
        digest = case.digest()
        found = attempts.get(case.id)
        if found is None:
            yield Row(case, digest, 0, None)
        else:
            for output in sorted(found, key=lambda output: output.attempt):
                yield Row(case, digest, output.attempt, output)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a scorer found for each row."""

    missing: Sequence[bool]
    counts: Mapping[str, Sequence[int]]
    metrics: Mapping[str, Floats]


def _retrieval(golden: GoldenSet, rows: Sequence[Row], seen: Callable[[int], None]) -> Measured:
    rankings = [_ranking(row.output) for row in rows]
    judged = judge([row.case.id for row in rows], [row.case.relevant for row in rows], rankings)
    # A case that expects nothing to be found, and has nothing to find, says nothing of retrieval.
    applies = np.array(
        [
            row.case.expect == "answer" or any(grade > 0 for grade in row.case.relevant.values())
            for row in rows
        ],
        dtype=np.bool_,
    )
    seen(len(rows))
    return Measured(
        missing=[ranking is None for ranking in rankings],
        counts={"retrieved": judged.retrieved.tolist(), "ties": judged.ties.tolist()},
        metrics={
            name: np.where(applies, retrieval_metric(name)(judged), np.nan)
            for name in golden.suite.metrics
        },
    )


def _ranking(output: Output | None) -> Ranking | None:
    """Fold passages to documents: a document stands where the best of its passages does."""
    if output is None or output.retrieved is None:
        return None
    scores = [passage.score for passage in output.retrieved]
    if any(score is None for score in scores):
        return list(dict.fromkeys(passage.doc_id for passage in output.retrieved)), None
    best: dict[str, float] = {}
    for passage in output.retrieved:
        assert passage.score is not None
        best[passage.doc_id] = max(passage.score, best.get(passage.doc_id, passage.score))
    return list(best), list(best.values())


def _answers(golden: GoldenSet, rows: Sequence[Row], seen: Callable[[int], None]) -> Measured:
    style, language = golden.pack.citations, golden.pack.language
    judged: list[AnswerCounts | None] = []
    for row in rows:
        output = row.output
        judged.append(
            None
            if output is None or output.answer is None
            else judge_answer(row.case, output, style, language)
        )
        seen(1)
    return Measured(
        missing=[counts is None for counts in judged],
        counts={
            field.name: [0 if c is None else int(getattr(c, field.name)) for c in judged]
            for field in fields(AnswerCounts)
        },
        metrics={
            name: np.array(
                [
                    _missing(name, row.case) if counts is None else ANSWER[name](row.case, counts)
                    for row, counts in zip(rows, judged, strict=True)
                ],
                dtype=np.float64,
            )
            for name in ANSWER_METRICS
        },
    )


def _ratio(part: int, whole: int) -> float:
    """Return part / whole, NaN (not applicable) where the whole is nothing."""
    return part / whole if whole else NOT_APPLICABLE


def _complete(case: Case, counts: AnswerCounts) -> float:
    if case.expect == "abstain":
        return float(counts.abstained)
    if not counts.answered or (counts.abstained and case.expect == "answer"):
        return 0.0
    return float(counts.points_met == counts.points) if counts.points else NOT_APPLICABLE


def _point_recall(case: Case, counts: AnswerCounts) -> float:
    if case.expect == "abstain" and counts.abstained:
        return NOT_APPLICABLE
    return _ratio(counts.points_met, counts.points)


def _abstention(case: Case, counts: AnswerCounts) -> float:
    if case.expect == "nothing":
        return NOT_APPLICABLE
    return float(counts.answered and counts.abstained == (case.expect == "abstain"))


ANSWER: Mapping[str, Callable[[Case, AnswerCounts], float]] = {
    "grounded": lambda _, counts: float(counts.invented_citations == 0),
    "complete": _complete,
    "point_recall": _point_recall,
    "citation_rate": lambda _, counts: _ratio(counts.cited_claims, counts.claims),
    "weak_support": lambda _, counts: _ratio(counts.weak_claims, counts.checked_claims),
    "citation_precision": lambda _, counts: _ratio(counts.supporting_pairs, counts.citing_pairs),
    "citation_recall": lambda _, counts: _ratio(counts.supported_claims, counts.supportable_claims),
    "abstention": _abstention,
    "forbidden_claims": lambda _, counts: float(counts.forbidden_claims > 0),
}


def _missing(name: str, case: Case) -> float:
    """Return what a metric makes of a case that has no answer: it is never complete."""
    if name == "point_recall":
        return 0.0 if case.must_mention else NOT_APPLICABLE
    return 0.0 if name in ("complete", "abstention") else NOT_APPLICABLE


_SCORERS: Mapping[Kind, Callable[[GoldenSet, Sequence[Row], Callable[[int], None]], Measured]] = {
    "retrieval": _retrieval,
    "answers": _answers,
}
