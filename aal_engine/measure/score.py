"""A golden set and a run in, one per-case table out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from aal_engine.measure.golden import Case, GoldenSet, Pack
from aal_engine.measure.metric import ANSWER_METRICS, Kind
from aal_engine.measure.origin import FAILURE_COUNTS, Identity, failure_count
from aal_engine.measure.retrieval.judged import Judged, Ranking, judge
from aal_engine.measure.retrieval.metrics import retrieval_metric
from aal_engine.measure.run import Output, Run
from aal_engine.measure.table import Floats, Source, case_table

if TYPE_CHECKING:
    from aal_engine.measure.answer.counts import AnswerCounts

NOT_APPLICABLE = float("nan")

Judging: TypeAlias = "Callable[[Pack, Sequence[Row]], Iterator[AnswerCounts | None]]"
"""Judges the outputs of rows in their order; None where a row has no answer."""


@dataclass(frozen=True, slots=True)
class Row:
    """One case and one attempt at it; `output` is None where the run lacks the case."""

    case: Case
    digest: str
    attempt: int
    output: Output | None


@dataclass(frozen=True, slots=True)
class Origin:
    """What a table comes from beside the golden set.

    `run` is the run's digest; `foreign` counts its outputs for cases that the pack does not have;
    `index` is the index that was searched, where that is known.
    """

    model_family: str | None
    run: str
    version: str
    engine: str
    foreign: int = 0
    index: Identity | None = None


def score(
    kind: Kind,
    golden: GoldenSet,
    run: Run,
    *,
    version: str,
    engine: str,
    foreign: int = 0,
    index: Identity | None = None,
    seen: Callable[[int], None] = lambda _: None,
    judging: Judging | None = None,
) -> pa.Table:
    """Return the per-case table of a run, see `aal_engine.measure.table` for its columns.

    A case without an output is a row too: it scores zero on retrieval and is not complete.
    `foreign` is the number of outputs for cases that the pack does not have. `seen` is called with
    the number of rows that were judged since the last call. `judging` is what judges the answers,
    `judge_rows` unless it is given.

    Raises:
        InputError: an output lists a document twice, or a score is not a finite number.
    """
    rows = list(_rows(golden, run))
    if kind == "retrieval":
        measured = _retrieval(golden, rows, seen)
    else:
        measured = _answers(golden, rows, seen, judging or judge_rows)
    measured = replace(measured, counts={**measured.counts, **_failures(rows)})
    origin = Origin(run.model_family, run.digest, version, engine, foreign, index)
    return _tabled(kind, golden, origin, rows, measured)


def score_lists(
    golden: GoldenSet, judged: Judged, origin: Origin, *, seen: Callable[[int], None]
) -> pa.Table:
    """Return the per-case table of a run of retrieval alone, as `score` makes it.

    `judged` is what the run found for each case of the golden set, in their order.
    """
    missing = judged.retrieved == 0
    rows = [
        Row(case, digest, int(not lacks), None)
        for case, digest, lacks in zip(
            golden.cases, golden.case_digests, missing.tolist(), strict=True
        )
    ]
    measured = _ranked(golden, rows, judged, missing.tolist())
    seen(len(rows))
    return _tabled("retrieval", golden, origin, rows, measured)


def _tabled(
    kind: Kind, golden: GoldenSet, origin: Origin, rows: Sequence[Row], measured: Measured
) -> pa.Table:
    source = Source(
        kind=kind,
        pack=golden.pack.name,
        agent=golden.pack.agent,
        version=origin.version,
        model_family=origin.model_family,
        suite=golden.suite.name,
        golden_set=golden.digest,
        golden_cases=len(golden.cases),
        run=origin.run,
        engine=origin.engine,
        foreign_outputs=origin.foreign,
        index=origin.index,
    )
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
    # Where a family's every answer failed to come, that is what there is to say of its answers.
    return run.model_family is not None and any(
        output.answer is not None or output.error is not None for output in run.outputs
    )


def _rows(golden: GoldenSet, run: Run) -> Iterator[Row]:
    attempts: dict[str, list[Output]] = {}
    for output in run.outputs:
        attempts.setdefault(output.case_id, []).append(output)
    for case, digest in zip(golden.cases, golden.case_digests, strict=True):
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


def _failures(rows: Sequence[Row]) -> dict[str, Sequence[int]]:
    """Count each kind of failure by row; a run in which nothing failed has no such columns."""
    failed = [
        "" if row.output is None or row.output.error is None else failure_count(row.output.error)
        for row in rows
    ]
    if not any(failed):
        return {}
    return {name: [int(one == name) for one in failed] for name in FAILURE_COUNTS}


def _retrieval(golden: GoldenSet, rows: Sequence[Row], seen: Callable[[int], None]) -> Measured:
    rankings = [_ranking(row.output) for row in rows]
    judged = judge([row.case.id for row in rows], [row.case.relevant for row in rows], rankings)
    seen(len(rows))
    return _ranked(golden, rows, judged, [ranking is None for ranking in rankings])


def _ranked(
    golden: GoldenSet, rows: Sequence[Row], judged: Judged, missing: Sequence[bool]
) -> Measured:
    # A case that expects nothing to be found, and has nothing to find, says nothing of retrieval.
    applies = np.array(
        [
            row.case.expect == "answer" or any(grade > 0 for grade in row.case.relevant.values())
            for row in rows
        ],
        dtype=np.bool_,
    )
    return Measured(
        missing=missing,
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


def judge_rows(pack: Pack, rows: Sequence[Row]) -> Iterator[AnswerCounts | None]:
    """Yield what is counted in the answer of each row, None where it has none."""
    # Not at the top: a run of retrieval alone needs none of it, and starts are measured.
    from aal_engine.measure.answer.counts import judge_answer

    for row in rows:
        if row.output is None or row.output.answer is None:
            yield None
        else:
            yield judge_answer(row.case, row.output, pack.citations, pack.language)


def _answers(
    golden: GoldenSet, rows: Sequence[Row], seen: Callable[[int], None], judging: Judging
) -> Measured:
    # Not at the top: a run of retrieval alone needs none of it, and starts are measured.
    from aal_engine.measure.answer.counts import AnswerCounts

    judged: list[AnswerCounts | None] = []
    for counts in judging(golden.pack, rows):
        judged.append(counts)
        seen(1)
    return Measured(
        missing=[counts is None for counts in judged],
        counts={
            field.name: [0 if c is None else int(getattr(c, field.name)) for c in judged]
            for field in fields(AnswerCounts)
        },
        metrics={
            name: np.array(
                [ANSWER[name](row.case, counts) for row, counts in zip(rows, judged, strict=True)],
                dtype=np.float64,
            )
            for name in ANSWER_METRICS
        },
    )


def _ratio(part: int, whole: int) -> float:
    """Return part / whole, NaN (not applicable) where the whole is nothing."""
    return part / whole if whole else NOT_APPLICABLE


# Whether these apply is for the case alone to say: an agent must not be able to leave a case out.
def _complete(case: Case, counts: AnswerCounts | None) -> float:
    if case.expect == "abstain":
        return float(counts is not None and counts.abstained)
    if not case.must_mention:
        return NOT_APPLICABLE
    if counts is None or (counts.abstained and case.expect == "answer"):
        return 0.0
    return float(counts.points_met == counts.points)


def _point_recall(case: Case, counts: AnswerCounts | None) -> float:
    if case.expect == "abstain" or not case.must_mention:
        return NOT_APPLICABLE
    return 0.0 if counts is None else counts.points_met / counts.points


def _abstention(case: Case, counts: AnswerCounts | None) -> float:
    if case.expect == "nothing":
        return NOT_APPLICABLE
    if counts is None or not counts.answered:
        return 0.0
    return float(counts.abstained == (case.expect == "abstain"))


def _answered(
    measure: Callable[[AnswerCounts], float],
) -> Callable[[Case, AnswerCounts | None], float]:
    """Make a metric of an answer alone one that does not apply where there is none."""
    return lambda _, counts: NOT_APPLICABLE if counts is None else measure(counts)


ANSWER: Mapping[str, Callable[[Case, AnswerCounts | None], float]] = {
    "grounded": _answered(lambda counts: float(counts.invented_citations == 0)),
    "complete": _complete,
    "point_recall": _point_recall,
    "citation_rate": _answered(lambda counts: _ratio(counts.cited_claims, counts.claims)),
    "weak_support": _answered(lambda counts: _ratio(counts.weak_claims, counts.checked_claims)),
    "citation_precision": _answered(
        lambda counts: _ratio(counts.supporting_pairs, counts.citing_pairs)
    ),
    "citation_recall": _answered(
        lambda counts: _ratio(counts.supported_claims, counts.supportable_claims)
    ),
    "abstention": _abstention,
    "forbidden_claims": _answered(lambda counts: float(counts.forbidden_claims > 0)),
}


def answer_values(case: Case, counts: AnswerCounts | None) -> dict[str, float]:
    """Return every answer metric of one output, NaN where it does not apply.

    `counts` is None where there is no answer.
    """
    return {name: ANSWER[name](case, counts) for name in ANSWER_METRICS}
