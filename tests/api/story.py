"""An agent's history with all that a page has to show: blocked, rolled back, with a gap."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from api.scene import Scene
from deployed import Listener, Target
from specimen import digest, policy

from aal_engine.decide.deployment import Deployment
from aal_engine.decide.entry import stamp
from aal_engine.decide.incident import Incident
from aal_engine.decide.release import AgentKey
from aal_engine.service import release as act
from aal_engine.service.book import Book

KEY = AgentKey("desk", "support")


class Story(Scene):
    """A scene in which released versions are put into service, and one is rolled back."""

    def __init__(self, folder) -> None:
        super().__init__(folder)
        self.target = Target()

    def desk(self) -> act.Desk:
        rules = replace(policy(families=("claude", "gpt")), deployment=Deployment(settle=0.0))
        clock = lambda: self.now  # noqa: E731
        return act.Desk(Book(self.folder), rules, self.target, clock, (Listener(),), wait=5.0)

    @property
    def now(self):
        from api.scene import START

        return START + timedelta(hours=self.hour, minutes=30)

    def serve(self, version) -> None:
        assert act.promote(self.desk(), KEY, version).ended == "promoted"

    def roll_back(self, version) -> None:
        desk = self.desk()
        incident = Incident(
            key=KEY,
            version=version,
            since=desk.book.serving(KEY).latest(version),
            check="invented_citations",
            evidence=digest(version),
            state="breach",
            value=1.0,
            limit=0.0,
            n=40,
            rate=0.25,
            observed_at=stamp(self.now),
        )
        assert act.rollback(desk, incident).ended == "rolled_back"


def told(folder) -> Story:
    """Tell the story in a new ledger."""
    story = Story(folder)
    for version in ("1.0.0", "1.1.0"):
        story.decide(version)
        story.serve(version)
    story.decide("1.2.0", worse=True)
    story.decide("1.2.1")
    story.serve("1.2.1")
    story.roll_back("1.2.1")
    story.decide("2.0.0", agent="scout", pack="papers", families=("claude",))
    return story
