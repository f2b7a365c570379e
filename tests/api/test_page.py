"""The page as HTML: what each view says, that names are escaped, and that it is live."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest
from api.scene import Scene
from api.story import KEY, told
from starlette.testclient import TestClient

from aal_engine.api.app import create_app
from aal_engine.api.page import POLICY, page_wing
from aal_engine.decide.body import bodies
from aal_engine.service.results import Results
from aal_engine.store.ledger import Ledger

AGENT = f"/agent?agent={KEY.agent}&pack={KEY.pack}"
VIEWS = ("/", AGENT, "/decisions", "/ledger")
TOKEN = "a-secret-of-some-length"


def client_of(folder, token=None):
    return TestClient(create_app([page_wing(Results(folder), token)]))


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    return told(tmp_path_factory.mktemp("story") / "ledger")


@pytest.fixture
def client(story):
    with client_of(story.folder) as client:
        yield client


class Words(HTMLParser):
    """The words of a page, its elements and its links."""

    def __init__(self, html):
        super().__init__()
        self.words, self.tags, self.links = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        told = dict(attributes)
        assert not {"style", "onclick", "onload", "onerror", "src"} & told.keys()
        if tag == "a":
            self.links.append(told["href"])

    def handle_data(self, data):
        self.words += data.split()

    @property
    def text(self):
        return " ".join(self.words)


def read(client, path, status=200):
    response = client.get(path)
    assert response.status_code == status
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == POLICY
    page = Words(response.text)
    assert "script" not in page.tags
    return page


def decision_of(client, version):
    html = client.get("/decisions").text
    return re.search(rf'href="(/decisions/[0-9a-f]{{64}})">{re.escape(version)}<', html)[1]


def test_the_agents_with_what_serves_and_the_last_verdict(client):
    text = read(client, "/").text
    assert "desk support 1.1.0 1.2.1 released" in text
    assert "scout papers none promoted 2.0.0 released" in text
    assert 'aria-label="3 of the last 4 decisions released"' in client.get("/").text


def test_an_agents_history_marks_releases_rollbacks_and_what_was_blocked(client):
    page, html = read(client, AGENT), client.get(AGENT).text
    assert "In service 1.1.0 since 2026-05-01" in page.text
    assert "by rollback" in page.text
    assert "In quarantine 1.2.1" in page.text
    assert (
        page.tags.count("figure") == 2 * 5
    )  # two families, three answer metrics, two of retrieval
    assert "<title>rollback to 1.1.0</title>" in html
    assert "<title>1.1.0 put into service</title>" in html
    assert "<title>1.2.0: 0.975, blocked</title>" in html


def test_a_decision_with_its_checks_the_worst_first_and_its_place(client, story):
    page = read(client, decision_of(client, "1.2.0"))
    assert "checks block" in page.text
    assert page.text.index("invented citations") < page.text.index("against the last release")
    assert "What blocks" in page.text
    proof = client.get(decision_of(client, "1.2.0")).text
    entry = int(re.search(r"<dd>(\d+) of \d+ in example.com/ledger", proof)[1])
    leaf = re.search(r"<dt>Leaf</dt><dd><code>([0-9a-f]{64})", proof)[1]
    assert Ledger.open(story.folder).leaves()[entry].hex() == leaf


def test_the_proof_that_is_shown_leads_to_the_root_that_is_shown(client):
    from aal_engine.decide.merkle import included

    html = client.get(decision_of(client, "1.1.0")).text
    entry, size = map(int, re.search(r"<dd>(\d+) of (\d+) in", html).groups())
    leaf = re.search(r"<dt>Leaf</dt><dd><code>([0-9a-f]{64})", html)[1]
    root = re.search(r"<dt>Root at \d+</dt><dd><code>([^<]+)", html)[1]
    path = re.findall(r"<li><code>([0-9a-f]{64})</code></li>", html)
    hashes = [bytes.fromhex(each) for each in path]
    assert included(bytes.fromhex(leaf), entry, size, hashes, base64.b64decode(root))


def test_every_link_leads_somewhere(client):
    seen, left = set(), list(VIEWS)
    while left:
        path = left.pop()
        if path in seen or path == "#content":
            continue
        seen.add(path)
        left += read(client, path).links
    assert len(seen) == 3 + 2 + 5  # lists, agents, decisions


def test_the_ledgers_state(client, story):
    text = read(client, "/ledger").text
    size = Ledger.open(story.folder).verify().size
    assert f"{size} entries, each chained to the one before." in text
    assert "nothing is signed" in text
    assert "rollback desk support 1.1.0 intent" in text


@pytest.mark.parametrize("path", VIEWS)
def test_where_there_is_nothing_a_page_says_so(tmp_path, path):
    with client_of(tmp_path / "none") as client:
        text = read(client, path, 404 if path == AGENT else 200).text
    assert re.search(
        "nothing was decided|no ledger yet|no decision on this pack", text, re.IGNORECASE
    )


def test_a_page_shows_what_another_process_appended(tmp_path):
    scene = Scene(tmp_path / "ledger")
    scene.decide("1.0.0")
    with client_of(scene.folder) as client:
        first = client.get("/")
        assert client.get("/", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
        scene.decide("1.1.0", worse=True)
        again = client.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 200
    assert "1.1.0 blocked" in Words(again.text).text


def test_lists_have_pages_that_appends_do_not_move(tmp_path, monkeypatch):
    monkeypatch.setattr("aal_engine.api.view.DECISIONS", 2)
    scene = Scene(tmp_path / "ledger")
    for number in range(5):
        scene.decide(f"1.{number}.0")
    with client_of(scene.folder) as client:
        seen, path = [], "/decisions"
        while path:
            html = client.get(path).text
            seen += re.findall(r'href="/decisions/[0-9a-f]{64}">(\S+)</a></th>', html)
            if len(seen) == 2:
                scene.decide("1.9.0")
            found = re.search(r'rel="next" href="([^"]+)"', html)
            path = found and found[1].replace("&amp;", "&")
    assert seen == ["1.4.0", "1.3.0", "1.2.0", "1.1.0", "1.0.0"]


def hostile(folder):
    """Append a decision whose names are HTML, as nobody's gate would write it."""
    scene = Scene(folder)
    decision = scene.decide("1.0.0")
    names = {"agent": "<script>alert(1)</script>", "pack": '"><img src=x onerror=y>'}
    body = {**bodies(decision)[0], **names, "version": "<b>1</b>", "model_families": ["<i>&"]}
    body["decision"] = "f" * 64
    Ledger.open(folder).append("decision", body, scene_time(scene))
    return names


def scene_time(scene):
    from datetime import timedelta

    from api.scene import START

    return START + timedelta(hours=scene.hour + 1)


def test_html_in_names_is_escaped_in_every_view(tmp_path):
    names = hostile(tmp_path / "ledger")
    with client_of(tmp_path / "ledger") as client:
        for path in ("/", "/decisions", "/ledger", f"/decisions/{'f' * 64}"):
            page = read(client, path)
            assert names["agent"] in page.text
            assert not {"b", "i", "img"} & set(page.tags)
        response = client.get("/agent", params=names)
        page = Words(response.text)
    assert response.status_code == 200
    assert not {"b", "i", "img", "script"} & set(page.tags)
    assert names["agent"] in page.text


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"records": [{"model_family": "x"}]}, "/agent"),
        ({"records": None}, "/decision"),
        ({"checks": {"columns": ["check"], "rows": [["unheard of"]]}}, "/decision"),
        ({"checks": {}}, "/decision"),
        ({"model_families": [7]}, "/list"),
        ({"baseline": {"version": {}}}, "/list"),
        ({"engine": None}, "/list"),
    ],
)
def test_an_entry_that_no_gate_wrote_is_a_problem_and_not_a_fault(tmp_path, change, path):
    scene = Scene(tmp_path / "ledger")
    body = {**bodies(scene.decide("1.0.0"))[0], "decision": "e" * 64, **change}
    Ledger.open(scene.folder).append("decision", body, scene_time(scene))
    where = {"/agent": AGENT, "/decision": f"/decisions/{'e' * 64}", "/list": "/decisions"}[path]
    with client_of(scene.folder) as client:
        assert "is not an entry that this engine can read" in read(client, where, 409).text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/decisions/" + "0" * 64, 404),
        ("/decisions/0", 422),
        ("/decisions/../../etc/passwd", 404),
        ("/static/../view.py", 404),
        ("/static/%2e%2e/view.py", 404),
        ("/decisions?before=-1", 422),
        ("/decisions?before=99999999999999999999", 422),
        ("/ledger?befor=1", 422),
        ("/agent?agent=desk", 422),
        ("/?agent=" + "x" * 300, 422),
        ("/agent?agent=desk&pack=nowhere", 404),
    ],
)
def test_what_cannot_be_shown_is_refused(client, path, status):
    assert client.get(path).status_code == status


def basic(password):
    return "Basic " + base64.b64encode(b"anybody:" + password.encode()).decode()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (None, 401),
        (basic(TOKEN), 200),
        (basic("other"), 401),
        ("Basic ===", 401),
        (f"Bearer {TOKEN}", 200),
        ("Bearer other", 401),
    ],
)
def test_with_a_token_a_browser_is_asked_for_it(story, sent, status):
    with client_of(story.folder, TOKEN) as client:
        response = client.get("/", headers={} if sent is None else {"Authorization": sent})
        assert response.status_code == status
        if status == 401:
            assert response.headers["www-authenticate"].startswith("Basic ")
        assert client.get("/static/page.css").status_code == 200
