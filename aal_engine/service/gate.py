"""The gate as an act: read what it decides on, decide, append to the ledger, write the record.

The ledger comes first. A process that dies after the append and before the record is written loses
nothing: the same command finds its decision in the ledger and writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from aal_engine.decide.body import bodies
from aal_engine.decide.decision import Decision
from aal_engine.decide.entry import stamp
from aal_engine.decide.gate import decide
from aal_engine.decide.policy import Policy
from aal_engine.decide.question import Question
from aal_engine.decide.release import AgentKey, Recorded
from aal_engine.decide.replay import Replay
from aal_engine.errors import HeadMoved, InputError, WriteError
from aal_engine.measure.record import ENGINE, EvalRecord
from aal_engine.service.report import REPORTS, as_json
from aal_engine.store.atomic import write_atomic
from aal_engine.store.decision import load_baseline
from aal_engine.store.ledger import Ledger
from aal_engine.store.policy import load_policy
from aal_engine.store.record import load_records
from aal_engine.store.table import FOLDER, find_tables

TRIES = 8
"""Times that the gate decides again because somebody appended to the ledger in between."""


@dataclass(frozen=True, slots=True)
class Gated:
    """A decision, and where the ledger holds it; `known` if it stood there before."""

    decision: Decision
    seq: int
    size: int
    known: bool


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
) -> Gated:
    """Decide on the current records, append the decision to the ledger, then write `record`.

    Per-case tables are looked for in the `tables` folder beside each file, and in `tables`.
    `reports` are further files to write, by their format.

    Raises:
        InputError: an input cannot be used; nothing was decided.
        LedgerError: the ledger is broken or refused the decision; no record was written.
        WriteError: the decision stands in the ledger, but a file could not be written.
    """
    outputs = [record, *(reports or {}).values()]
    _writable(outputs, [*current, *baseline, policy])
    asked = _read(current, baseline, policy, tables, unchanged_cases)
    gated = _decided(asked, ledger, now)
    texts = {record: as_json(gated.decision)}
    texts |= {path: REPORTS[name](gated.decision) for name, path in (reports or {}).items()}
    for path, text in texts.items():
        try:
            write_atomic(path, text.encode())
        except WriteError as error:
            raise WriteError(
                f"{error.message}; the decision, {gated.decision.verdict}, stands in the ledger "
                f"as entry {gated.seq}",
                way_out="make room and run the same command again: it writes the same decision",
            ) from None
    return gated


def _writable(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Refuse, before anything is decided, what could not be written after it was."""
    taken = {path.resolve() for path in inputs}
    for path in outputs:
        if not path.parent.is_dir():
            raise InputError.at("its folder does not exist", file=path, way_out="make the folder")
        if path.is_dir():
            raise InputError.at("is a folder; name a file to write", file=path)
        if path.resolve() in taken:
            raise InputError.at("is an input too, and would be lost", file=path)
        taken.add(path.resolve())


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
    folders = [*tables, *(path.parent / FOLDER for path in (*current, *baseline))]
    digests = [record.table for record in (*records, *held)]
    return Inputs(
        records,
        given,
        load_policy(policy),
        find_tables(digests, dict.fromkeys(folders)),
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


def _decided(asked: Inputs, folder: Path, now: datetime) -> Gated:
    first = asked.current[0]
    key = AgentKey(first.agent, first.pack)
    ledger = Ledger.open(folder, create=True)
    for _ in range(TRIES):
        replay = Replay()
        head = ledger.verify(meaning=replay)
        question = Question(
            asked.current,
            asked.baseline,
            asked.policy,
            replay.releases.get(key),
            asked.tables,
            asked.unchanged_cases,
        )
        known = _known(replay.decisions, key, question.inputs(ENGINE))
        if known is not None and (again := _again(question, known, replay)) is not None:
            return Gated(again, known.seq, head.size, known=True)
        decision = decide(question, at=stamp(now), engine=ENGINE)
        try:
            entries = ledger.append_all("decision", bodies(decision), now, expected=head)
        except HeadMoved:
            continue
        return Gated(decision, entries[-1].seq, entries[-1].seq + 1, known=False)
    raise HeadMoved(
        f"the ledger grew {TRIES} times while the gate decided",
        way_out="run the same command again when fewer gates run at once",
    )


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
