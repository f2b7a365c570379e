"""`/api/v1/evals` and `/api/v1/releases`: what was measured, and what was decided on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import AwareDatetime

import aal_engine
from aal_engine.api.app import Wing
from aal_engine.api.cursor import MAX_CURSOR
from aal_engine.api.figures import LedgerFigures
from aal_engine.api.listing import LIMIT, MAX_LIMIT, eval_page, release_page
from aal_engine.api.route import bearer, router
from aal_engine.api.wire import EvalPage, EvalRecord, ReleaseDetail, ReleasePage
from aal_engine.decide.entry import stamp
from aal_engine.decide.ledger import Head
from aal_engine.errors import LedgerError
from aal_engine.service.results import Filters, Results

MAX_NAME = 200

Name = Annotated[str | None, Query(min_length=1, max_length=MAX_NAME)]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Items of a page.")]
Cursor = Annotated[
    str | None,
    Query(max_length=MAX_CURSOR, description="`next_cursor` of the page before, as it stands."),
]
Since = Annotated[
    AwareDatetime | None, Query(description="The earliest time, with a zone: 2026-01-31T00:00:00Z.")
]
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
EvalId = Annotated[str, Path(pattern="^(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,5})$")]


def results_wing(results: Results, token: str | None) -> Wing:
    """Return what reads a ledger over HTTP, for anybody or for who has the token."""
    needs = None if token is None else bearer(token, unset="")

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        # A long ledger takes a while to read the first time: nobody's request should.
        first = asyncio.create_task(asyncio.to_thread(_look, results))
        yield
        await first

    return Wing([reads(results, needs=needs)], running, collectors=[LedgerFigures(results)])


def _look(results: Results) -> None:
    with suppress(LedgerError):  # Whoever asks is told.
        results.head()


def reads(results: Results, *, needs: Callable[..., Any] | None = None) -> APIRouter:
    """Return the routes that read a ledger; `needs` is asked before each."""
    routes = router(prefix="/api/v1", tag="results", needs=needs)

    @routes.get("/evals", summary="Eval records, the newest first", response_model=EvalPage)
    def evals(
        request: Request,
        pack: Name = None,
        family: Name = None,
        agent: Name = None,
        version: Name = None,
        suite: Name = None,
        passed: bool | None = None,
        since: Since = None,
        limit: Limit = LIMIT,
        cursor: Cursor = None,
    ) -> Any:
        asked = Filters(
            agent=agent,
            pack=pack,
            version=version,
            suite=suite,
            family=family,
            passed=passed,
            since=None if since is None else stamp(since),
        )
        return _unless_same(
            request, results.head(), lambda: eval_page(results, asked, cursor=cursor, limit=limit)
        )

    @routes.get("/evals/{id}", summary="One eval record", response_model=EvalRecord)
    def eval_record(request: Request, id: EvalId) -> Any:  # noqa: A002 the path's name
        seq, place = map(int, id.split("-"))
        return _unless_same(request, results.head(), lambda: results.eval(seq, place))

    @routes.get("/releases", summary="Decisions, the newest first", response_model=ReleasePage)
    def releases(
        request: Request,
        agent: Name = None,
        pack: Name = None,
        version: Name = None,
        family: Name = None,
        verdict: Literal["released", "blocked", "any"] = "released",
        since: Since = None,
        limit: Limit = LIMIT,
        cursor: Cursor = None,
    ) -> Any:
        asked = Filters(
            agent=agent,
            pack=pack,
            version=version,
            family=family,
            verdict=None if verdict == "any" else verdict,
            since=None if since is None else stamp(since),
        )
        return _unless_same(
            request,
            results.head(),
            lambda: release_page(results, asked, cursor=cursor, limit=limit),
        )

    @routes.get(
        "/releases/{id}", summary="One decision with every check", response_model=ReleaseDetail
    )
    def release(request: Request, id: Digest) -> Any:  # noqa: A002 the path's name
        return _unless_same(request, results.head(), lambda: results.release(id))

    return routes


def _unless_same(
    request: Request, head: Head | None, make: Callable[[], Mapping[str, Any]]
) -> Response:
    """Answer with what `make` returns, or that it is what the client has by now."""
    tag = entity_tag(request, head)
    headers = {"ETag": tag}
    if tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    body = json.dumps(make(), ensure_ascii=False, separators=(",", ":"))
    return Response(body, headers=headers, media_type="application/json")


def entity_tag(request: Request, head: Head | None) -> str:
    """Return the weak tag of what a path says of a ledger that reaches so far."""
    told = b"" if head is None else head.root
    asked = f"{aal_engine.__version__}\n{request.url.path}\n{request.url.query}".encode()
    return f'W/"{blake2b(told + asked, digest_size=12).hexdigest()}"'


def known_tags(request: Request) -> Sequence[str]:
    """Return the tags that a client has, as it says."""
    return [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
