"""The page as files: every link leads to a file of the folder, and nothing leads out of it."""

from __future__ import annotations

import re

import doors
import pytest
from api.story import told

from aal_engine.api.site import site
from aal_engine.service.results import Results


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    return told(tmp_path_factory.mktemp("site") / "ledger")


def links(html):
    return set(re.findall(r'(?:href|src)="([^"]*)"', html)) - {"#content"}


def test_every_link_leads_to_a_file_and_every_file_can_be_reached(story, monkeypatch):
    monkeypatch.setattr("aal_engine.api.view.AGENTS", 1)
    monkeypatch.setattr("aal_engine.api.view.DECISIONS", 2)
    monkeypatch.setattr("aal_engine.api.view.ENTRIES", 3)
    files = dict(site(Results(story.folder)))
    assert {name.partition(".")[2] for name in files} == {"html", "css", "svg"}
    seen, left = set(), {"index.html"}
    while left:
        name = left.pop()
        seen.add(name)
        left |= links(files[name]) - seen
    assert seen == files.keys()


def test_what_is_appended_while_files_are_written_leaves_no_link_without_a_file(tmp_path):
    story = told(tmp_path / "ledger")
    files = {}
    for name, text in site(Results(story.folder)):
        files[name] = text
        if name == "index.html":
            story.decide("9.0.0")
    assert {link for text in files.values() for link in links(text)} <= files.keys()


def test_the_door_writes_them(story, tmp_path):
    done = doors.call("report", tmp_path, "site", "public", "--ledger", str(story.folder))
    assert done.returncode == 0, done.stderr
    assert "open public/index.html" in done.stdout
    assert len(list((tmp_path / "public").iterdir())) == int(re.search(r"\d+", done.stdout)[0])


def test_where_it_cannot_write_the_door_says_so(story, tmp_path):
    (tmp_path / "public").write_text("a file")
    done = doors.call("report", tmp_path, "site", "public", "--ledger", str(story.folder))
    assert done.returncode == 2
    assert "public" in done.stderr


def test_without_a_ledger_the_page_says_so(tmp_path):
    files = dict(site(Results(tmp_path / "none")))
    assert "Nothing was decided yet" in files["index.html"]
    assert "There is no ledger yet" in files["ledger.html"]
