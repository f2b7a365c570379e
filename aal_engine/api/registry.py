"""The public record over HTTP: nobody need say who they are, and without evals it is empty."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from aal_engine.registry import read
from aal_engine.registry.office import Office

MAX_AGE = 100 * 366 * 24 * 3600
"""Seconds: a hundred years, older than any result."""

router = APIRouter(prefix="/api/v1/evals", tags=["evals"])

Row = dict[str, Any]


def office_of(request: Request) -> Office | None:
    """Return the registry that the application was given, None where it has none."""
    office: Office | None = getattr(request.app.state, "office", None)
    return office


Registry = Annotated[Office | None, Depends(office_of)]
Limit = Annotated[int, Query(ge=1, le=100, description="The most rows to return.")]
Suite = Annotated[str | None, Query(max_length=200, description="Key of one suite.")]


@router.get("/suites")
def suites(office: Registry) -> list[Row]:
    """Return every enabled suite."""
    return [] if office is None else read.catalog(office)


@router.get("/agents/{did:path}/results")
def results(did: str, office: Registry, limit: Limit = 20) -> list[Row]:
    """Return an agent's most recent task results, newest first."""
    return [] if office is None else read.results(office, did, limit=limit)


@router.get("/agents/{did:path}/runs/{run_id}/evidence")
def evidence(did: str, run_id: str, office: Registry) -> list[Row]:
    """Return the evidence of a run's results with one agent, to dispute them and score again."""
    return [] if office is None else read.evidence(office, did, run_id)


@router.get("/leaderboard")
def leaderboard(office: Registry, suite: Suite = None, limit: Limit = 25) -> list[Row]:
    """Return agents by mean score, then by number of results, then by DID."""
    if office is None:
        return []
    return read.leaderboard(office, key=suite or None, limit=limit, now=datetime.now(UTC))


@router.get("/candidates")
def candidates(
    office: Registry,
    suite: Suite = None,
    bound: Annotated[
        float, Query(ge=0, le=1, description="Least lower end of the mean's 95% interval.")
    ] = 0.0,
    runs: Annotated[int, Query(ge=0, le=10**12, description="Least number of results.")] = 1,
    age: Annotated[
        int | None, Query(ge=0, le=MAX_AGE, description="Most seconds since the last result.")
    ] = None,
    limit: Limit = 25,
) -> list[Row]:
    """Return agents whose record is as good, as long and as fresh as asked for."""
    if office is None:
        return []
    return read.candidates(
        office,
        key=suite or None,
        bound=bound,
        runs=runs,
        age=None if age is None else timedelta(seconds=age),
        limit=limit,
        now=datetime.now(UTC),
    )
