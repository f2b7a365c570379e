"""Code, addresses and quotations in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.text.markup import blanked, read_markup, within
from aal_engine.measure.text.quotation import quotations

TEXTS = st.text(alphabet="`~a \n\\>-\"“”„«»'h", max_size=40)


def code(text):
    return [text[start:end] for start, end in read_markup(text).code]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call `f(x)[0]` now.", ["`f(x)[0]`"]),
        ("``a ` b`` and `c`", ["``a ` b``", "`c`"]),
        ("an open ` tick", []),
        ("a ` tick\n\nand ` another", []),
        ("\\`no\\` code", []),
        ("```py\nx[0]\n```\nend", ["```py\nx[0]\n```"]),
        ("~~~\n```\n~~~", ["~~~\n```\n~~~"]),
        ("````\n```\n````\n`a`", ["````\n```\n````", "`a`"]),
        ("```\nopen to the end\n\nof it", ["```\nopen to the end\n\nof it"]),
        ("- ```sh\n  x\n  ```", ["- ```sh\n  x\n  ```"]),
        ("```not a fence``` as it closes", ["```not a fence```"]),
    ],
)
def test_code(text, found):
    assert code(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.org/x_(y), and http://b.org.", ["https://a.org/x_(y)", "http://b.org"]),
        ("(see https://a.org/x)", ["https://a.org/x"]),
        ("<https://a.org>", ["https://a.org"]),
        ("[t](https://a.org/x)", ["https://a.org/x"]),
        ("**https://a.org**", ["https://a.org"]),
        ("见 https://a.org。好", ["https://a.org"]),
        ("www.a.org!", ["www.a.org"]),
        ("a.org and http:/x", []),
    ],
)
def test_addresses(text, found):
    assert [text[start:end] for start, end in read_markup(text).links] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('They say "a cure".', ['"a cure"']),
        ("They say “a ‘sure’ cure”.", ["“a ‘sure’ cure”"]),
        ("Sie sagen „Heilung“ dazu.", ["„Heilung“"]),
        ("Ils disent « guérison » ici.", ["« guérison »"]),
        ("Sie sagen »Heilung« dazu.", ["»Heilung«"]),
        ("彼は「はい」と言う。", ["「はい」"]),
        ("It's the users' own; don't 'quote' it.", []),
        ('A 27" and a 15" screen.', []),
        ('An open "quotation\n\nends" here.', []),
        ('"One." "Two."', ['"One."', '"Two."']),
    ],
)
def test_quotations(text, found):
    assert [text[start:end] for start, end in quotations(text)] == found


@given(TEXTS)
def test_spans_are_in_order(text):
    for spans in (read_markup(text).code, read_markup(text).links, quotations(text)):
        done = 0
        for start, end in spans:
            assert done <= start < end <= len(text)
            done = end
        for place in range(len(text)):
            assert within(spans, place) == any(start <= place < end for start, end in spans)


@given(TEXTS)
def test_a_blanked_text_keeps_its_length(text):
    spans = read_markup(text).code
    bare = blanked(text, spans)
    assert len(bare) == len(text)
    assert all(
        char == (" " if within(spans, place) else text[place]) for place, char in enumerate(bare)
    )


LENGTH = 200_000


@pytest.mark.parametrize(
    "piece", ["`", "` ", "`a``b", "`a\n\n", "~~~\n", "http://)", "http://.", '"a ', "“"]
)
def test_long_adversarial_texts_are_read_to_their_end(piece):
    """Quadratic work on 200,000 characters would not end; `tests/bench/linear.py` measures it."""
    text = (piece * LENGTH)[:LENGTH]
    assert all(0 <= start <= end <= LENGTH for start, end, *_ in quotations(text))
    assert read_markup(text) == read_markup(text)
