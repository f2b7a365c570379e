"""The registry's record as MCP tools: the leaderboard, and what one agent's tasks came to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from aal_engine.api.tool import tool
from aal_engine.api.wire import Wire
from aal_engine.registry import read
from aal_engine.registry.office import Office

Suite = Annotated[
    str | None, Field(min_length=1, max_length=200, description="Key of one suite; none: all.")
]
Did = Annotated[str, Field(min_length=1, max_length=2048, description="The agent's DID.")]
Limit = Annotated[int, Field(ge=1, le=100, description="The most rows to return.")]


class Ranked(Wire):
    """An agent's place: `mean` in [0, 1] over `runs` results, and the age of the last in seconds."""

    did: str
    mean: float
    runs: int
    last_at: str
    lower_bound: Annotated[float, Field(description="Lower end of the mean's 95% interval.")]
    age_seconds: int


class Leaderboard(Wire):
    """Agents by mean score, then by results, then by DID; none where evals are not enabled."""

    items: list[Ranked]


class TaskResult(Wire):
    """One task of a run: a score in [0, 1], whether it passed, and what went wrong."""

    run_id: str
    suite: str
    score: float
    passed: bool
    latency_ms: int | None
    error: str | None
    at: str


class AgentRecord(Wire):
    """An agent's task results, the newest first; none for an agent that is not known."""

    did: str
    items: list[TaskResult]


def record_tools(office: Office | None) -> list[Tool]:
    """Return the tools that read a registry's record; without one they return nothing."""

    def leaderboard(suite: Suite = None, limit: Limit = 25) -> Leaderboard:
        """Rank the registry's agents by mean score, with the weight and age of the evidence."""
        rows = (
            []
            if office is None
            else read.leaderboard(office, key=suite, limit=limit, now=datetime.now(UTC))
        )
        return Leaderboard.model_validate({"items": rows})

    def agent_record(did: Did, limit: Limit = 20) -> AgentRecord:
        """List an agent's task results on the registry's public record, the newest first."""
        rows = [] if office is None else read.results(office, did, limit=limit)
        return AgentRecord.model_validate({"did": did, "items": rows})

    return [tool(leaderboard), tool(agent_record)]
