"""What the reader of a decision should know, and what decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from aal_engine.decide.question import Question, allowed, key_of, unique
from aal_engine.errors import shown
from aal_engine.measure.origin import FAILURE_COUNTS, Identity


def remarks(question: Question) -> Iterator[str]:
    """Yield sentences of names and numbers, for every report."""
    yield from _of_families(question)
    yield from _of_release(question)
    yield from _of_records(question)


def _of_families(question: Question) -> Iterator[str]:
    for key, record in unique(question.current).items():
        if not allowed(question, key):
            yield (
                f"the {record.kind} record of model family {shown(record.model_family)} is not "
                "allowed by the policy and releases nothing"
            )
    known = {key.model_family for key in map(key_of, question.baseline_records)}
    if question.baseline is not None:
        for family in question.policy.families:
            if family not in known:
                yield f"model family {shown(family)} is new: nothing to compare it with"
    for gone in sorted(known - {None} - set(question.policy.families), key=str):
        yield f"model family {shown(gone)} was released and is no longer allowed: not compared"


def _of_release(question: Question) -> Iterator[str]:
    release, version = question.release, question.current[0].version
    if release is None:
        return
    if release.policy != question.policy.digest():
        yield f"the policy is not the one that version {shown(release.version)} was released by"
    if version == release.version:
        yield f"version {shown(version)} is released already (ledger entry {release.seq})"
    elif version in release.versions:
        yield f"version {shown(version)} was released before, ahead of {shown(release.version)}"


def _of_records(question: Question) -> Iterator[str]:
    engines = {r.engine for r in (*question.current, *question.baseline_records)}
    if len(engines) > 1:
        yield f"the records were scored by {len(engines)} versions of the engine"
    records = unique(question.current).values()
    without = sum(record.digest not in question.follows for record in records)
    if without:
        yield f"{without} of {len(records)} records have no per-case table at hand"
    before = {key_of(record): record.index for record in question.baseline_records}
    moved = set()
    for record in records:
        was, now = before.get(key_of(record)), record.index
        if was is not None and now is not None and was != now:
            moved.add(f"{_told(was)} before, {_told(now)} now")
    for change in sorted(moved):
        yield f"the index changed since the last release: {change}"
    for record in records:
        if record.counts.get("claims") and not record.counts.get("citations"):
            yield (
                f"no answer of {shown(record.model_family)} on {shown(record.suite)} cites "
                "anything: does it cite as the pack says?"
            )
    for name, told in (
        ("missing_attempts", "attempts have no output"),
        ("foreign_outputs", "outputs are for cases that the pack does not have"),
    ):
        count = sum(record.counts[name] for record in records)
        if count:
            yield f"{count} {told}"
    for name in FAILURE_COUNTS:
        count = max((record.counts.get(name, 0) for record in records), default=0)
        if count:
            yield f"{count} outputs of one model family failed: {name.removeprefix('failed_')}"


def _told(index: Identity) -> str:
    count = "" if index.count is None else f", {index.count} passages"
    model = "" if index.model is None else f", {shown(index.model)}"
    return f"{shown(index.name)}{count}{model}"
