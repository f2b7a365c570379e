"""Sentences and the other units of an answer, against references made by hand.

`segmentation.txt` holds answers made to be hard, each unit marked. `expertqa_sentences.json` holds
places of sentences in public answers, marked with no segmenter at hand, and none of their text.
"""

from __future__ import annotations

import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aal_engine.measure.answer.prose import Prose
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage
from aal_engine.measure.text.language import language_of

HERE = Path(__file__).parent


def prose(text, language="en", retrieved=20):
    passages = [Passage(f"d{number}") for number in range(retrieved)]
    return Prose(text, Sources(passages, CitationStyle()), language_of(language))


def marked_cases():
    body = (HERE / "segmentation.txt").read_text(encoding="utf-8")
    for case in re.split(r"^== ", body, flags=re.MULTILINE)[1:]:
        title, _, marked = case.partition("\n")
        marked = marked.removesuffix("\n")
        if "windows" in title:
            marked = marked.replace("\n", "\r\n")
        text, wanted, start = "", [], 0
        for char in marked:
            if char == "⟦":
                start = len(text)
            elif char == "⟧":
                wanted.append((start, len(text)))
            else:
                text += char
        yield title, text, wanted


CASES = list(marked_cases())


def boundaries(spans):
    return {("start", start) for start, _ in spans} | {("end", end) for _, end in spans}


def f1(pairs):
    hit = missed = extra = 0
    for wanted, found in pairs:
        wanted, found = boundaries(wanted), boundaries(found)
        hit += len(wanted & found)
        missed += len(wanted - found)
        extra += len(found - wanted)
    return 2 * hit / (2 * hit + missed + extra)


def found_units(text, language):
    return [(unit.start, unit.end) for unit in prose(text, language).units]


@pytest.mark.parametrize(
    ("title", "text", "wanted"),
    [pytest.param(*case, id=case[0]) for case in CASES],
)
def test_hard_answers(title, text, wanted):
    found = found_units(text, title[:2])
    assert [text[start:end] for start, end in found] == [text[start:end] for start, end in wanted]
    assert found == wanted


def test_the_boundaries_of_hard_answers_are_right():
    assert len(CASES) >= 100
    pairs = [(wanted, found_units(text, title[:2])) for title, text, wanted in CASES]
    assert f1(pairs) >= 0.99


def test_the_boundaries_of_real_answers_are_right(shared):
    references = json.loads((HERE / "expertqa_sentences.json").read_text(encoding="utf-8"))
    pairs = []
    for line in (shared / "data/answers/expertqa/answers.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        reference = references.get(f"{row['id']} {row['system']}")
        if reference is not None:
            text = row["answer_string"]
            assert hashlib.sha256(text.encode()).hexdigest() == reference["sha256"]
            pairs.append((list(map(tuple, reference["sentences"])), found_units(text, "en")))
    assert len(pairs) == len(references) == 35
    assert f1(pairs) >= 0.99


PIECES = st.sampled_from(
    [
        *(
            "a",
            "Dr. ",
            "e.g. ",
            "fell.",
            " ",
            "\n",
            "\n\n",
            "[1]",
            "[9-2]",
            "- ",
            "1. ",
            "# ",
            "> ",
        ),
        *("| a | b |", "|--|--|", "```", "`x`", "~~~", "---", "===", "**b**", "Sources:", "“", "”"),
        *("http://a.b/c.", "? ", "!", "…", "。", "中", "\u0301", "\r\n", "\t", "\ud800", "(", ")"),
    ]
)


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join)))
@example("")
@example(" \n ")
@example("[1]")
@example("```")
@example("\x1f0")
def test_units_are_in_order_and_hold_all_words(text):
    found = prose(text)
    units = found.units
    for unit in units:
        assert 0 <= unit.start < unit.end <= len(text)
        assert text[unit.start : unit.end].strip() == text[unit.start : unit.end]
    for one, other in pairwise(units):
        assert one.end <= other.start
    held = "".join(text[unit.start : unit.end] for unit in units)
    # What is left out are marks of lists, one letter or number a line.
    left_out = sum(map(str.isalpha, text)) - sum(map(str.isalpha, held))
    assert left_out <= text.count("\n") + 1
    assert len(found.tokens) == len(units)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# A\nIt is so.", ["heading", "sentence"]),
        ("```\nx\n```\nIt is so.", ["code", "sentence"]),
        ("| A | B |\n|---|---|\n| 1 | 2 |", ["heading", "row"]),
        ("So it is [1].\n\nSources:\n[1] Terms.", ["sentence", "heading", "sources"]),
        ("So it is [1].\nReferences: [1] Terms.", ["sentence", "sources"]),
        ("So it is.\n[1]: https://a.b", ["sentence", "sources"]),
    ],
)
def test_kinds_of_units(text, kinds):
    assert [unit.kind for unit in prose(text).units] == kinds


def test_block_quotations_are_told():
    assert [unit.quoted for unit in prose("They say:\n> It is so.\nIs it?").units] == [
        False,
        True,
        False,
    ]


LENGTH = 200_000


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a. ",
        "A. ",
        ".",
        "a\n",
        "[1] ",
        "[",
        "`",
        "- a\n",
        "| a | b\n",
        "**a** ",
        "“a",
        "http://",
        "1. ",
    ],
)
def test_long_adversarial_texts_are_read_to_their_end(piece):
    """Quadratic work on 200,000 characters would not end; `tests/bench/linear.py` measures it."""
    text = (piece * LENGTH)[:LENGTH]
    assert all(0 <= unit.start <= unit.end <= LENGTH for unit in prose(text).units)


def test_a_name_in_code_opens_a_sentence():
    text = "It is told in nDCG [1]. `success@1` is the share of hits [2]."
    assert len(prose(text).units) == 2
    assert len(prose("Use a flag, e.g. `force`, for it.").units) == 1
