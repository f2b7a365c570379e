"""A live run: search the customer's index, ask the customer's agent, keep what came of it.

The index is searched first, once for all model families, and a run whose index fails ends there:
what could not be searched is never scored as found nothing. Then every question is asked as every
family. Each finished search and answer stands in the journal before the next begins, so that a run
that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from aal_engine.canonical import JSON, digest
from aal_engine.decide.entry import stamp
from aal_engine.errors import InputError, RemoteError, shown
from aal_engine.measure.golden import Case, Pack
from aal_engine.measure.origin import Identity
from aal_engine.measure.retrieval.metrics import parse
from aal_engine.measure.run import Output, Passage
from aal_engine.service.evaluate import Watch, chosen
from aal_engine.store.address import Options, Secret, decisive
from aal_engine.store.failure import Failure
from aal_engine.store.golden import load_golden, load_pack
from aal_engine.store.index.hit import Index
from aal_engine.store.index.opened import open_index, read_index
from aal_engine.store.live.agent import Agents, Question, Reply
from aal_engine.store.live.answered import Answered
from aal_engine.store.live.journal import Journal, open_journal, write_run
from aal_engine.store.live.spec import (
    AgentSpec,
    check_secrets,
    open_agents,
    read_agent,
)
from aal_engine.store.pace import persistent
from aal_engine.store.schema import NAME

SEARCHED_AT_ONCE = 32
MOST_PASSAGES = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """What a person asks for: an index, an agent, or both, on the suites of a pack."""

    pack: Path
    version: str
    index: str | None = None
    agent: str | None = None
    families: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    k: int = 10
    attempts: int = 1


@dataclass(frozen=True)
class Plan:
    """A job with its files read."""

    job: Job
    pack: Pack
    cases: tuple[Case, ...]
    metrics: tuple[str, ...]
    index: tuple[Options, Path] | None
    agent: AgentSpec | None
    digest: str

    @property
    def asked(self) -> int:
        """How many questions a whole run asks."""
        families = 0 if self.agent is None else len(self.agent.families)
        return len(self.cases) * families * self.job.attempts

    def questions(self, retrieved: Mapping[str, tuple[Passage, ...]]) -> Iterator[Question]:
        """Yield every question as every family, case by case."""
        families = () if self.agent is None else tuple(self.agent.families)
        for case in self.cases:
            passages = None if self.index is None else retrieved[case.id]
            for attempt in range(1, self.job.attempts + 1):
                for family in families:
                    yield Question(case.id, attempt, family, case.question, passages)


@dataclass(frozen=True, slots=True)
class LiveRun:
    """What a live run left: its run file, when it began, its index, and every answer's cost."""

    run: Path
    begun_at: datetime
    index: Identity | None
    answered: tuple[Answered, ...]
    asked_now: int
    notes: tuple[str, ...] = ()


def plan(job: Job) -> Plan:
    """Read what a job names; nothing is searched, asked or written.

    Raises:
        InputError: an input cannot be used, or the job asks for nothing.
    """
    if job.index is None and job.agent is None:
        raise InputError.at("there is nothing to ask", way_out="pass --index, --agent, or --run")
    if not NAME.fullmatch(job.version):
        raise InputError.at(f"{shown(job.version)} is not a version name", way_out="as in 1.4.0")
    if not 1 <= job.k <= MOST_PASSAGES:
        raise InputError.at(f"must be from 1 to {MOST_PASSAGES}", field="k")
    pack = load_pack(job.pack)
    golden = [load_golden(job.pack, name) for name in chosen(pack, job.suites)]
    cases: dict[str, Case] = {}
    for case in (case for suite in golden for case in suite.cases):
        if cases.setdefault(case.id, case).question != case.question:
            raise InputError.at("asks another question in another suite", case=case.id)
    index = None if job.index is None else read_index(job.index)
    agent = None if job.agent is None else read_agent(job.agent, job.families)
    asked: dict[str, JSON] = {
        "pack": [pack.name, pack.citations.mode, pack.citations.base, pack.language],
        "version": job.version,
        "questions": {case.id: case.question for case in cases.values()},
        "index": None if index is None else decisive(index[0]),
        "agent": None if agent is None else agent.canonical(),
        "k": job.k,
        "attempts": job.attempts,
    }
    ordered = tuple(cases[name] for name in sorted(cases))
    metrics = dict.fromkeys(metric for suite in golden for metric in suite.suite.metrics)
    return Plan(job, pack, ordered, tuple(metrics), index, agent, digest(asked))


def live(
    planned: Plan,
    out: Path,
    *,
    now: datetime,
    secret: Secret,
    restart: bool = False,
    retry_failed: bool = False,
    watch: Watch | None = None,
) -> LiveRun:
    """Carry out a plan and write `run.jsonl` in `OUT/work`; what is finished is not asked again.

    With `restart` everything is, and with `retry_failed` what ended in an error.

    Raises:
        InputError: an input cannot be used, or a key is not at hand; nothing was asked.
        RemoteError: the index failed, the agent refuses the key, or the deadline passed.
        Conflict: the folder holds another run, or the index changed since it began.
    """
    if planned.agent is not None:
        check_secrets(planned.agent, secret)
    with open_journal(out, planned.digest, stamp(now), restart=restart) as journal:
        if retry_failed:
            journal.forget_failed()
        unsearched = [
            case
            for case in planned.cases
            if planned.index is not None and case.id not in journal.retrieved
        ]
        if watch is not None:
            watch.total(len(unsearched) + planned.asked - len(journal.answered))
        if unsearched:
            assert planned.index is not None
            with open_index(*planned.index, secret) as index:
                journal.searched(index.identity())
                _search(index, unsearched, planned, journal, watch)
        before = len(journal.answered)
        if planned.agent is None:
            outputs = (
                Output(case, retrieved=listed) for case, listed in sorted(journal.retrieved.items())
            )
        else:
            _ask(planned, planned.agent, journal, secret, watch)
            outputs = (journal.answered[key].output for key in sorted(journal.answered))
        run = write_run(out, outputs)
        return LiveRun(
            run,
            datetime.fromisoformat(journal.begun_at),
            journal.index,
            tuple(journal.answered[key] for key in sorted(journal.answered)),
            len(journal.answered) - before,
            tuple(_notes(planned, journal)),
        )


def _notes(planned: Plan, journal: Journal) -> Iterator[str]:
    """Yield what is allowed and seldom meant."""
    found = [passage for listed in journal.retrieved.values() for passage in listed]
    if planned.agent is not None and found and not any(passage.text for passage in found):
        yield "the index gives no texts: the agent was asked with passages that say nothing"
    deeper = [name for name in planned.metrics if (parse(name)[1] or 0) > planned.job.k]
    if planned.index is not None and deeper:
        names = ", ".join(map(shown, deeper))
        yield f"{names}: measured on lists of {planned.job.k} passages; ask for more with --k"


def _search(
    index: Index, cases: Sequence[Case], planned: Plan, journal: Journal, watch: Watch | None
) -> None:
    assert planned.index is not None
    separator = planned.index[0].get("passage_separator")
    remaining = iter(cases)
    while batch := list(islice(remaining, SEARCHED_AT_ONCE)):
        found = index.search([case.question for case in batch], planned.job.k)
        journal.found(
            {
                case.id: tuple(hit.passage(separator) for hit in hits)
                for case, hits in zip(batch, found, strict=True)
            }
        )
        if watch is not None:
            watch.seen(len(batch))


def _ask(
    planned: Plan, spec: AgentSpec, journal: Journal, secret: Secret, watch: Watch | None
) -> None:
    asked = list(planned.questions(journal.retrieved))
    open_ = [one for one in asked if (one.family, one.case_id, one.attempt) not in journal.answered]
    if open_:
        asyncio.run(_asked(planned, spec, open_, journal, secret, watch))


async def _asked(
    planned: Plan,
    spec: AgentSpec,
    questions: Sequence[Question],
    journal: Journal,
    secret: Secret,
    watch: Watch | None,
) -> None:
    agents = open_agents(spec, planned.pack, secret)
    waiting = iter(questions)

    async def work() -> None:
        for question in waiting:
            journal.finish(await answer(agents, question, spec))
            if watch is not None:
                watch.seen(1)

    try:
        async with asyncio.timeout(spec.deadline), asyncio.TaskGroup() as group:
            for _ in range(min(spec.concurrency, len(questions))):
                group.create_task(work())
    except TimeoutError:
        raise RemoteError(
            f"the deadline of {spec.deadline:g} s passed with {len(journal.answered)} answers "
            "at hand",
            way_out="run the same command again: it goes on with what is missing",
        ) from None
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    finally:
        for agent in agents.values():
            await agent.close()


async def answer(agents: Agents, question: Question, spec: AgentSpec) -> Answered:
    """Ask one question until there is an answer or no use in asking on.

    Raises:
        RemoteError: the agent refuses the key.
    """
    took = 0.0

    async def once() -> Reply:
        nonlocal took
        begun = time.monotonic()
        try:
            return await agents[question.family].ask(question)
        finally:
            took = time.monotonic() - begun

    try:
        reply, tries = await persistent(once, spec.pace, question.key)
    except Failure as failure:
        if failure.fatal:
            raise RemoteError(
                f"the agent of family {shown(question.family)} refuses the key: {failure.detail}",
                way_out="set the environment variable that key_from names, and run again",
            ) from None
        reply, tries = Reply(None, error=failure.word), spec.pace.tries
    retrieved = question.passages if reply.retrieved is None else reply.retrieved
    output = Output(
        question.case_id,
        question.attempt,
        question.family,
        retrieved,
        reply.answer,
        reply.citations,
        error=reply.error,
    )
    return Answered(output, round(took * 1000, 1), reply.tokens_in, reply.tokens_out, tries)
