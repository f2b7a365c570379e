"""Answers made of a point's own words."""

from __future__ import annotations

import pytest

from aal_engine.measure.answer.examination import required
from aal_engine.measure.answer.prose import Prose
from aal_engine.measure.answer.sample import MAX_SAMPLES, samples
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.point import parse_point
from aal_engine.measure.text.language import ENGLISH, GERMAN

POINTS = [
    ("30 days", 1),
    ({"phrase": "refund", "aliases": ["money back", "cash back"]}, 3),
    ({"number": 29.5, "unit": "USD"}, 1),
    ({"number": -5}, 1),
    ({"date": "2026-01"}, 1),
    ({"any_of": ["card", {"phrase": "bank", "aliases": ["cheque"]}]}, 3),
    ({"all_of": ["card", {"phrase": "bank", "aliases": ["cheque"]}]}, 2),
    ({"at_least": 2, "of": ["card", {"regex": "x+"}, "bank"]}, 1),
]


@pytest.mark.parametrize("language", [ENGLISH, GERMAN])
@pytest.mark.parametrize(("point", "count"), POINTS)
def test_each_sample_meets_the_point_it_is_made_of(point, count, language):
    parsed = parse_point(point)
    made = samples(parsed, language)
    assert len(made) == count
    for text in made:
        assert required(parsed, Prose(text, Sources((), CitationStyle()), language)).met


def test_a_pattern_says_nothing_of_what_it_matches():
    assert samples(parse_point({"regex": "a+"}), ENGLISH) == []
    assert samples(parse_point({"all_of": ["card", {"regex": "a+"}]}), ENGLISH) == []
    assert samples(parse_point({"any_of": ["card", {"regex": "a+"}]}), ENGLISH) == ["card."]


def test_a_large_tree_makes_few_samples():
    forms = {"phrase": "a1", "aliases": [f"a{n}" for n in range(2, 30)]}
    assert len(samples(parse_point({"all_of": [forms] * 8}), ENGLISH)) == 1
    assert len(samples(parse_point({"any_of": [forms] * 20}), ENGLISH)) == MAX_SAMPLES
