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
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from aal_engine.registry.office import Office
from aal_engine.registry.probe.lookup import Resolver
from aal_engine.registry.run import examiner
from aal_engine.registry.runner.desk import Desk
from aal_engine.registry.runner.pace import Pace as Pace
from aal_engine.registry.runner.pace import Tally as Tally
from aal_engine.registry.runner.work import Runner

DATABASE_THREADS: Final = 2
"""Few: whatever runs beside the loop in this process makes agents look slower than they are."""


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
) -> AsyncIterator[Runner]:
    with ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="registry") as threads:
        async with examiner(pace.limits, parallel=pace.parallel, resolver=resolver) as examining:
            yield Runner(Desk(office.database, threads, clock), pace, examining)
