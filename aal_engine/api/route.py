"""Routes that refuse what they do not know, and the credentials that some of them ask for."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Collection, Coroutine, Iterator
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from aal_engine.api.problem import PROBLEMS
from aal_engine.errors import Fault, InputError


class StrictRoute(APIRoute):
    """A route that refuses query parameters which it does not have, or which come twice."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what serves a request."""
        serve = super().get_route_handler()
        known = frozenset(_parameters(self.dependant))

        async def strict(request: Request) -> Response:
            named = [name for name, _ in request.query_params.multi_items()]
            faults = [
                *(Fault("no such parameter", field=name) for name in named if name not in known),
                *(Fault("is given twice", field=name) for name in known if named.count(name) > 1),
            ]
            if faults:
                way_out = "parameters: " + (", ".join(sorted(known)) or "none")
                raise InputError(faults, way_out=way_out)
            return await serve(request)

        return strict


def router(*, prefix: str = "", tag: str, needs: Callable[..., Any] | None = None) -> APIRouter:
    """Return a router of strict routes whose failures are problem details.

    `needs` is a dependency that each of its routes asks first, as `bearer` makes one.
    """
    asked = [] if needs is None else [Depends(needs)]
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=StrictRoute,
        responses={**PROBLEMS},
        dependencies=asked,
    )


def bearer(credential: str | None, *, unset: str) -> Callable[[Request], None]:
    """Return a dependency that lets through who sends a credential, compared in constant time.

    Without a credential nobody is let through (503): `unset` says what the operator must set.
    """

    def check(request: Request) -> None:
        if credential is None:
            raise HTTPException(503, unset)
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        same = hmac.compare_digest(sent.strip().encode(), credential.encode())
        if scheme.lower() != "bearer" or not same:
            raise HTTPException(
                401, "a bearer credential is needed", {"WWW-Authenticate": "Bearer"}
            )

    return check


def called_by(hosts: Collection[str], *, unset: str) -> Callable[[Request], None]:
    """Return a dependency that lets through who calls this server by one of these names.

    A page in a browser of this machine can have its own name point here, and then sends what it
    likes as to its own server; the `Host` that it was opened by gives it away. `unset` says what the
    operator must set for other names.
    """

    def check(request: Request) -> None:
        if request.url.hostname not in hosts:
            raise HTTPException(403, unset)

    return check


def bearer_or_basic(credential: str) -> Callable[[Request], None]:
    """Return a dependency for pages: a bearer credential, or the same as a password.

    A browser asks its user for a name, which is not looked at, and the password.
    """
    by_bearer = bearer(credential, unset="")

    def check(request: Request) -> None:
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            try:
                by_bearer(request)
            except HTTPException as refused:
                raise _asking(refused) from None
            return
        try:
            _, _, password = base64.b64decode(sent, validate=True).partition(b":")
        except ValueError:
            password = b""
        if not hmac.compare_digest(password, credential.encode()):
            raise _asking(HTTPException(401, "a credential is needed"))

    return check


def _asking(refused: HTTPException) -> HTTPException:
    asked = {"WWW-Authenticate": 'Basic realm="evaluations and releases", charset="UTF-8"'}
    return HTTPException(refused.status_code, refused.detail, asked)


def _parameters(dependant: Dependant) -> Iterator[str]:
    for parameter in dependant.query_params:
        yield parameter.alias
    for inner in dependant.dependencies:
        yield from _parameters(inner)
