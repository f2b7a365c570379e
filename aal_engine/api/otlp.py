"""`POST /v1/traces`: OTLP over HTTP, JSON encoding, for the conventions for generative AI."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from aal_engine.api.body import bounded
from aal_engine.service.intake import Intake

MEDIA_TYPES = frozenset({"application/json"})


def router(intake: Intake) -> APIRouter:
    """Return the route that takes traces."""
    routes = APIRouter(tags=["monitor"])

    @routes.post(
        "/v1/traces",
        summary="Send OpenTelemetry traces to the online monitor",
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"type": "object"}}},
            }
        },
    )
    async def send(request: Request) -> dict[str, Any]:
        """Take an `ExportTraceServiceRequest`; each trace with an answer is one output."""
        if request.headers.get("content-type", "").startswith("application/x-protobuf"):
            raise HTTPException(
                415, "send OTLP as JSON: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json"
            )
        body = await bounded(request, MEDIA_TYPES)
        await run_in_threadpool(intake.traces, body)
        return {"partialSuccess": {}}

    return routes
