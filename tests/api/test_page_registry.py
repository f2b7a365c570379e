"""The registry's views: the leaderboard, an agent's record, and nothing where evals are not."""

from __future__ import annotations

import re

import pytest
from registry.scene import NOW_MS, did, examine, put_agents, put_suite
from starlette.testclient import TestClient

from aal_engine.api.app import create_app
from aal_engine.api.page import POLICY, page_wing
from aal_engine.registry.db.database import connect, migrate
from aal_engine.registry.office import Office
from aal_engine.service.results import Results


@pytest.fixture
def database(tmp_path):
    database = connect(str(tmp_path / "registry.db"))
    migrate(database)
    put_agents(database, 2)
    suite_id = put_suite(database)
    for n in range(4):
        examine(database, suite_id, [1, n % 2], NOW_MS + n)
    yield database
    database.close()


@pytest.fixture
def client(database, tmp_path):
    wing = page_wing(Results(tmp_path / "none"), "a-secret-of-some-length", Office(database, True))
    with TestClient(create_app([wing])) as client:
        yield client


def test_the_leaderboard_is_for_all_and_leads_to_each_agents_record(client):
    response = client.get("/leaderboard")
    assert response.headers["content-security-policy"] == POLICY
    assert response.text.index(did(0)) < response.text.index(did(1))
    assert re.findall(r'"Mean" class="n">([0-9.]+)<', response.text) == ["0.7500", "0.7500"]
    record = client.get("/record", params={"did": did(1)})
    assert record.status_code == 200
    assert record.text.count("failed") == 2
    assert client.get("/").status_code == 401


def test_one_suite(client):
    assert did(0) in client.get("/leaderboard?suite=basics").text
    nothing = client.get("/leaderboard?suite=<b>").text
    assert "No results of this suite yet" in nothing
    assert "<b>" not in nothing


def test_where_evals_are_not_enabled_nothing_points_there(database, tmp_path):
    for office in (None, Office(database, False)):
        wing = page_wing(Results(tmp_path / "none"), None, office)
        with TestClient(create_app([wing])) as client:
            assert "/leaderboard" not in client.get("/").text
            assert client.get("/leaderboard").status_code == 404
            assert client.get("/record", params={"did": did(0)}).status_code == 404


def test_an_agent_without_results_is_not_found(client):
    assert client.get("/record?did=did:web:nobody.example").status_code == 404
