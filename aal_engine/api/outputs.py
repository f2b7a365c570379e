"""`/v1/outputs`: outputs of an agent in service, as they are made, and what stands of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool

from aal_engine.api.body import Bodies
from aal_engine.api.route import router as strict
from aal_engine.service.intake import Intake

PATH: Final = "/v1/outputs"
MEDIA_TYPES: Final = frozenset({"application/x-ndjson", "application/jsonl", "application/json"})
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
}
_COUNTS: Final[Mapping[int | str, dict[str, Any]]] = {
    200: {
        "description": "What became of the outputs, once their counts are kept.",
        "content": {
            "application/json": {
                "schema": {"type": "object", "additionalProperties": {"type": "integer"}}
            }
        },
    }
}


def router(intake: Intake, bodies: Bodies, needs: Callable[..., Any] | None) -> APIRouter:
    """Return the routes that take outputs and show what stands of them."""
    routes = strict(tag="monitor", needs=needs)

    @routes.post(
        PATH,
        summary="Send outputs to the online monitor",
        responses={**_COUNTS},
        openapi_extra=_BODY,
    )
    async def send(request: Request) -> dict[str, Any]:
        """Take one JSON object a line; a trace id that was counted before counts no more."""
        body = await bodies.read(request, MEDIA_TYPES)
        return await run_in_threadpool(intake.outputs, body)

    @routes.get(PATH, summary="What stands of the online monitor's checks")
    def stands() -> dict[str, Any]:
        """Return counts and states by version and check: names and numbers."""
        return intake.status()

    return routes
