from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.decide import inspection
from aal_engine.decide.inspection import Finding, Rules, inspect
from aal_engine.decide.stop_rule import stop_rule_from
from aal_engine.measure.answer.counts import judge_answer
from aal_engine.measure.golden import Case, CitationStyle, Pack
from aal_engine.measure.point import PointError
from aal_engine.measure.run import Output, Passage

ROOT = Path(__file__).resolve().parents[2]
INDEX = CitationStyle()
RULES = (
    {"id": "judges", "forbid": {"phrase": "a model judges", "negation": "allow"}},
    {"id": "promise", "forbid": {"regex": r"guarantee[ds]? (returns|refunds)"}},
    {"id": "rate", "within": {"unit": "%", "min": 0, "max": 30}, "beside": "annual fee"},
    {"id": "advice", "require": "not legal advice", "when": "contract"},
)


def pack_of(*rules, style=INDEX) -> Pack:
    return Pack("p", "a", 1, "internal", style, "en", rules, {})


def output(answer, retrieved=("d1", "d2"), **more) -> Output:
    listed = None if retrieved is None else tuple(map(Passage, retrieved))
    return Output("t", retrieved=listed, answer=answer, **more)


def states(answer, rules=RULES, **more):
    return {f.check: f.state for f in inspect(output(answer, **more), Rules(pack_of(*rules)))}


def test_every_check_says_something_of_every_output():
    assert states("Fine [1].") == dict.fromkeys(
        ("invented_citations", "judges", "promise", "rate", "advice"), "ok"
    )


@pytest.mark.parametrize(
    ("answer", "check"),
    [
        ("As said [3].", "invented_citations"),
        ("A model **judges** it [1].", "judges"),
        ("We guarantee [1] refunds.", "promise"),
        ("The annual fee is 45% [2].", "rate"),
        ("The annual fee is -5%.", "rate"),
        ("The contract binds you.", "advice"),
    ],
)
def test_each_kind_of_rule_has_its_hit(answer, check):
    found = states(answer)
    assert found.pop(check) == "breach"
    assert set(found.values()) == {"ok"}


@pytest.mark.parametrize(
    "answer",
    [
        "It is not true that a model judges it.",
        "The annual fee is 30%. Growth was 80%.",
        "The annual fee is 12.5%.",
        "The contract binds you; this is not legal advice.",
    ],
)
def test_what_a_rule_lets_by(answer):
    assert set(states(answer).values()) == {"ok"}


def test_a_range_may_have_one_bound():
    rules = ({"id": "r", "within": {"unit": "days", "min": 5}},)
    assert states("Within 4 days.", rules)["r"] == "breach"
    assert states("Within 4.9999 days.", rules)["r"] == "breach"
    assert states("Within 5 days, or 90 days.", rules)["r"] == "ok"


def test_bounds_are_the_decimals_that_were_written():
    rules = ({"id": "r", "within": {"min": 0.1, "max": 0.3}},)
    assert states("It is 0.3 or 0.1.", rules)["r"] == "ok"
    assert states("It is 0.3001.", rules)["r"] == "breach"


def test_nothing_retrieved_and_a_citation_is_invented():
    assert states("As said [1].", retrieved=())["invented_citations"] == "breach"


def test_where_retrieval_is_not_told_citations_are_not_checkable():
    found = states("A model judges it [7].", retrieved=None)
    assert found["invented_citations"] == "not_measured"
    assert found["judges"] == "breach"
    assert states("Fine [7].", retrieved=None)["invented_citations"] == "not_measured"


@pytest.mark.parametrize(
    "what", [{"answer": None}, {"answer": " \n"}, {"answer": "x", "error": "late"}]
)
def test_an_output_without_an_answer_is_not_measured(what):
    answer = what.pop("answer")
    assert set(states(answer, **what).values()) == {"not_measured"}


def test_a_check_that_raises_is_not_measured(monkeypatch):
    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr(inspection, "examine", broken)
    assert set(states("As said [3].").values()) == {"not_measured"}


def test_structured_citations_count_too():
    found = inspect(output("Fine.", citations=("d9",)), Rules(pack_of()))
    assert found == (Finding("invented_citations", "breach", 1),)


PIECES = (
    "A model", " judges", " it", " **judges**", " jud**ges**", " jud\u200bges", " a mo-\ndel",
    " guarantee", " guaranteed", " refunds", " returns", " [1]", " [2]", " [3]", "[1, 2]", "[1-3]",
    " [^1]", "[[2]]", " (source 9)", " (see 3)", " (2024)", "\n1. Terms", "\n9. Terms", "\nSources:\n",
    " `a[1]`", " `guarantee returns`", "``` a model judges ```", " &amp; ", "a mod&shy;el judges",
    " 45%", " 12 %", " annual fee", "\u00b9", ".\u00b9", ". ", "\n\n", "\n- ", " not", " never",
    " contract", " not legal advice", " https://example.org/a", "【1】", "【4:9†x】", "［3］", "<sup>5</sup>",
    " <b>a model</b> judges", " d1", " (d1)", "[d1]", "[d7]", " x[1] = 2", "\\[3\\]", "[text](d1)", "~~~\n",
    " É", "\u2010\nx", "judges\u00a0it", '"', " the", ":", "?",
)  # fmt: skip


@pytest.mark.parametrize("mode", ["index", "id"])
@settings(max_examples=700)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=14), retrieved=st.sampled_from([(), ("d1",), ("d1", "d2"), ("1", "d2", "kb-3")]))  # fmt: skip
def test_the_quick_pass_never_changes_what_is_found(mode, pieces, retrieved):
    rules = Rules(pack_of(*RULES, style=CitationStyle(mode)))
    one = output("".join(pieces), retrieved)
    assert inspect(one, rules) == inspect(one, rules, screened=False)


def test_the_quick_pass_agrees_with_the_measure_on_recorded_answers():
    rules = Rules(pack_of())
    quick = broken = 0
    for version in ("1.0.0", "1.1.0"):
        path = ROOT / "golden_sets" / "handbook" / "runs" / f"{version}.jsonl"
        for row in map(json.loads, path.read_text().splitlines()):
            one = output(row["answer"], [p["doc_id"] for p in row["retrieved"]])
            invented = judge_answer(Case("x", ""), one, CitationStyle(), "en").invented_citations
            quick += rules.screen.cites_plainly(one)
            broken += invented > 0
            assert inspect(one, rules)[0].hits == invented
    assert quick > 700
    assert broken > 0


@pytest.mark.parametrize(
    ("rule", "field", "problem"),
    [
        ({"id": "invented_citations", "forbid": "x"}, "id", "every pack has"),
        ({"id": "rerun.grounded", "forbid": "x"}, "id", "every pack has"),
        ({"id": "a", "forbid": "x", "when": "y"}, "when", "beside `require`"),
        ({"id": "a", "require": "x", "beside": "y"}, "beside", "beside `within`"),
        ({"id": "a", "forbid": {"regex": "("}}, "forbid.regex", "RE2"),
        ({"id": "a", "within": {"min": 3, "max": 2}}, "within.max", "less than"),
        ({"id": "a", "within": {"min": 0.00001}}, "within.min", "digits"),
        ({"id": "a", "within": {"max": 1e10}}, "within.max", "digits"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(rule, field, problem):
    with pytest.raises(PointError) as told:
        stop_rule_from(rule)
    assert told.value.field == field
    assert problem in told.value.problem
