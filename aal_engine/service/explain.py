"""Say what decided the verdicts on one case's outputs, from a pack and a run, writing nothing."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aal_engine.errors import InputError, NotFound, shown
from aal_engine.measure.answer.explanation import Explanation
from aal_engine.measure.answer.explanation import explain as explained
from aal_engine.measure.golden import Case, GoldenSet
from aal_engine.measure.run import Output
from aal_engine.measure.score import answer_values
from aal_engine.service.golden import open_pack
from aal_engine.store.pattern import matching
from aal_engine.store.run import load_run

PACKS = Path("golden_sets")
"""Where packs are looked for when none is named."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One output of the case: its values for every answer metric (NaN: not applicable), and why.

    `explanation` is None where the output has no answer.
    """

    suite: str
    case: Case
    output: Output
    values: Mapping[str, float]
    explanation: Explanation | None


def explain(
    case: str,
    runs: Sequence[Path],
    *,
    pack: Path | None = None,
    family: str | None = None,
) -> list[Attempt]:
    """Return every attempt at a case in the runs, suite by suite, judged as `evaluate` judges it.

    Without `pack` the one folder of `golden_sets` that has the case is taken. Rows of a run that
    name no model family are of `family`.

    Raises:
        InputError: an input cannot be used, or several packs have the case.
        NotFound: no suite of answers has the case, or no run an output for it.
    """
    sets = open_pack(pack)[1] if pack is not None else _sets_with(case)
    asked = [golden for golden in sets if case in golden.by_id]
    judged = [golden for golden in asked if "answers" in golden.suite.kinds]
    if not judged:
        raise _unknown(case, sets, has_case=bool(asked))
    style = judged[0].pack.citations
    files = [
        load_run(path, default_family=family, citations=style)
        for pattern in runs
        for path in matching(pattern)
    ]
    outputs = [
        output
        for file in files
        for run in file.runs.values()
        for output in run.outputs
        if output.case_id == case
    ]
    if not outputs:
        raise NotFound(
            f"the run has no output for case {shown(case)}",
            way_out="so it counts as missing: the gate's check `coverage` blocks on it",
        )
    return [_attempt(golden, output) for golden in judged for output in _ordered(outputs)]


def _ordered(outputs: Sequence[Output]) -> list[Output]:
    return sorted(outputs, key=lambda output: (output.model_family or "", output.attempt))


def _attempt(golden: GoldenSet, output: Output) -> Attempt:
    case, pack = golden.by_id[output.case_id], golden.pack
    why = None if output.answer is None else explained(case, output, pack.citations, pack.language)
    values = answer_values(case, None if why is None else why.counts)
    return Attempt(golden.suite.name, case, output, values, why)


def _sets_with(case: str) -> tuple[GoldenSet, ...]:
    """Return the suites of the one pack under `golden_sets` that has a case."""
    packs = dict(_packs())
    if not packs:
        raise NotFound("no pack is named, and none stands in golden_sets", way_out="pass --pack")
    having = [name for name, sets in packs.items() if any(case in one.by_id for one in sets)]
    if len(having) > 1:
        raise InputError.at(
            f"several packs have case {shown(case)}: {', '.join(map(shown, having))}",
            way_out="pass --pack",
        )
    if having:
        return packs[having[0]]
    return tuple(golden for sets in packs.values() for golden in sets)


def _packs() -> Iterator[tuple[str, tuple[GoldenSet, ...]]]:
    for file in sorted(PACKS.glob("*/pack.yaml")):
        pack, sets = open_pack(file.parent)
        yield pack.name, sets


def _unknown(case: str, sets: Sequence[GoldenSet], *, has_case: bool) -> NotFound:
    if has_case:
        return NotFound(
            f"case {shown(case)} is in no suite of kind answers",
            way_out="retrieval is explained by the ranks in the run",
        )
    known = sorted({each for golden in sets for each in golden.by_id})
    near = difflib.get_close_matches(case, known, 3)
    return NotFound(
        f"no suite has a case {shown(case)}",
        way_out=f"did you mean {', '.join(map(shown, near))}?"
        if near
        else "`aal golden show PACK` lists the cases",
    )
