"""What an answer shows, and the phrases and numbers found in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.answer.counts import judge_answer
from aal_engine.measure.answer.hit import hits, span
from aal_engine.measure.answer.prose import Prose
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.point import parse_claim, parse_point
from aal_engine.measure.run import Output
from aal_engine.measure.text.language import ENGLISH
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.shown import reread, shown

MARKED = st.lists(
    st.sampled_from(
        [
            "in",
            "stant",
            " ",
            "<b>",
            "</b>",
            "<br/>",
            "&nbsp;",
            "&#39;",
            "&amp;",
            "&x;",
            "**",
            "~~",
            "`",
            "\n",
            "-\n",
            "\u200b",
            "¹",
            "<",
            ">",
            "&",
            "½",
            "[1]",
            "<sup>1</sup>",
            "30",
        ]
    ),
    max_size=30,
).map("".join)


def forbids(text, claim="refunds are instant"):
    case = Case("c", "q", must_not_claim=(parse_claim(claim),))
    return judge_answer(case, Output("c", answer=text), CitationStyle(), "en").forbidden_claims


@pytest.mark.parametrize(
    "text",
    [
        "Refunds are <!-- a note --> instant.",
        "Refunds<!---->are<!-- b\nc -->instant.",
        "Refunds are&nbsp instant.",
        "Refunds are&nbspinstant.",
        "Refunds are in&shystant.",
        "Refunds are in&#173stant.",
        "Refunds are&#xa0;instant.",
        "Refunds are <!-- open, instant.\n\nRefunds are instant.",
    ],
)
def test_comments_and_entities_hide_no_claim(text):
    assert forbids(text) == 1


@pytest.mark.parametrize(
    "text", ["<!-- Refunds are instant. -->Hello.", "Refunds are&nbs;instant", "R&D are instant"]
)
def test_what_does_not_show_is_not_said(text):
    assert forbids(text) == 0


def test_a_name_that_only_starts_as_an_entity_does_is_none():
    assert shown("Q&A, AT&T, a&copying, x&amp=1", ()) == "Q&A, AT&T, a&copying, x&amp=1"


@pytest.mark.parametrize("marks", [("&quot;",) * 2, ("&ldquo;", "&rdquo;"), ("&#8220", "&#8221")])
def test_entities_are_quotation_marks(marks):
    claim = {"phrase": "refunds are instant", "quotation": "allow"}
    opening, closing = marks
    assert forbids(f"They say {opening}refunds are instant{closing}.", claim) == 0
    assert forbids(f"They say {opening}so{closing}, refunds are instant.", claim) == 1
    assert forbids(f"`{opening}` refunds are instant `{closing}`.", claim) == 1


def meets(text, point):
    prose = Prose(text, Sources((), CitationStyle()), ENGLISH)
    return bool(hits(parse_point(point), prose))


@pytest.mark.parametrize(
    "text",
    [
        "Refunds are instant¹ and free.",
        "Refunds are instant², always.",
        "Refunds are instant™.",
        "Refunds ⚡️ are instant.",
        "refunds are instant\ufe0f",
        "refunds are inst\u034fant",
        "refunds\u3164are instant",
        "Refunds are <b>instant</b>",
        "<p>Refunds <b>are</b> instant</p>",
        "Refunds <span class='x'>are</span> in<i>stant</i>.",
        "refunds<br>are<br/>instant",
        "Refunds are instant<sup>1</sup>.",
        "Refunds&nbsp;are instant",
        "Refunds&#160;are&#xA0;instant",
        "Refunds are &quot;instant&quot;",
        "Refunds are in&shy;stant",
        "refunds are **in**stant",
        "refunds**are**instant",
        "refunds\u200bare\u200binstant",
        "refunds\u200bare in\u00adstant",
        "refunds are in\u200bstant",
        "refunds are in-\nstant",
        "not\u200brefunds\u200bare\u200binstant",
    ],
)
def test_a_claim_is_found_as_it_shows(text):
    assert forbids(text) == 1
    assert forbids(text, {"phrase": "refunds are instant", "negation": "allow"}) == 1


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("30 days¹", "30 days"),
        ("30¹ days", "30 days"),
        ("<b>30</b> days", "30 days"),
        ("**30** days", "30 days"),
        ("It is guaran-\nteed.", "guaranteed"),
        ("It is well-\nknown.", "well-known"),
        ("A key of snake_case or `a&amp;b`", "snake_case"),
        ("We don&#39;t refund", "don't refund"),
        ("The price is $19–29.", {"number": 29, "unit": "USD"}),
        ("The price is $29¹.", {"number": 29, "unit": "USD"}),
        ("It costs <b>1&nbsp;000</b> kg.", {"number": 1000, "unit": "kg"}),
        ("A flat of 20 m².", "20 m²"),
    ],
)
def test_a_point_is_met_as_it_shows(text, point):
    assert meets(text, point)


@pytest.mark.parametrize(
    ("text", "point", "met"),
    [
        ("20 m³", "20 m²", False),
        ("2*3", "23", False),
        ("Use <days>", "use days", True),
        ("`&amp;`", "amp", True),
        ("&amp;", "amp", False),
    ],
)
def test_what_is_no_markup_stays(text, point, met):
    assert meets(text, point) == met


def test_a_hit_stands_where_it_stands_in_the_answer():
    for text, found in [
        ("So <b>refunds</b> are in&shy;stant¹ now.", "refunds</b> are in&shy;stant"),
        ("So refunds\u200bare\u200binstant now.", "refunds\u200bare\u200binstant"),
    ]:
        prose = Prose(text, Sources((), CitationStyle()), ENGLISH)
        (hit,) = hits(parse_point("refunds are instant"), prose)
        start, end = span(hit, prose)
        assert text[start:end] == found


@given(MARKED)
def test_what_is_shown_is_as_long_as_the_text(text):
    assert len(shown(text, ())) == len(text)
    assert all(len(reading) == len(text) and reading != text for reading in reread(text))


@given(MARKED)
def test_every_form_read_is_found_within_the_text(text):
    prose = Prose(f"a {text} b", Sources((), CitationStyle()), ENGLISH)
    for hit in hits(parse_point("instant"), prose):
        start, end = span(hit, prose)
        assert 0 <= start < end <= len(prose.text)
        assert "stant" in "".join(tokens(prose.plain[start:end]))
