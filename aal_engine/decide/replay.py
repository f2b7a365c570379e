"""The meaning of a ledger: its entries read in order, each held against what came before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aal_engine.decide.decision import CHECKS, DECISION_SCHEMA, Check
from aal_engine.decide.entry import Entry
from aal_engine.decide.release import AgentKey, Recorded, Release, released
from aal_engine.errors import ChainBroken, shown
from aal_engine.measure.metric import FLOORS


class Replay:
    """Reads a ledger's entries one by one, and knows what is released after the last.

    Every decision is judged again from its own numbers: a check's verdict must follow from its
    baseline, current value, tolerance and direction, the decision's from its checks, the floors
    from its records; and the baseline of a released one must be the release before it.

    `decisions` are all that were read, `releases` what each agent and pack has released last, and
    `before` the release that stood when the decision of an entry was made. `unfinished` counts the
    decisions of which an append that was cut off left only some parts.
    """

    def __init__(self) -> None:
        self.decisions: list[Recorded] = []
        self.releases: dict[AgentKey, Release] = {}
        self.before: dict[int, Release | None] = {}
        self.unfinished = 0
        self._parts: list[Mapping[str, Any]] = []

    def __call__(self, entry: Entry) -> None:
        """Take the next entry.

        Raises:
            ChainBroken: it does not follow from itself or from the entries before it.
        """
        if entry.kind != "decision":
            self._abandon()
            return
        decision = self._decision(entry)
        if decision is None:
            return
        for why in self._contradictions(decision):
            raise ChainBroken(entry.seq, f"a decision whose meaning does not hold: {why}")
        known = self.releases.get(decision.key)
        self.decisions.append(decision)
        self.before[decision.seq] = known
        if decision.verdict == "released":
            self.releases[decision.key] = released(known, decision)

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
            return Recorded(
                seq=entry.seq,
                key=AgentKey(body["agent"], body["pack"]),
                version=body["version"],
                decision=body["decision"],
                inputs=body["inputs"],
                verdict=body["verdict"],
                decided_at=body["decided_at"],
                baseline=None if body["baseline"] is None else body["baseline"]["decision"],
                checks=tuple(row for part in parts for row in _rows(part)),
                records=tuple(record for part in parts for record in part["records"]),
            )
        except (KeyError, TypeError, ValueError):
            raise ChainBroken(entry.seq, "is not a decision that this engine can read") from None

    def _contradictions(self, decision: Recorded) -> Iterator[str]:
        for check, stated in decision.checks:
            if check.ok != stated:
                named = " ".join(filter(None, (check.name, check.metric, check.model_family)))
                yield f"the verdict on {shown(named)} does not follow from its numbers"
        blocked = not decision.checks or any(check.blocks for check, _ in decision.checks)
        if (decision.verdict == "blocked") != blocked:
            yield "the verdict does not follow from the checks"
        if decision.verdict == "blocked":
            return
        if any(record[floor] for record in decision.records for floor in FLOORS):
            yield "it is released although a floor is broken"
        if not any(record["kind"] == "answers" for record in decision.records):
            yield "it is released without an answer evaluation"
        before = self.releases.get(decision.key)
        if decision.baseline != (None if before is None else before.decision):
            yield "its baseline is not the release before it"


def _rows(part: Mapping[str, Any]) -> Iterator[tuple[Check, bool]]:
    """Read the rows of one part: each check, and the verdict on it that the ledger states."""
    for row in part["checks"]["rows"]:
        told = dict(zip(part["checks"]["columns"], row, strict=True))
        stated = told.pop("ok")
        name = told.pop("check")
        if name not in CHECKS or told["direction"] not in ("higher", "lower"):
            raise ValueError
        yield Check(name=name, **told), stated
