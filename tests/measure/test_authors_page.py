"""Every example of the README's page for authors does what the page says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aal_engine.measure.answer.counts import AnswerCounts, judge_answer
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.point import parse_claim, parse_point
from aal_engine.measure.run import Output

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
CLAIM = {"phrase": "refunds are instant"}


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table whose header starts with a heading."""
    body = README.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body]


def judged(case: Case, answer: str) -> AnswerCounts:
    return judge_answer(case, Output("c", answer=answer), CitationStyle(), "en")


POINTS = rows("required point")
STATES = rows("the answer says")


def test_there_is_an_example_of_every_leaf_and_tree():
    kinds = {key for point, _, _ in POINTS for key in _keys(json.loads(point.strip("`")))}
    assert kinds >= {"phrase", "aliases", "number", "unit", "tolerance", "relative", "date"}
    assert kinds >= {"precision", "regex", "all_of", "any_of", "at_least", "of", "negated"}
    assert {state for _, state, *_ in STATES} == {"asserted", "negated", "quoted", "asked"}


def _keys(point) -> set[str]:
    return set(point) if isinstance(point, dict) else {"phrase"}


@pytest.mark.parametrize(("point", "met", "missed"), POINTS)
def test_a_point_is_met_as_the_page_says(point, met, missed):
    case = Case("c", "q", must_mention=(parse_point(json.loads(point.strip("`"))),))
    assert judged(case, met).points_met == 1
    assert judged(case, missed).points_met == 0


@pytest.mark.parametrize(("answer", "state", "plain", "negation", "quotation"), STATES)
def test_a_claim_is_made_as_the_page_says(answer, state, plain, negation, quotation):
    settings = ({}, {"negation": "allow"}, {"quotation": "allow"})
    for setting, told in zip(settings, (plain, negation, quotation), strict=True):
        found = judged(Case("c", "q", must_not_claim=(parse_claim(CLAIM | setting),)), answer)
        assert found.forbidden_claims == {"made": 1, "–": 0}[told]
        assert getattr(found, f"forbidden_{state}") == 1
