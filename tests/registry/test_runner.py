"""The runner: slots once, runs asked for by hand, faults of its own, stops; on both databases."""

from __future__ import annotations

import asyncio
import socket
import time
from datetime import timedelta

import pytest
from registry.scene import NOW, NOW_MS, did, put_suite, scalar
from registry.stranger import answer, limits, stranger

from aal_engine.errors import RegistryUnavailable, StaleClaim
from aal_engine.registry import admin, runner
from aal_engine.registry.db import agent, commit, lease, result, run, suite
from aal_engine.registry.office import Office
from aal_engine.registry.runner import Pace, serve
from aal_engine.registry.runner.work import Examiner


@pytest.fixture
def pong():
    with stranger({"/0": answer(b"pong"), "/1": answer(b"no", status="503 Not Now")}) as server:
        yield server


def enlist(office: Office, port: int, count: int = 3) -> None:
    with office.database.write() as connection:
        for number in range(count):
            card = {"url": f"http://127.0.0.1:{port}"}
            agent.put(connection, did(number), card, home=None, now_ms=NOW_MS)


def pace(**more) -> Pace:
    return Pace(**{"tick": 0.05, "parallel": 8, "limits": limits(), **more})


def exams(office: Office) -> dict[str, int]:
    with office.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT state, count(*) FROM exams GROUP BY state")
        return dict(row[:] for row in rows)


def rows(office: Office) -> int:
    with office.database.read() as connection:
        return result.count(connection)


def work(office: Office, until, *, now=None, seconds=20.0, **more):
    """Run a runner until something holds, then stop it in good order; return its tally."""
    options = {key: more.pop(key) for key in ("resolver",) if key in more}
    moment = now or (lambda: NOW)

    async def scene():
        stop = asyncio.Event()
        serving = asyncio.create_task(
            serve(office, pace(**more), stop=stop, clock=moment, **options)
        )
        ends = time.monotonic() + seconds
        while not until() and not serving.done():
            assert time.monotonic() < ends, "it did not come to pass in time"
            await asyncio.sleep(0.03)
        stop.set()
        return await serving

    return asyncio.run(scene())


def test_a_due_suite_is_run_once_over_every_agent(office, pong):
    enlist(office, pong.port)
    put_suite(office.database, interval_minutes=15, reward=5, reputation=True)
    admin.fund(office, "opening", 1000, now=NOW)
    tally = work(office, lambda: exams(office) == {"done": 3})
    assert (tally.led, tally.queued, tally.recorded, tally.paid) == (1, 1, 3, 15)
    assert rows(office) == 6
    assert admin.audit(office) == []
    again = work(office, lambda: True)
    assert (again.queued, again.recorded) == (0, 0)
    with office.database.read() as connection:
        assert scalar(connection, "SELECT min(epoch) FROM evidence") == 1
        assert lease.holder(connection, lease.LEADER) is None


def test_missed_slots_are_picked_up_once_and_nothing_drifts(office, pong):
    enlist(office, pong.port, 1)
    put_suite(office.database, interval_minutes=1)
    moments = [NOW, NOW + timedelta(seconds=59.9), NOW + timedelta(seconds=60),
               NOW + timedelta(minutes=7, seconds=30), NOW + timedelta(minutes=8)]  # fmt: skip
    queued = []
    for moment in moments:
        asked = []

        def now(moment=moment, asked=asked):
            asked.append(moment)
            return moment

        def over(asked=asked) -> bool:
            return len(asked) >= 3 and exams(office).keys() <= {"done"}

        queued.append(work(office, over, now=now).queued)
    assert queued == [1, 0, 1, 1, 1]
    with office.database.read() as connection:
        slots = connection.exec_driver_sql("SELECT slot FROM runs ORDER BY slot").scalars()
        starts = [(slot - NOW_MS) / 60_000 for slot in slots]
    assert starts == [0, 1, 7, 8]


def test_a_run_by_hand_works_on_a_draft(office, pong):
    enlist(office, pong.port)
    number = put_suite(office.database, enabled=False)
    run_id = admin.run_now(office, number, now=NOW)
    work(office, lambda: admin.run_state(office, run_id)["finished_at"] is not None)
    assert exams(office) == {"done": 3}


def test_with_the_gate_down_no_runner_starts(office, pong):
    enlist(office, pong.port)
    put_suite(office.database, interval_minutes=1)
    closed = Office(office.database, enabled=False)
    assert work(closed, lambda: False) == runner.Tally()
    assert exams(office) == {}


def test_a_mirror_and_an_inactive_agent_are_never_examined(office, pong):
    enlist(office, pong.port)
    with office.database.write() as connection:
        card = {"url": f"http://127.0.0.1:{pong.port}"}
        agent.put(connection, did(8), card, home="elsewhere.example", now_ms=NOW_MS)
        agent.deactivate(connection, did(0))
    number = put_suite(office.database, targets=(did(0), did(1), did(8)))
    admin.run_now(office, number, now=NOW)
    tally = work(office, lambda: exams(office) == {"done": 1})
    assert tally.recorded == 1


def test_without_a_resolver_the_run_is_void_and_no_agent_is_scored(office):
    async def nothing_answers(host, timeout):
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    with office.database.write() as connection:
        agent.put(connection, did(1), {"host": "agent.example"}, home=None, now_ms=NOW_MS)
    put_suite(office.database, interval_minutes=1)
    tally = work(office, lambda: exams(office) == {"void": 1}, resolver=nothing_answers)
    assert (tally.void, tally.recorded, rows(office)) == (1, 0, 0)


def test_a_fault_of_ours_in_an_exam_is_not_the_agents_and_ends_nothing(office, pong, monkeypatch):
    async def broken(self, claim):
        raise ZeroDivisionError("hunter2")

    enlist(office, pong.port)
    put_suite(office.database, interval_minutes=1)
    monkeypatch.setattr(Examiner, "examine", broken)
    tally = work(office, lambda: exams(office) == {"void": 3})
    assert (tally.void, rows(office)) == (3, 0)


def test_a_fault_in_the_database_costs_one_tick(office, pong, monkeypatch, caplog):
    enlist(office, pong.port)
    put_suite(office.database, interval_minutes=1)
    faults = {"acquire": 2, "claim": 2, "enqueue_due": 1, "commit_exam": 3}

    def flaky(name, act):
        def first_fails(*args, **kwargs):
            if faults[name]:
                faults[name] -= 1
                raise RegistryUnavailable("the registry's database is busy")
            return act(*args, **kwargs)

        return first_fails

    for module, name in ((lease, "acquire"), (run, "claim"), (run, "enqueue_due"),
                         (commit, "commit_exam")):  # fmt: skip
        monkeypatch.setattr(module, name, flaky(name, getattr(module, name)))
    tally = work(office, lambda: exams(office) == {"done": 3}, ttl=1.0)
    assert (tally.recorded, tally.void, rows(office)) == (3, 0, 6)
    assert set(faults.values()) == {0}
    assert "busy" in caplog.text


async def stall(writer, request):
    await asyncio.sleep(30)


def test_a_stop_gives_back_what_does_not_end_in_time(office):
    with stranger({"/0": stall}) as server:
        enlist(office, server.port)
        put_suite(office.database, interval_minutes=1)
        tally = work(office, lambda: len(server.seen) == 3, grace=0.1)
        assert (tally.recorded, exams(office)) == (0, {"pending": 3})
    with office.database.read() as connection:
        assert scalar(connection, "SELECT max(attempt) FROM exams") == 0


def test_a_stop_lets_what_can_end_end(office):
    async def soon(writer, request):
        await asyncio.sleep(0.4)
        await answer(b"pong")(writer, request)

    with stranger({"/0": soon, "/1": soon}) as server:
        enlist(office, server.port)
        put_suite(office.database, interval_minutes=1)
        tally = work(office, lambda: len(server.seen) == 3)
    assert (tally.recorded, exams(office)) == (3, {"done": 3})


def test_a_leader_that_another_replaced_records_nothing(office, monkeypatch):
    async def until_replaced(writer, request):
        with office.database.write() as connection:
            connection.exec_driver_sql("UPDATE leases SET epoch = epoch + 1, holder = 'other'")
        await answer(b"pong")(writer, request)

    with stranger({"/0": until_replaced, "/1": answer(b"pong")}) as server:
        enlist(office, server.port, 1)
        put_suite(office.database, interval_minutes=1)
        refused = []
        commit_exam = commit.commit_exam

        def watched(*args, **kwargs):
            try:
                return commit_exam(*args, **kwargs)
            except StaleClaim:
                refused.append(args)
                raise

        monkeypatch.setattr(commit, "commit_exam", watched)
        tally = work(office, lambda: refused, ttl=60)
    assert (tally.recorded, tally.stale, rows(office)) == (0, 1, 0)


def test_rights_are_renewed_while_an_exam_lasts_longer_than_they_do(office):
    async def long(writer, request):
        await asyncio.sleep(1.6)
        await answer(b"pong")(writer, request)

    with stranger({"/0": long, "/1": answer(b"pong")}) as server:
        enlist(office, server.port, 2)
        put_suite(office.database, interval_minutes=1)
        tally = work(office, lambda: exams(office) == {"done": 2}, ttl=0.9)
        assert len(server.seen) == 4
    assert (tally.recorded, tally.stale, tally.led) == (2, 0, 1)


def test_a_runner_that_cannot_renew_drops_its_exams_before_its_time_is_over(office, monkeypatch):
    def cut_off(*args, **kwargs):
        raise RegistryUnavailable("the registry's database does not answer")

    with stranger({"/0": stall}) as server:
        enlist(office, server.port, 2)
        put_suite(office.database, interval_minutes=1)
        monkeypatch.setattr(lease, "renew", cut_off)
        begun = []

        def dropped() -> bool:
            if server.seen and not begun:
                begun.append(time.monotonic())
            return bool(begun) and time.monotonic() - begun[0] > 1.0

        tally = work(office, dropped, ttl=0.8, limits=limits(seconds=20))
    assert tally.stale >= 2
    assert rows(office) == 0


def test_many_exams_pass_through_few_places_and_a_slow_agent_keeps_one(office, pong):
    with stranger({"/0": stall}) as slow:
        enlist(office, pong.port, 40)
        with office.database.write() as connection:
            card = {"url": f"http://127.0.0.1:{slow.port}"}
            agent.put(connection, did(0), card, home=None, now_ms=NOW_MS)
        put_suite(office.database, interval_minutes=1)
        work(office, lambda: exams(office).get("done") == 39, parallel=4, grace=0.1)


def test_fanned_out_several_runners_share_the_work(office, pong):
    enlist(office, pong.port, 30)
    put_suite(office.database, interval_minutes=1)

    async def scene():
        stop = asyncio.Event()
        several = [
            asyncio.create_task(
                serve(office, pace(parallel=2, fan_out=True), stop=stop, clock=lambda: NOW)
            )
            for _ in range(3)
        ]
        ends = time.monotonic() + 20
        while exams(office) != {"done": 30} and time.monotonic() < ends:
            await asyncio.sleep(0.05)
        stop.set()
        return await asyncio.gather(*several)

    tallies = asyncio.run(scene())
    assert sum(t.recorded for t in tallies) == 30
    assert sum(t.queued for t in tallies) == 1
    assert sum(t.recorded > 0 for t in tallies) > 1
    assert rows(office) == 60


def test_only_one_of_several_runners_leads(office, pong):
    enlist(office, pong.port, 6)
    put_suite(office.database, interval_minutes=1)

    async def scene():
        stop = asyncio.Event()
        several = [
            asyncio.create_task(serve(office, pace(), stop=stop, clock=lambda: NOW))
            for _ in range(4)
        ]
        while exams(office) != {"done": 6}:
            await asyncio.sleep(0.05)
        stop.set()
        return await asyncio.gather(*several)

    tallies = asyncio.run(asyncio.wait_for(scene(), 20))
    assert sorted(t.recorded for t in tallies) == [0, 0, 0, 6]


def test_a_suite_that_was_removed_meanwhile_is_called_off(office):
    with stranger({"/0": stall}) as server:
        enlist(office, server.port, 1)
        number = put_suite(office.database, interval_minutes=1)

        def removed() -> bool:
            if not server.seen:
                return False
            with office.database.write() as connection:
                suite.remove(connection, number, now_ms=NOW_MS)
            return True

        tally = work(office, removed, grace=0.1)
    assert (tally.recorded, exams(office), rows(office)) == (0, {"void": 1}, 0)
