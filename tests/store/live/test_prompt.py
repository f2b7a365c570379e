from __future__ import annotations

import pytest

from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage
from aal_engine.store.live.prompt import Prompt, asked, filled, label

PASSAGES = (
    Passage("d1", "d1#1", 2.0, "Refunds take {days} days.", "On {question}"),
    Passage("d2", None, 1.0, None, None),
)


@pytest.mark.parametrize(
    ("style", "labels", "kind"),
    [
        (CitationStyle("index", 1), ["1", "2"], "their numbers"),
        (CitationStyle("index", 0), ["0", "1"], "their numbers"),
        (CitationStyle("id"), ["d1#1", "d2"], "their ids"),
    ],
)
def test_passages_are_labelled_as_the_pack_cites(style, labels, kind):
    assert [label(one, place, style) for place, one in enumerate(PASSAGES)] == labels
    system, user = asked(Prompt(), "How long?", PASSAGES, style)
    assert f"[{labels[0]}]" in system and kind in system
    for name in labels:
        assert f"[{name}]" in user
    assert user.endswith("Question: How long?")


def test_what_is_put_in_brings_no_placeholders():
    _, user = asked(Prompt(), "What is {text}?", PASSAGES, CitationStyle())
    assert "[1] On {question}\nRefunds take {days} days." in user
    assert user.endswith("Question: What is {text}?")


def test_without_an_index_the_question_goes_alone():
    assert asked(Prompt(), "How long?", None, CitationStyle()) == ("", "How long?")


def test_without_a_hit_there_is_still_a_prompt():
    system, user = asked(Prompt(), "How long?", (), CitationStyle())
    assert "[1]" in system and user == "\n\nQuestion: How long?"


def test_templates_are_the_customers():
    prompt = Prompt("Be brief; cite as {example}.", "{question}\n{passages}", "<{label}>{text}")
    system, user = asked(prompt, "Q", PASSAGES[:1], CitationStyle())
    assert (system, user) == ("Be brief; cite as [1].", "Q\n<1>Refunds take {days} days.")


def test_other_braces_are_text():
    assert filled('{"a": {question}}', {"question": "x"}) == '{"a": x}'
