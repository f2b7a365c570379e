"""Points and claims as golden sets write them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.canonical import canonical, digest
from aal_engine.measure.leaf import Date, Number, Pattern, Phrase
from aal_engine.measure.point import (
    MAX_DEPTH,
    MAX_FORMS,
    MAX_LEAVES,
    MAX_LENGTH,
    AllOf,
    AnyOf,
    AtLeast,
    Claim,
    PointError,
    parse_claim,
    parse_point,
)

WORDS = st.sampled_from(["refund", "30 days", "owner-ratified", "café", "§ 5"])
NEGATED = st.fixed_dictionaries({}, optional={"negated": st.sampled_from(["ignore", "count"])})
LEAVES = st.one_of(
    WORDS,
    st.builds(
        lambda word, more, rest: {"phrase": word, "aliases": more} | rest,
        WORDS,
        st.lists(WORDS, max_size=3),
        NEGATED,
    ),
    st.builds(lambda rest: {"regex": "refunds? +within"} | rest, NEGATED),
    st.builds(
        lambda value, rest: {"number": value, "unit": "USD"} | rest,
        st.integers(-1000, 1000) | st.floats(-1e6, 1e6, allow_nan=False),
        st.fixed_dictionaries({}, optional={"tolerance": st.floats(0, 9)}),
    ),
    st.builds(
        lambda value, rest: {"date": value} | rest,
        st.sampled_from(["2026-01-31", "2024-02-29"]),
        st.fixed_dictionaries(
            {}, optional={"precision": st.sampled_from(["day", "month", "year"])}
        ),
    ),
)
TREES = st.recursive(
    LEAVES,
    lambda parts: st.one_of(
        st.builds(lambda of: {"all_of": of}, st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda of: {"any_of": of}, st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda of: {"at_least": 1, "of": of}, st.lists(parts, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


@given(TREES)
def test_the_full_form_of_a_point_reads_back_as_the_point(value):
    point = parse_point(value)
    assert parse_point(point.canonical()) == point
    canonical(point.canonical())


@given(TREES, st.sampled_from(["count", "allow"]))
def test_the_full_form_of_a_claim_reads_back_as_the_claim(value, setting):
    value = _without_negated(value)
    claim = parse_claim({"any_of": [value], "negation": setting})
    assert parse_claim(claim.canonical()) == claim
    assert claim.negation == setting


def _without_negated(value):
    if isinstance(value, dict):
        return {key: _without_negated(item) for key, item in value.items() if key != "negated"}
    return [_without_negated(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("30 days", {"phrase": "30 days", "aliases": [], "negated": "ignore"}),
        ({"number": 29}, {"number": 29.0, "unit": None, "tolerance": 0, "relative": 0.0}),
        ({"date": "2026-01-31"}, {"date": "2026-01-31", "precision": "day"}),
        ({"date": "2026-01-31", "precision": "month"}, {"date": "2026-01"}),
        ({"date": 2026}, {"date": "2026-05-05", "precision": "year"}),
        (
            {"any_of": ["a", "b"], "negated": "count"},
            {"any_of": [{"phrase": "a", "negated": "count"}, {"phrase": "b", "negated": "count"}]},
        ),
    ],
)
def test_short_and_long_forms_have_one_digest(short, long):
    assert digest(parse_point(short).canonical()) == digest(parse_point(long).canonical())


def test_a_tree_is_read_as_it_is_written():
    point = parse_point(
        {
            "all_of": [
                {"phrase": "refund", "aliases": ["money back"]},
                {
                    "any_of": [
                        {"regex": "within +30"},
                        {"number": 29, "unit": "USD", "relative": 0.01},
                    ]
                },
                {"at_least": 1, "of": [{"date": "2026-01"}], "negated": "count"},
            ]
        }
    )
    assert point == AllOf(
        (
            Phrase(("refund", "money back")),
            AnyOf((Pattern("within +30"), Number(29, "USD", relative=0.01))),
            AtLeast(1, (Date("2026-01", "month", negated="count"),)),
        )
    )
    assert hash(point) == hash(parse_point(point.canonical()))


def test_a_claim_counts_everything_unless_it_says_otherwise():
    assert parse_claim("cure") == Claim(Phrase(("cure",), "count"), "count", "count")
    assert parse_claim({"phrase": "cure", "quotation": "allow"}).quotation == "allow"


@pytest.mark.parametrize(
    ("value", "field", "problem"),
    [
        (None, "", "must be a phrase or a mapping"),
        (29, "", "must be a phrase or a mapping"),
        (["a"], "", "must be a phrase or a mapping"),
        ({}, "", "must have exactly one of"),
        ({"phrase": "a", "regex": "b"}, "", "must have exactly one of"),
        ({"phrase": "a", "unit": "USD"}, "unit", "is not known beside `phrase`"),
        ({"all_of": ["a", {"any_of": [{"colour": 1}]}]}, "all_of[1].any_of[0]", "exactly one of"),
        ("", "phrase", "no word"),
        ("—!", "phrase", "no word"),
        ({"phrase": "a", "aliases": ["b", "\u200b"]}, "aliases[1]", "no word"),
        ({"phrase": "a", "aliases": "b"}, "aliases", "list"),
        ({"phrase": "a", "aliases": ["b"] * MAX_FORMS}, "aliases", f"more than {MAX_FORMS - 1}"),
        ({"phrase": 5}, "phrase", "must be text"),
        ("a" * (MAX_LENGTH + 1), "phrase", "longer than"),
        ({"regex": "("}, "regex", "is not an RE2 expression"),
        ({"regex": r"(a)\1"}, "regex", "is not an RE2 expression"),
        ({"regex": "(?=a)"}, "regex", "is not an RE2 expression"),
        ({"regex": "((a{1000}){1000}){1000}"}, "regex", "is not an RE2 expression"),
        ({"regex": "x*"}, "regex", "matches the empty string"),
        ({"regex": r"\b"}, "regex", "matches the empty string"),
        ({"regex": "$"}, "regex", "matches the empty string"),
        ({"regex": "don’t"}, "regex", "never has"),
        ({"regex": "5–10"}, "regex", "never has"),
        ({"number": float("nan")}, "number", "finite"),
        ({"number": float("inf")}, "number", "finite"),
        ({"number": 2**53}, "number", "finite"),
        ({"number": True}, "number", "must be a number"),
        ({"number": "29"}, "number", "must be a number"),
        ({"number": 1, "tolerance": -1}, "tolerance", "negative"),
        ({"number": 1, "tolerance": 1, "relative": 0.1}, "relative", "beside `tolerance`"),
        ({"number": 1, "unit": " "}, "unit", "no word or sign"),
        ({"date": "2026-02-30"}, "date", "calendar"),
        ({"date": "31.01.2026"}, "date", "calendar"),
        ({"date": "2026-01", "precision": "day"}, "precision", "asks for more"),
        ({"date": "2026-01-31", "precision": "week"}, "precision", "must be one of"),
        ({"all_of": []}, "all_of", "at least one"),
        ({"any_of": "a"}, "any_of", "at least one"),
        ({"at_least": 3, "of": ["a", "b"]}, "at_least", "from 1 to 2"),
        ({"at_least": 0, "of": ["a"]}, "at_least", "from 1 to 1"),
        ({"at_least": 1}, "of", "at least one"),
        ({"any_of": [["a"]]}, "any_of[0]", "must be a phrase or a mapping"),
        ({"phrase": "a", "negated": "allow"}, "negated", "must be one of ignore, count"),
        ({"any_of": ["a"] * (MAX_LEAVES + 1)}, "", f"more than {MAX_LEAVES} leaves"),
    ],
)
def test_faults_of_points_name_their_place(value, field, problem):
    with pytest.raises(PointError, match=re.escape(problem)) as caught:
        parse_point(value)
    assert caught.value.field == field


def test_a_tree_that_is_too_deep_is_refused():
    value = "a"
    for _ in range(MAX_DEPTH - 1):
        value = {"any_of": [value]}
    parse_point(value)
    with pytest.raises(PointError, match="nested more than"):
        parse_point({"any_of": [value]})


def test_a_claim_takes_no_switch_of_points():
    with pytest.raises(PointError, match="negation: allow") as caught:
        parse_claim({"any_of": [{"phrase": "cure", "negated": "ignore"}]})
    assert caught.value.field == "any_of[0].negated"
    with pytest.raises(PointError, match="count, allow"):
        parse_claim({"phrase": "cure", "negation": "ignore"})


@pytest.mark.parametrize("value", [{"phrase": "s3cret ( x", "aliases": [1]}, {"regex": "s3cret ("}])
def test_no_fault_quotes_the_author(value):
    with pytest.raises(PointError) as caught:
        parse_point(value)
    assert "s3cret" not in str(caught.value)
