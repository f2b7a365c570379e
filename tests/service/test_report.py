"""One decision, told in every form."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from specimen import gate, policy, record, slices

from aal_engine.service.chart import Mark, Point, Series
from aal_engine.service.report import REPORTS, files_of, told_in_files
from aal_engine.service.report import told as told_with
from aal_engine.service.report.row import row
from aal_engine.service.report.text import text
from aal_engine.service.trend import Family


def blocked():
    return gate(record(metrics={"complete": 0.5}, counts={"invented_citations": 2}))


@pytest.mark.parametrize("form", REPORTS)
def test_every_form_tells_the_verdict(form):
    for decision in (blocked(), gate(record())):
        assert decision.verdict in REPORTS[form](decision).lower()


@pytest.mark.parametrize("form", REPORTS)
def test_every_form_marks_a_comparison_that_is_underpowered(form):
    decision = blocked()
    evidence = {
        "n": 40,
        "difference": -0.4,
        "interval": [-0.5, -0.3],
        "p": 0.001,
        "test": "mcnemar",
        "detectable": 0.2,
    }

    def told(underpowered):
        checks = tuple(
            replace(check, evidence=evidence | {"underpowered": underpowered})
            if (check.name, check.metric, check.slice) == ("regression", "complete", None)
            else check
            for check in decision.checks
        )
        return REPORTS[form](replace(decision, checks=checks))

    mark = '"underpowered":true' if form == "json" else ",underpowered"
    assert mark in told(True).replace(" ", "")
    assert mark not in told(False).replace(" ", "")


def test_json_is_the_record():
    decision = blocked()
    assert json.loads(REPORTS["json"](decision)) == json.loads(json.dumps(decision.canonical()))


def test_text_tells_what_blocks_first_and_by_how_much():
    lines = text(blocked()).splitlines()
    assert lines[0].startswith("BLOCKED: desk 1.1.0 on support against 1.0.0: 3 of")
    assert "invented citations" in lines[2]
    assert "2, limit 0" in lines[2]
    assert any(
        "0.9000 -> 0.5000  0.4000 worse (tolerance 0.0500, n = 40)" in line for line in lines
    )


def test_text_is_cut_with_a_count():
    names = [f"s{n}" for n in range(60)]
    decision = gate(
        record(slices=slices(0.1, 30, *names)),
        before=(record(version="1.0.0", slices=slices(0.9, 30, *names)),),
        policy=policy(slices_block=True),
    )
    told = text(decision)
    assert "… 40 more checks block" in told
    assert len(told.splitlines()) < 80


def test_colour_is_added_only_when_asked_for():
    assert "\x1b[" not in text(blocked())
    assert "\x1b[31;1m" in text(blocked(), colour=True)


def test_an_advisory_slice_warns():
    decision = gate(
        record(slices=slices(0.1, 30)),
        before=(record(version="1.0.0", slices=slices(0.9, 30)),),
    )
    assert decision.verdict == "released"
    (line,) = [row(c) for c in decision.checks if c.slice == "fr" and c.metric == "complete"]
    assert line.mark == "warn"
    assert ET.fromstring(REPORTS["junit"](decision)).find(".//skipped") is not None


def test_names_cannot_break_out_of_the_page_or_the_table():
    odd = "a@b:c/d+e"
    decision = gate(record(suite=odd), before=(record(suite=odd, version="1.0.0"),))
    page = REPORTS["html"](decision)
    assert "<script" not in page
    assert page.count("<table>") == page.count("</table>")
    ET.fromstring(REPORTS["junit"](decision))
    table = [line for line in REPORTS["markdown"](decision).splitlines() if line.startswith("| ok")]
    assert table
    assert {line.replace("\\|", "").count("|") for line in table} == {11}
    assert any(f"`claude · {odd}`" in line for line in table)


def test_the_page_fetches_nothing():
    page = REPORTS["html"](blocked())
    for word in ("http:", "https:", "src=", "url(", "@import", "<link"):
        assert word not in page


def trend():
    points = (Point("1.0.0", True, 0.9), Point("1.1.0", False, None), Point("1.2.0", True, 0.8))
    series = Series("complete", "higher", points, (Mark(1.5, True, "<1.0.0>"),))
    return (Family("<i>claude", (("core", series),)),)


def test_the_page_shows_the_history_of_each_metric():
    html = told_with("html", blocked(), trend())
    assert "<h2>History</h2>" in html
    assert "&lt;i&gt;claude" in html
    assert html.count('<circle class="dot"') == 2
    assert "History" not in REPORTS["html"](blocked())


def test_markdown_has_its_picture_beside_it(tmp_path):
    path = tmp_path / "my gate.md"
    files = told_in_files("markdown", blocked(), trend(), path)
    assert set(files) == {path, tmp_path / "my gate.svg"} == set(files_of({"markdown": path}))
    assert "](<my%20gate.svg>)" in files[path]
    ET.fromstring(files[tmp_path / "my gate.svg"])
    assert list(told_in_files("markdown", blocked(), (), path)) == [path]
