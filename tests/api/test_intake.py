"""Outputs and traces that are sent, through the app, to a monitor with a ledger and a target."""

from __future__ import annotations

import asyncio

import pytest
from starlette.testclient import TestClient
from store.test_otlp import agent, chat, request, retrieval
from traffic import output, world

from aal_engine.api import body as bodies
from aal_engine.api.app import create_app
from aal_engine.api.intake import wing
from aal_engine.errors import WriteError

INVENTED = "As said [7]."
NDJSON = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}
HOSTS = ("127.0.0.1", "::1", "localhost")
HERE = "http://127.0.0.1:8080"
TOKEN = "a-secret-of-the-senders"


@pytest.fixture
def made(tmp_path):
    w = world(tmp_path, "1.0.0", "1.1.0")
    yield w
    w.state.close()
    w.shop.verified()


@pytest.fixture
def client(made):
    with TestClient(create_app([wing(made.monitor, None, HOSTS)]), base_url=HERE) as opened:
        yield opened


def send(client, *rows, headers=NDJSON, path="/v1/outputs"):
    return client.post(path, content=b"\n".join(rows), headers=headers)


def test_outputs_are_kept_before_they_are_confirmed(client, made):
    told = send(client, output("a", "1.1.0"), b"", b"no json", output("a", "1.1.0"))
    assert told.status_code == 200
    assert told.json() == {
        "lines": 3, "drawn": 1, "duplicates": 1, "foreign": 0, "late": 0, "unreadable": 1,
    }  # fmt: skip
    assert made.state.value["totals"]["drawn"] == 1


def test_a_planted_citation_ends_in_a_rollback(made):
    with TestClient(create_app([wing(made.monitor, None, HOSTS)]), base_url=HERE) as client:
        send(client, output("a", "1.1.0", INVENTED))
    assert made.shop.target.shows == "1.0.0"
    assert len(made.shop.entries("rollback")) == 1


@pytest.mark.parametrize("host", ["localhost:8080", "[::1]:8080", "127.0.0.1"])
def test_without_a_credential_it_is_called_by_a_loopback_name(client, host):
    assert send(client, output("a", "1.1.0"), headers=NDJSON | {"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8080", "127.0.0.1.evil.example"])
def test_a_page_whose_name_points_here_plants_nothing(client, made, host):
    told = send(client, output("a", "1.1.0", INVENTED), headers=NDJSON | {"host": host})
    assert told.status_code == 403
    assert client.get("/v1/outputs", headers={"host": host}).status_code == 403
    assert made.monitor.totals.lines == 0


def test_what_stands_is_shown(client):
    send(client, output("a", "1.1.0"))
    shown = client.get("/v1/outputs").json()
    assert {row["check"]: row["state"] for row in shown["checks"]} == {
        "invented_citations": "ok", "promise": "ok", "sorry": "ok",
    }  # fmt: skip
    assert shown["totals"]["drawn"] == 1


def test_traces_are_outputs_too(made):
    documents = [{"id": "d1", "score": 1}]
    with TestClient(create_app([wing(made.monitor, None, HOSTS)]), base_url=HERE) as client:
        told = send(
            client, request(retrieval(documents), agent(), version="1.1.0"), headers=JSON,
            path="/v1/traces",
        )  # fmt: skip
        assert (told.status_code, told.json()) == (200, {"partialSuccess": {}})
        bad = request(retrieval([], trace="t2"), agent(trace="t2"), version="1.1.0")
        send(client, bad, headers=JSON, path="/v1/traces")
    assert made.monitor.totals.drawn == 2
    assert made.incidents()[0]["check"] == "invented_citations"


def test_a_trace_that_is_held_is_taken_when_the_server_stops(made):
    with TestClient(create_app([wing(made.monitor, None, HOSTS)]), base_url=HERE) as client:
        send(client, request(chat(), version="1.1.0"), headers=JSON, path="/v1/traces")  # fmt: skip
    assert made.monitor.totals.drawn == 1


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/outputs", {"content-type": "text/csv"}, 415),
        ("/v1/outputs", NDJSON | {"content-encoding": "gzip"}, 415),
        ("/v1/traces", {"content-type": "application/x-protobuf"}, 415),
        ("/v1/traces", JSON, 422),
        ("/v1/outputs?limit=1", NDJSON, 422),
    ],
)
def test_what_cannot_be_taken_is_refused(client, path, headers, status):
    told = send(client, b"x", headers=headers, path=path)
    assert (told.status_code, told.json()["status"]) == (status, status)


def test_a_body_that_is_too_large_is_refused(client, made):
    assert send(client, b"x" * (bodies.MOST + 1)).status_code == 413
    assert made.monitor.totals.lines == 0


def test_a_body_that_does_not_come_in_time_is_refused(client, monkeypatch):
    monkeypatch.setattr(bodies, "SECONDS", 0.01)

    async def slow(_):
        await asyncio.sleep(5)

    monkeypatch.setattr("starlette.requests.Request.body", slow)
    assert send(client, b"x").status_code == 408


def test_bodies_at_once_are_bounded(client, monkeypatch):
    monkeypatch.setattr(bodies, "MOST_AT_ONCE", 0)
    told = send(client, b"x")
    assert (told.status_code, told.headers["retry-after"]) == (503, "1")


def test_counts_that_cannot_be_kept_are_not_confirmed(client, made, monkeypatch):
    def full(*_):
        raise WriteError("journal was not written: No space left on device")

    monkeypatch.setattr(made.state, "commit", full)
    assert send(client, output("a", "1.1.0")).status_code == 507
    monkeypatch.undo()
    assert send(client, output("a", "1.1.0")).json()["duplicates"] == 1
    assert {reading.measured for reading in made.monitor.readings()} == {1}


def test_with_a_token_who_sends_it_alone_may_feed_and_look(made):
    with TestClient(create_app([wing(made.monitor, TOKEN, HOSTS)])) as client:
        assert send(client, output("a", "1.1.0")).status_code == 401
        assert client.get("/v1/outputs").status_code == 401
        named = NDJSON | {"authorization": f"Bearer {TOKEN}"}
        assert send(client, output("a", "1.1.0"), headers=named).status_code == 200
