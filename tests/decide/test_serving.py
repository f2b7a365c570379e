"""What serves, by the ledger: what may follow what, and ledgers that cannot be."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from deployed import NOON, decisions
from specimen import KEY, breach

from aal_engine.decide.act import (
    Clear,
    Done,
    Failed,
    Found,
    Halt,
    Promotion,
    Quarantine,
    Rollback,
    Told,
    body_of,
    step_from,
)
from aal_engine.decide.body import bodies
from aal_engine.decide.entry import stamp, write
from aal_engine.decide.incident import incident_from
from aal_engine.decide.replay import Replay
from aal_engine.decide.serving import fallback, halt_due
from aal_engine.errors import ChainBroken

FAMILIES = ("claude",)
POLICY = "b" * 64


class Book:
    """A ledger of which the chain is left out."""

    def __init__(self, *versions: str) -> None:
        self.replay = Replay()
        self.size = 0
        self.at = NOON
        self.digests = {}
        for decision in decisions(*versions):
            self.digests[decision.version] = decision.digest
            for body in bodies(decision):
                self.write("decision", body)

    def write(self, kind, body) -> int:
        entry = write(self.size, "0" * 64, kind, body, self.at)
        self.replay(entry)
        self.size += 1
        return entry.seq

    def step(self, kind, step) -> int:
        return self.write(kind, body_of(kind, step))

    @property
    def serving(self):
        return self.replay.serving[KEY]

    def promotion(self, version, **changes) -> Promotion:
        was = self.serving.version
        digest = self.digests.get(version, "c" * 64)
        return replace(Promotion(KEY, version, was, digest, FAMILIES, POLICY), **changes)

    def serve(self, *versions) -> None:
        for version in versions:
            act = self.step("release", self.promotion(version))
            self.step("release", Done(KEY, act, version))

    def breach(self, version=None, **changes):
        version = version or self.serving.version
        found = breach(version=version, **{"since": self.serving.latest(version)} | changes)
        self.write("breach", found.body())
        return found

    def rollback(self, found, version, **changes) -> Rollback:
        made = Rollback(KEY, version, found.version, found.since, found.id, FAMILIES, POLICY)
        return replace(made, **changes)

    def roll(self, version) -> int:
        act = self.step("rollback", self.rollback(self.breach(), version))
        return self.step("rollback", Done(KEY, act, version))


@pytest.fixture
def book():
    made = Book("1.0.0", "1.1.0", "1.2.0", "1.3.0")
    made.serve("1.0.0", "1.1.0", "1.2.0")
    return made


def test_nothing_serves_until_it_is_promoted():
    book = Book("1.0.0")
    assert book.serving.version is None
    act = book.step("release", book.promotion("1.0.0"))
    assert book.serving.version is None
    assert book.serving.since("1.0.0") == act
    book.step("release", Done(KEY, act, "1.0.0"))
    assert book.serving.version == "1.0.0"
    assert book.serving.since("1.0.0") == act


def test_a_rollback_begins_a_stint_of_its_own(book):
    earlier = book.serving.latest("1.1.0")
    done = book.roll("1.1.0")
    assert book.serving.version == "1.1.0"
    assert book.serving.since("1.1.0") == done - 1 != earlier
    assert list(book.serving.served()) == ["1.1.0", "1.2.0", "1.0.0"]


class TestFallback:
    def test_it_is_the_one_that_served_last(self, book):
        book.breach()
        assert fallback(book.serving, FAMILIES) == "1.1.0"

    def test_what_never_served_is_none(self):
        book = Book("1.0.0", "1.1.0")
        book.serve("1.1.0")
        book.breach()
        assert fallback(book.serving, FAMILIES) is None

    def test_it_passed_for_each_family(self, book):
        book.breach()
        assert fallback(book.serving, ("claude", "gpt")) is None

    def test_the_one_that_serves_is_named_only_to_be_left(self, book):
        assert fallback(book.serving, FAMILIES) == "1.2.0"
        assert fallback(book.serving, FAMILIES, leaving="1.2.0") == "1.1.0"


class TestHaltDue:
    def test_it_is_counted_back_from_the_last_rollback(self, book):
        book.roll("1.1.0")
        assert not halt_due(book.serving, 2, 24)
        book.at += timedelta(hours=24)
        book.roll("1.0.0")
        assert not halt_due(book.serving, 2, 24)
        assert halt_due(book.serving, 2, 24.1)
        assert halt_due(book.serving, 1, 24)


def test_a_breach_is_written_and_read_back(book):
    found = breach()
    assert incident_from(found.body()) == found


def test_a_breach_holds_no_field_that_could_hold_an_answer():
    assert set(breach().body()) == {
        "schema", "incident", "agent", "pack", "version", "since", "check", "evidence", "state",
        "value", "limit", "n", "rate", "observed_at", "source", "reason",
    }  # fmt: skip


STEPS = [
    ("release", Promotion(KEY, "1", None, "c" * 64, FAMILIES, POLICY)),
    ("rollback", Rollback(KEY, None, "1", 3, "d" * 64, FAMILIES, POLICY)),
    ("release", Done(KEY, 3, "1")),
    ("rollback", Failed(KEY, 3, "1", "late", None)),
    ("rollback", Found(KEY, 3, "1", "2")),
    ("release", Told(KEY, 3, ("stderr",), ())),
    ("rollback", Halt(KEY, "1", "d" * 64, "no_target", "stop")),
    ("quarantine", Quarantine(KEY, "1", "why")),
    ("clear", Clear(KEY, None, "why")),
]


@pytest.mark.parametrize(("kind", "step"), STEPS, ids=lambda each: type(each).__name__)
def test_a_step_is_written_and_read_back_and_nothing_else_is_read(kind, step):
    body = body_of(kind, step)
    assert step_from(kind, body) == step
    for name in body:
        for other in ({"a": 1}, 1.5, True, "", -1, [3]):
            with pytest.raises(ValueError):
                step_from(kind, body | {name: other})
        with pytest.raises(ValueError):
            step_from(kind, {key: value for key, value in body.items() if key != name})
    with pytest.raises(ValueError):
        step_from(kind, body | {"answer": "text"})


IMPOSSIBLE = {
    "a version that no decision released": (
        lambda b: b.step("release", b.promotion("9.9.9")),
        "no decision of the gate released",
    ),
    "another decision": (
        lambda b: b.step("release", b.promotion("1.3.0", decision="c" * 64)),
        "another decision released",
    ),
    "a family that it did not pass for": (
        lambda b: b.step("release", b.promotion("1.3.0", model_families=("claude", "gpt"))),
        "did not pass for every model family",
    ),
    "another version in service": (
        lambda b: b.step("release", b.promotion("1.3.0", was="1.1.0")),
        "another version serves",
    ),
    "a quarantined version": (
        lambda b: (
            b.step("quarantine", Quarantine(KEY, "1.3.0", "why")),
            b.step("release", b.promotion("1.3.0")),
        ),
        "is quarantined",
    ),
    "an end without a beginning": (
        lambda b: b.step("release", Done(KEY, 3, "1.2.0")),
        "no act that is under way",
    ),
    "an end twice": (
        lambda b: b.step("release", Done(KEY, b.serving.live.since, "1.2.0")),
        "no act that is under way",
    ),
    "an end of another version": (
        lambda b: b.step("release", Done(KEY, b.step("release", b.promotion("1.3.0")), "1.0.0")),
        "about another version",
    ),
    "an end of another kind": (
        lambda b: b.step("rollback", Done(KEY, b.step("release", b.promotion("1.3.0")), "1.3.0")),
        "no act that is under way",
    ),
    "a rollback without a breach": (
        lambda b: b.step(
            "rollback", b.rollback(breach(version="1.2.0", since=b.serving.live.since), "1.1.0")
        ),
        "no breach that it answers",
    ),
    "a rollback for what was not measured": (
        lambda b: b.step("rollback", b.rollback(b.breach(state="not_measured"), "1.1.0")),
        "no breach that it answers",
    ),
    "a rollback of a version that does not serve": (
        lambda b: b.step("rollback", b.rollback(b.breach("1.1.0"), "1.0.0")),
        "does not serve",
    ),
    "a rollback of another version than its breach's": (
        lambda b: b.step("rollback", b.rollback(b.breach(), "1.1.0", was="1.1.0")),
        "of another version or stint",
    ),
    "a rollback to any other version": (
        lambda b: b.step("rollback", b.rollback(b.breach(), "1.0.0")),
        "is not the last one that served and passed",
    ),
    "a rollback to the version in breach": (
        lambda b: b.step("rollback", b.rollback(b.breach(), "1.2.0")),
        "is not the last one that served and passed",
    ),
    "a second rollback for one incident": (
        lambda b: [
            (act := b.step("rollback", b.rollback(found, "1.1.0")))
            and b.step("rollback", Done(KEY, act, "1.1.0"))
            for found in [b.breach()] * 2
        ],
        "does not serve",
    ),
    "two rollbacks at once": (
        lambda b: [
            b.step("rollback", b.rollback(found, "1.1.0"))
            for found in (b.breach(), b.breach(check="x"))
        ],
        "is not finished",
    ),
    "a promotion during a rollback": (
        lambda b: (
            b.step("rollback", b.rollback(b.breach(), "1.1.0")),
            b.step("release", b.promotion("1.3.0")),
        ),
        "is not finished",
    ),
    "a stop that nothing calls for": (
        lambda b: b.step("rollback", b.rollback(b.breach(), None)),
        "nothing says that the agent is to be stopped",
    ),
    "a rollback while halted": (
        lambda b: halted(b, lambda found: b.step("rollback", b.rollback(found, "1.1.0"))),
        "is halted",
    ),
    "a promotion while halted": (
        lambda b: halted(b, lambda _: b.step("release", b.promotion("1.3.0"))),
        "is halted",
    ),
    "halted twice": (
        lambda b: halted(b, lambda found: halted(b, lambda _: None, found)),
        "halted already",
    ),
    "a halt without a breach": (
        lambda b: b.step("rollback", Halt(KEY, "1.2.0", "d" * 64, "no_target", "hold")),
        "no breach that it answers",
    ),
    "a halt of a version that does not serve": (
        lambda b: b.step("rollback", Halt(KEY, "1.0.0", b.breach().id, "no_target", "hold")),
        "does not serve",
    ),
    "an incident twice": (lambda b: (b.breach(), b.breach()), "recorded already"),
    "a breach in a stint that never was": (
        lambda b: b.breach(since=1),
        "did not put version 1.2.0 into service",
    ),
    "a quarantine twice": (
        lambda b: (b.breach(), b.step("quarantine", Quarantine(KEY, "1.2.0", "why"))),
        "is quarantined",
    ),
    "a quarantine for an incident that is none": (
        lambda b: b.step("quarantine", Quarantine(KEY, "1.2.0", "why", "d" * 64)),
        "no incident that it belongs to",
    ),
    "a clear of what is not quarantined": (
        lambda b: b.step("clear", Clear(KEY, "1.0.0", "why")),
        "is not quarantined",
    ),
    "a clear of no halt": (lambda b: b.step("clear", Clear(KEY, None, "why")), "is not halted"),
    "a reading of what does not serve": (
        lambda b: b.step("release", Found(KEY, 3, "1.0.0", "1.1.0")),
        "did not put the version that serves into service",
    ),
    "a reading of nothing new": (
        lambda b: b.step("release", Found(KEY, b.serving.live.since, "1.2.0", "1.2.0")),
        "known already",
    ),
    "a notice that nobody was owed": (
        lambda b: b.step("rollback", Told(KEY, 3, (), ())),
        "no notice that was still to be told",
    ),
    "a breach that says something else than its id": (
        lambda b: b.write("breach", breach().body() | {"check": "another"}),
        "is not a breach that this engine can read",
    ),
    "a breach with a text": (
        lambda b: b.write("breach", breach().body() | {"answer": "text"}),
        "is not a breach that this engine can read",
    ),
    "a rollback of another schema": (
        lambda b: b.write(
            "rollback", body_of("rollback", STEPS[1][1]) | {"schema": "aal/rollback/9"}
        ),
        "is not a rollback that this engine can read",
    ),
}


def halted(book, then, found=None):
    found = found or book.breach()
    book.step("rollback", Halt(KEY, "1.2.0", found.id, "no_target", "hold"))
    return then(found)


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_a_ledger_with_what_cannot_be_does_not_verify(book, what):
    forge, why = IMPOSSIBLE[what]
    with pytest.raises(ChainBroken, match=why):
        forge(book)


def test_one_replay_goes_on_where_another_ended(book):
    """What an audit remembers is enough to judge what follows, and is not changed by it."""
    known = book.replay.known()
    before = known.serving[KEY].copy()
    found = book.breach()
    book.step("rollback", book.rollback(found, "1.1.0"))
    assert known.serving[KEY] == before
    later = Replay(known)
    later(write(book.size - 2, "0" * 64, "breach", found.body(), NOON))
    assert later.serving[KEY].quarantined == book.serving.quarantined
    assert known.serving[KEY] == before


def test_what_is_known_survives_being_written_down(book):
    import msgspec

    from aal_engine.decide.replay import Known

    found = book.breach()
    act = book.step("rollback", book.rollback(found, "1.1.0"))
    book.step("rollback", Failed(KEY, act, "1.1.0", "late", None))
    known = book.replay.known()
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(known), type=Known)
    assert again.serving == known.serving
    assert stamp(NOON) == known.serving[KEY].stints[0].at
