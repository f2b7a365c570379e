"""The gate as an act: read what it decides on, decide, append to the ledger, write the record.

The ledger comes first. A process that dies after the append and before the record is written loses
nothing: the same command finds its decision in the ledger and writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from aal_engine.canonical import JSON
from aal_engine.decide.body import bodies
from aal_engine.decide.decision import Decision
from aal_engine.decide.entry import stamp
from aal_engine.decide.gate import decide
from aal_engine.decide.ledger import Head
from aal_engine.decide.policy import Policy
from aal_engine.decide.question import Question
from aal_engine.decide.release import AgentKey, Recorded
from aal_engine.decide.replay import Replay, judged
from aal_engine.decide.serving import Serving
from aal_engine.errors import AppendRefused, ChainBroken, HeadMoved, InputError, WriteError
from aal_engine.measure.record import ENGINE, EvalRecord
from aal_engine.service.report import as_json, files_of, told_in_files
from aal_engine.service.trend import WINDOW, Family, families, of_decision, of_recorded
from aal_engine.store.atomic import write_atomic
from aal_engine.store.decision import load_baseline
from aal_engine.store.folder import make_folder
from aal_engine.store.ledger import Ledger
from aal_engine.store.pending import pend, waiting
from aal_engine.store.policy import load_policy
from aal_engine.store.record import load_records
from aal_engine.store.table import FOLDER, find_tables

TRIES = 8
"""Times that the gate decides again because somebody appended to the ledger in between."""


@dataclass(frozen=True, slots=True)
class Gated:
    """A decision, and where the ledger holds it.

    `seq` is None after a dry run, and where it is pending; `known` if it stood there before,
    `started` if the ledger begins with it. `before` are the agent's decisions before it, the oldest
    first, and `serving` is what the ledger says of its versions in service.
    """

    decision: Decision
    seq: int | None
    known: bool
    started: bool
    before: tuple[Recorded, ...] = ()
    serving: Serving | None = None

    def trend(self) -> tuple[Family, ...]:
        """Return how the metrics went up to this decision; nothing for the first one."""
        if not self.before:
            return ()
        steps = [of_recorded(recorded) for recorded in self.before]
        steps.append(of_decision(self.decision, self.seq or self.before[-1].seq + 1))
        return tuple(families(steps, self.serving))


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of one call, read."""

    current: tuple[EvalRecord, ...]
    baseline: Decision | tuple[EvalRecord, ...] | None
    policy: Policy
    tables: Mapping[str, pa.Table]
    unchanged_cases: bool


def gate(
    current: Sequence[Path],
    baseline: Sequence[Path],
    policy: Path,
    ledger: Path,
    record: Path,
    *,
    now: datetime,
    tables: Sequence[Path] = (),
    reports: Mapping[str, Path] | None = None,
    unchanged_cases: bool = False,
    dry_run: bool = False,
    pending: bool = False,
) -> Gated:
    """Decide on the current records, append the decision to the ledger, then write `record`.

    With `dry_run` it is only decided: nothing is appended, and nothing written. With `pending` the
    decision is not appended but left in the ledger's `pending` folder, as a branch has to.

    Per-case tables are looked for in the `tables` folder beside each file, and in `tables`.
    `reports` are further files to write, by their format; Markdown has its picture beside it.

    Raises:
        InputError: an input cannot be used; nothing was decided.
        LedgerError: the ledger is broken or refused the decision; no record was written.
        WriteError: the decision stands in the ledger, but a file could not be written.
    """
    outputs = [record, *files_of(reports or {})]
    _writable(outputs, [*current, *baseline, policy], ledger)
    asked = _read(current, baseline, policy, tables, unchanged_cases)
    if dry_run:
        return _decided(asked, ledger, now, dry_run=True)
    for path in {path.parent for path in outputs}:
        make_folder(path)
    gated = _decided(asked, ledger, now, pending=pending)
    texts = {record: as_json(gated.decision)}
    for name, path in (reports or {}).items():
        texts |= told_in_files(name, gated.decision, gated.trend(), path)
    for path, text in texts.items():
        try:
            write_atomic(path, text.encode())
        except WriteError as error:
            where = "among what is pending" if pending else f"in the ledger as entry {gated.seq}"
            raise WriteError(
                f"{error.message}; the decision, {gated.decision.verdict}, stands {where}",
                way_out="make room and run the same command again: it writes the same decision",
            ) from None
    return gated


def _writable(outputs: Sequence[Path], inputs: Sequence[Path], ledger: Path) -> None:
    """Refuse, before anything is decided, what could not or must not be written after it was."""
    try:
        taken = {path.resolve() for path in inputs}
        for path in outputs:
            place = path.resolve()
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise InputError.at("is there and is no plain file", file=path)
            if place in taken:
                raise InputError.at("is an input or another output, and would be lost", file=path)
            if ledger.resolve() in place.parents or place.parent.name == FOLDER:
                raise InputError.at("stands among the ledger's or the tables' files", file=path)
            taken.add(place)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError.at(f"cannot be written: {reason}", file=path) from None


def _read(
    current: Sequence[Path],
    baseline: Sequence[Path],
    policy: Path,
    tables: Sequence[Path],
    unchanged_cases: bool,
) -> Inputs:
    records = tuple(record for path in current for record in load_records(path))
    given = _baseline(baseline)
    held = given.records if isinstance(given, Decision) else given or ()
    beside = [path.parent / FOLDER for path in (*current, *baseline)]
    digests = [record.table for record in (*records, *held)]
    return Inputs(
        records,
        given,
        load_policy(policy),
        find_tables(digests, beside, tables),
        unchanged_cases,
    )


def _baseline(paths: Sequence[Path]) -> Decision | tuple[EvalRecord, ...] | None:
    found = [load_baseline(path) for path in paths]
    if not found:
        return None
    if isinstance(found[0], Decision) and len(found) == 1:
        return found[0]
    records: list[EvalRecord] = []
    for path, item in zip(paths, found, strict=True):
        if isinstance(item, Decision):
            raise InputError.at(
                "a decision is a whole baseline; give it alone, or give records alone", file=path
            )
        records += item
    return tuple(records)


def _decided(
    asked: Inputs, folder: Path, now: datetime, *, dry_run: bool = False, pending: bool = False
) -> Gated:
    first = asked.current[0]
    key = AgentKey(first.agent, first.pack)
    ledger = Ledger.open(folder, create=not pending)
    for _ in range(TRIES):
        replay = Replay()
        head = ledger.verify(meaning=replay)
        replay.ended()
        question = Question(
            asked.current,
            asked.baseline,
            asked.policy,
            replay.releases.get(key),
            asked.tables,
            asked.unchanged_cases,
            _near(replay, key),
        )
        known = _known(replay.decisions, key, question.inputs(ENGINE))
        if known is not None and (again := _again(question, known, replay)) is not None:
            return Gated(again, known.seq, True, False, *_past(replay, key, known.seq))
        past = _past(replay, key)
        if pending and (again := _waiting(folder, question)) is not None:
            return Gated(again, None, True, False, *past)
        decision = decide(question, at=stamp(now), engine=ENGINE)
        if dry_run:
            return Gated(decision, None, False, False, *past)
        recorded = bodies(decision)
        _require_accepted(replay, head, recorded, now)
        if pending:
            pend(folder, "decision", recorded, now)
            return Gated(decision, None, False, False, *past)
        try:
            entries = ledger.append_all("decision", recorded, now, expected=head)
        except HeadMoved:
            continue
        return Gated(decision, entries[-1].seq, False, head.size == 0, *past)
    raise HeadMoved(
        f"the ledger grew {TRIES} times while the gate decided",
        way_out="run the same command again when fewer gates run at once",
    )


def _past(
    replay: Replay, key: AgentKey, before: int | None = None
) -> tuple[tuple[Recorded, ...], Serving | None]:
    own = (each for each in replay.decisions if each.key == key)
    found = [each for each in own if before is None or each.seq < before]
    return tuple(found[-WINDOW + 1 :]), replay.serving.get(key)


def _near(replay: Replay, key: AgentKey) -> AgentKey | None:
    """Return an agent and pack of the ledger that differ from these only in case."""
    folded = tuple(map(str.casefold, key))
    for other in replay.releases:
        if other != key and tuple(map(str.casefold, other)) == folded:
            return other
    return None


def _require_accepted(
    replay: Replay, head: Head, recorded: Sequence[Mapping[str, JSON]], now: datetime
) -> None:
    """Let the ledger's own auditor read the decision before it is appended."""
    try:
        judged(replay.known(), head.size, "decision", recorded, now)
    except ChainBroken as broken:
        raise AppendRefused(
            f"the decision contradicts itself: {broken.why}", way_out="report this as a fault"
        ) from None


def _waiting(folder: Path, question: Question) -> Decision | None:
    """Return a pending decision on the same inputs, if deciding now would be the same act."""
    for group in waiting(folder).values():
        body: Mapping[str, Any] = group.bodies[-1]
        if group.kind == "decision" and body["inputs"] == question.inputs(ENGINE):
            decision = decide(question, at=body["decided_at"], engine=ENGINE)
            if decision.digest == body["decision"]:
                return decision
    return None


def _known(decisions: Iterable[Recorded], key: AgentKey, inputs: str) -> Recorded | None:
    """Return the last decision that was made on the same inputs."""
    found = None
    for decision in decisions:
        if decision.key == key and decision.inputs == inputs:
            found = decision
    return found


def _again(question: Question, known: Recorded, replay: Replay) -> Decision | None:
    """Return a decision of the ledger once more, if deciding now would be the same act.

    That is so where nothing was released since, but perhaps by that decision itself.
    """
    before = replay.before[known.seq]
    live = question.release
    same = live == before or (live is not None and live.decision == known.decision)
    if not same:
        return None
    decision = decide(replace(question, release=before), at=known.decided_at, engine=ENGINE)
    return decision if decision.digest == known.decision else None
