"""A week of an agent's outputs in seconds: a monitor on a simulated clock, target and listener."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from deployed import NOON, Shop, shop

from aal_engine.decide.monitoring import Monitoring
from aal_engine.decide.policy import Policy
from aal_engine.decide.sampling import sampling_from
from aal_engine.service.monitor import OnlineMonitor, Taken
from aal_engine.service.response import Responder
from aal_engine.store.monitor_state import MonitorState

PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: internal
stop_rules:
  - {id: promise, forbid: guaranteed refund}
  - {id: sorry, forbid: we are sorry, allow: 0.01}
suites: {core: {file: core.jsonl}}
"""
ALL = sampling_from(dict.fromkeys(("public", "internal", "confidential", "restricted"), [100] * 4))


def output(trace: str, version: str, answer="Refunds take 30 days [1].", **more) -> bytes:
    row = {"trace_id": trace, "version": version, "answer": answer, "retrieved": [{"doc_id": "d1"}]}
    return json.dumps(row | more).encode()


@dataclass
class World:
    """One deployment: its ledger, its monitor, and the time."""

    folder: Path
    shop: Shop
    settings: Monitoring
    now: float
    monitor: OnlineMonitor = field(init=False)
    state: MonitorState = field(init=False)
    responder: Responder = field(init=False)
    told: list[str] = field(default_factory=list)
    traces: int = 0

    def __post_init__(self) -> None:
        (self.folder / "pack").mkdir()
        (self.folder / "pack" / "pack.yaml").write_text(PACK)
        self._start()

    def _start(self) -> None:
        self.state = MonitorState(self.folder / "state")
        self.responder = Responder(self.shop.desk, self.told.append)
        self.monitor = OnlineMonitor(
            self.folder / "pack",
            Policy(families=("claude",), monitoring=self.settings),
            responder=self.responder,
            state=self.state,
            clock=lambda: self.now,
            tell=self.told.append,
        )

    def die(self) -> None:
        """Lose all that was not committed, and start again."""
        self.state.close()
        self.shop = self.shop.again()
        self._start()

    def pass_minutes(self, minutes: float) -> None:
        self.now += 60 * minutes
        self.shop.clock.now = datetime.fromtimestamp(self.now, UTC)

    def send(self, *answers: str, version: str | None = None, **more) -> Taken:
        """Post outputs of the version that the target shows."""
        version = version or self.shop.target.shows
        rows = []
        for answer in answers:
            self.traces += 1
            rows.append(output(f"trace-{self.traces}", version, answer, **more))
        taken = self.monitor.take(rows)
        self.monitor.commit()
        return taken

    def hours(self, count: float, *, each: int = 60, bad: float = 0.0, answer="", seed=0, **more):
        """Let time pass with so many outputs an hour, of which a share are bad ones."""
        draw = random.Random(seed)
        ended = []
        for _ in range(int(count * 4)):
            answers = [
                answer if draw.random() < bad else "Refunds take 30 days [1]."
                for _ in range(each // 4)
            ]
            self.pass_minutes(15)
            if answers:
                self.send(*answers, **more)
            ended += self.monitor.step()
        return ended

    def incidents(self, state: str = "breach") -> list[dict]:
        return [each for each in self.shop.entries("breach", None) if each["state"] == state]

    @property
    def states(self) -> dict[str, str]:
        return {r.check: r.state for r in self.monitor.readings()}


def world(folder: Path, *versions: str, gate=(), **settings) -> World:
    made = shop(folder / "ledger", *versions, gate=gate)
    told = {"salt": "s", "sampling": ALL} | settings
    return World(folder, made, Monitoring(**told), NOON.timestamp() + 100)
