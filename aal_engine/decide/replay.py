"""The meaning of a ledger: its entries read in order, each held against what came before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from aal_engine.canonical import JSON
from aal_engine.decide.act import Step, step_from
from aal_engine.decide.audit import contradictions
from aal_engine.decide.decision import CHECKS, DECISION_SCHEMA, Check
from aal_engine.decide.entry import Entry, Kind, stamp
from aal_engine.decide.incident import Incident, incident_from
from aal_engine.decide.keyring import Keyring
from aal_engine.decide.release import AgentKey, Key, Recorded, Release, Scored, released
from aal_engine.decide.serving import Serving
from aal_engine.decide.succession import refusals, refusals_of_report
from aal_engine.errors import ChainBroken, InputError
from aal_engine.measure.metric import FLOORS, metric
from aal_engine.measure.record import Mean


@dataclass(frozen=True, slots=True)
class Known:
    """All that the meaning of later entries depends on: where one replay ends, another goes on.

    `parts` are the bodies of a decision of which the last parts are still to come.
    """

    keys: Keyring = Keyring()  # noqa: RUF009 it is frozen
    releases: Mapping[AgentKey, Release] = field(default_factory=dict)
    serving: Mapping[AgentKey, Serving] = field(default_factory=dict)
    parts: tuple[Mapping[str, Any], ...] = ()


class Replay:
    """Reads a ledger's entries one by one, and knows what is released and serves after the last.

    It starts at the genesis entry, or after the entries that made `known`.

    `decisions` are all that were read, `releases` what each agent and pack has released last, and
    `before` the release that stood when the decision of an entry was made; `serving` says which
    versions serve, and `keys` are those that may sign. `unfinished` counts the decisions of which
    an append that was cut off left only some parts.
    """

    def __init__(self, known: Known | None = None) -> None:
        known = known or Known()
        self.decisions: list[Recorded] = []
        self.releases: dict[AgentKey, Release] = dict(known.releases)
        self.before: dict[int, Release | None] = {}
        self.serving: dict[AgentKey, Serving] = dict(known.serving)
        self.keys = known.keys
        self.unfinished = 0
        self._parts: list[Mapping[str, Any]] = list(known.parts)
        self._own: set[AgentKey] = set()

    def known(self) -> Known:
        """Return what a later replay needs to go on after the last entry."""
        self._own = set()
        return Known(self.keys, dict(self.releases), dict(self.serving), tuple(self._parts))

    def __call__(self, entry: Entry) -> None:
        """Take the next entry.

        Raises:
            ChainBroken: it does not follow from itself or from the entries before it.
        """
        if entry.kind != "decision":
            self._abandon()
            if entry.kind in ("genesis", "key"):
                self.keys = self.keys.after(entry)
            elif entry.kind in _SERVING:
                told = _told(entry)
                for why in _refusals(self.serving, entry.kind, told):
                    raise ChainBroken(entry.seq, f"a {entry.kind} that cannot be: {why}")
                self._take(entry, told)
            return
        decision = self._decision(entry)
        if decision is None:
            return
        known = self.releases.get(decision.key)
        for why in contradictions(decision, known):
            raise ChainBroken(entry.seq, f"a decision whose meaning does not hold: {why}")
        self.decisions.append(decision)
        self.before[decision.seq] = known
        if decision.verdict == "released":
            self.releases[decision.key] = released(known, decision)
            self._serving(decision.key).decided(decision)

    def refused(self, entry: Entry) -> str | None:
        """Say why an entry about versions in service cannot come next, None if it can.

        Raises:
            ChainBroken: it cannot be read.
        """
        return next(_refusals(self.serving, entry.kind, _told(entry)), None)

    def _take(self, entry: Entry, told: Incident | Step) -> None:
        if isinstance(told, Incident):
            self._serving(told.key).reported(told, entry.seq)
        else:
            self._serving(told.key).take(told, entry.seq, entry.at, entry.leaf.hex())

    def _serving(self, key: AgentKey) -> Serving:
        """Return what may be changed: what others know as well is copied first."""
        if key not in self._own:
            known = self.serving.get(key)
            self.serving[key] = Serving(key) if known is None else known.copy()
            self._own.add(key)
        return self.serving[key]

    def ended(self) -> None:
        """Hear that the ledger ends here."""
        self._abandon()

    def _abandon(self) -> None:
        # A process that dies within an append may leave the first parts of a decision alone. Its
        # caller was never told that it stands, so it decides nothing, and no ledger is lost to it.
        if self._parts:
            self.unfinished += 1
            self._parts = []

    def _decision(self, entry: Entry) -> Recorded | None:
        """Read a decision; None while parts of it are still to come."""
        body: Mapping[str, Any] = entry.body
        try:
            place, of = body["part"]
            if place == 1:
                self._abandon()
            first = self._parts[0] if self._parts else body
            if body["schema"] != DECISION_SCHEMA or body["decision"] != first["decision"]:
                raise ValueError
            if place != len(self._parts) + 1 or place > of:
                raise ValueError
            self._parts.append(body)
            if place < of:
                return None
            parts, self._parts = self._parts, []
            return _recorded(entry.seq, parts)
        except (KeyError, TypeError, ValueError, AttributeError, InputError):
            raise ChainBroken(entry.seq, "is not a decision that this engine can read") from None


_SERVING = ("breach", "release", "rollback", "quarantine", "clear")


def _told(entry: Entry) -> Incident | Step:
    """Read an entry about versions in service."""
    try:
        if entry.kind == "breach":
            return incident_from(entry.body)
        return step_from(entry.kind, entry.body)
    except ValueError:
        raise ChainBroken(entry.seq, f"is not a {entry.kind} that this engine can read") from None


def _refusals(
    serving: Mapping[AgentKey, Serving], kind: str, told: Incident | Step
) -> Iterator[str]:
    known = serving.get(told.key) or Serving(told.key)
    if isinstance(told, Incident):
        return refusals_of_report(known, told)
    return refusals(known, kind, told)


def judged(
    known: Known, size: int, kind: str, bodies: Sequence[Mapping[str, JSON]], at: datetime
) -> Known:
    """Return what is known once these records follow on a ledger of `size` entries.

    What the ledger's own auditor would not accept must never stand in it.

    Raises:
        ChainBroken: they do not follow.
    """
    replay = Replay(known)
    for place, body in enumerate(bodies, max(size, 1)):
        replay(Entry(place, "", cast("Kind", kind), body, stamp(at), b"", b""))
    after = replay.known()
    if after.parts:
        raise ChainBroken(size, "is a part of a decision without the rest")
    return after


def _recorded(seq: int, parts: Sequence[Mapping[str, Any]]) -> Recorded:
    body = parts[-1]
    baseline = body["baseline"]
    records = [_scored(record) for part in parts for record in part["records"]]
    if body["verdict"] not in ("released", "blocked"):
        raise ValueError
    return Recorded(
        seq=seq,
        key=AgentKey(_text(body["agent"]), _text(body["pack"])),
        version=_text(body["version"]),
        decision=_text(body["decision"]),
        inputs=_text(body["inputs"]),
        verdict=body["verdict"],
        decided_at=_text(body["decided_at"]),
        policy=_text(body["policy"]),
        families=tuple(map(_text, body["model_families"])),
        baseline=None if baseline is None else baseline["decision"],
        rescored=baseline is not None and baseline["source"] == "records",
        unchanged_cases=body["unchanged_cases"] is True,
        checks=tuple(row for part in parts for row in _rows(part["checks"])),
        records={scored.key: scored for scored in records},
    )


def _rows(table: Mapping[str, Any]) -> Iterator[tuple[Check, bool]]:
    """Read the rows of one part: each check, and the verdict on it that the ledger states."""
    for row in table["rows"]:
        told = dict(zip(table["columns"], row, strict=True))
        stated, name = told.pop("ok"), told.pop("check")
        known = name in CHECKS and told["direction"] in ("higher", "lower")
        if not known or not isinstance(stated, bool) or not isinstance(told["advisory"], bool):
            raise ValueError
        for number in ("baseline", "current"):
            told[number] = None if told[number] is None else _number(told[number])
        if not 0 <= _number(told["tolerance"]) <= 1:
            raise ValueError
        for text in ("metric", "model_family", "suite", "slice"):
            told[text] = None if told[text] is None else _text(told[text])
        yield Check(name=name, **told), stated


def _scored(record: Mapping[str, Any]) -> Scored:
    if record["kind"] not in ("retrieval", "answers"):
        raise ValueError
    family = record["model_family"]
    for name in record["metrics"]:
        metric(name)
    floors = {floor: _whole(count) for floor, count in record["floors"].items()}
    if floors.keys() != (set(FLOORS) if record["kind"] == "answers" else set()):
        raise ValueError
    return Scored(
        key=Key(record["kind"], _text(record["suite"]), None if family is None else _text(family)),
        golden_set=_text(record["golden_set"]),
        cases=_whole(record["cases"]),
        scored=_whole(record["scored"]),
        record=_text(record["record"]),
        table=_text(record["table"]),
        run=_text(record["run"]),
        engine=_text(record["engine"]),
        passed=record["passed"] is True,
        metrics={name: _mean(*mean) for name, mean in record["metrics"].items()},
        floors=floors,
    )


def _mean(value: Any, n: Any) -> Mean:
    return Mean(None if value is None else _number(value), _whole(n))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return value
