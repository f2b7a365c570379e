"""One exam: every task of a suite put to one agent, each scored, all of it within bounds."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from aal_engine.errors import ExamVoid, InputError
from aal_engine.registry.address import Allowed
from aal_engine.registry.card import Interface, endpoint, interface
from aal_engine.registry.model.result import Evidence, Outcome
from aal_engine.registry.model.run import Claim
from aal_engine.registry.model.suite import Task
from aal_engine.registry.probe.dialect import Request, get, send
from aal_engine.registry.probe.exchange import Exchange, fetch, message
from aal_engine.registry.probe.fault import Failed
from aal_engine.registry.probe.lag import Lag, watched
from aal_engine.registry.probe.line import Bounds, Line, Reach, dialled, request_digest
from aal_engine.registry.probe.lookup import CANARY, Resolver, SystemResolver
from aal_engine.registry.scorer import READS_TEXT, SCORER_VERSION, Observation, Verdict, score

TRIES: Final = 3
"""So often a task is put to an agent when the registry's own machine was late each time."""

GIVE_UP: Final = 3
"""After so many tasks without ever a connection, the agent is asked nothing more in this exam."""

SCORING_THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """What exams may take: each probe's bounds, seconds for an exam, and for the loop's lateness.

    `ca_file` names certificate authorities that are trusted beside the system's; `canary` is looked
    up to tell an agent's broken name from a broken resolver.
    """

    probe: Bounds = field(default_factory=Bounds)
    exam: float = 120.0
    lag: float = 0.25
    allowed: Allowed = field(default_factory=Allowed)
    ca_file: str | None = None
    canary: str = CANARY


@asynccontextmanager
async def examiner(
    limits: Limits, *, parallel: int, resolver: Resolver | None = None
) -> AsyncIterator[Examiner]:
    """Give what examines agents, as many at once as `parallel` says, for the context's duration.

    Raises:
        InputError: the file of certificate authorities cannot be read.
    """
    scoring = ThreadPoolExecutor(SCORING_THREADS, thread_name_prefix="scoring")
    try:
        async with (
            reaching(limits, parallel=parallel, resolver=resolver) as reach,
            watched(limits.lag) as lag,
        ):
            yield Examiner(limits, reach, lag, scoring)
    finally:
        scoring.shutdown(wait=False, cancel_futures=True)


@asynccontextmanager
async def reaching(
    limits: Limits, *, parallel: int = 1, resolver: Resolver | None = None
) -> AsyncIterator[Reach]:
    """Give what agents are reached by, by the machine's own resolver unless another is named.

    Raises:
        InputError: as in `examiner`.
    """
    tls = _tls(limits.ca_file)
    if resolver is not None:
        yield Reach(resolver, tls, limits.probe, limits.allowed, limits.canary)
        return
    system = SystemResolver(2 * parallel)
    try:
        yield Reach(system, tls, limits.probe, limits.allowed, limits.canary)
    finally:
        system.close()


def _tls(ca_file: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except OSError:
            raise InputError.at(
                "cannot be read as certificates in PEM", file=ca_file, field="ca_file"
            ) from None
    return context


class Examiner:
    """What the exams of one process share."""

    def __init__(self, limits: Limits, reach: Reach, lag: Lag, scoring: Executor) -> None:
        self._limits = limits
        self._reach = reach
        self._lag = lag
        self._scoring = scoring

    async def examine(self, claim: Claim) -> list[Outcome]:
        """Put every task of a claim to its agent, one after another; return an outcome for each.

        Raises:
            ExamVoid: the fault is this machine's own; nothing may be recorded of the agent.
        """
        exam = _Exam.of(claim)
        if exam.url is None:
            return [exam.unanswered(task, "no_endpoint") for task in claim.tasks]
        try:
            async with dialled(exam.url, self._reach) as line:
                return await self._tasks(exam, line)
        except Failed as error:
            return [exam.unanswered(task, str(error)) for task in claim.tasks]

    async def _tasks(self, exam: _Exam, line: Line) -> list[Outcome]:
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._limits.exam
        outcomes: list[Outcome] = []
        for task in exam.claim.tasks:
            left = ends - loop.time()
            if left <= 0:
                outcomes.append(exam.unanswered(task, "exam_timeout"))
            elif len(outcomes) >= GIVE_UP and not line.reached:
                outcomes.append(exam.unanswered(task, "unreachable: not asked any more"))
            else:
                seconds = min(left, self._limits.probe.seconds)
                exchange = await self._measure(exam, line, task, seconds)
                outcomes.append(await self._outcome(task, exchange))
        return outcomes

    async def _measure(self, exam: _Exam, line: Line, task: Task, seconds: float) -> Exchange:
        loop = asyncio.get_running_loop()
        for _ in range(TRIES):
            started = loop.time()
            exchange = await exam.put(line, task, seconds)
            if not self._lag.since(started):
                return exchange
        raise ExamVoid("the registry's machine was too busy to measure")

    async def _outcome(self, task: Task, exchange: Exchange) -> Outcome:
        observed = exchange.observation
        verdict = await self._score(task, observed)
        error = observed.error
        if error is None and observed.text is None and task.scorer in READS_TEXT:
            error = "undecodable: the body is not text in the charset that it declares"
        evidence = Evidence(exchange.request, exchange.response, SCORER_VERSION)
        return Outcome(task.id, verdict.score, verdict.passed, observed.latency_ms, error, evidence)

    async def _score(self, task: Task, observed: Observation) -> Verdict:
        if task.scorer != "regex":
            return score(task.scorer, observed, task.expected)
        # Linear in the text, and still long enough now and then to make the loop late.
        return await asyncio.get_running_loop().run_in_executor(
            self._scoring, score, task.scorer, observed, task.expected
        )


@dataclass(frozen=True, slots=True)
class _Exam:
    """A claim, and where its agent is reached for the suite's kind of task."""

    claim: Claim
    url: str | None
    spoken: Interface | None

    @classmethod
    def of(cls, claim: Claim) -> _Exam:
        if claim.suite.task_type == "a2a_message":
            spoken = interface(claim.agent.card)
            return cls(claim, None if spoken is None else spoken.url, spoken)
        return cls(claim, endpoint(claim.agent.card), None)

    async def put(self, line: Line, task: Task, seconds: float) -> Exchange:
        assert self.url is not None
        if self.spoken is None:
            return await fetch(line, self.url, task.input, seconds)
        return await message(line, self.spoken, task.input, self.message_id(task), seconds)

    def message_id(self, task: Task) -> str:
        # No chance in it: whoever holds the record can make the request again, to the byte.
        return f"{self.claim.run_id}-{task.id}"

    def request(self, task: Task) -> Request:
        url = self.url or ""
        if self.spoken is None:
            return get(url, task.input)
        return send(self.spoken, task.input, self.message_id(task))

    def unanswered(self, task: Task, error: str) -> Outcome:
        """Return the outcome of a task that the agent was never asked, or never answered."""
        request = request_digest(self.request(task))
        return Outcome(task.id, 0.0, False, None, error, Evidence(request, None, SCORER_VERSION))
