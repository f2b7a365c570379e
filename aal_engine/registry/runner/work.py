"""A runner at work: the right that it holds, and the exams that it is at."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from sqlalchemy import Connection

from aal_engine.errors import ExamVoid, RegistryUnavailable, StaleClaim
from aal_engine.registry.db import commit, lease, run
from aal_engine.registry.model.moment import millis
from aal_engine.registry.model.result import Outcome
from aal_engine.registry.model.run import Claim, Committed, Lease
from aal_engine.registry.run import Examiner
from aal_engine.registry.runner.desk import LOG, Desk, Value, guarded, where
from aal_engine.registry.runner.pace import Pace, Tally

BEATS: Final = 3
"""So often a right is renewed in its time to live."""

MARGIN: Final = 0.2
"""The part of a right's time to live, at its end, in which it is trusted no more."""

RETRY: Final = 0.2
"""Seconds before a commit that the database did not take is tried again."""


@dataclass(slots=True)
class _Exam:
    """A claim at work, and until when its right is trusted."""

    claim: Claim
    right: asyncio.Timeout
    ended: bool = False


class Runner:
    """One process's runner: the right that it holds, and the exams that it is at."""

    def __init__(self, desk: Desk, pace: Pace, examining: Examiner) -> None:
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
                await guarded("tick", self._tick())
                await self._pause(stop)
        finally:
            await self._wind_up()
            beats.cancel()
            await asyncio.wait([beats])
            if (held := self._lease) is not None:
                await guarded("release", self._desk.write(lambda c: lease.release(c, held)))

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
                    LOG.error("an exam failed: %s", where(error))
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
            await guarded("renewal", self._beat())

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
                await guarded("handing over", self._give_back(claim))

    async def _give_back(self, claim: Claim) -> None:
        with suppress(StaleClaim):
            await self._desk.write(lambda c: run.give_back(c, claim))
