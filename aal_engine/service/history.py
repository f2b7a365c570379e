"""An agent's record as the ledger holds it: what serves, what was decided, how metrics went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aal_engine.decide.act import Promotion, step_from
from aal_engine.decide.decision import Check, worst_first
from aal_engine.decide.entry import Entry
from aal_engine.decide.incident import incident_from
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Passed, Serving
from aal_engine.decide.succession import refusals, refusals_of_report
from aal_engine.errors import ChainBroken, InputError
from aal_engine.measure.metric import METRICS, metric
from aal_engine.service.chart import Mark, Point, Series
from aal_engine.service.ledger_reader import Decided, Filters, LedgerReader

ACTS = ("breach", "release", "rollback", "quarantine", "clear")
WINDOW = 40
"""Decisions that a history shows at once."""
RECENT = 12
"""Decisions that a summary shows."""

Group = tuple[str | None, str, str]
Band = tuple[float, float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Family:
    """The metrics of one model family; of none, where a record is of retrieval alone.

    `series` has each metric's history by the suite that it was measured on.
    """

    name: str | None
    series: tuple[tuple[str, Series], ...]


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
            tuple(reader.decisions(Filters(agent=key.agent, pack=key.pack), limit=RECENT)),
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
    found = reader.decisions(asked, before=before, limit=limit + 1)
    decisions = tuple(found[:limit])
    state = serving(reader, key)
    return History(
        key,
        decisions,
        tuple(_families(decisions[::-1], marks(state, decisions[::-1]))),
        state,
        decisions[-1].key if len(found) > limit else None,
    )


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
        for decided in reader.decisions(Filters(decision=step.decision), limit=1):
            families = frozenset(decided.parts[0]["model_families"])
            state.passed[step.version] = Passed(step.decision, decided.seq, families)
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


def marks(state: Serving, decisions: Sequence[Decided]) -> tuple[Mark, ...]:
    """Return where, between decisions (the oldest first), versions came into service."""
    seqs = [decided.seq for decided in decisions]
    return tuple(
        Mark(sum(seq < stint.done for seq in seqs) - 0.5, stint.by == "rollback", stint.version)
        for stint in state.stints
        if seqs and stint.done > seqs[0]
    )


def _families(decisions: Sequence[Decided], found: tuple[Mark, ...]) -> Iterator[Family]:
    """Yield the metrics of each model family over decisions, the oldest first."""
    values = [read(decided.seq, lambda d=decided: _values(d)) for decided in decisions]  # type: ignore[misc]
    bands = [read(decided.seq, lambda d=decided: bands_of(d)) for decided in decisions]  # type: ignore[misc]
    groups = sorted({group for each in values for group in each}, key=_order)
    for family in dict.fromkeys(group[0] for group in groups):
        yield Family(
            family,
            tuple(
                (
                    suite,
                    Series(
                        name,
                        metric(name).direction,
                        tuple(
                            Point(
                                decided.parts[0]["version"],
                                decided.parts[0]["verdict"] == "released",
                                held.get((of, suite, name)),
                                limits.get((of, suite, name)),
                            )
                            for decided, held, limits in zip(decisions, values, bands, strict=True)
                        ),
                        found,
                    ),
                )
                for of, suite, name in groups
                if of == family
            ),
        )


def _order(group: Group) -> tuple[Any, ...]:
    family, suite, name = group
    stem = name.partition("@")[0]
    answers = METRICS[stem].kind == "answers"
    return family is None, family or "", suite, not answers, list(METRICS).index(stem), name


def _values(decided: Decided) -> Mapping[Group, float | None]:
    found: dict[Group, float | None] = {}
    for part in decided.parts:
        for record in part["records"]:
            for name, (value, _) in record["metrics"].items():
                metric(name)  # a name that the table lacks is refused here
                if value is not None and not 0 <= value <= 1:
                    raise ValueError
                found[record["model_family"], record["suite"], name] = value
    return found


def bands_of(decided: Decided) -> Mapping[Group, Band]:
    """Return, of a decision's comparisons with the release before, what each would have borne."""
    found = {}
    for check in checks_of(decided):
        if check.name == "regression" and check.slice is None and check.baseline is not None:
            fall = -check.tolerance if check.direction == "higher" else check.tolerance
            key = check.model_family, check.suite or "", check.metric or ""
            found[key] = (check.baseline, min(max(check.baseline + fall, 0.0), 1.0))
    return found


def checks_of(decided: Decided) -> tuple[Check, ...]:
    """Return a decision's checks, the worst first.

    Raises:
        ChainBroken: they do not have the form that this engine knows.
    """

    def rows() -> Iterator[Check]:
        for part in decided.parts:
            table = part["checks"]
            for row in table["rows"]:
                told = dict(zip(table["columns"], row, strict=True))
                del told["ok"]  # a check's verdict follows from its numbers
                yield Check(name=told.pop("check"), **told)

    return read(decided.seq, lambda: worst_first(tuple(rows())))
