"""Results in the database: written once, read newest first, pruned when they are old."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, ScalarSelect, delete, func, select

from aal_engine.canonical import digest
from aal_engine.registry.db import standing
from aal_engine.registry.db.dialect import is_postgresql
from aal_engine.registry.db.schema import agents, evidence, results, suites
from aal_engine.registry.model.result import Outcome, Result, millionths
from aal_engine.registry.model.run import Claim
from aal_engine.registry.model.suite import Task


@dataclass(frozen=True, slots=True)
class Proof:
    """A result's row with its evidence; digests are SHA-256 in hexadecimal."""

    result: Result
    task: str
    request: str
    response: str | None
    scorer_version: str
    epoch: int | None


def write(
    connection: Connection, claim: Claim, outcomes: Sequence[Outcome], *, now_ms: int
) -> None:
    """Write one row a task, and its evidence."""
    rows = [
        {
            "run_id": claim.run_id,
            "suite_id": claim.suite_id,
            "agent_id": claim.agent.id,
            "task_id": outcome.task_id,
            "score": millionths(outcome.score),
            "passed": outcome.passed,
            "latency_ms": outcome.latency_ms,
            "error": outcome.error,
            "at": now_ms,
        }
        for outcome in outcomes
    ]
    made = results.insert().returning(results.c.id, results.c.task_id)
    numbers = {row.task_id: row.id for row in connection.execute(made, rows)}
    tasks = {task.id: task for task in claim.tasks}
    connection.execute(
        evidence.insert(),
        [
            {
                "result_id": numbers[outcome.task_id],
                "task": bytes.fromhex(task_digest(claim.suite.task_type, tasks[outcome.task_id])),
                "request": bytes.fromhex(outcome.evidence.request),
                "response": None
                if outcome.evidence.response is None
                else bytes.fromhex(outcome.evidence.response),
                "scorer_version": outcome.evidence.scorer_version,
                "epoch": None if claim.lease is None else claim.lease.epoch,
            }
            for outcome in outcomes
        ],
    )


def task_digest(task_type: str, task: Task) -> str:
    """Return the digest of all that decides how a task is sent and scored, in hexadecimal."""
    return digest(
        {
            "task_type": task_type,
            "input": task.input,
            "scorer": task.scorer,
            "expected": task.expected,
            "weight": task.weight,
        }
    )


def newest(connection: Connection, did: str, limit: int) -> list[Result]:
    """Return an agent's last results, newest first; none for an agent that is not known."""
    query = (
        select(
            results.c.run_id,
            suites.c.key,
            results.c.score,
            results.c.passed,
            results.c.latency_ms,
            results.c.error,
            results.c.at,
        )
        .join(suites, suites.c.id == results.c.suite_id)
        .where(results.c.agent_id == _agent(did))
        .order_by(results.c.at.desc(), results.c.id.desc())
        .limit(limit)
    )
    return [Result(*row) for row in connection.execute(query)]


def _agent(did: str) -> ScalarSelect[int]:
    return select(agents.c.id).where(agents.c.did == did).scalar_subquery()


def proofs(connection: Connection, run_id: str, did: str) -> list[Proof]:
    """Return a run's results with one agent and the evidence of each, in the tasks' order."""
    query = (
        select(results, suites.c.key, evidence)
        .join(suites, suites.c.id == results.c.suite_id)
        .join(evidence, evidence.c.result_id == results.c.id)
        .where(results.c.run_id == run_id, results.c.agent_id == _agent(did))
        .order_by(results.c.id)
    )
    return [
        Proof(
            Result(row.run_id, row.key, row.score, row.passed, row.latency_ms, row.error, row.at),
            row.task.hex(),
            row.request.hex(),
            None if row.response is None else row.response.hex(),
            row.scorer_version,
            row.epoch,
        )
        for row in connection.execute(query)
    ]


def prune(connection: Connection, *, before_ms: int, limit: int) -> int:
    """Delete the oldest rows from before a time, so many at most; return how many.

    The aggregates keep them: n, the sum and the mean stay as they are.
    """
    old = select(results).where(results.c.at < before_ms).order_by(results.c.at).limit(limit)
    if is_postgresql(connection):
        old = old.with_for_update(skip_locked=True)
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    numbers = []
    for row in connection.execute(old):
        numbers.append(row.id)
        n, total = sums.get((row.agent_id, row.suite_id), (0, 0))
        sums[row.agent_id, row.suite_id] = n + 1, total + row.score
    # Agent by agent, and ALL before each suite, as commits do: nobody waits in a circle.
    standing.note_pruned(connection, ((*key, *sums[key]) for key in sorted(sums)))
    for start in range(0, len(numbers), 500):
        connection.execute(delete(results).where(results.c.id.in_(numbers[start : start + 500])))
    return len(numbers)


def count(connection: Connection) -> int:
    """Return how many rows are kept."""
    return connection.scalar(select(func.count()).select_from(results)) or 0
