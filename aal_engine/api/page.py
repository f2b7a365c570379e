"""The page over HTTP: server-rendered, no script, nothing fetched but its own style sheet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from aal_engine.api.app import Wing
from aal_engine.api.evals import entity_tag, known_tags
from aal_engine.api.link import Served
from aal_engine.api.route import bearer_or_basic, router
from aal_engine.api.view import FILES, STATIC, Shown, View
from aal_engine.decide.release import AgentKey
from aal_engine.errors import AalError
from aal_engine.registry.office import Office
from aal_engine.service.results import Results

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HTML = "text/html; charset=utf-8"
MAX_NAME = 256

Name = Annotated[str, Query(min_length=1, max_length=MAX_NAME)]
After = Annotated[str | None, Query(min_length=1, max_length=MAX_NAME)]
Suite = Annotated[str, Query(max_length=MAX_NAME)]
Before = Annotated[int | None, Query(ge=0, lt=2**53)]
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]


def page_wing(results: Results, token: str | None, office: Office | None = None) -> Wing:
    """Return the page's views, for anybody or for who has the token; a registry's are for all."""
    needs = None if token is None else bearer_or_basic(token)
    view = View(results, Served(), office)
    return Wing([_views(results, view, needs), _registry(view), _files()])


def _views(results: Results, view: View, needs: Callable[..., Any] | None) -> APIRouter:
    routes = router(tag="page", needs=needs)

    def answered(request: Request, make: Callable[[], Shown], *, tagged: bool = True) -> Response:
        status, headers = 200, {"Content-Security-Policy": POLICY}
        try:
            tag = entity_tag(request, results.head())
            if tagged:
                headers["ETag"] = tag
                if tag in known_tags(request):
                    return Response(status_code=304, headers=headers)
            body = make().html
        except AalError as error:
            headers.pop("ETag", None)
            status, body = error.http_status, view.problem(error).html
        return Response(body, status, headers, HTML)

    @routes.get("/", include_in_schema=False)
    def agents(request: Request, agent: After = None, pack: After = None) -> Response:
        after = AgentKey(agent, pack) if agent and pack else None
        return answered(request, lambda: view.agents(after))

    @routes.get("/agent", include_in_schema=False)
    def one_agent(request: Request, agent: Name, pack: Name, before: Before = None) -> Response:
        return answered(request, lambda: view.agent(AgentKey(agent, pack), before))

    @routes.get("/decisions", include_in_schema=False)
    def decisions(request: Request, before: Before = None) -> Response:
        return answered(request, lambda: view.decisions(before))

    @routes.get("/decisions/{digest}", include_in_schema=False)
    def decision(request: Request, digest: Digest) -> Response:
        return answered(request, lambda: view.decision(digest))

    @routes.get("/ledger", include_in_schema=False)
    def ledger(request: Request, before: Before = None) -> Response:
        # Signing changes what it says, and not the entries that a tag is made of.
        return answered(request, lambda: view.ledger(before), tagged=False)

    return routes


def _registry(view: View) -> APIRouter:
    routes = router(tag="page")

    def answered(make: Callable[[], Shown]) -> Response:
        try:
            status, body = 200, make().html
        except AalError as error:
            status, body = error.http_status, view.problem(error).html
        return Response(body, status, {"Content-Security-Policy": POLICY}, HTML)

    @routes.get("/leaderboard", include_in_schema=False)
    def leaderboard(suite: Suite = "") -> Response:
        return answered(lambda: view.leaderboard(suite, datetime.now(UTC)))

    @routes.get("/record", include_in_schema=False)
    def record(did: Name) -> Response:
        return answered(lambda: view.record(did))

    return routes


def _files() -> APIRouter:
    routes = router(tag="page")
    for name, kind in FILES.items():
        body = (STATIC / name).read_text(encoding="utf-8")

        @routes.get(f"/static/{name}", include_in_schema=False)
        def file(body: str = body, kind: str = kind) -> Response:
            return Response(body, media_type=kind)

    return routes
