"""The registry's wing is what the environment says, and dark unless it says so."""

from __future__ import annotations

import pytest
from registry.serving import TOKEN
from starlette.testclient import TestClient

from aal_engine.api.app import create_app
from aal_engine.api.evals import results_wing
from aal_engine.api.office import registry_office, registry_wing
from aal_engine.errors import InputError, NotFound
from aal_engine.service.results import Results

BEARER = {"Authorization": f"Bearer {TOKEN}"}
NAMES = (
    "EVALS_ENABLED",
    "EVALS_DATABASE",
    "EVALS_ADMIN_TOKEN",
    "EVALS_FAN_OUT",
    "EVALS_TICK_SECONDS",
    "EVALS_ALLOW_NETWORKS",
    "EVALS_ALLOW_PORTS",
)
SUITES = "/api/v1/admin/evals/suites"


@pytest.fixture
def environment(monkeypatch):
    def put(**values):
        for name in NAMES:
            monkeypatch.setenv(name, values.get(name, ""))

    put()
    return put


def test_nothing_said_is_nothing_published(environment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with TestClient(create_app([registry_wing(registry_office())])) as client:
        assert client.get("/api/v1/evals/leaderboard").json() == []
        assert client.get(SUITES, headers=BEARER).status_code == 503
    assert list(tmp_path.iterdir()) == []


def test_an_enabled_registry_is_served_and_closed(environment, prepared_file):
    environment(EVALS_ENABLED="true", EVALS_DATABASE=str(prepared_file), EVALS_ADMIN_TOKEN=TOKEN)
    with TestClient(create_app([registry_wing(registry_office())])) as client:
        assert client.get("/api/v1/evals/suites").json() == []
        assert client.get(SUITES, headers=BEARER).json() == []
        assert client.get(SUITES).status_code == 401


def test_with_the_gate_down_the_operator_prepares_and_runs_nothing(environment, database, url):
    environment(EVALS_DATABASE=url, EVALS_ADMIN_TOKEN=TOKEN)
    suite = {"key": "draft", "name": "Draft", "enabled": True}
    task = {"name": "alive", "input": "/", "scorer": "status_ok"}
    with TestClient(create_app([registry_wing(registry_office())]), headers=BEARER) as client:
        number = client.post(SUITES, json=suite).json()["id"]
        assert client.post(f"{SUITES}/{number}/tasks", json=task).status_code == 201
        assert client.post(f"{SUITES}/{number}/run").status_code == 409
        assert client.get("/api/v1/evals/suites").json() == []


def test_an_enabled_registry_that_is_not_there_is_told(environment, tmp_path):
    environment(EVALS_ENABLED="true", EVALS_DATABASE=str(tmp_path / "registry.db"))
    with pytest.raises(NotFound, match="aal registry init"):
        registry_wing(registry_office())


@pytest.mark.parametrize(
    "wrong",
    [
        {"EVALS_ENABLED": "maybe"},
        {"EVALS_ADMIN_TOKEN": "short"},
        {"EVALS_FAN_OUT": "2"},
        {"EVALS_TICK_SECONDS": "0"},
        {"EVALS_TICK_SECONDS": "nan"},
        {"EVALS_TICK_SECONDS": "often"},
    ],
)
def test_what_the_environment_gets_wrong_is_told(environment, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environment(**wrong)
    with pytest.raises(InputError) as caught:
        registry_wing(registry_office())
    (name,) = wrong
    assert name in str(caught.value)
    assert "short" not in str(caught.value).replace("shorter", "")


def test_beside_the_releases_records_each_path_is_its_own(environment, prepared_file, tmp_path):
    environment(EVALS_ENABLED="true", EVALS_DATABASE=str(prepared_file))
    wings = [registry_wing(registry_office()), results_wing(Results(tmp_path / "ledger"), None)]
    with TestClient(create_app(wings)) as client:
        for name in ("suites", "leaderboard", "candidates"):
            assert client.get(f"/api/v1/evals/{name}").json() == []
        assert client.get("/api/v1/evals").json() == {"items": [], "next_cursor": None}
        assert client.get("/api/v1/evals/0-0").status_code == 404


@pytest.mark.parametrize("said", ["1", "true", "TRUE", " on ", "yes"])
def test_ways_to_say_on(environment, said, prepared_file):
    environment(EVALS_ENABLED=said, EVALS_DATABASE=str(prepared_file))
    from aal_engine.api.settings import evals_enabled

    assert evals_enabled()
