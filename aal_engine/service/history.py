"""An agent's record as the ledger holds it: what serves, what was decided, how metrics went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from aal_engine.decide.act import Promotion, step_from
from aal_engine.decide.decision import Check, worst_first
from aal_engine.decide.entry import Entry
from aal_engine.decide.incident import incident_from
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Passed, Serving
from aal_engine.decide.succession import refusals, refusals_of_report
from aal_engine.errors import ChainBroken, InputError
from aal_engine.measure.metric import metric
from aal_engine.service.ledger_reader import Decided, Filters, LedgerReader
from aal_engine.service.trend import WINDOW, Family, Group, Step, bands, families

ACTS = ("breach", "release", "rollback", "quarantine", "clear")
NAMES = ("agent", "pack", "version", "verdict", "decision", "engine", "policy")
RECENT = 8
"""Decisions that a summary shows."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class History:
    """The decisions of a window, the newest first, and the metrics over them.

    `before` asks for the window after it, None where there is none.
    """

    key: AgentKey
    decisions: tuple[Decided, ...]
    families: tuple[Family, ...]
    serving: Serving
    before: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """An agent and pack in short: what serves, and its last decisions, the newest first."""

    key: AgentKey
    serving: Serving
    recent: tuple[Decided, ...]


def summaries(reader: LedgerReader, *, after: AgentKey | None = None, limit: int) -> list[Summary]:
    """Return agents and packs that have a decision, by name, those after one.

    Raises:
        LedgerError: the ledger is broken or cannot be read.
    """
    return [
        Summary(
            key,
            serving(reader, key),
            tuple(decided(reader, Filters(agent=key.agent, pack=key.pack), limit=RECENT)),
        )
        for key in reader.subjects(after=after, limit=limit)
    ]


def history(
    reader: LedgerReader, key: AgentKey, *, before: int | None = None, limit: int = WINDOW
) -> History:
    """Return an agent's decisions with a number below `before`, and its metrics over them.

    Raises:
        LedgerError: as `summaries`.
    """
    asked = Filters(agent=key.agent, pack=key.pack)
    found = decided(reader, asked, before=before, limit=limit + 1)
    decisions = tuple(found[:limit])
    state = serving(reader, key)
    return History(
        key,
        decisions,
        tuple(families([_step(each) for each in decisions[::-1]], state)),
        state,
        decisions[-1].key if len(found) > limit else None,
    )


def decided(
    reader: LedgerReader, asked: Filters, *, before: int | None = None, limit: int
) -> list[Decided]:
    """Return a page of decisions whose names are names, as every gate writes them.

    Raises:
        LedgerError: as `summaries`.
    """
    found = reader.decisions(asked, before=before, limit=limit)
    for each in found:
        read(each.seq, lambda each=each: _require_names(each))  # type: ignore[misc]
    return found


def _require_names(found: Decided) -> None:
    for part in found.parts:
        baseline = part["baseline"] or {"version": "", "decision": None}
        texts = [part[name] for name in NAMES]
        texts += [*part["model_families"], baseline["version"], baseline["decision"] or ""]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError


def serving(reader: LedgerReader, key: AgentKey) -> Serving:
    """Return what the ledger says of an agent's versions in service.

    Only what put versions there is read, and the decisions that were promoted.

    Raises:
        ChainBroken: an act does not follow from those before it.
        LedgerError: as `summaries`.
    """
    state = Serving(key)
    asked = Filters(kinds=ACTS, agent=key.agent, pack=key.pack)
    for entry in reversed(reader.entries(asked, limit=-1)):
        why = read(entry.seq, lambda entry=entry: _taken(reader, state, entry))  # type: ignore[misc]
        if why is not None:
            raise ChainBroken(entry.seq, f"a {entry.kind} that cannot be: {why}")
    return state


def _taken(reader: LedgerReader, state: Serving, entry: Entry) -> str | None:
    """Take the next act, or say why it cannot be."""
    if entry.kind == "breach":
        incident = incident_from(entry.body)
        why = next(iter(refusals_of_report(state, incident)), None)
        if why is None:
            state.reported(incident, entry.seq)
        return why
    step = step_from(entry.kind, entry.body)
    if isinstance(step, Promotion) and step.version not in state.passed:
        for found in reader.decisions(Filters(decision=step.decision), limit=1):
            passed = frozenset(found.parts[0]["model_families"])
            state.passed[step.version] = Passed(step.decision, found.seq, passed)
    why = next(iter(refusals(state, entry.kind, step)), None)
    if why is None:
        state.take(step, entry.seq, entry.at, entry.leaf.hex())
    return why


def read(seq: int, act: Callable[[], T]) -> T:
    """Call what reads an entry's body, which nobody has held against its schema yet.

    Raises:
        ChainBroken: it does not have the form that this engine knows.
    """
    try:
        return act()
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError, InputError):
        raise ChainBroken(seq, "is not an entry that this engine can read") from None


def _step(found: Decided) -> Step:
    first = found.parts[0]
    return Step(
        found.seq,
        first["version"],
        first["verdict"] == "released",
        read(found.seq, lambda: _values(found)),
        bands(checks_of(found)),
    )


def _values(found: Decided) -> Mapping[Group, float | None]:
    values: dict[Group, float | None] = {}
    for part in found.parts:
        for record in part["records"]:
            for name, (value, _) in record["metrics"].items():
                metric(name)  # a name that the table lacks is refused here
                if value is not None and not 0 <= value <= 1:
                    raise ValueError
                values[record["model_family"], record["suite"], name] = value
    return values


def checks_of(found: Decided) -> tuple[Check, ...]:
    """Return a decision's checks, the worst first.

    Raises:
        ChainBroken: they do not have the form that this engine knows.
    """

    def rows() -> Iterator[Check]:
        for part in found.parts:
            table = part["checks"]
            for row in table["rows"]:
                told = dict(zip(table["columns"], row, strict=True))
                del told["ok"]  # a check's verdict follows from its numbers
                yield Check(name=told.pop("check"), **told)

    return read(found.seq, lambda: worst_first(tuple(rows())))
