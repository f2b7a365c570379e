"""The public record over HTTP: open to all, in the promised forms, empty with the gate down."""

from __future__ import annotations

import pytest
from registry.scene import NOW_MS, did, examine, put_agents, put_suite
from registry.serving import serve

from aal_engine.registry.db.database import connect, migrate
from aal_engine.registry.office import Office

PREFIX = "/api/v1/evals"
LISTS = [
    "/suites",
    f"/agents/{did(0)}/results",
    "/leaderboard",
    "/candidates",
    "/leaderboard?suite=basics",
]


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    database = connect(str(tmp_path_factory.mktemp("registry") / "registry.db"))
    migrate(database)
    put_agents(database, 3)
    suite_id = put_suite(database, reward=5)
    put_suite(database, "draft", enabled=False)
    for n in range(60):
        examine(database, suite_id, [1, n % 2], NOW_MS + n)
    yield Office(database, enabled=True)
    database.close()


@pytest.fixture(scope="module")
def client(office):
    return serve(office)


def rows(client, path):
    answer = client.get(PREFIX + path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def test_the_catalog(client):
    (suite,) = rows(client, "/suites")
    assert suite["key"] == "basics"
    assert suite["pays"] is True
    assert list(suite) == [
        "key", "name", "description", "task_type", "interval_minutes", "pays",
    ]  # fmt: skip


def test_results_of_an_agent_whatever_its_did_is_made_of(client):
    found = rows(client, f"/agents/{did(0)}/results?limit=3")
    assert [list(row) for row in found] == [
        ["run_id", "suite", "score", "passed", "latency_ms", "error", "at"]
    ] * 3
    assert found[0]["at"] == "2026-07-16T09:14:02+00:00"
    assert len(rows(client, f"/agents/{did(0)}/results")) == 20
    quoted = did(0).replace(":", "%3A")
    assert rows(client, f"/agents/{quoted}/results?limit=3") == found
    assert rows(client, "/agents/did:web:a:b:c/results") == []


def test_the_leaderboard_has_25_rows_unless_asked_otherwise(client, office):
    assert [row["did"] for row in rows(client, "/leaderboard?limit=2")] == [did(0), did(1)]
    (first, *_) = rows(client, "/leaderboard?suite=basics")
    assert (first["mean"], first["runs"]) == (0.75, 120)
    assert first["lower_bound"] < 0.75
    assert first["age_seconds"] >= 0
    assert rows(client, "/leaderboard?suite=") == rows(client, "/leaderboard")
    assert rows(client, "/leaderboard?suite=unheard-of") == []


def test_candidates_are_filtered(client):
    assert len(rows(client, "/candidates?suite=basics&bound=0.6&runs=100")) == 3
    assert rows(client, "/candidates?bound=0.9") == []
    assert rows(client, "/candidates?runs=121") == []
    age = rows(client, "/leaderboard")[0]["age_seconds"]
    assert rows(client, f"/candidates?age={max(age - 3600, 0)}") == []
    assert len(rows(client, f"/candidates?age={age + 3600}")) == 3


def test_evidence_of_a_run(client):
    run_id = rows(client, f"/agents/{did(1)}/results?limit=1")[0]["run_id"]
    found = rows(client, f"/agents/{did(1)}/runs/{run_id}/evidence")
    assert [row["request_digest"] for row in found] == ["ab" * 32] * 2


@pytest.mark.parametrize("limit", ["0", "101", "-1", "ten", "1.5", "", "99999999999999999999999"])
@pytest.mark.parametrize("path", [f"/agents/{did(0)}/results", "/leaderboard", "/candidates"])
def test_a_limit_that_is_not_from_1_to_100_is_refused(client, path, limit):
    assert client.get(f"{PREFIX}{path}?limit={limit}").status_code == 422


@pytest.mark.parametrize(
    "query", ["bound=2", "bound=nan", "bound=-1", "runs=-1", "age=-1", f"runs={10**30}"]
)
def test_a_filter_out_of_range_is_refused(client, query):
    assert client.get(f"{PREFIX}/candidates?{query}").status_code == 422


@pytest.mark.parametrize("path", LISTS)
def test_with_the_gate_down_every_list_is_empty(office, path):
    dark = serve(Office(office.database, enabled=False))
    assert rows(dark, path) == []


@pytest.mark.parametrize("path", LISTS)
def test_a_server_without_a_registry_is_one_where_evals_are_not_published(path):
    assert rows(serve(None), path) == []


@pytest.mark.parametrize(
    "hostile", ["%00", "' OR 1=1 --", "%F0%9F%92%A9" * 100, "..%2F..", "a" * 5000]
)
def test_hostile_names_are_nobodys(client, hostile):
    assert rows(client, f"/agents/{hostile}/results") == []
    assert client.get(f"{PREFIX}/leaderboard?suite={hostile}").status_code in (200, 422)


def test_a_database_that_breaks_while_it_is_served_is_no_fault_of_who_asks(tmp_path):
    file = tmp_path / "registry.db"
    database = connect(str(file))
    migrate(database)
    database.close()
    file.write_bytes(b"not a database at all" * 4096)
    for path in LISTS:
        answer = serve(Office(database, enabled=True)).get(PREFIX + path)
        assert answer.status_code == 503
        assert "damaged" in answer.json()["detail"]
        assert str(tmp_path) not in answer.text
    database.close()
