"""The one way onto the record: results, aggregate, trust edge and reward, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, update

from aal_engine.registry.db import account, edge, lease, result, run, standing
from aal_engine.registry.db.schema import exams
from aal_engine.registry.model.result import UNIT, Outcome, millionths, suite_score
from aal_engine.registry.model.run import Claim, Committed
from aal_engine.registry.model.standing import ALL
from aal_engine.registry.treasury import TREASURY, refusal, reward_key


def commit_exam(
    connection: Connection, claim: Claim, outcomes: Sequence[Outcome], *, now_ms: int
) -> Committed:
    """Put what one agent did in one run on the record, once.

    Everything is written in the caller's one transaction, which re-reads the exam's attempt and,
    where there is one, the lease's epoch: a runner that was stopped and went on too late writes
    nothing at all. Rows are touched in one order everywhere, so that no two commits wait for each
    other.

    Raises:
        StaleClaim: another runner leads or holds the exam by now, or it was called off.
        ValueError: there is not exactly one outcome for each of the claim's tasks.
    """
    by_task = {outcome.task_id: outcome for outcome in outcomes}
    if len(by_task) != len(outcomes) or by_task.keys() != {task.id for task in claim.tasks}:
        raise ValueError("not one outcome for each task")
    ordered = [by_task[task.id] for task in claim.tasks]
    scores = [millionths(outcome.score) for outcome in ordered]
    # Of the scores as they are kept, so that anybody can compute it again from the record.
    score = suite_score([each / UNIT for each in scores], [task.weight for task in claim.tasks])
    run.end(connection, claim, score=millionths(score))
    if claim.lease is not None:
        lease.check(connection, claim.lease)
    result.write(connection, claim, ordered, now_ms=now_ms)
    more = standing.Sum(len(scores), sum(scores), now_ms)
    for suite_id in (ALL, claim.suite_id):
        standing.add(connection, suite_id, claim.agent.id, claim.agent.did, more)
    if claim.suite.reputation:
        edge.vote(connection, claim.agent.did, score, now_ms=now_ms)
    passed = sum(outcome.passed for outcome in ordered)
    reward = _reward(connection, claim, passed, now_ms)
    return Committed(score, passed, reward, claim.suite.reward if reward == "paid" else 0)


def _reward(connection: Connection, claim: Claim, passed: int, now_ms: int) -> str:
    """Pay the agent where the rules say so; return what became of the reward."""
    # The agent's aggregate is locked by now, so that no second reward is weighed meanwhile.
    before = account.earned(connection, claim.agent.did, claim.suite_id, now_ms=now_ms)
    became = refusal(claim.suite, passed, before, now_ms)
    if became is None:
        paid = account.transfer(
            connection,
            reward_key(claim.run_id, claim.agent.did),
            TREASURY,
            claim.agent.did,
            claim.suite.reward,
            suite_id=claim.suite_id,
            now_ms=now_ms,
        )
        became = "paid" if paid else "empty_treasury"
    if claim.suite.pays:
        here = exams.c.run_id == claim.run_id, exams.c.agent_id == claim.agent.id
        connection.execute(update(exams).where(*here).values(reward=became))
    return became
