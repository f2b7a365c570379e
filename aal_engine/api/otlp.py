"""`POST /v1/traces`: OTLP over HTTP in its JSON encoding, for generative AI's conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from aal_engine.api.body import Bodies
from aal_engine.api.route import router as strict
from aal_engine.service.intake import Intake

PATH: Final = "/v1/traces"
MEDIA_TYPES: Final = frozenset({"application/json"})
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


def router(intake: Intake, bodies: Bodies, needs: Callable[..., Any] | None) -> APIRouter:
    """Return the route that takes traces."""
    routes = strict(tag="monitor", needs=needs)

    @routes.post(PATH, summary="Send traces to the online monitor", openapi_extra=_BODY)
    async def send(request: Request) -> dict[str, Any]:
        """Take an `ExportTraceServiceRequest`; each trace with an answer is one output."""
        if request.headers.get("content-type", "").startswith("application/x-protobuf"):
            raise HTTPException(415, "send OTLP as JSON (OTEL_EXPORTER_OTLP_PROTOCOL=http/json)")
        body = await bodies.read(request, MEDIA_TYPES)
        await run_in_threadpool(intake.traces, body)
        return {"partialSuccess": {}}

    return routes
