"""The operator's surface: five endpoints, closed to everybody but the platform admin."""

from __future__ import annotations

import pytest
from registry.scene import did, put_agents
from registry.serving import TOKEN, serve

from aal_engine.registry.office import Office

PREFIX = "/api/v1/admin/evals"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
SUITE = {"key": "http-basics", "name": "HTTP basics"}
TASK = {"name": "alive", "input": "/health", "scorer": "status_ok"}
ENDPOINTS = [
    ("GET", "/suites"),
    ("POST", "/suites"),
    ("POST", "/suites/1/tasks"),
    ("POST", "/suites/1/run"),
    ("DELETE", "/suites/1"),
]


@pytest.fixture
def client(office):
    client = serve(office)
    client.headers.update(BEARER)
    return client


def test_the_life_of_a_suite(client, office):
    put_agents(office.database, 2)
    made = client.post(f"{PREFIX}/suites", json={**SUITE, "interval_minutes": 15})
    assert (made.status_code, made.json()["enabled"]) == (200, False)
    suite = f"{PREFIX}/suites/{made.json()['id']}"
    task = client.post(f"{suite}/tasks", json=TASK)
    assert (task.status_code, task.json()["weight"]) == (201, 1.0)
    run = client.post(f"{suite}/run")
    assert run.status_code == 202
    assert len(run.json()["run_id"]) == 32
    enabled = client.post(f"{PREFIX}/suites", json={"key": "http-basics", "enabled": True})
    (row,) = client.get(f"{PREFIX}/suites").json()
    assert row == enabled.json()
    assert (row["tasks"], row["enabled"], row["interval_minutes"]) == (1, True, 15)
    assert row["next_run_at"].endswith("+00:00")
    assert client.get("/api/v1/evals/suites").json()[0]["key"] == "http-basics"
    gone = client.delete(suite)
    assert (gone.status_code, gone.content) == (204, b"")
    assert client.delete(suite).status_code == 404
    assert client.get(f"{PREFIX}/suites").json() == []


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": b"Bearer \xff\xfe"},
        {"X-Authorization": f"Bearer {TOKEN}"},
    ],
)
def test_without_the_credential_every_endpoint_is_closed(method, path, headers):
    answer = serve(None).request(method, PREFIX + path, headers=headers, json=SUITE)
    assert answer.status_code == 401
    assert TOKEN not in answer.text


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize("headers", [{}, BEARER, {"Authorization": "Bearer "}])
def test_a_server_without_a_credential_has_no_open_door(method, path, headers):
    answer = serve(None, token=None).request(method, PREFIX + path, headers=headers)
    assert answer.status_code == 503


def test_the_scheme_is_read_in_any_case(office):
    answer = serve(office).get(f"{PREFIX}/suites", headers={"Authorization": f"bearer  {TOKEN} "})
    assert answer.status_code == 200


def test_run_now_with_the_gate_down_is_a_conflict(client, office):
    number = client.post(f"{PREFIX}/suites", json=SUITE).json()["id"]
    client.post(f"{PREFIX}/suites/{number}/tasks", json=TASK)
    for dark in (serve(Office(office.database, enabled=False)), serve(None)):
        answer = dark.post(f"{PREFIX}/suites/{number}/run", headers=BEARER)
        assert answer.status_code == 409


def test_a_server_without_a_registry_says_so():
    assert serve(None).get(f"{PREFIX}/suites", headers=BEARER).status_code == 503


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"\xff\xfe",
        b'{"key": "a", "key": "b", "name": "n"}',
        b'{"key": "a", "name": NaN}',
        b'{"key": "a", "name": "n", "reward": 1e400}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"key": "a", "name": "\\ud800"}',
    ],
)
def test_a_body_that_is_no_suite_is_refused(client, content):
    assert client.post(f"{PREFIX}/suites", content=content).status_code == 422
    assert client.get(f"{PREFIX}/suites").json() == []


def test_a_body_is_bounded(client):
    large = b'{"key": "a", "name": "' + b"x" * 2_000_000 + b'"}'
    assert client.post(f"{PREFIX}/suites", content=large).status_code == 413


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", str(2**63), str(10**40)])
def test_a_number_that_no_suite_can_have_is_refused(client, number):
    assert client.delete(f"{PREFIX}/suites/{number}").status_code == 422


def test_what_the_operator_gets_wrong_is_told_by_field(client, office):
    put_agents(office.database, 1)
    wrong = {**SUITE, "interval_minutes": 0, "targets": [did(0)], "pay": 5}
    answer = client.post(f"{PREFIX}/suites", json=wrong)
    assert answer.status_code == 422
    assert "interval_minutes" in answer.text
    assert "pay" in answer.text
    assert client.post(f"{PREFIX}/suites/77/tasks", json=TASK).status_code == 404
    assert client.post(f"{PREFIX}/suites/77/run").status_code == 404
