"""The process dies between any two steps of an act, or its disk is full; the next goes on."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from deployed import Clock, Listener, gated
from specimen import KEY, breach

from aal_engine.decide.deployment import Deployment, Pointer
from aal_engine.decide.incident import Incident
from aal_engine.decide.policy import Policy
from aal_engine.errors import ActFailed, AppendRefused
from aal_engine.service import release
from aal_engine.service.book import Book
from aal_engine.service.ledger import verify
from aal_engine.service.notice import deliver
from aal_engine.store.ledger import Ledger
from aal_engine.store.order import Order
from aal_engine.store.pointer import PointerActuator

# A child that only acts and exits has no use for the threads it does not inherit.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

KILLED = 9
FINISHED = 0


@dataclass
class Noted(PointerActuator):
    """A pointer file that notes each order in a file beside it."""

    folder: Path
    lost: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        super().__init__(Pointer(), self.folder)

    def act(self, order: Order) -> None:
        with (self.folder / "orders").open("a") as file:
            file.write(f"{order.version}\n")
        if order.version in self.lost:
            raise ActFailed("gone", "simulated")
        super().act(order)

    def orders(self) -> list[str]:
        path = self.folder / "orders"
        return path.read_text().split() if path.exists() else []


@dataclass
class World:
    """A ledger, a pointer file and a policy; every process opens them anew."""

    folder: Path
    rules: Policy
    lost: frozenset[str] = frozenset()

    def desk(self) -> release.Desk:
        book = Book(self.folder / "ledger")
        actuator = Noted(self.folder, self.lost)
        return release.Desk(book, self.rules, actuator, Clock(), (Listener(),), wait=5.0)

    def entries(self, kind: str, step: str) -> list[dict]:
        entries = Ledger.open(self.folder / "ledger").entries()
        return [dict(e.body) for e in entries if e.kind == kind and e.body.get("step") == step]


def world(folder: Path, *versions: str, lost=frozenset(), **changes) -> World:
    rules = Policy(families=("claude",), deployment=replace(Deployment(settle=0.0), **changes))
    first = folder.with_name("-".join(versions))
    if not first.exists():
        first.mkdir()
        gated(first / "ledger", *versions)
        for version in versions:
            release.promote(World(first, rules).desk(), KEY, version)
        (first / "orders").unlink()
    shutil.copytree(first, folder)
    return World(folder, rules, lost)


def killed_at(step: int, act: Callable[[], object]) -> int:
    """Do an act in a process that dies at its nth step; return how that process ended.

    A step is the moment before or after an append, an order to the target, or a reading of it.
    """
    child = os.fork()
    if child == 0:
        try:
            left = [step]

            def watched(real):
                def call(*arguments, **options):
                    passed()
                    result = real(*arguments, **options)
                    passed()
                    return result

                return call

            def passed() -> None:
                if left[0] == 0:
                    os._exit(KILLED)
                left[0] -= 1

            Ledger.append = watched(Ledger.append)
            Noted.act = watched(Noted.act)
            Noted.read = watched(Noted.read)
            act()
            os._exit(FINISHED)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def incident(desk: release.Desk, version: str) -> Incident:
    return breach(version=version, since=desk.book.serving(KEY).latest(version))


def rolled_back(made: World, told: Incident) -> None:
    desk = made.desk()
    release.rollback(desk, told)
    deliver(desk)


SCENES = {
    "the version before": ({}, ("1.0.0", "1.1.0"), "1.0.0"),
    "its artefact is gone": ({"lost": frozenset({"1.1.0"})}, ("1.0.0", "1.1.0", "1.2.0"), "1.0.0"),
    "one too many": ({"rollbacks": 1}, ("1.0.0", "1.1.0"), "1.0.0"),
    "nothing left": ({}, ("1.0.0",), "1.0.0"),
    "nothing left, stopped": ({"on_halt": "stop"}, ("1.0.0",), None),
}


@pytest.mark.parametrize("how", ["asked again", "resumed"])
@pytest.mark.parametrize("scene", SCENES)
def test_killed_at_every_step_one_incident_makes_one_rollback(tmp_path, scene, how):
    changes, versions, expected = SCENES[scene]
    step, code = 0, KILLED
    while code == KILLED:
        made = world(tmp_path / f"{step}", *versions, **changes)
        told = incident(made.desk(), versions[-1])
        code = killed_at(step, lambda made=made, told=told: rolled_back(made, told))
        assert code in (KILLED, FINISHED)
        reported = told.id in made.desk().book.serving(KEY).incidents
        if how == "asked again" or not reported:
            rolled_back(made, told)
        else:
            desk = made.desk()
            release.resume(desk)
            deliver(desk)
        settled(made, told, expected, lost=len(changes.get("lost", ())))
        step += 1
    assert step > 5


def settled(made: World, told: Incident, expected: str | None, *, lost: int) -> None:
    """Hold a world in which an incident was answered against what must be so."""
    desk = made.desk()
    serving = desk.book.serving(KEY)
    assert serving.version == expected
    assert desk.actuator.read(KEY) == expected
    assert serving.pending is None
    assert release.resume(desk) == [] or serving.halt is not None
    assert serving.untold == {}
    acted = told.version != expected
    assert len(made.entries("rollback", "intent")) == acted + lost
    assert len(made.entries("rollback", "done")) == acted
    halts = made.entries("rollback", "halt")
    assert len(halts) == (serving.halt is not None)
    # An order may be given again by whoever cannot know that it was obeyed; never another one.
    assert len(set(desk.actuator.orders())) == acted + lost
    assert len(made.entries("rollback", "told")) == acted + len(halts)
    verify(made.folder / "ledger")


def test_killed_after_the_target_obeyed_it_is_not_told_again(tmp_path):
    made = world(tmp_path / "world", "1.0.0", "1.1.0")
    told = incident(made.desk(), "1.1.0")
    # Append of the breach and of the intent, twice two steps, then the order's two.
    assert killed_at(5, lambda: rolled_back(made, told)) == KILLED
    assert made.desk().actuator.read(KEY) == "1.0.0"
    assert made.entries("rollback", "done") == []
    assert [each.ended for each in release.resume(made.desk())] == ["rolled_back"]
    assert made.desk().actuator.orders() == ["1.0.0"]


def test_killed_at_every_step_a_promotion_is_finished(tmp_path):
    step, code = 0, KILLED
    while code == KILLED:
        made = world(tmp_path / f"{step}", "1.0.0", "1.1.0")
        code = killed_at(step, lambda made=made: release.promote(made.desk(), KEY, "1.0.0"))
        if made.desk().book.serving(KEY).pending is None and code == KILLED and step == 0:
            assert made.desk().actuator.read(KEY) == "1.1.0"
        else:
            release.resume(made.desk())
            assert made.desk().actuator.read(KEY) == "1.0.0"
            assert made.desk().book.serving(KEY).version == "1.0.0"
        verify(made.folder / "ledger")
        step += 1
    assert step > 4


def test_a_dead_process_leaves_its_turn_to_the_next(tmp_path):
    made = world(tmp_path / "world", "1.0.0", "1.1.0")
    told = incident(made.desk(), "1.1.0")
    assert killed_at(4, lambda: rolled_back(made, told)) == KILLED
    desk = replace(made.desk(), wait=0.0)
    assert release.rollback(desk, told).ended == "rolled_back"


def test_many_processes_answer_one_incident_once(tmp_path):
    made = world(tmp_path / "world", "1.0.0", "1.1.0")
    told = incident(made.desk(), "1.1.0")
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            try:
                rolled_back(made, told)
                os._exit(FINISHED)
            except BaseException:
                os._exit(1)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [FINISHED] * 6
    assert made.desk().actuator.orders() == ["1.0.0"]
    settled(made, told, "1.0.0", lost=0)


@pytest.mark.parametrize("room", range(0, 2_400, 400))
def test_on_a_disk_that_is_full_nothing_is_done_without_its_entry(tmp_path, room):
    made = world(tmp_path / "world", "1.0.0", "1.1.0")
    told = incident(made.desk(), "1.1.0")
    limit = (made.folder / "ledger/log/00000000.jsonl").stat().st_size + room

    def act() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with suppress(AppendRefused):
            release.rollback(made.desk(), told)

    assert killed_at(1_000, act) == FINISHED
    acted = made.desk().actuator.orders()
    assert len(made.entries("rollback", "intent")) >= len(acted)
    verify(made.folder / "ledger")
    rolled_back(made, told)
    settled(made, told, "1.0.0", lost=0)
