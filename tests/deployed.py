"""A ledger of released versions and a simulated target, to test what comes after the gate with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from specimen import AT, KEY, digest, policy, record, replayed

from aal_engine.decide.body import bodies
from aal_engine.decide.decision import Decision
from aal_engine.decide.deployment import Deployment
from aal_engine.decide.entry import stamp
from aal_engine.decide.gate import decide
from aal_engine.decide.incident import Incident
from aal_engine.decide.policy import Policy
from aal_engine.decide.question import Question
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed
from aal_engine.service import release as act
from aal_engine.service.book import Book
from aal_engine.store.ledger import Ledger
from aal_engine.store.notifier import Message
from aal_engine.store.order import Order

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def decisions(*versions: str, families: Sequence[str] = ("claude",)) -> Iterator[Decision]:
    """Yield decisions that release these versions one after the other."""
    allowed = policy(families=tuple(families), first_release="allow")
    made: list[Decision] = []
    for version in versions:
        current = tuple(record(family=family, version=version) for family in families)
        release = replayed(*made).releases.get(KEY)
        question = Question(current, made[-1] if made else None, allowed, release)
        decision = decide(question, at=AT, engine="aal-engine@0")
        assert decision.verdict == "released", decision.checks[0]
        made.append(decision)
        yield decision


def gated(folder: Path, *versions: str, families: Sequence[str] = ("claude",)) -> Path:
    """Start a ledger in which the gate released these versions."""
    Ledger.init(folder, "example.com/ledger", NOON)
    ledger = Ledger.open(folder)
    for decision in decisions(*versions, families=families):
        ledger.append_all("decision", bodies(decision), NOON)
    return folder


@dataclass
class Target:
    """What runs: obeys, unless it is told to lie, to fail or to have lost a version."""

    shows: str | None = None
    orders: list[Order] = field(default_factory=list)
    reads: int = 0
    lies: bool = False
    fails: str | None = None
    blind: bool = False
    lost: set[str] = field(default_factory=set)

    def act(self, order: Order) -> None:
        self.orders.append(order)
        if order.version in self.lost:
            raise ActFailed("gone", "gone")
        if self.fails is not None:
            raise ActFailed(self.fails, "simulated")
        if not self.lies:
            self.shows = order.version

    def read(self, key: AgentKey) -> str | None:
        self.reads += 1
        if self.blind:
            raise ActFailed("unreadable", "simulated")
        return self.shows

    @property
    def told(self) -> list[str | None]:
        return [order.version for order in self.orders]


@dataclass
class Listener:
    """Hears notices."""

    name: str = "listener"
    heard: list[Message] = field(default_factory=list)
    deaf: bool = False

    def send(self, message: Message) -> None:
        if self.deaf:
            raise ActFailed("late", "simulated")
        self.heard.append(message)

    @property
    def words(self) -> list[object]:
        return [message.body["notice"] for message in self.heard]


@dataclass
class Clock:
    """Goes on by a second at each look."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass
class Shop:
    """A desk with all that is simulated around it."""

    desk: act.Desk
    target: Target
    listener: Listener
    clock: Clock

    @property
    def serving(self):
        return self.desk.book.serving(KEY)

    def again(self) -> Shop:
        """What another process finds: the same ledger and target, nothing remembered."""
        book = Book(self.desk.book.folder)
        return replace(self, desk=replace(self.desk, book=book))

    def serve(self, *versions: str) -> None:
        for version in versions:
            assert act.promote(self.desk, KEY, version).ended == "promoted"

    def incident(
        self, version: str | None = None, check="invented_citations", **changes
    ) -> Incident:
        version = version or self.serving.version
        assert version is not None
        fields = {
            "key": KEY,
            "version": version,
            "since": self.serving.latest(version),
            "check": check,
            "evidence": digest(f"{version} {check}"),
            "state": "breach",
            "value": 1.0,
            "limit": 0.0,
            "n": 40,
            "rate": 0.25,
            "observed_at": stamp(NOON),
        } | changes
        return Incident(**fields)

    def entries(self, kind: str, step: str | None = "intent") -> list[dict]:
        found = [e for e in Ledger.open(self.desk.book.folder).entries() if e.kind == kind]
        return [dict(e.body) for e in found if e.body.get("step") == step]

    def verified(self) -> None:
        """Hold the whole ledger against its own rules."""
        from aal_engine.service.ledger import verify

        verify(self.desk.book.folder)


def shop(folder: Path, *versions: str, gate: Sequence[str] = (), **changes) -> Shop:
    """Open a desk on a new ledger; `versions` are released and put into service in that order."""
    families = changes.pop("families", ("claude",))
    allowed = changes.pop("allowed", families)
    gated(folder, *versions, *gate, families=families)
    target, listener, clock = Target(), Listener(), Clock()
    rules = Policy(families=tuple(allowed), deployment=replace(Deployment(settle=0.0), **changes))
    desk = act.Desk(Book(folder), rules, target, clock, (listener,), wait=5.0)
    made = Shop(desk, target, listener, clock)
    if tuple(allowed) == tuple(families):
        made.serve(*versions)
    target.orders.clear()
    return made
