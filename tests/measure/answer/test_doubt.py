"""What keeps a case from telling a good answer from a bad one."""

from __future__ import annotations

import pytest

from aal_engine.measure.answer.doubt import absent_documents, doubts, unsupported
from aal_engine.measure.golden import Case, CitationStyle, GoldenSet, Pack, Suite
from aal_engine.measure.point import parse_claim, parse_point


def golden(*cases: Case, language: str = "en") -> GoldenSet:
    suite = Suite("core", "core.jsonl", ("answers",), ())
    pack = Pack("p", "a", 1, "public", CitationStyle(), language, (), {"core": suite})
    return GoldenSet(pack, suite, cases)


def case(*mention, never=(), question="How long do refunds take?", name="c", **fields) -> Case:
    return Case(
        name,
        question,
        must_mention=tuple(map(parse_point, mention)),
        must_not_claim=tuple(map(parse_claim, never)),
        **fields,
    )


def fields(*cases: Case, language: str = "en") -> list[str]:
    return [doubt.field for doubt in doubts(golden(*cases, language=language))]


def test_a_case_that_tells_agents_apart_is_not_doubted():
    assert fields(case("30 days", never=["instant"])) == []
    assert fields(case(expect="abstain")) == []
    assert fields(case(expect="nothing")) == []


@pytest.mark.parametrize(
    ("mention", "question"),
    [
        ("refunds", "How long do refunds take?"),
        ({"number": 30, "unit": "days"}, "Is it 30 days?"),
        ({"any_of": ["instant", "refunds"]}, "How long do refunds take?"),
        ({"date": "2026-01", "precision": "month"}, "What happened in January 2026?"),
        ({"regex": "refunds?"}, "How long does a refund take?"),
    ],
)
def test_a_point_of_the_question(mention, question):
    (doubt,) = doubts(golden(case(mention, question=question)))
    assert (doubt.case, doubt.field) == ("c", "must_mention[0]")
    assert "question" in doubt.problem


def test_a_part_of_the_question_is_no_point_of_it():
    assert fields(case({"all_of": ["refunds", "30 days"]})) == []
    assert fields(case("free", question="Is it not free?")) == []


def test_a_claim_of_the_question():
    assert fields(case("30 days", never=["refunds are instant"])) == []
    asked = case("no", "30 days", never=["instant"], question="Are refunds instant?")
    assert "must_not_claim[0]" in fields(asked)
    denied = {"phrase": "instant", "negation": "allow"}
    assert fields(case("30 days", never=[denied], question="Why are refunds not instant?")) == []


@pytest.mark.parametrize(
    ("mention", "never", "maker"),
    [
        (["30 days"], "30 days", "must_mention[0]"),
        (["within 30 days"], {"number": 30, "unit": "days"}, "must_mention[0]"),
        (["card", {"phrase": "bank", "aliases": ["cash only"]}], "cash only", "must_mention[1]"),
        ([{"any_of": ["card", "cheque"]}], "cheque", "must_mention[0]"),
        ([{"at_least": 1, "of": ["card", "cheque"]}], "card", "must_mention[0]"),
        ([{"number": 2.5, "unit": "EUR"}], {"number": 2.5, "unit": "EUR"}, "must_mention[0]"),
        (["card", "cheque"], {"all_of": ["card", "cheque"]}, "all of must_mention"),
    ],
)
def test_a_claim_that_the_required_points_make(mention, never, maker):
    (doubt,) = doubts(golden(case(*mention, never=[never])))
    assert doubt.field == "must_not_claim[0]"
    assert maker in doubt.problem


def test_a_claim_beside_the_required_points_is_none_of_them():
    assert fields(case("30 days", never=["90 days", "instant"])) == []
    assert fields(case({"regex": "thirty|30"}, never=["30 days"])) == []
    denied = case("not instant", never=[{"phrase": "instant", "negation": "allow"}])
    assert fields(denied) == []


def test_a_number_is_written_as_the_language_writes_it():
    amount = {"number": 1.234, "unit": "kg"}
    assert fields(case(amount, never=[amount]), language="de") == ["must_not_claim[0]"]


def test_a_case_that_asks_for_nothing():
    assert fields(case()) == ["must_mention"]


def test_a_point_that_is_never_looked_for():
    assert fields(case("30 days", expect="abstain")) == ["must_mention"]


def test_words_that_any_sentence_has():
    assert fields(case("is the")) == ["must_mention[0]"]
    assert fields(case({"phrase": "30 days", "aliases": ["it is"]})) == ["must_mention[0]"]
    assert fields(case("30 days", never=[{"any_of": ["instant", "not"]}])) == ["must_not_claim[0]"]
    assert fields(case("all at once")) == []


def test_a_question_asked_twice():
    twice = [
        case("30 days", name="a"),
        case("30 days", name="b", question="how long do REFUNDS take"),
    ]
    (doubt,) = doubts(golden(*twice))
    assert (doubt.case, doubt.field) == ("b", "question")
    assert "case a" in doubt.problem


def test_points_that_no_text_has():
    parts = {"all_of": ["30 days", "card"]}
    given = golden(
        case(parts, "cheque", {"any_of": ["cash", "card"]}, name="a"),
        case("cheque", name="b", expect="abstain"),
    )
    texts = ["It takes 30 days.", "Paid by card, not by cheque."]
    assert [(d.case, d.field) for d in unsupported(given, iter(texts))] == [
        ("a", "must_mention[1]")
    ]
    assert [d.field for d in unsupported(given, iter(texts[:1]))] == [
        "must_mention[0]",
        "must_mention[1]",
        "must_mention[2]",
    ]


def test_no_text_is_read_once_all_is_found():
    texts = iter(["It takes 30 days.", "unread"])
    assert list(unsupported(golden(case("30 days")), texts)) == []
    assert next(texts) == "unread"


def test_documents_that_the_corpus_lacks():
    given = golden(case("x", relevant={"d1": 1, "d2": 2, "d3": 0, "d4": 1}))
    (doubt,) = absent_documents(given, {"d1"})
    assert doubt.problem == "names 2 documents that the corpus lacks: d2, …"
    assert list(absent_documents(given, {"d1", "d2", "d4"})) == []


def test_no_problem_holds_a_text():
    given = golden(
        case("zebra", never=["zebra", "quagga"], question="zebra quagga?"), case("it", name="d")
    )
    told = [*doubts(given), *unsupported(given, iter(["nothing"]))]
    assert len(told) > 4
    assert not any(word in d.problem for d in told for word in ("zebra", "quagga"))
