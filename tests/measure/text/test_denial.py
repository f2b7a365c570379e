"""How a sentence makes a forbidden claim: `states.txt` says it by hand for each of its sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aal_engine.measure.answer.counts import judge_answer
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.point import parse_claim
from aal_engine.measure.run import Output

STATES = ("asserted", "negated", "quoted", "asked")
FALSE_ALARMS = {
    "The plan doesn't come with a card, a phone or free shipping.",
    "No shop near you offers better terms or instant refunds.",
    "No faster free shipping is offered.",
}
"""Denials that the rules do not see: the claim counts though it is denied."""


def sentences():
    body = Path(__file__).with_name("states.txt").read_text(encoding="utf-8")
    rows = re.findall(
        r"^(\w\w) \| (\w+) \| (.+?) \| ((?:.|\n)+?)(?=\n\w\w \| |\Z)", body, re.MULTILINE
    )
    return [
        (language, state, phrase, text.removesuffix("\n")) for language, state, phrase, text in rows
    ]


SENTENCES = sentences()


def counts(text, claim, language="en"):
    case = Case("c", "q", must_not_claim=(parse_claim(claim),))
    return judge_answer(case, Output("c", answer=text), CitationStyle(), language)


def states(text, phrase, language):
    found = counts(text, phrase, language)
    return {state for state in STATES if getattr(found, f"forbidden_{state}")}


def test_there_are_enough_of_each_state():
    assert len(SENTENCES) >= 80
    assert {state for _, state, _, _ in SENTENCES} == set(STATES)


@pytest.mark.parametrize(("language", "state", "phrase", "text"), SENTENCES)
def test_states(language, state, phrase, text):
    found = states(text, phrase, language)
    if text in FALSE_ALARMS:
        assert found == {"asserted"}
    else:
        assert state in found
        # A second mention in the same text may be asked; none is asserted by mistake.
        assert found <= {state, "asked"}


@pytest.mark.parametrize(("language", "state", "phrase", "text"), SENTENCES)
def test_no_asserted_claim_is_let_through(language, state, phrase, text):
    claim = {"phrase": phrase, "negation": "allow", "quotation": "allow"}
    made = counts(text, claim, language).forbidden_claims
    if state in ("asserted", "asked"):
        assert made == 1
    assert counts(text, phrase, language).forbidden_claims == 1


@pytest.mark.parametrize(
    ("setting", "text", "made"),
    [
        ({}, "It is not a cure.", 1),
        ({"negation": "allow"}, "It is not a cure.", 0),
        ({"negation": "allow"}, "It is not a cure. It is a cure.", 1),
        ({"negation": "allow"}, 'They say "a cure".', 1),
        ({"quotation": "allow"}, 'They say "a cure".', 0),
        ({"quotation": "allow"}, "It is not a cure.", 1),
        ({"negation": "allow", "quotation": "allow"}, "Is it a cure?", 1),
        ({"negation": "allow"}, 'It is not "a cure".', 0),
        ({"quotation": "allow"}, 'It is not "a cure".', 0),
    ],
)
def test_settings_decide_what_counts(setting, text, made):
    assert counts(text, {"phrase": "a cure"} | setting).forbidden_claims == made


def test_a_tree_is_made_when_what_counts_of_it_is_enough():
    claim = {"all_of": ["refund", "90 days"], "negation": "allow"}
    assert counts("A refund takes 90 days.", claim).forbidden_claims == 1
    assert counts("A refund is quick. It never takes 90 days.", claim).forbidden_claims == 0
    assert counts("A refund is quick.", claim).forbidden_negated == 0
    either = {"at_least": 1, "of": ["refund", "90 days"], "negation": "allow"}
    assert counts("A refund is quick. It never takes 90 days.", either).forbidden_claims == 1


@pytest.mark.parametrize(
    ("language", "phrase", "text"),
    [
        ("en", "instant refunds", "There is nothing like instant refunds!"),
        ("en", "instant refunds", "Nothing beats instant refunds."),
        ("en", "instant refunds", "Never before were instant refunds so easy."),
        ("en", "instant refunds", "You will not regret instant refunds."),
        ("en", "instant refunds", "You won't regret instant refunds."),
        ("en", "instant refunds", "You can't beat instant refunds."),
        ("en", "instant refunds", "No one does instant refunds better."),
        ("en", "instant refunds", "Nobody offers instant refunds like us."),
        ("en", "instant refunds", "No one matches our instant refunds."),
        ("en", "instant refunds", "No other shop has instant refunds as good."),
        ("en", "instant refunds", "None do instant refunds as well as we do."),
        ("en", "instant refunds", "There are no better instant refunds."),
        ("en", "instant refunds", "Nothing is easier than instant refunds."),
        ("en", "instant refunds", "Never have instant refunds been so easy."),
        ("en", "instant refunds", "You will never find better instant refunds."),
        ("en", "instant refunds", "Nothing can stop instant refunds."),
        ("en", "instant refunds", "Look no further than instant refunds."),
        ("en", "instant refunds", "Never miss instant refunds."),
        ("en", "instant refunds", "You can never have too many instant refunds."),
        ("en", "instant refunds", "Our instant refunds cannot be beaten."),
        ("de", "sofortige erstattung", "Niemand macht sofortige Erstattung besser."),
        ("de", "sofortige erstattung", "Nie war sofortige Erstattung so einfach."),
        ("de", "sofortige erstattung", "Niemand übertrifft unsere sofortige Erstattung."),
        ("fr", "remboursement immédiat", "Personne ne fait un remboursement immédiat aussi bien."),
        ("fr", "remboursement immédiat", "Aucun remboursement immédiat n'est plus rapide."),
        ("es", "reembolsos inmediatos", "Nadie hace reembolsos inmediatos mejor."),
        (
            "es",
            "reembolsos inmediatos",
            "Nunca fueron los reembolsos inmediatos tan fáciles.",
        ),
        ("de", "sofortige erstattung", "Nichts geht über sofortige Erstattung."),
        ("fr", "remboursement immédiat", "Rien ne vaut un remboursement immédiat."),
        ("es", "reembolsos inmediatos", "Nada como reembolsos inmediatos."),
    ],
)
def test_praise_denies_nothing(language, phrase, text):
    claim = {"phrase": phrase, "negation": "allow"}
    assert counts(text, claim, language).forbidden_claims == 1


@pytest.mark.parametrize(
    ("language", "phrase", "text"),
    [
        ("en", "instant refunds", "No one offers instant refunds."),
        ("en", "instant refunds", "No one offers instant refunds, which are better."),
        ("en", "instant refunds", "Instant refunds are better, but nobody offers instant refunds."),
        ("en", "instant refunds", "We do not offer instant refunds better than others."),
        ("de", "sofortige erstattung", "Niemand bietet sofortige Erstattung."),
        ("fr", "remboursement immédiat", "Personne ne propose un remboursement immédiat."),
        ("es", "reembolsos inmediatos", "Nadie ofrece reembolsos inmediatos."),
    ],
)
def test_what_only_stands_near_praise_is_denied(language, phrase, text):
    assert "negated" in states(text, phrase, language)


def test_a_word_in_code_denies_nothing():
    claim = {"phrase": "refunds are instant", "negation": "allow"}
    assert counts("`nothing` says that refunds are instant.", claim).forbidden_claims == 1
    assert counts("Nothing says that refunds are instant.", claim).forbidden_claims == 0
