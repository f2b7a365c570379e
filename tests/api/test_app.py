"""The frame of the HTTP app: failures, bounds, headers and credentials, whatever the routes."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Annotated

import pytest
from fastapi import Query, Request
from starlette.testclient import TestClient

from aal_engine.api.app import Wing, create_app
from aal_engine.api.guard import HEADERS, MAX_BODY
from aal_engine.api.problem import MEDIA_TYPE
from aal_engine.api.route import bearer, router
from aal_engine.errors import ChainBroken, Conflict, InputError, NotFound

SECRET = "what was asked is a secret"


def wing(**more) -> Wing:
    routes = router(prefix="/x", tag="x")

    @routes.get("/items")
    def items(limit: Annotated[int, Query(ge=1, le=100)] = 20, suite: str = "") -> dict[str, int]:
        return {"limit": limit}

    @routes.get("/errors/{name}")
    def errors(name: str) -> None:
        raise {
            "none": NotFound("there is no such run"),
            "conflict": Conflict("evals are not enabled", way_out="set EVALS_ENABLED"),
            "input": InputError.at("is too long", field="suite"),
            "broken": ChainBroken(7, "its hash is another"),
            "fault": RuntimeError(SECRET),
        }[name]

    @routes.post("/size")
    async def size(request: Request) -> dict[str, int]:
        return {"bytes": len(await request.body())}

    return Wing([routes], **more)


def nothing() -> dict[str, int]:
    return {}


@pytest.fixture
def client():
    with TestClient(create_app([wing()])) as client:
        yield client


def told(response, status):
    assert response.status_code == status
    assert response.headers["content-type"] == MEDIA_TYPE
    body = response.json()
    assert body["status"] == status
    assert body["type"] == "about:blank"
    return body


def test_health_and_headers(client):
    response = client.get("/healthz")
    assert response.json() == {"status": "ok"}
    assert {name: response.headers[name] for name in HEADERS} == dict(HEADERS)


@pytest.mark.parametrize(
    ("name", "status", "detail"),
    [
        ("none", 404, "there is no such run"),
        ("conflict", 409, "evals are not enabled"),
        ("input", 422, "suite: is too long"),
        ("broken", 409, "ledger entry 7: its hash is another"),
        ("fault", 500, "a fault of this program"),
    ],
)
def test_every_failure_is_a_problem_detail(client, capsys, name, status, detail):
    response = client.get(f"/x/errors/{name}")
    assert told(response, status)["detail"] == detail
    assert SECRET not in response.text + "".join(capsys.readouterr())


def test_a_way_out_and_faults_stand_in_fields_of_their_own(client):
    assert told(client.get("/x/errors/conflict"), 409)["way_out"] == "set EVALS_ENABLED"
    errors = told(client.get("/x/errors/input"), 422)["errors"]
    assert errors == [{"field": "suite", "problem": "is too long"}]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nothing", 404), ("/x/items/", 404), ("/../etc/passwd", 404), ("/%2e%2e/x", 404)],
)
def test_what_is_not_there_is_a_problem_too(client, path, status):
    told(client.get(path), status)


def test_another_method_is_told_which_there_are(client):
    response = client.delete("/x/items")
    told(response, 405)
    assert response.headers["allow"] == "GET"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        (f"limit={SECRET}", "limit"),
        ("limt=5", "limt"),
        ("limit=5&limit=6", "limit"),
        ("limit=", "limit"),
    ],
)
def test_parameters_out_of_bounds_unknown_or_twice_are_refused(client, query, field):
    response = client.get(f"/x/items?{query}")
    assert told(response, 422)["errors"][0]["field"] == field
    assert SECRET not in response.text


def test_head_is_get_without_the_body(client):
    head, get = client.head("/x/items"), client.get("/x/items")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == get.headers["content-length"]
    assert client.head("/nothing").status_code == 404


def test_a_body_beyond_its_bound_is_refused_announced_or_not(client):
    assert client.post("/x/size", content=b"x" * MAX_BODY).json() == {"bytes": MAX_BODY}
    told(client.post("/x/size", content=b"x" * (MAX_BODY + 1)), 413)
    pieces = (b"x" * 2**16 for _ in range(17))
    told(client.post("/x/size", content=pieces), 413)


def test_a_path_may_take_more():
    with TestClient(create_app([wing(bodies={"/x/size": 2 * MAX_BODY})])) as client:
        body = b"x" * (MAX_BODY + 1)
        assert client.post("/x/size", content=body).json() == {"bytes": MAX_BODY + 1}


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (None, 401),
        ("Bearer s3cret-s3cret-s3cret", 200),
        ("bearer s3cret-s3cret-s3cret", 200),
        ("Bearer other", 401),
        ("Bearer é".encode("latin-1"), 401),
        ("Basic s3cret-s3cret-s3cret", 401),
    ],
)
def test_a_bearer_is_asked_for(sent, status):
    routes = router(tag="y", needs=bearer("s3cret-s3cret-s3cret", unset="?"))
    routes.get("/y")(nothing)
    with TestClient(create_app([Wing([routes])])) as client:
        response = client.get("/y", headers={} if sent is None else {"Authorization": sent})
    assert response.status_code == status
    if status == 401:
        told(response, 401)
        assert response.headers["www-authenticate"] == "Bearer"


def test_without_a_credential_nobody_is_let_through():
    routes = router(tag="y", needs=bearer(None, unset="set THE_TOKEN"))
    routes.get("/y")(nothing)
    with TestClient(create_app([Wing([routes])])) as client:
        response = client.get("/y", headers={"Authorization": "Bearer "})
    assert told(response, 503)["detail"] == "set THE_TOKEN"


def test_what_runs_with_the_app_is_started_and_stopped_in_order():
    heard = []

    def running(name):
        @asynccontextmanager
        async def run():
            heard.append(f"{name} starts")
            yield
            heard.append(f"{name} stops")

        return run

    wings = [Wing(running=running("a")), Wing(running=running("b"))]
    with TestClient(create_app(wings)):
        assert heard == ["a starts", "b starts"]
    assert heard[2:] == ["b stops", "a stops"]


def test_the_document_names_every_route_and_what_failures_look_like(client):
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert {"/healthz", "/x/items"} <= document["paths"].keys()
    answers = document["paths"]["/x/items"]["get"]["responses"]
    assert MEDIA_TYPE in answers["default"]["content"]
