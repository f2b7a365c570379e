"""The MCP server `aal-engine`: evaluations, releases and the registry's record, to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AwareDatetime, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

import aal_engine
from aal_engine.api.app import Wing
from aal_engine.api.cursor import MAX_CURSOR
from aal_engine.api.listing import MAX_LIMIT, eval_page, release_page
from aal_engine.api.problem import problem
from aal_engine.api.record import record_tools
from aal_engine.api.route import bearer
from aal_engine.api.tool import tool
from aal_engine.api.wire import EvalPage, LedgerState, ReleasePage
from aal_engine.decide.entry import stamp
from aal_engine.registry.office import Office
from aal_engine.service.results import Filters, Results

NAME = "aal-engine"
PATH = "/mcp"
INSTRUCTIONS = """\
What agents were measured to do, which versions were released on it, and whether the ledger that says
so holds; and what a registry measured live agents to do. Numbers and names; never a question or an
answer."""

Name = Annotated[str | None, Field(min_length=1, max_length=200)]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Cursor = Annotated[str | None, Field(max_length=MAX_CURSOR)]
Since = Annotated[AwareDatetime | None, Field(description="The earliest time, with a zone.")]


def mcp_server(results: Results, office: Office | None = None) -> MCPServer[Any]:
    """Return the server whose tools read a ledger, and a registry's record where there is one."""

    def evals(
        pack: Name = None,
        family: Name = None,
        agent: Name = None,
        version: Name = None,
        suite: Name = None,
        passed: bool | None = None,
        since: Since = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> EvalPage:
        """List eval records, the newest first: what each measured, and whether it passed."""
        asked = Filters(
            agent=agent,
            pack=pack,
            version=version,
            suite=suite,
            family=family,
            passed=passed,
            since=None if since is None else stamp(since),
        )
        page = eval_page(results, asked, cursor=cursor, limit=limit)
        return EvalPage.model_validate(page)

    def releases(
        agent: Name = None,
        pack: Name = None,
        version: Name = None,
        family: Name = None,
        verdict: Literal["released", "blocked", "any"] = "released",
        since: Since = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> ReleasePage:
        """List the gate's decisions, the newest first, and say which version serves."""
        asked = Filters(
            agent=agent,
            pack=pack,
            version=version,
            family=family,
            verdict=None if verdict == "any" else verdict,
            since=None if since is None else stamp(since),
        )
        page = release_page(results, asked, cursor=cursor, limit=limit)
        return ReleasePage.model_validate(page)

    def ledger_verify() -> LedgerState:
        """Verify the whole ledger: its chain, its root, and the meaning of every entry."""
        return LedgerState.model_validate(results.verified())

    return MCPServer(
        NAME,
        version=aal_engine.__version__,
        instructions=INSTRUCTIONS,
        tools=[tool(evals), tool(releases), tool(ledger_verify), *record_tools(office)],
        log_level="ERROR",
    )


def mcp_wing(
    results: Results, token: str | None, hosts: Sequence[str], office: Office | None = None
) -> Wing:
    """Return what serves the tools over streamable HTTP, for requests to these hosts alone.

    A page in a browser cannot reach a server on its own machine under another name.
    """
    server = mcp_server(results, office)
    named = [f"[{host}]" if ":" in host else host for host in hosts]
    named = [*named, *(f"{host}:*" for host in named)]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in named]
    allowed = TransportSecuritySettings(allowed_hosts=named, allowed_origins=origins)
    served = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=allowed,
    )
    routes: list[BaseRoute] = [
        Route(PATH, _Asking(route.app, token))
        for route in served.routes
        if isinstance(route, Route)
    ]
    return Wing(routes=routes, running=server.session_manager.run)


class _Asking:
    """Asks for a bearer credential before an app of another framework, where there is one."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._check = None if token is None else bearer(token, unset="")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if self._check is not None:
                self._check(Request(scope))
        except HTTPException as error:
            refused = problem(error.status_code, error.detail, headers=error.headers)
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)
