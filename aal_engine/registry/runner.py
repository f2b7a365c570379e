"""The runner: one leader a registry queues what is due, and exams are done while they are held.

Every process that serves the registry runs a runner, and all of them want the lease. Whoever has it
leads: it queues the slots that are due, and, unless work is fanned out, it alone examines. Fanned
out, which PostgreSQL is made for, the leader only queues beside its own share of the work, and
every runner claims exams, passing over what others hold.

A right that the database gave is trusted on this process's own monotonic clock: from the moment
before it was asked for, for its time to live less a margin. A runner that was stopped, cut off or
overloaded drops its exams when that time is over, and one that goes on too late is refused by the
commit, which reads the lease's epoch and the exam's attempt again. Whatever fails in the database
fails for one tick: the next tries again, and nothing of it is held against an agent.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeVar
from uuid import uuid4

from sqlalchemy import Connection

from aal_engine.errors import AalError, ExamVoid, RegistryUnavailable, StaleClaim
from aal_engine.registry.db import commit, lease, run
from aal_engine.registry.db.database import Database
from aal_engine.registry.model.moment import millis
from aal_engine.registry.model.result import Outcome
from aal_engine.registry.model.run import Claim, Committed, Lease
from aal_engine.registry.office import Office
from aal_engine.registry.probe.lookup import Resolver
from aal_engine.registry.run import Examiner, Limits, examiner

LOG: Final = logging.getLogger("aal_engine.registry")

BEATS: Final = 3
"""So often a right is renewed in its time to live."""

MARGIN: Final = 0.2
"""The part of a right's time to live, at its end, in which it is trusted no more."""

RETRY: Final = 0.2
"""Seconds before a commit that the database did not take is tried again."""

DATABASE_THREADS: Final = 2
"""Few: whatever runs beside the loop in this process makes agents look slower than they are."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Pace:
    """How a runner works; times are seconds.

    `tick`: between two looks for what is due or was asked for. `parallel`: exams at once. `ttl`: for
    so long a lease and a claim are given. `grace`: what exams in flight are given at a stop.
    """

    tick: float = 2.0
    parallel: int = 16
    ttl: float = 15.0
    grace: float = 10.0
    fan_out: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(slots=True)
class Tally:
    """What one runner has done: `led` times leading, runs queued, and what exams came to.

    `stale` are exams that another runner took over, or that the runner dropped in time for that.
    """

    led: int = 0
    queued: int = 0
    recorded: int = 0
    paid: int = 0
    void: int = 0
    stale: int = 0


async def serve(
    office: Office,
    pace: Pace,
    *,
    stop: asyncio.Event,
    resolver: Resolver | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Tally:
    """Run until `stop` is set, end or give back what is in flight, and return what was done.

    Where evals are not enabled it returns at once.

    Raises:
        InputError: the file of certificate authorities cannot be read.
    """
    if not office.enabled:
        return Tally()
    async with _opened(office, pace, resolver, clock or _now) as runner:
        await runner.work(stop)
        return runner.tally


@asynccontextmanager
async def running(office: Office, pace: Pace) -> AsyncIterator[None]:
    """Run beside whatever else the process serves, for the context's duration.

    Raises:
        InputError: on entering, as in `serve`.
    """
    if not office.enabled:
        yield
        return
    async with _opened(office, pace, None, _now) as runner:
        stop = asyncio.Event()
        working = asyncio.create_task(runner.work(stop))
        try:
            yield
        finally:
            stop.set()
            await working


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def _opened(
    office: Office, pace: Pace, resolver: Resolver | None, clock: Callable[[], datetime]
) -> AsyncIterator[_Runner]:
    with ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="registry") as threads:
        async with examiner(pace.limits, parallel=pace.parallel, resolver=resolver) as examining:
            yield _Runner(_Desk(office.database, threads, clock), pace, examining)


@dataclass(frozen=True, slots=True)
class _Desk:
    """The database as a loop may use it: each act is one transaction on a thread."""

    database: Database
    threads: ThreadPoolExecutor
    clock: Callable[[], datetime]

    async def write(self, act: Callable[[Connection], Value]) -> Value:
        def transaction() -> Value:
            with self.database.write() as connection:
                return act(connection)

        return await asyncio.get_running_loop().run_in_executor(self.threads, transaction)


@dataclass(slots=True)
class _Exam:
    """A claim at work, and until when its right is trusted."""

    claim: Claim
    right: asyncio.Timeout
    ended: bool = False


class _Runner:
    """One process's runner: the right that it holds, and the exams that it is at."""

    def __init__(self, desk: _Desk, pace: Pace, examining: Examiner) -> None:
        self._desk = desk
        self._pace = pace
        self._examining = examining
        self._loop = asyncio.get_running_loop()
        self._ttl_ms = int(pace.ttl * 1000)
        self._holder = f"{platform.node()[:64]}-{os.getpid()}-{uuid4().hex}"
        self._lease: Lease | None = None
        self._leads_until = 0.0
        self._exams: dict[asyncio.Task[None], _Exam] = {}
        self._more = False
        self._room = asyncio.Event()
        self.tally = Tally()

    async def work(self, stop: asyncio.Event) -> None:
        """Tick until told to stop; then end what can be ended in time, and hand over the rest."""
        beats = asyncio.create_task(self._beats())
        try:
            while not stop.is_set():
                await _guarded("tick", self._tick())
                await self._pause(stop)
        finally:
            await self._wind_up()
            beats.cancel()
            await asyncio.wait([beats])
            if (held := self._lease) is not None:
                await _guarded("release", self._desk.write(lambda c: lease.release(c, held)))

    async def _pause(self, stop: asyncio.Event) -> None:
        """Wait for the next tick, for the stop, or, where exams are waiting, for room."""
        waits = [asyncio.create_task(stop.wait())]
        if self._more:
            waits.append(asyncio.create_task(self._room.wait()))
        await asyncio.wait(waits, timeout=self._pace.tick, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _tick(self) -> None:
        if self._lease is not None and self._loop.time() >= self._leads_until:
            self._lose("its time was over before it was renewed")
        if self._lease is None:
            await self._run_for_lead()
        held = self._lease
        try:
            if held is not None:
                await self._desk.write(lambda c: self._queue(c, held))
            if held is not None or self._pace.fan_out:
                await self._claim(None if self._pace.fan_out else held)
        except StaleClaim:
            self._lose("another leads")

    def _queue(self, connection: Connection, held: Lease) -> None:
        now = self._desk.clock()
        run.finish(connection, now_ms=millis(now))
        self.tally.queued += len(run.enqueue_due(connection, held, now=now))

    async def _run_for_lead(self) -> None:
        until = self._trusted()
        won = await self._desk.write(
            lambda c: lease.acquire(c, lease.LEADER, self._holder, self._ttl_ms)
        )
        if won is not None:
            self._lease, self._leads_until = won, until
            self.tally.led += 1
            LOG.info("leading, epoch %d", won.epoch)

    def _trusted(self) -> float:
        """Return until when a right that is asked for at this moment is trusted."""
        return self._loop.time() + self._pace.ttl * (1 - MARGIN)

    def _lose(self, why: str) -> None:
        LOG.warning("not leading any more: %s", why)
        self._lease = None
        if not self._pace.fan_out:
            for task in self._exams:
                task.cancel()

    async def _claim(self, held: Lease | None) -> None:
        """Claim as many exams as there is room for, and begin them."""
        room = self._pace.parallel - len(self._exams)
        self._room.clear()
        if room <= 0:
            return
        until = self._trusted()
        if held is not None:
            until = min(until, self._leads_until)
        claims = await self._desk.write(
            lambda c: run.claim(c, held, limit=room, ttl_ms=self._ttl_ms)
        )
        self._more = len(claims) == room
        for claim in claims:
            exam = _Exam(claim, asyncio.timeout_at(until))
            task = asyncio.create_task(self._examine(exam))
            self._exams[task] = exam
            task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        exam = self._exams.pop(task)
        if not exam.ended:
            self.tally.stale += 1
        if 4 * (self._pace.parallel - len(self._exams)) >= self._pace.parallel:
            self._room.set()

    async def _examine(self, exam: _Exam) -> None:
        claim = exam.claim
        with suppress(StaleClaim, TimeoutError):
            async with exam.right:
                reason = "a fault of the examiner's"
                try:
                    committed = await self._record(claim, await self._examining.examine(claim))
                except ExamVoid as void:
                    reason = void.message
                except StaleClaim:
                    raise
                except Exception as error:
                    LOG.error("an exam failed: %s", _where(error))
                else:
                    exam.ended = True
                    self.tally.recorded += 1
                    self.tally.paid += committed.amount
                    return
                await self._persist(lambda c: run.void(c, claim, reason))
                exam.ended = True
                self.tally.void += 1

    async def _record(self, claim: Claim, outcomes: list[Outcome]) -> Committed:
        return await self._persist(
            lambda c: commit.commit_exam(c, claim, outcomes, now_ms=millis(self._desk.clock()))
        )

    async def _persist(self, act: Callable[[Connection], Value]) -> Value:
        """Write, and while the database does not take it write again; the exam's right bounds it."""
        while True:
            try:
                return await self._desk.write(act)
            except RegistryUnavailable as error:
                LOG.warning("a result waits: %s", error.message)
                await asyncio.sleep(RETRY)

    async def _beats(self) -> None:
        while True:
            await asyncio.sleep(self._pace.ttl / BEATS)
            await _guarded("renewal", self._beat())

    async def _beat(self) -> None:
        """Renew the lease, then the claims; each in a transaction of its own.

        Commits touch an exam and then the lease: both in one here would make a circle.
        """
        until = self._trusted()
        if (held := self._lease) is not None:
            if not await self._desk.write(lambda c: lease.renew(c, held)):
                self._lose("another took over")
                return
            self._leads_until = until
        exams = list(self._exams.values())
        if exams:
            claims = [exam.claim for exam in exams]
            await self._desk.write(lambda c: run.extend(c, claims, ttl_ms=self._ttl_ms))
            for exam in exams:
                with suppress(RuntimeError):  # It is over meanwhile.
                    exam.right.reschedule(until)

    async def _wind_up(self) -> None:
        """Let exams end in the time of grace; give those that do not back to the queue."""
        if self._exams:
            await asyncio.wait(self._exams, timeout=self._pace.grace)
        left = dict(self._exams)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        for exam in left.values():
            if not exam.ended:
                claim = exam.claim
                await _guarded("handing over", self._give_back(claim))

    async def _give_back(self, claim: Claim) -> None:
        with suppress(StaleClaim):
            await self._desk.write(lambda c: run.give_back(c, claim))


async def _guarded(what: str, act: Awaitable[object]) -> None:
    """Carry something out that may fail this time; say so, and go on."""
    try:
        await act
    except AalError as error:
        LOG.warning("%s failed: %s", what, error.message)
    except Exception as error:
        LOG.error("%s failed: %s", what, _where(error))


def _where(error: BaseException) -> str:
    """Return an exception's kind and place; its words may quote an agent's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = type(error).__name__
    if trace is None:
        return name
    return f"{name} in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"
