"""Support of claims by the passages that they cite."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.answer.claims import passage_terms, precise, shared, support
from aal_engine.measure.run import Passage
from aal_engine.measure.text.language import ENGLISH, FRENCH, GERMAN, language_of
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.term import plain_number, term_set

TERMS = st.frozensets(
    st.sampled_from(["refund", "take", "day", "card", "#30", "#9", "#2.5"]), max_size=6
)
CLAIMS = TERMS.filter(bool)


def terms(text, language=ENGLISH):
    return term_set(tokens(text), language)


@given(CLAIMS, st.lists(TERMS, max_size=4))
def test_support_is_the_share_of_the_claims_terms(claim, passages):
    found = support(claim, shared(claim, passages))
    union = frozenset().union(*passages)
    assert found.share == len(claim & union) / len(claim)
    assert set(found.numbers_absent) == {term[1:] for term in claim - union if term[0] == "#"}
    assert found.weak == (found.share < 0.5 or bool(found.numbers_absent))


@given(CLAIMS, st.lists(TERMS, max_size=4), TERMS)
def test_one_more_passage_never_weakens(claim, passages, another):
    before = support(claim, shared(claim, passages))
    after = support(claim, shared(claim, [*passages, another]))
    assert after.share >= before.share
    assert not after.weak or before.weak


@given(CLAIMS, st.lists(TERMS, max_size=4))
def test_precision_counts_as_it_is_defined(claim, passages):
    def holds(some):
        return not support(claim, shared(claim, some)).weak

    shares = shared(claim, passages)
    wanted = sum(
        holds(passages)
        and (holds([passage]) or not holds(passages[:place] + passages[place + 1 :]))
        for place, passage in enumerate(passages)
    )
    assert precise(claim, shares, support(claim, shares)) == wanted


def test_half_is_enough():
    assert not support({"a", "b"}, [{"a"}]).weak
    assert support({"a", "b", "c"}, [{"a"}]).weak_overlap


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("The refunds are taking 1,000 days.", ENGLISH, {"refund", "take", "#1000", "day"}),
        ("It costs $29.00 or 20%.", ENGLISH, {"cost", "#29", "#20"}),
        ("Die Kündigungen dauern 30 Tage.", GERMAN, {"kundig", "dau", "#30", "tag"}),
        ("Les remboursements prennent 30 jours.", FRENCH, {"rembours", "prennent", "#30", "jour"}),
        ("退款需要30天", language_of("zh"), {"退款", "款需", "需要", "#30", "天"}),
        ("Version 2b of gpt4", ENGLISH, {"version", "2b", "gpt4"}),
    ],
)
def test_terms(text, language, wanted):
    assert terms(text, language) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,000", "1000"), ("29.00", "29"), ("3,50", "3.5"), ("007", "7"), ("1.234.567", "1234567")],
)
def test_writings_of_a_number_are_one_term(one, other):
    assert plain_number(one) == plain_number(other)


def test_a_title_is_part_of_its_passage():
    passage = Passage("d", text="It takes 30 days.", title="Refunds")
    assert passage_terms(passage, ENGLISH) == terms("Refunds. It takes 30 days.")
    assert passage_terms(Passage("d"), ENGLISH) is None


def test_a_very_long_passage_is_read_and_not_kept():
    passage = Passage("d", text="refund " * 10_000)
    assert passage_terms(passage, ENGLISH) == {"refund"}
