"""The operator's surface over HTTP, behind the platform admin's credential."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request

from aal_engine.api.route import bearer, router
from aal_engine.errors import Conflict, RegistryUnavailable
from aal_engine.registry import admin
from aal_engine.registry.office import Office
from aal_engine.service.document import decode_object

MAX_ID = 2**63 - 1

Row = dict[str, Any]
SuiteId = Annotated[int, Path(ge=1, le=MAX_ID)]


async def body(request: Request) -> Row:
    """Return the object that a request's body is.

    Raises:
        InputError: it is no JSON object.
    """
    return decode_object(await request.body())


Body = Annotated[Row, Depends(body)]


def operator(office: Office | None, credential: str | None) -> APIRouter:
    """Return the routes of the platform admin, who has this credential; without one, nobody is."""
    needs = bearer(credential, unset="this server has no platform admin: set EVALS_ADMIN_TOKEN")
    routes = router(prefix="/api/v1/admin/evals", tag="admin", needs=needs)

    def opened() -> Office:
        if office is None:
            raise RegistryUnavailable(
                "this server keeps no registry",
                way_out="prepare one with aal registry init, and start the server again",
            )
        return office

    @routes.get("/suites", summary="Every suite, enabled or not")
    def suites() -> list[Row]:
        return admin.suites(opened(), now=_now())

    @routes.post("/suites", summary="Create a suite, or update the one of the same key")
    def put_suite(fields: Body) -> Row:
        return admin.put_suite(opened(), fields, now=_now())

    @routes.post("/suites/{suite_id}/tasks", status_code=201, summary="Add a scored task")
    def add_task(suite_id: SuiteId, fields: Body) -> Row:
        return admin.add_task(opened(), suite_id, fields)

    @routes.post("/suites/{suite_id}/run", status_code=202, summary="Queue a run at once")
    def run_now(suite_id: SuiteId) -> Row:
        if office is None:
            raise Conflict("evals are not enabled on this registry")
        return {"run_id": admin.run_now(office, suite_id, now=_now())}

    @routes.delete("/suites/{suite_id}", status_code=204, summary="Remove a suite and its tasks")
    def remove_suite(suite_id: SuiteId) -> None:
        admin.remove_suite(opened(), suite_id, now=_now())

    return routes


def _now() -> datetime:
    return datetime.now(UTC)
