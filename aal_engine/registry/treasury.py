"""The treasury's rules: when a run is rewarded, by how much, and under which name for ever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aal_engine.registry.model.suite import Suite

TREASURY = "treasury"
"""The account that rewards are paid from; it never goes below zero."""

ISSUANCE = "issuance"
"""The other side of every unit that the operator put in: the one account that is negative."""

DAY_MS = 24 * 60 * 60 * 1000
MINUTE_MS = 60 * 1000
MAX_AMOUNT = 10**15
"""The most units in one transfer."""

MAX_SUPPLY = 10**18
"""The most units that are ever put in: no account can overflow 64 bits, which SQLite would round."""

REWARDS: Mapping[str, str] = {
    "unpaid": "the suite does not pay",
    "not_earned": "no task passed",
    "cooldown": "the agent was paid by this suite too short a time ago",
    "over_budget": "the agent would be paid more in 24 hours than the suite's budget",
    "empty_treasury": "the treasury holds less than the reward: nothing was paid, the run stands",
    "paid": "the reward was paid",
}
"""What may become of an exam's reward."""


@dataclass(frozen=True, slots=True)
class Earned:
    """What one agent was paid by one suite before: last when, and how much in 24 hours."""

    last_at: int | None
    in_a_day: int


def refusal(suite: Suite, passed: int, earned: Earned, now_ms: int) -> str | None:
    """Return why a run is not rewarded (a name in REWARDS), None where it is if funds suffice.

    `passed` is the number of tasks that passed: one is enough.
    """
    if not suite.pays:
        return "unpaid"
    if passed < 1:
        return "not_earned"
    wait = suite.cooldown_minutes * MINUTE_MS
    if earned.last_at is not None and now_ms - earned.last_at < wait:
        return "cooldown"
    if suite.daily_budget is not None and earned.in_a_day + suite.reward > suite.daily_budget:
        return "over_budget"
    return None


def reward_key(run_id: str, did: str) -> str:
    """Return the idempotency key of a run's reward: the run and the agent, and no time.

    >>> reward_key("8f2c", "did:web:agents.example")
    'eval:8f2c:did:web:agents.example'
    """
    return f"eval:{run_id}:{did}"
