"""The page in Chromium: every view, light and dark, wide and narrow, by keyboard, with axe-core."""

from __future__ import annotations

import shutil
import threading
from contextlib import contextmanager

import pytest
from api.story import KEY, told
from registry.scene import NOW_MS, did, examine, put_agents, put_suite

from aal_engine.api.app import create_app
from aal_engine.api.page import page_wing
from aal_engine.api.site import site
from aal_engine.registry.db.database import connect, migrate
from aal_engine.registry.office import Office
from aal_engine.service.files import write_all
from aal_engine.service.results import Results

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
VIEWS = {
    "agents": "/",
    "agent": f"/agent?agent={KEY.agent}&pack={KEY.pack}",
    "decisions": "/decisions",
    "ledger": "/ledger",
    "leaderboard": "/leaderboard",
    "record": f"/record?did={did(0)}",
    "problem": "/agent?agent=nobody&pack=nothing",
}
SIZES = {"wide": (1280, 900), "narrow": (360, 740)}


@contextmanager
def served(folder, office):
    import uvicorn

    app = create_app([page_wing(Results(folder), None, office)])
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical")
    socket = config.bind_socket()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        socket.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    home = tmp_path_factory.mktemp("page")
    database = connect(str(home / "registry.db"))
    migrate(database)
    put_agents(database, 2)
    examine(database, put_suite(database), [1, 0], NOW_MS)
    with served(told(home / "ledger").folder, Office(database, enabled=True)) as address:
        yield address
    database.close()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, request):
    size, scheme = getattr(request, "param", ("wide", "light"))
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("requestfailed", lambda failed: page.complaints.append(failed.url))
    yield page
    context.close()


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    # The page's own policy lets no script in: the examiner's comes past it.
    found = Axe().run(page).response
    assert len(found["passes"]) > 10
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]


LOOKS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]


@pytest.mark.parametrize("page", LOOKS, indirect=True, ids=" ".join)
def test_each_view_fits_complains_of_nothing_and_is_accessible(page, address):
    for name, path in VIEWS.items():
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert violations(page) == [], name
    page.goto(address + "/decisions")
    page.locator("tr:has(.blocked) a").first.click()
    page.wait_for_url("**/decisions/*")
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
    # A problem's own status is the one thing that Chromium remarks on.
    assert [each for each in page.complaints if "404" not in each] == []


def ground(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("page", LOOKS, indirect=True, ids=" ".join)
def test_it_is_dark_where_the_reader_is(page, address):
    page.goto(address)
    levels = [int(each) for each in ground(page)[4:-1].split(",")]
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert max(levels) < 64 if dark else min(levels) > 192


def test_the_keyboard_alone_leads_from_the_agents_to_a_proof(page, address):
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.keyboard.press("Enter")
    follow(page, "desk")
    page.wait_for_url("**/agent?*")
    follow(page, "1.2.0")
    page.wait_for_url("**/decisions/*")
    follow(page, "Inclusion proof", key="Space")
    assert page.locator("ol.proof li").first.is_visible()


def follow(page, says, key="Enter"):
    """Go on by Tab to what starts with these words, see that it shows its focus, and press a key."""
    for _ in range(80):
        page.keyboard.press("Tab")
        told = page.evaluate("document.activeElement.textContent.trim()")
        if told.startswith(says):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid"
            page.keyboard.press(key)
            return
    raise AssertionError(f"no Tab leads to {says}")


def test_without_scripts_nothing_is_missing(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + VIEWS["agent"])
    assert page.locator("svg[role=img]").count() == 10
    page.locator("summary").first.click()
    assert page.locator("details table").first.is_visible()
    context.close()


def test_an_export_opens_from_disk_in_its_own_style(page, tmp_path):
    story = told(tmp_path / "ledger")
    write_all(tmp_path / "public", site(Results(story.folder)), lambda _: None)
    page.goto((tmp_path / "public" / "index.html").as_uri())
    page.get_by_role("link", name="desk", exact=True).click()
    page.wait_for_url("**/agent-*.html")
    assert page.locator("figure").count() == 10
    assert page.evaluate("getComputedStyle(document.querySelector('main')).marginLeft") != "0px"
    assert page.complaints == []


def test_the_narrow_view_keeps_each_cell_under_its_name(browser, address):
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(address)
    cell = page.locator("td[data-label=Verdict]").first
    assert cell.evaluate("e => getComputedStyle(e, '::before').content") == '"Verdict"'
    assert cell.bounding_box()["width"] <= 340
    context.close()
