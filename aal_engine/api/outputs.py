"""`POST /v1/outputs`: outputs of an agent in service, as they are made."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool

from aal_engine.api.body import bounded
from aal_engine.service.intake import Intake

MEDIA_TYPES = frozenset({"application/x-ndjson", "application/jsonl", "application/json"})
COUNTS = {
    "description": "What became of the outputs, once their counts are kept.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "additionalProperties": {"type": "integer"}}
        }
    },
}


def router(intake: Intake) -> APIRouter:
    """Return the routes that take outputs and show what stands of them."""
    routes = APIRouter(tags=["monitor"])

    @routes.post(
        "/v1/outputs",
        summary="Send outputs to the online monitor",
        responses={200: COUNTS},
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
            }
        },
    )
    async def send(request: Request) -> dict[str, Any]:
        """Take one JSON object a line; a trace id that was counted before counts no more."""
        body = await bounded(request, MEDIA_TYPES)
        return await run_in_threadpool(intake.outputs, body)

    @routes.get("/v1/outputs", summary="What stands of the online monitor's checks")
    def stands() -> dict[str, Any]:
        """Return counts and states by version and check: names and numbers."""
        return intake.status()

    return routes
