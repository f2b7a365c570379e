"""Every failure as a problem detail (RFC 9457): what is wrong, where, and the way out.

A detail holds names, never a value that was sent, and never the text of a question or an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from aal_engine.errors import AalError, InputError, shown

MEDIA_TYPE = "application/problem+json"
MAX_ERRORS = 20

PROBLEM_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "description": "A problem detail, RFC 9457.",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "way_out": {"type": "string"},
        "errors": {
            "type": "array",
            "maxItems": MAX_ERRORS,
            "items": {
                "type": "object",
                "required": ["field", "problem"],
                "properties": {"field": {"type": "string"}, "problem": {"type": "string"}},
            },
        },
    },
}
PROBLEMS: Mapping[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem detail, RFC 9457.",
        "content": {MEDIA_TYPE: {"schema": dict(PROBLEM_SCHEMA)}},
    }
}
"""What a route says of its failures in the OpenAPI document."""


def problem(
    status: int,
    detail: str | None = None,
    *,
    way_out: str | None = None,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the response that tells of a failure."""
    told: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
    }
    if detail:
        told["detail"] = detail
    if way_out:
        told["way_out"] = way_out
    if errors:
        told["errors"] = [dict(error) for error in errors[:MAX_ERRORS]]
    body = json.dumps(told, ensure_ascii=False)
    return Response(body, status, dict(headers or {}), MEDIA_TYPE)


def of_error(error: AalError) -> Response:
    """Return the response to a failure that this package foresees."""
    faults = error.faults if isinstance(error, InputError) else ()
    errors = [
        {"field": shown(fault.field or fault.case or ""), "problem": fault.problem}
        for fault in faults
    ]
    return problem(error.http_status, error.message, way_out=error.way_out, errors=errors)


def install(app: FastAPI) -> None:
    """Make the app answer every failure with a problem detail."""
    app.add_exception_handler(AalError, _foreseen)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)


def _foreseen(_: Request, error: Exception) -> Response:
    return of_error(cast("AalError", error))


def _invalid(_: Request, error: Exception) -> Response:
    # What pydantic says may quote what was sent; its kind of error, and where, do not.
    errors = [
        {
            "field": shown(".".join(map(str, each["loc"][1:])) or str(each["loc"][0])),
            "problem": str(each["type"]).replace("_", " "),
        }
        for each in cast("RequestValidationError", error).errors()
    ]
    names = ", ".join(dict.fromkeys(each["field"] for each in errors[:MAX_ERRORS]))
    return problem(422, f"the request does not fit: {names}", errors=errors)


def _refused(_: Request, error: Exception) -> Response:
    refused = cast("HTTPException", error)
    phrase = HTTPStatus(refused.status_code).phrase
    detail = None if refused.detail == phrase else refused.detail
    return problem(refused.status_code, detail, headers=refused.headers)
