"""A ledger with real decisions of the gate, to read over HTTP, MCP and on the page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from specimen import policy, record

from aal_engine.decide.body import bodies
from aal_engine.decide.decision import Decision
from aal_engine.decide.entry import stamp
from aal_engine.decide.gate import decide
from aal_engine.decide.question import Question
from aal_engine.decide.release import AgentKey
from aal_engine.decide.replay import Replay
from aal_engine.store.ledger import Ledger

START = datetime(2026, 5, 1, 12, tzinfo=UTC)
FAMILIES = ("claude", "gpt")


class Scene:
    """A ledger in a folder that grows by a decision an hour."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.released: dict[AgentKey, list[Decision]] = {}
        self.replay = Replay()
        self.hour = 0
        Ledger.init(folder, "example.com/ledger", START)

    def decide(self, version, *, agent="desk", pack="support", worse=False, families=FAMILIES):
        """Append the decision on an agent's version; where it is worse, it is blocked."""
        named = {"agent": agent, "pack": pack}
        counts = {"counts": {"invented_citations": 1}} if worse else {}
        records = [
            record(kind, family, version, **named, **(counts if kind == "answers" else {}))
            for family in families
            for kind in ("retrieval", "answers")
        ]
        before = self.released.setdefault(AgentKey(agent, pack), [])
        self.hour += 1
        at = START + timedelta(hours=self.hour)
        question = Question(
            records,
            before[-1] if before else None,
            policy(first_release="allow", families=families),
            self.replay.releases.get(AgentKey(agent, pack)),
        )
        decision = decide(question, at=stamp(at), engine="aal-engine@0")
        assert decision.verdict == ("blocked" if worse else "released"), decision.checks[0]
        if not worse:
            before.append(decision)
        for entry in Ledger.open(self.folder).append_all("decision", bodies(decision), at):
            self.replay(entry)
        return decision
