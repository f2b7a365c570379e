"""The HTTP app: one frame, and the wings that each bring their routes and their work in time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.registry import Collector
from starlette.routing import BaseRoute

import aal_engine
from aal_engine.api.guard import Guard
from aal_engine.api.problem import install
from aal_engine.api.route import bearer, router


@dataclass(frozen=True, slots=True)
class Wing:
    """What one part of the product brings to the app.

    `running` is entered when the app starts and left when it stops. `bodies` has the bytes that a
    path takes, where it takes more than others. `routes` are those of other frameworks, and
    `collectors` tell /metrics of it.
    """

    routers: Sequence[APIRouter] = ()
    running: Callable[[], AbstractAsyncContextManager[object]] | None = None
    bodies: Mapping[str, int] = field(default_factory=dict)
    routes: Sequence[BaseRoute] = ()
    collectors: Sequence[Collector] = ()


def create_app(wings: Sequence[Wing] = (), token: str | None = None) -> FastAPI:
    """Return the app of some wings, in their order: the first route that fits a path serves it.

    Where there is a token, /metrics, which names agents and versions, is for who sends it.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for wing in wings:
                if wing.running is not None:
                    await stack.enter_async_context(wing.running())
            yield

    # The documents' pages fetch their scripts from elsewhere: the document alone is served.
    app = FastAPI(
        title="aal-engine",
        version=aal_engine.__version__,
        summary="Evaluations, releases and the registry's record, to read.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    install(app)
    app.include_router(_health())
    app.include_router(_figures(wings, token))
    for wing in wings:
        for routes in wing.routers:
            app.include_router(routes)
        app.router.routes.extend(wing.routes)
    bodies = {path: limit for wing in wings for path, limit in wing.bodies.items()}
    app.add_middleware(Guard, bodies=bodies)
    return app


def _health() -> APIRouter:
    routes = router(tag="health")

    @routes.get("/healthz", summary="Whether the server answers")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    return routes


def _figures(wings: Sequence[Wing], token: str | None) -> APIRouter:
    needs = None if token is None else bearer(token, unset="")
    routes = router(tag="health", needs=needs)
    metrics = CollectorRegistry(auto_describe=False)
    for wing in wings:
        for collector in wing.collectors:
            metrics.register(collector)

    @routes.get("/metrics", summary="Figures for Prometheus", response_class=PlainTextResponse)
    def figures() -> Response:
        return Response(generate_latest(metrics), media_type=CONTENT_TYPE_LATEST)

    return routes
