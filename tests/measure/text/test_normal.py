"""Normalisation and tokens."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aal_engine.measure.text.normal import normalise, tidy, token_lines, token_spans, tokens

TEXTS = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.sampled_from(
            "aAéßẞİıſ ½²³m¹™⁻ﬁǰΐŉ\u0300\u0345\u0338.,-$%+#_'’“”«\u200b\u3164\ufe0f\u00ad\u00a0中ที่한\n"
        ),
    ),
    max_size=60,
)


@given(TEXTS)
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)
    assert tidy(tidy(text)) == tidy(text)


def test_normalising_twice_changes_no_character_of_unicode():
    for first in range(0, sys.maxunicode + 1, 4096):
        for char in map(chr, range(first, min(first + 4096, sys.maxunicode + 1))):
            once = normalise(f"a{char}")
            assert normalise(once) == once, hex(ord(char))


@given(TEXTS)
def test_tokens_are_those_of_the_normalised_text(text):
    assert tokens(normalise(text)) == tokens(text)


@given(st.lists(TEXTS, max_size=5))
def test_texts_are_cut_together_as_they_are_alone(texts):
    assert token_lines(texts) == [tokens(text) for text in texts]


@given(TEXTS)
@example("½")
@example("e\u0301\u200b.")
def test_each_token_comes_of_its_span(text):
    found = tokens(text)
    spans = token_spans(text)
    assert len(spans) == len(found)
    for token, (start, end) in zip(found, spans, strict=True):
        assert 0 <= start < end <= len(text)
        assert token in "".join(tokens(text[start:end]))
    for (start, _), (after, _) in pairwise(spans):
        assert start <= after


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe\u0301"),
        ("CAFÉ", "café"),
        ("ﬁle", "file"),
        ("Straße", "STRASSE"),
        ("re\u00adfund", "refund"),
        ("30\u00a0days", "30 days"),
        ("30\u202fdays", "30  days"),
        ("customer’s", "customer's"),
        ("“yes”", '"yes"'),
        ("5–10", "5-10"),
        ("−5", "-5"),
        ("ｅｎ", "en"),
        ("zero\u200bwidth", "zerowidth"),
        ("in\u034fst\U000e0101ant\ufe0f", "instant"),
        ("re\u2066fund\u2069", "refund"),
        ("refunds\u3164are", "refunds are"),
        ("Refunds™ and® plans©", "refunds and plans"),
        ("⚡\ufe0f", "⚡"),
        ("instant¹ and", "instant and"),
        ("30¹² days", "30 days"),
        ("20 m²", "20 m2"),
    ],
)
def test_writings_of_the_same_are_the_same(one, other):
    assert normalise(one) == normalise(other)


def test_a_token_behind_the_number_of_a_note_stands_where_it_stands():
    text = "days¹ 1"
    assert [text[start:end] for start, end in token_spans(text)] == ["days", "1"]


def test_numbers_that_differ_stay_different():
    assert tokens("$8.540") == ["$", "8.540"]
    assert tokens("$8.540") != tokens("$9.540")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Owner-ratified?", ["owner", "ratified"]),
        ("in_snake_case", ["in", "snake", "case"]),
        ("don't", ["don", "t"]),
        ("l'accord", ["l", "accord"]),
        ("1,234.50 and 3.14.15.", ["1,234.50", "and", "3.14.15"]),
        ("end. 5 start", ["end", "5", "start"]),
        ("-5 (-6) 7-8 a-9", ["-5", "-6", "7", "8", "a", "9"]),
        ("20% of €5", ["20", "%", "of", "€", "5"]),
        ("C++, C# and F#.", ["c++", "c#", "and", "f#"]),
        ("1+1 #5", ["1", "1", "5"]),
        ("≥ 5 °C", ["≥", "5", "°", "c"]),
        ("使用Python编程。", ["使", "用", "python", "编", "程"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("서울은", ["서", "울", "은"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("•—…!?", []),
        ("a\ud800b", ["a", "b"]),
        ("instant², always", ["instant", "always"]),
        ("$29¹ for 5m² ³", ["$", "29", "for", "5m2", "3"]),
    ],
)
def test_tokens(text, found):
    assert tokens(text) == found
