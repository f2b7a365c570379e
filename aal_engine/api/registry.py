"""The public record over HTTP: nobody need say who they are, and without evals it is empty."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query

from aal_engine.api.route import router
from aal_engine.registry import read
from aal_engine.registry.office import Office

MAX_AGE = 100 * 366 * 24 * 3600
"""Seconds: a hundred years, older than any result."""

Row = dict[str, Any]
Limit = Annotated[int, Query(ge=1, le=100, description="The most rows to return.")]
Suite = Annotated[str, Query(max_length=200, description="Key of one suite; empty: all.")]
Bound = Annotated[
    float, Query(ge=0, le=1, description="Least lower end of the mean's 95% interval.")
]
Runs = Annotated[int, Query(ge=0, le=10**12, description="Least number of results.")]
Age = Annotated[int, Query(ge=0, le=MAX_AGE, description="Most seconds since the last result.")]


def public(office: Office | None) -> APIRouter:
    """Return the routes of a registry's record; without one they are empty lists, not errors."""
    routes = router(prefix="/api/v1/evals", tag="evals")

    @routes.get("/suites", summary="The published catalog")
    def suites() -> list[Row]:
        return [] if office is None else read.catalog(office)

    @routes.get("/agents/{did:path}/results", summary="An agent's results, newest first")
    def results(did: str, limit: Limit = 20) -> list[Row]:
        return [] if office is None else read.results(office, did, limit=limit)

    @routes.get("/agents/{did:path}/runs/{run_id}/evidence", summary="To dispute a score with")
    def evidence(did: str, run_id: str) -> list[Row]:
        return [] if office is None else read.evidence(office, did, run_id)

    @routes.get("/leaderboard", summary="Agents by mean score, results and DID")
    def leaderboard(suite: Suite = "", limit: Limit = 25) -> list[Row]:
        if office is None:
            return []
        return read.leaderboard(office, key=suite or None, limit=limit, now=datetime.now(UTC))

    @routes.get("/candidates", summary="Agents whose record is as good, long and fresh as asked")
    def candidates(
        suite: Suite = "",
        bound: Bound = 0.0,
        runs: Runs = 1,
        age: Age = MAX_AGE,
        limit: Limit = 25,
    ) -> list[Row]:
        if office is None:
            return []
        return read.candidates(
            office,
            key=suite or None,
            bound=bound,
            runs=runs,
            age=timedelta(seconds=age),
            limit=limit,
            now=datetime.now(UTC),
        )

    return routes
