"""The read API: records and decisions by filters, a page after the other, and only when changed."""

from __future__ import annotations

import pytest
from api.scene import Scene
from starlette.testclient import TestClient

from aal_engine.api.app import Wing, create_app
from aal_engine.api.cursor import cursor
from aal_engine.api.evals import reads, results_wing
from aal_engine.service.results import Results


def client_of(folder):
    return TestClient(create_app([Wing([reads(Results(folder))])]))


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path / "ledger")
    scene.decide("1.0.0")
    scene.decide("1.1.0", worse=True)
    scene.decide("1.1.1")
    scene.decide("2.0.0", agent="scout", pack="papers", families=("claude",))
    return scene


@pytest.fixture
def client(scene):
    with client_of(scene.folder) as client:
        yield client


def listed(client, path):
    """Follow a list's cursors to its end."""
    found, more = [], path
    while more:
        page = client.get(more).json()
        found += page["items"]
        assert len(found) < 100
        joint = "&" if "?" in path else "?"
        more = page["next_cursor"] and f"{path}{joint}cursor={page['next_cursor']}"
    return found


def test_where_there_is_no_ledger_lists_are_empty(tmp_path):
    with client_of(tmp_path / "none") as client:
        for path in ("/api/v1/evals", "/api/v1/releases"):
            assert client.get(path).json() == {"items": [], "next_cursor": None}
        assert client.get(f"/api/v1/releases/{'0' * 64}").status_code == 404
        Scene(tmp_path / "none").decide("1.0.0")
        assert len(client.get("/api/v1/releases").json()["items"]) == 1


def test_a_record_says_what_was_measured_and_whether_it_passed(client):
    found = client.get("/api/v1/evals?pack=support&family=gpt&version=1.1.0").json()["items"]
    assert {each["kind"]: each["passed"] for each in found} == {"answers": False, "retrieval": True}
    answers = next(each for each in found if each["kind"] == "answers")
    assert answers["model_family"] == "gpt"
    assert answers["metrics"]["grounded"] == {"value": 0.975, "n": 40}
    assert client.get(f"/api/v1/evals/{answers['id']}").json() == answers


@pytest.mark.parametrize(
    ("query", "versions"),
    [
        ("", ["2.0.0", "2.0.0", *["1.1.1"] * 4, *["1.1.0"] * 4, *["1.0.0"] * 4]),
        ("pack=papers", ["2.0.0", "2.0.0"]),
        ("family=gpt", [*["1.1.1"] * 2, *["1.1.0"] * 2, *["1.0.0"] * 2]),
        ("passed=false", ["1.1.0", "1.1.0"]),
        ("agent=desk&version=1.0.0&passed=true", ["1.0.0"] * 4),
        ("since=2026-05-01T15:30:00Z", ["2.0.0", "2.0.0"]),
        ("since=2026-05-01T17:30:00%2B02:00", ["2.0.0", "2.0.0"]),
        ("suite=none", []),
    ],
)
def test_filters(client, query, versions):
    for size in (1, 3, 50):
        found = listed(client, f"/api/v1/evals?{query}&limit={size}".replace("?&", "?"))
        assert [each["version"] for each in found] == versions
        assert len({each["id"] for each in found}) == len(found)


def test_releases_are_what_the_gate_released_unless_more_is_asked(client):
    def versions(query):
        return [each["version"] for each in listed(client, f"/api/v1/releases?limit=1{query}")]

    assert versions("") == ["2.0.0", "1.1.1", "1.0.0"]
    assert versions("&verdict=blocked") == ["1.1.0"]
    assert versions("&verdict=any&pack=support") == ["1.1.1", "1.1.0", "1.0.0"]
    assert versions("&family=gpt") == ["1.1.1", "1.0.0"]


def test_a_decision_has_every_check_the_worst_first(client):
    (row,) = client.get("/api/v1/releases?verdict=blocked").json()["items"]
    whole = client.get(f"/api/v1/releases/{row['id']}").json()
    assert {key: whole[key] for key in row} == row
    assert row["blocking"] == sum(not c["ok"] and not c["advisory"] for c in whole["checks"]) > 0
    assert whole["checks"][0]["check"] == "invented_citations"
    assert not whole["checks"][0]["ok"]
    assert [each["release"] for each in whole["evals"]] == [row["id"]] * 4


def test_pages_neither_skip_nor_repeat_when_the_ledger_grows(scene, client):
    before = [each["id"] for each in listed(client, "/api/v1/evals")]
    page = client.get("/api/v1/evals?limit=5").json()
    found = [each["id"] for each in page["items"]]
    while page["next_cursor"]:
        scene.decide(f"1.2.{scene.hour}")
        page = client.get(f"/api/v1/evals?limit=5&cursor={page['next_cursor']}").json()
        found += [each["id"] for each in page["items"]]
    assert found == before


def test_what_did_not_change_is_not_sent_again(scene, client):
    first = client.get("/api/v1/evals")
    tag = first.headers["etag"]
    same = client.get("/api/v1/evals", headers={"If-None-Match": f'"x", {tag}'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    other = client.get("/api/v1/evals?limit=1", headers={"If-None-Match": tag})
    assert other.status_code == 200
    scene.decide("1.2.0")
    grown = client.get("/api/v1/evals", headers={"If-None-Match": tag})
    assert grown.status_code == 200
    assert grown.headers["etag"] != tag


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("cursor=", "cursor"),
        ("cursor=%00", "cursor"),
        ("cursor=WzEsInh4IiwxLDVd", "cursor"),
        (f"cursor={'A' * 201}", "cursor"),
        ("cursor=" + cursor((1, 2), {"pack": "other"}), "cursor"),
        ("cursor=" + cursor(1, {}), "cursor"),
        ("limit=201", "limit"),
        ("since=yesterday", "since"),
        ("since=2026-05-01T15:30:00", "since"),
        ("passed=perhaps", "passed"),
        ("pack=", "pack"),
        ("q=a", "q"),
    ],
)
def test_what_cannot_be_asked_is_a_problem_that_names_the_parameter(client, query, field):
    response = client.get(f"/api/v1/evals?{query}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field


@pytest.mark.parametrize(
    "path",
    ["evals/0-0", "evals/999-1", "evals/1-99", f"releases/{'0' * 64}", "evals/1-0/x"],
)
def test_what_is_not_there_is_not_found(client, path):
    assert client.get(f"/api/v1/{path}").status_code == 404


@pytest.mark.parametrize("path", ["evals/..%2f..", "evals/01-2", "releases/xyz", "evals/1-0%0d%0a"])
def test_what_is_no_name_is_refused(client, path):
    assert client.get(f"/api/v1/{path}").status_code in (404, 422)


def test_where_a_token_is_set_only_its_holder_reads(scene):
    token = "r3ad-r3ad-r3ad-r3ad"
    wings = [results_wing(Results(scene.folder), token)]
    with TestClient(create_app(wings, token)) as client:
        sent = {"Authorization": f"Bearer {token}"}
        for path in ("/api/v1/evals", "/api/v1/releases", "/metrics"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers=sent).status_code == 200
        assert client.get("/healthz").status_code == 200
