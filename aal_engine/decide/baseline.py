"""Whether a baseline is the last release that the ledger holds."""

from __future__ import annotations

from collections.abc import Sequence

from aal_engine.decide.decision import Decision
from aal_engine.decide.question import Question, allowed, unique
from aal_engine.decide.release import Release
from aal_engine.errors import shown
from aal_engine.measure.record import EvalRecord


def problem_of_baseline(question: Question) -> str | None:
    """Return why the baseline cannot be compared with, or None if it can."""
    release, given = question.release, question.baseline
    if release is None:
        return _of_first(question)
    if given is None:
        return (
            f"the ledger holds version {shown(release.version)} as last released: "
            "pass its decision as --baseline"
        )
    if isinstance(given, Decision):
        if given.digest == release.decision:
            return None
        return (
            f"it is not the last released decision, which is of version {shown(release.version)} "
            f"(ledger entry {release.seq})"
        )
    return _of_records(question, release, given)


def _of_first(question: Question) -> str | None:
    if question.near is not None:
        return (
            f"the ledger holds releases of {shown(question.near.agent)} on "
            f"{shown(question.near.pack)}: is this the same one, written in another case?"
        )
    if question.baseline is not None:
        return (
            "the ledger holds no release of this agent and pack: gate the released version "
            "first, with first_release: allow and without --baseline"
        )
    if question.policy.first_release == "allow":
        return None
    return (
        "there is no baseline, and the policy does not allow a first release: "
        "set first_release: allow for it"
    )


def _of_records(question: Question, release: Release, given: Sequence[EvalRecord]) -> str | None:
    """Hold records scored again against what the ledger says of the release.

    They must be of the released version and of its very runs, cover all that it was released on,
    and on the same golden set and engine agree with the numbers of the ledger.
    """
    version = shown(release.version)
    if any((r.agent, r.pack, r.version) != (*release.key, release.version) for r in given):
        return f"its records are not of version {version}, the last released one"
    records = unique(given)
    lacking = max(record.cases - record.scored for record in given)
    if lacking:
        return (
            f"version {version} has no output for {lacking} cases of this golden set, which would "
            "count as its failures: pass its decision and --unchanged-cases"
        )
    for key, known in release.records.items():
        if not allowed(question, key):
            continue
        record = records.get(key)
        family = "" if key.model_family is None else f" of {shown(key.model_family)}"
        named = f"the {key.kind} record{family} on {shown(key.suite)}"
        if record is None:
            return f"it lacks {named}, on which version {version} was released"
        if record.run != known.run:
            return f"{named} is not scored from the run that version {version} was released on"
        if not known.metrics.keys() <= record.metrics.keys():
            return f"{named} lacks metrics that version {version} was released on"
        same = record.golden_set == known.golden_set and record.engine == known.engine
        if same and any(record.metrics[name] != mean for name, mean in known.metrics.items()):
            return f"{named} does not agree with what the ledger holds of version {version}"
    return None
