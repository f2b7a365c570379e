"""The scorers: what passes, what cannot be met, and that nothing raises or takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.registry.scorer import (
    FAIL,
    MAX_PATTERN,
    PASS,
    SCORERS,
    Observation,
    check,
    score,
)


@pytest.mark.parametrize(
    ("scorer", "observed", "expected", "passed"),
    [
        ("status_ok", Observation(200), None, True),
        ("status_ok", Observation(299), None, True),
        ("status_ok", Observation(199), None, False),
        ("status_ok", Observation(300), None, False),
        ("status_ok", Observation(404), None, False),
        ("status_ok", Observation(None), None, False),
        ("status_ok", Observation(200, None), None, True),
        ("exact", Observation(200, None), "", False),
        ("contains", Observation(200, None), "a", False),
        ("regex", Observation(200, None), "a*", False),
        ("exact", Observation(200, " pong\n"), "pong", True),
        ("exact", Observation(200, "pong"), "\tpong ", True),
        ("exact", Observation(200, "pongs"), "pong", False),
        ("exact", Observation(200, "  "), "", True),
        ("exact", Observation(200, ""), None, False),
        ("exact", Observation(500, "pong"), "pong", True),
        ("contains", Observation(200, "a ponga"), "pong", True),
        ("contains", Observation(200, "PONG"), "pong", False),
        ("contains", Observation(200, "pong"), "", False),
        ("contains", Observation(200, "pong"), None, False),
        ("regex", Observation(200, "order 66"), r"\d+$", True),
        ("regex", Observation(200, "é"), "^.$", True),
        ("regex", Observation(200, "straße"), r"^\pL+$", True),
        ("regex", Observation(200, "x"), r"(?=x)", False),
        ("regex", Observation(200, "xx"), r"(x)\1", False),
        ("regex", Observation(200, "x"), "(", False),
        ("regex", Observation(200, "x"), None, False),
        ("latency_under_ms", Observation(200, "", 250), "250", True),
        ("latency_under_ms", Observation(200, "", 251), "250", False),
        ("latency_under_ms", Observation(200, "", 251), "251.5", True),
        ("latency_under_ms", Observation(200, "", 1), "soon", False),
        ("latency_under_ms", Observation(200, "", 1), "nan", False),
        ("latency_under_ms", Observation(200, "", 1), "inf", False),
        ("latency_under_ms", Observation(200, "", 1), None, False),
        ("latency_under_ms", Observation(200, "", None), "5", False),
        ("llm_judge", Observation(200, "pong"), "pong", False),
    ],
)
def test_a_verdict(scorer, observed, expected, passed):
    assert score(scorer, observed, expected) == (PASS if passed else FAIL)


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_failed_exchange_scores_nothing_whatever_the_scorer(scorer):
    met = {"latency_under_ms": "1000", "status_ok": None}.get(scorer, "pong")
    assert score(scorer, Observation(200, "pong", 5), met) == PASS
    assert score(scorer, Observation(200, "pong", 5, "timeout"), met) == FAIL


ANY_TEXT = st.text(st.characters(codec=None), max_size=200)


@given(
    st.sampled_from([*SCORERS, "unknown"]),
    st.none() | st.integers(0, 999),
    ANY_TEXT,
    st.none() | st.integers(0, 10**6),
    st.none() | ANY_TEXT,
)
def test_scoring_never_errors_and_is_a_function(scorer, status, text, latency, expected):
    observed = Observation(status, text, latency)
    verdict = score(scorer, observed, expected)
    assert 0 <= verdict.score <= 1
    assert verdict.passed == (verdict.score == 1)
    assert score(scorer, observed, expected) == verdict


@given(st.sampled_from([*SCORERS]), st.none() | ANY_TEXT)
def test_what_check_lets_through_can_be_scored_and_what_it_refuses_is_an_input_error(scorer, text):
    try:
        check(scorer, text)
    except InputError as error:
        assert {fault.field for fault in error.faults} <= {"scorer", "expected"}
        assert not text or len(text) < 4 or text not in str(error)


@pytest.mark.parametrize(
    ("scorer", "expected", "field"),
    [
        ("grade", None, "scorer"),
        ("status_ok", "200", "expected"),
        ("exact", None, "expected"),
        ("contains", "", "expected"),
        ("regex", "(", "expected"),
        ("regex", r"(a)\1", "expected"),
        ("regex", "a" * (MAX_PATTERN + 1), "expected"),
        ("regex", r"((\pL{1,100}){1,9})", "expected"),
        ("latency_under_ms", "-1", "expected"),
        ("latency_under_ms", "1e999", "expected"),
    ],
)
def test_an_author_is_told_what_cannot_be_met(scorer, expected, field):
    with pytest.raises(InputError) as caught:
        check(scorer, expected)
    assert [fault.field for fault in caught.value.faults] == [field]


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [("status_ok", None), ("exact", ""), ("contains", "a"), ("regex", "a+"),
     ("latency_under_ms", "0")],
)  # fmt: skip
def test_an_expectation_that_can_be_met_is_accepted(scorer, expected):
    check(scorer, expected)


def test_an_expression_that_backtracks_without_end_elsewhere_is_linear_here():
    start = time.process_time()
    assert score("regex", Observation(200, "a" * 1_000_000), "(a+)+b") == FAIL
    assert time.process_time() - start < 2
