"""The operator's surface over HTTP, behind the platform admin's credential."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request

from aal_engine.api.registry import Registry
from aal_engine.errors import Conflict, InputError, RegistryUnavailable, Unauthorized
from aal_engine.registry import admin
from aal_engine.registry.office import Office
from aal_engine.service.document import decode_object

MAX_BODY = 1024 * 1024
MAX_ID = 2**63 - 1

Row = dict[str, Any]


def platform_admin(request: Request) -> None:
    """Let the platform admin pass, and nobody where there is none.

    Raises:
        RegistryUnavailable: this server was started without a credential.
        Unauthorized: the request carries another, or none.
    """
    token: str | None = getattr(request.app.state, "admin_token", None)
    if token is None:
        raise RegistryUnavailable(
            "this server has no platform admin", way_out="start it with EVALS_ADMIN_TOKEN set"
        )
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    # Of equal length, so that the time that it takes says nothing of the credential.
    same = hmac.compare_digest(_digest(given.strip()), _digest(token))
    if scheme.lower() != "bearer" or not same:
        raise Unauthorized("the platform admin's credential is needed")


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="surrogatepass")).digest()


def opened(office: Registry) -> Office:
    """Return the registry.

    Raises:
        RegistryUnavailable: this server was started without one.
    """
    if office is None:
        raise RegistryUnavailable(
            "this server keeps no registry", way_out="aal registry init, then start it again"
        )
    return office


async def body(request: Request) -> Row:
    """Return the object of a request's body of at most 1 MiB.

    Raises:
        InputError: it is larger, or no JSON object.
    """
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_BODY:
            raise InputError.at(f"larger than {MAX_BODY} bytes", field="body")
    return decode_object(bytes(content))


router = APIRouter(
    prefix="/api/v1/admin/evals", tags=["admin"], dependencies=[Depends(platform_admin)]
)

Opened = Annotated[Office, Depends(opened)]
Body = Annotated[Row, Depends(body)]
SuiteId = Annotated[int, Path(ge=1, le=MAX_ID)]


@router.get("/suites")
def suites(office: Opened) -> list[Row]:
    """Return every suite, enabled or not, with its tasks' count and next scheduled run."""
    return admin.suites(office, now=_now())


@router.post("/suites")
def put_suite(office: Opened, fields: Body) -> Row:
    """Create a suite, or update the one of the same key."""
    return admin.put_suite(office, fields, now=_now())


@router.post("/suites/{suite_id}/tasks", status_code=201)
def add_task(suite_id: SuiteId, office: Opened, fields: Body) -> Row:
    """Add a scored task."""
    return admin.add_task(office, suite_id, fields)


@router.post("/suites/{suite_id}/run", status_code=202)
def run_now(suite_id: SuiteId, office: Registry) -> Row:
    """Queue a run of the suite at once; return its id."""
    if office is None:
        raise Conflict("evals are not enabled on this registry")
    return {"run_id": admin.run_now(office, suite_id, now=_now())}


@router.delete("/suites/{suite_id}", status_code=204)
def remove_suite(suite_id: SuiteId, office: Opened) -> None:
    """Remove a suite and its tasks; its results stay on the record."""
    admin.remove_suite(office, suite_id, now=_now())


def _now() -> datetime:
    return datetime.now(UTC)
