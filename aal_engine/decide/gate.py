"""The release gate: records, a baseline and a policy in, one decision out.

Every rule is a function from `Question` to checks, and every check has the same form (`Check`), so
that text, exit code, record and ledger all come from one list. Two floors never move: an invented
citation or a forbidden claim blocks whatever else improved. Otherwise the worst check decides,
never the average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict

from aal_engine.canonical import JSON
from aal_engine.decide.decision import Baseline, Check, Decision, worst_first
from aal_engine.decide.policy import exact
from aal_engine.decide.question import Pair, Question, allowed, paired, unique
from aal_engine.decide.release import Measure
from aal_engine.errors import Fault, InputError, shown
from aal_engine.measure.evidence import Paired, compare, zero_event_bound
from aal_engine.measure.metric import FLOORS, metric
from aal_engine.measure.record import Mean, summarise

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
        records=tuple(pair.current for pair in pairs if pair.current is not None)
        + tuple(r for r in unique(question.current).values() if not allowed(question, r)),
        notes=tuple(_notes(question)),
    )


Rule = Callable[[Question, Sequence[Pair]], Iterator[Check]]


def _presence(name: str, held: bool, note: str | None = None, **where: str | None) -> Check:
    return Check(name, "higher", 1.0, float(held), note=None if held else note, **where)  # type: ignore[arg-type]


def floors(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Any invented citation or forbidden claim blocks: any answer record, family and attempt."""
    for record in unique(question.current).values():
        if record.kind != "answers":
            continue
        for floor in FLOORS:
            count = record.counts[floor]
            answers = record.counts["attempts"] - record.counts["missing_attempts"]
            bound = {"answers": answers, "upper_bound": round(zero_event_bound(answers), 6)}
            yield Check(
                floor,
                "lower",
                0.0,
                float(count),
                model_family=record.model_family,
                suite=record.suite,
                evidence=None if count else bound,
            )


def answers_present(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Retrieval scores alone say nothing about what a model wrote."""
    count = sum(record.kind == "answers" for record in question.current)
    note = None if count else "no answer evaluation, no release: pass the answer records too"
    yield Check("answers_present", "higher", 1.0, float(min(count, 1)), note=note)


def family_evidence(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Every model family that the policy allows needs its own passing answer evaluation."""
    for family in question.policy.families:
        own = [r for r in question.current if r.kind == "answers" and r.model_family == family]
        note = "its answer evaluation does not pass" if own else "it has no answer evaluation"
        held = bool(own) and all(record.passed for record in own)
        yield _presence("family_evidence", held, note, model_family=family)


def same_subject(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """One decision speaks of one agent, one pack, one version."""
    subjects = {(r.agent, r.pack, r.version) for r in question.current}
    note = f"{len(subjects)} different agents, packs or versions: gate each version by itself"
    yield _presence("same_subject", len(subjects) == 1, note)


def baseline(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """The baseline is the last release that the ledger holds; without one, a first release."""
    release, given = question.release, question.baseline
    if release is None:
        if given is None:
            held = question.policy.first_release == "allow"
            note = (
                "there is no baseline, and the policy does not allow a first release: "
                "set first_release: allow for it"
            )
        else:
            held = False
            note = (
                "the ledger holds no release of this agent and pack: gate the released version "
                "first, with first_release: allow and without --baseline"
            )
    elif given is None:
        held = False
        note = (
            f"the ledger holds version {shown(release.version)} as last released: "
            "pass its decision as --baseline"
        )
    elif isinstance(given, Decision):
        held = given.digest == release.decision
        note = (
            f"it is not the last released decision, which is of version {shown(release.version)} "
            f"(ledger entry {release.seq})"
        )
    else:
        held = bool(given) and all(
            (r.agent, r.pack, r.version) == (*release.key, release.version) for r in given
        )
        note = f"its records are not of version {shown(release.version)}, the last released one"
    yield _presence("baseline", held, note)


def same_golden_set(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Numbers compare only on the same golden set, or on the cases that both share."""
    for pair in pairs:
        if pair.current is None or pair.baseline is None:
            continue
        note = f"the golden set differs from the baseline's: {RESCORE}"
        where = {"model_family": pair.key.model_family, "suite": pair.key.suite}
        if pair.shared_cases is None:
            yield _presence("same_golden_set", pair.same_set, note, **where)
        else:
            yield Check(
                "same_golden_set",
                "higher",
                1.0,
                1.0,
                note=f"compared on {pair.shared_cases} unchanged cases of {pair.current.cases}",
                model_family=pair.key.model_family,
                suite=pair.key.suite,
            )


def evidence(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """A record must follow from its per-case table, where that is at hand."""
    records = [*unique(question.current).values(), *question.baseline_records]
    for record in records:
        table = question.tables.get(record.table)
        if table is None:
            continue
        try:
            follows = summarise(table, record.scored_at).canonical() == record.canonical()
        except InputError:
            follows = False
        note = f"the {record.kind} record of version {shown(record.version)} is not what its table amounts to"
        yield _presence(
            "evidence", follows, note, model_family=record.model_family, suite=record.suite
        )


def coverage(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Every case has an output, and no metric that was measured has gone blank."""
    for pair in pairs:
        where = {"model_family": pair.key.model_family, "suite": pair.key.suite}
        if pair.current is None:
            continue
        needed, scored = pair.current.cases, pair.current.scored
        if pair.baseline is not None and pair.shared_cases is None:
            needed = max(needed, pair.baseline.scored)
        note = None if scored >= needed else f"{needed - scored} cases have no output"
        yield Check(
            "coverage",
            "higher",
            float(needed),
            float(scored),
            note=note,
            metric=f"{pair.key.kind}_cases",
            **where,  # type: ignore[arg-type]
        )
        if not pair.comparable:
            continue
        new, old = pair.means()
        for name in sorted(new.keys() & old.keys()):
            entry = metric(name)
            if (
                entry.direction != "none"
                and new[name].value is None
                and old[name].value is not None
            ):
                yield Check(
                    "coverage",
                    entry.direction,
                    old[name].value,
                    None,
                    metric=name,
                    note="it is measured on no case any more",
                    **where,  # type: ignore[arg-type]
                )


def metric_vanished(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """What the baseline measured, the current records must measure: the union of names counts."""
    for pair in pairs:
        if pair.baseline is None:
            continue
        present = pair.current.metrics if pair.current is not None else {}
        for name in sorted(pair.baseline.metrics.keys() - present.keys()):
            yield Check(
                "metric_vanished",
                "higher",
                1.0,
                0.0,
                metric=name,
                model_family=pair.key.model_family,
                suite=pair.key.suite,
                note=f"the baseline's {pair.key.kind} record has it, the current ones do not",
            )


def regression(question: Question, pairs: Sequence[Pair]) -> Iterator[Check]:
    """Each metric against the last release: one that falls beyond the tolerance blocks."""
    for pair in pairs:
        if not pair.comparable:
            continue
        new, old = pair.means()
        yield from _compared(question, pair, new, old, None)
        if pair.current is None or pair.baseline is None or pair.shared_cases is not None:
            continue
        least = question.policy.slice_cases
        for name, part in sorted(pair.current.slices.items()):
            other = pair.baseline.slices.get(name)
            if other is not None and min(part.cases, other.cases) >= least:
                yield from _compared(question, pair, part.metrics, other.metrics, name)


def _compared(
    question: Question,
    pair: Pair,
    new: Mapping[str, Mean],
    old: Mapping[str, Mean],
    within: str | None,
) -> Iterator[Check]:
    statistics = _statistics(pair, within)
    for name in sorted(new.keys() & old.keys()):
        entry = metric(name)
        value, reference = new[name].value, old[name].value
        if entry.direction == "none" or value is None or reference is None:
            continue
        tolerance = question.policy.tolerance_of(name)
        yield Check(
            "regression",
            entry.direction,
            reference,
            value,
            float(tolerance),
            metric=name,
            model_family=pair.key.model_family,
            suite=pair.key.suite,
            slice=within,
            advisory=within is not None and not question.policy.slices_block,
            evidence=_told(statistics.get(name), float(tolerance)),
        )


def _statistics(pair: Pair, within: str | None) -> dict[str, Paired]:
    """Compare the per-case values of a pair whose tables are at hand, or of one slice of it."""
    a, b = pair.a, pair.b
    if within is not None and a and b:
        members = pair.slices[within] == 1
        a, b = ({name: each[members] for name, each in side.items()} for side in (a, b))
    return compare(a, b, [name for name in a if metric(name).binary])


def _told(paired: Paired | None, tolerance: float) -> dict[str, JSON] | None:
    if paired is None:
        return None
    told: dict[str, JSON] = asdict(paired)
    told["interval"] = list(paired.interval)
    told["underpowered"] = paired.detectable > tolerance
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
            yield Check(
                "slide",
                direction,
                (max if direction == "higher" else min)(reached, key=exact),
                mean.value,
                float(slide),
                metric=name,
                model_family=pair.key.model_family,
                suite=pair.key.suite,
            )


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


def _baseline(question: Question) -> Baseline | None:
    given = question.baseline
    if not given:
        return None
    if isinstance(given, Decision):
        return Baseline(given.version, given.digest, "decision")
    known = None if question.release is None else question.release.decision
    return Baseline(given[0].version, known, "records")


def _notes(question: Question) -> Iterator[str]:
    for record in unique(question.current).values():
        if not allowed(question, record):
            yield (
                f"the {record.kind} record of model family {shown(record.model_family)} is not "
                "allowed by the policy and releases nothing"
            )
    current = {family for r in question.current if (family := r.model_family) is not None}
    known = {family for r in question.baseline_records if (family := r.model_family) is not None}
    if question.baseline is not None:
        for family in sorted((current - known) & set(question.policy.families)):
            yield f"model family {shown(family)} is new: the baseline has nothing to compare it with"
