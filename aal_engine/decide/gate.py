"""The release gate: records, a baseline and a policy in, one decision out.

Every rule is a function from `Question` to checks, and every check has the same form (`Check`), so
that text, exit code, record and ledger all come from one list. Two floors never move: an invented
citation or a forbidden claim blocks whatever else improved. Otherwise the worst check decides,
never the average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace

from aal_engine.canonical import JSON
from aal_engine.decide.baseline import problem_of_baseline
from aal_engine.decide.decision import Baseline, Check, Decision, worse, worst_first
from aal_engine.decide.policy import exact
from aal_engine.decide.question import Pair, Question, Scope, allowed, key_of, paired, unique
from aal_engine.decide.release import Key, Measure
from aal_engine.decide.remark import remarks
from aal_engine.errors import Fault, InputError, shown
from aal_engine.measure.evidence import Paired, compare, holm, zero_event_bound
from aal_engine.measure.metric import FLOORS, metric
from aal_engine.measure.record import EvalRecord
from aal_engine.measure.table import COUNT, integers

MOST_CASES = 5
"""Case ids that are told beside a check that fails."""

RESCORE = (
    "score the released version's run again on the new golden set and pass those records as "
    "--baseline, or pass --unchanged-cases with both per-case tables at hand"
)


def decide(question: Question, *, at: str, engine: str) -> Decision:
    """Return the decision on the current records.

    Raises:
        InputError: there is no record, or two different records for one suite and model family.
    """
    if not question.current:
        raise InputError(Fault("there is no current record"), way_out="pass --current FILE")
    pairs = paired(question)
    first = question.current[0]
    checks = [check for rule in RULES for check in rule(question, pairs)]
    order = sorted(unique(question.current).items(), key=lambda item: _order(item[0]))
    return Decision(
        agent=first.agent,
        pack=first.pack,
        version=first.version,
        families=question.policy.families,
        decided_at=at,
        engine=engine,
        policy=question.policy.digest(),
        inputs=question.inputs(engine),
        baseline=_baseline(question),
        checks=worst_first(checks),
        records=tuple(record for _, record in order),
        notes=tuple(remarks(question)),
        unchanged_cases=question.unchanged_cases,
    )


def _order(key: Key) -> tuple[str, str, str]:
    return key.kind, key.suite, key.model_family or ""


def _baseline(question: Question) -> Baseline | None:
    given = question.baseline
    if not given:
        return None
    if isinstance(given, Decision):
        return Baseline(given.version, given.digest, "decision")
    known = None if question.release is None else question.release.decision
    return Baseline(given[0].version, known, "records")


Rule = Callable[[Question, Sequence[Pair]], Iterator[Check]]


def _presence(name: str, problem: str | None, key: Key | None = None) -> Check:
    """Return the check of something that must hold; `problem` says why it does not."""
    check = Check(name, "higher", 1.0, float(problem is None), note=problem)
    return check if key is None else _at(key, check)


def _at(key: Key, check: Check) -> Check:
    return replace(check, model_family=key.model_family, suite=key.suite)


def floors(question: Question, _: Sequence[Pair]) -> Iterator[Check]:
    """Any invented citation or forbidden claim blocks: any answer record, family and attempt."""
    for key, record in unique(question.current).items():
        for floor in FLOORS if key.kind == "answers" else ():
            count = record.counts[floor]
            answers = record.counts["attempts"] - record.counts["missing_attempts"]
            told: dict[str, JSON] = {
                "answers": answers,
                "upper_bound": round(zero_event_bound(answers), 6),
            }
            if count:
                told = {"cases": _breaking(question, record, floor)}
            yield _at(key, Check(floor, "lower", 0.0, float(count), evidence=told))


def _breaking(question: Question, record: EvalRecord, floor: str) -> list[str]:
    """Return the ids of the first cases that break a floor, where their table is at hand."""
    if not question.follows.get(record.digest):
        return []
    table = question.tables[record.table]
    broken = integers(table, COUNT + floor)
    cases = table.column("case_id").to_pylist()
    return list(dict.fromkeys(cases[row] for row in broken.nonzero()[0]))[:MOST_CASES]


def answers_present(question: Question, _: Sequence[Pair]) -> Iterator[Check]:
    """Retrieval scores alone say nothing about what a model wrote."""
    present = any(record.kind == "answers" for record in question.current)
    yield _presence(
        "answers_present",
        None if present else "no answer evaluation, no release: pass the answer records too",
    )


def family_evidence(question: Question, _: Sequence[Pair]) -> Iterator[Check]:
    """Every model family that the policy allows needs its own passing answer evaluation.

    On every suite of answers that any allowed family is measured on, now or in the last release:
    a family is not let through on the easiest of them.
    """
    answers = {
        key: record for key, record in unique(question.current).items() if key.kind == "answers"
    }
    known = () if question.release is None else question.release.records
    suites = {
        key.suite for key in (*answers, *known) if key.kind == "answers" and allowed(question, key)
    }
    for family in question.policy.families:
        own = {key.suite: record for key, record in answers.items() if key.model_family == family}
        problem = None
        if not own:
            problem = "it has no answer evaluation"
        elif missing := sorted(suites - own.keys()):
            problem = f"it has no answer evaluation on {shown(missing[0])}"
        elif not all(record.passed for record in own.values()):
            problem = "its answer evaluation does not pass"
        yield replace(_presence("family_evidence", problem), model_family=family)


def same_subject(question: Question, _: Sequence[Pair]) -> Iterator[Check]:
    """One decision speaks of one agent, one pack, one version, and a version is one build."""
    subjects = {(record.agent, record.pack, record.version) for record in question.current}
    release, problem = question.release, None
    if len(subjects) > 1:
        problem = f"{len(subjects)} agents, packs or versions: gate each version by itself"
    elif release is not None and question.current[0].version == release.version:
        before = release.records
        for key, record in unique(question.current).items():
            if key in before and before[key].run != record.run:
                problem = (
                    f"version {shown(release.version)} is released already, from another run: "
                    "a new build needs a version of its own"
                )
    yield _presence("same_subject", problem)


def baseline(question: Question, _: Sequence[Pair]) -> Iterator[Check]:
    """The baseline is the last release that the ledger holds; without one, a first release."""
    yield _presence("baseline", problem_of_baseline(question))


def same_golden_set(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Numbers compare only on the same golden set, or on the cases that both share."""
    sets: dict[tuple[str, str], set[str]] = {}
    for pair in pairs:
        if pair.current is not None:
            sets.setdefault((pair.key.kind, pair.key.suite), set()).add(pair.current.golden_set)
    for (kind, suite), digests in sorted(sets.items()):
        problem = None
        if len(digests) > 1:
            problem = f"the {kind} records of this suite are of {len(digests)} golden sets"
        yield replace(_presence("same_golden_set", problem), suite=suite)
    for pair in pairs:
        if pair.current is None or pair.baseline is None:
            continue
        if pair.shared_cases is None:
            yield replace(
                _presence("same_golden_set", _other_set(question, pair), pair.key),
                metric=f"{pair.key.kind}_set",
            )
            continue
        share = question.policy.unchanged_share * pair.current.cases
        needed = max(question.policy.unchanged_cases, math.ceil(share))
        note = f"compared on {pair.shared_cases} unchanged cases of {pair.current.cases}"
        if pair.shared_cases < needed:
            note += f"; the policy asks for {needed} (unchanged: min_cases, min_share)"
        check = Check(
            "same_golden_set",
            "higher",
            float(needed),
            float(pair.shared_cases),
            metric=f"{pair.key.kind}_set",
            note=note,
        )
        yield _at(pair.key, check)


def _other_set(question: Question, pair: Pair) -> str | None:
    if pair.same_set:
        return None
    if question.unchanged_cases:
        return (
            "the golden set is not the baseline's, and the unchanged cases cannot be told: the "
            "per-case table of one side is not at hand; pass --tables FOLDER"
        )
    return f"the golden set is not the baseline's: {RESCORE}"


def evidence(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """A record must follow from its per-case table, and contradict no other record."""
    owners: dict[str, set[tuple[Key, str]]] = {}
    records = {record.digest: record for record in (*question.current, *question.baseline_records)}
    for record in records.values():
        owners.setdefault(record.table, set()).add((key_of(record), record.version))
    for identity, record in records.items():
        told = f"the {record.kind} record of version {shown(record.version)}"
        if len(owners[record.table]) > 1:
            yield _presence("evidence", f"{told} shares its table with another", key_of(record))
        elif identity in question.follows:
            follows = question.follows[identity]
            problem = None if follows else f"{told} is not what its table amounts to"
            yield _presence("evidence", problem, key_of(record))
    for pair in pairs:
        if pair.contradiction is not None:
            yield _presence("evidence", pair.contradiction, pair.key)


def coverage(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Every case has an output, and nothing is measured on fewer cases than it was."""
    for pair in pairs:
        if pair.current is not None:
            yield _outputs(pair.key, pair.current)
        for scope in pair.scopes(question.policy.slice_cases):
            for name in sorted(scope.new.keys() & scope.old.keys()):
                entry = metric(name)
                new, old = scope.new[name], scope.old[name]
                blank = new.value is None and old.value is not None
                if entry.direction == "none" or not (
                    blank or (entry.applies == "case" and new.n < old.n)
                ):
                    continue
                check = Check(
                    "coverage",
                    "higher",
                    float(old.n),
                    float(new.n),
                    metric=name,
                    slice=scope.slice,
                    advisory=_advisory(question, scope),
                    note=f"it is measured on {new.n} cases, and was on {old.n}",
                )
                yield _at(pair.key, check)


def _outputs(key: Key, record: EvalRecord) -> Check:
    lacking = record.cases - record.scored
    check = Check(
        "coverage",
        "higher",
        float(record.cases),
        float(record.scored),
        metric=f"{key.kind}_cases",
        note=f"{lacking} cases have no output" if lacking else None,
    )
    return _at(key, check)


def _advisory(question: Question, scope: Scope) -> bool:
    return scope.slice is not None and not question.policy.slices_block


def metric_vanished(_: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """What the baseline measured, the current records must measure: the union of names counts."""
    for pair in pairs:
        if pair.baseline is None:
            continue
        present = pair.current.metrics if pair.current is not None else {}
        note = f"the baseline's {pair.key.kind} record has it, the current ones do not"
        for name in sorted(pair.baseline.metrics.keys() - present.keys()):
            yield _at(
                pair.key, Check("metric_vanished", "higher", 1.0, 0.0, metric=name, note=note)
            )


def regression(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Each metric against the last release: one that falls beyond the tolerance blocks."""
    for pair in pairs:
        scopes = list(pair.scopes(question.policy.slice_cases))
        statistics = [_statistics(scope) for scope in scopes]
        adjusted = _over_slices(scopes, statistics)
        for place, scope in enumerate(scopes):
            for name in sorted(scope.new.keys() & scope.old.keys()):
                new, old = scope.new[name], scope.old[name]
                entry, tolerance = metric(name), float(question.policy.tolerance_of(name))
                if entry.direction == "none" or new.value is None or old.value is None:
                    continue
                told = _told(statistics[place].get(name), tolerance, adjusted.get((place, name)))
                if told is not None and worse(entry.direction, new.value, old.value, tolerance):
                    told["cases"] = scope.fallen(name, entry.direction)[:MOST_CASES]
                check = Check(
                    "regression",
                    entry.direction,
                    old.value,
                    new.value,
                    tolerance,
                    metric=name,
                    slice=scope.slice,
                    advisory=_advisory(question, scope),
                    evidence=told,
                    baseline_n=old.n,
                    current_n=new.n,
                )
                yield _at(pair.key, check)


def _statistics(scope: Scope) -> dict[str, Paired]:
    return compare(scope.a, scope.b, [name for name in scope.a if metric(name).binary])


def _over_slices(
    scopes: Sequence[Scope], statistics: Sequence[dict[str, Paired]]
) -> dict[tuple[int, str], float]:
    """Return, for each slice and metric, the p value adjusted for looking at every slice."""
    adjusted: dict[tuple[int, str], float] = {}
    for name in {name for found in statistics for name in found}:
        places = [
            place
            for place, scope in enumerate(scopes)
            if scope.slice is not None and name in statistics[place]
        ]
        values = holm([statistics[place][name].p for place in places])
        adjusted |= {(place, name): p for place, p in zip(places, values, strict=True)}
    return adjusted


def _told(
    paired: Paired | None, tolerance: float, adjusted: float | None
) -> dict[str, JSON] | None:
    if paired is None:
        return None
    told: dict[str, JSON] = asdict(paired)
    told["interval"] = list(paired.interval)
    told["underpowered"] = paired.detectable > tolerance
    if adjusted is not None:
        told["p_holm"] = float(f"{adjusted:.3g}")
    return told


def slow_loss(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Slow loss: each step inside the tolerance, the sum of them beyond the policy's slide."""
    slide, release = question.policy.slide, question.release
    if slide is None or release is None:
        return
    for pair in pairs:
        if pair.current is None:
            continue
        for name, mean in sorted(pair.current.metrics.items()):
            direction = metric(name).direction
            key = Measure(pair.current.golden_set, pair.key.suite, pair.key.model_family, name)
            reached = release.measures.get(key)
            if direction == "none" or mean.value is None or not reached:
                continue
            best = (max if direction == "higher" else min)(reached, key=exact)
            check = Check("slide", direction, best, mean.value, float(slide), metric=name)
            yield _at(pair.key, check)


RULES: tuple[Rule, ...] = (
    floors,
    answers_present,
    family_evidence,
    same_subject,
    baseline,
    same_golden_set,
    evidence,
    coverage,
    metric_vanished,
    regression,
    slow_loss,
)
