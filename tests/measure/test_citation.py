"""Citation markers in every style."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.citation import markers
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.markup import read_markup
from aal_engine.measure.reference import MAX_RANGE
from aal_engine.measure.run import Passage
from aal_engine.measure.source import Sources

IDS = [f"kb-{number}" for number in range(10, 18)]


def found(text, ids=IDS, mode="index", base=1, **passage):
    passages = [Passage(name, **passage) for name in ids]
    return markers(text, Sources(passages, CitationStyle(mode, base)), read_markup(text))


def told(text, **options):
    """Return each marker's text, places, names and inventions."""
    return [(text[m.start : m.end], m.places, m.names, m.invented) for m in found(text, **options)]


@pytest.mark.parametrize(
    ("text", "marker", "places"),
    [
        ("Rates fell [1].", "[1]", (0,)),
        ("Rates fell[8].", "[8]", (7,)),
        ("Rates fell [1, 2].", "[1, 2]", (0, 1)),
        ("Rates fell [1,2;4].", "[1,2;4]", (0, 1, 3)),
        ("Rates fell [1 and 3].", "[1 and 3]", (0, 2)),
        ("Rates fell [1-3].", "[1-3]", (0, 1, 2)),
        ("Rates fell [1–3, 5].", "[1–3, 5]", (0, 1, 2, 4)),
        ("Rates fell [[1]].", "[[1]]", (0,)),
        ("Rates fell [^1].", "[^1]", (0,)),
        ("Rates fell [^1, ^2].", "[^1, ^2]", (0, 1)),
        ("Rates fell \\[1\\].", "\\[1\\]", (0,)),
        ("Rates fell [1,\n2].", "[1,\n2]", (0, 1)),
        ("See [the terms][1].", "[1]", (0,)),
        ("Rates fell [Source 2].", "[Source 2]", (1,)),
        ("Rates fell [doc2].", "[doc2]", (1,)),
        ("Die Zinsen fielen [Quelle: 2].", "[Quelle: 2]", (1,)),
        ("Rates fell [Sources 1 and 2].", "[Sources 1 and 2]", (0, 1)),
        ("Rates fell [2, p. 5].", "[2, p. 5]", (1,)),
        ("Rates fell 【1】.", "【1】", (0,)),
        ("Rates fell 【2†source】.", "【2†source】", (1,)),
        ("Rates fell 【4:0†x】.", "【4:0†x】", (0,)),
        ("Rates fell 【4:0†kb-12】.", "【4:0†kb-12】", (2,)),
        ("It takes 30 days.¹", "¹", (0,)),
        ("It takes “30 days.”¹²", "¹²", ()),
        ("It takes 30 days.¹,³", "¹,³", (0, 2)),
        ("It takes 30 days.¹⁻³", "¹⁻³", (0, 1, 2)),
        ("It takes 30 days.<sup>2</sup>", "<sup>2</sup>", (1,)),
        ("It takes 30 days<sup>[2]</sup>", "<sup>[2]</sup>", (1,)),
        ("Rates fell (kb-11).", "(kb-11)", (1,)),
        ("Rates fell (kb-11, kb-12).", "(kb-11, kb-12)", (1, 2)),
        ("Rates fell (source: kb-11).", "(source: kb-11)", (1,)),
        ("Rates fell [kb-11].", "[kb-11]", (1,)),
        ("Rates fell [1](https://other.org).", "[1](https://other.org)", (0,)),
    ],
)
def test_styles_of_markers(text, marker, places):
    assert [(shown, named) for shown, named, *_ in told(text)] == [(marker, places)]


def test_markers_in_a_row_are_two():
    assert [shown for shown, *_ in told("Rates fell [1][2] [3].")] == ["[1]", "[2]", "[3]"]


@pytest.mark.parametrize(
    "text",
    [
        "Use `dp[i][0]`:\n```\nprint(arr[0], arr[12])\n```",
        "~~~\n[9]\n~~~",
        "``a ` [9] ` b``",
        "arr[0] = 5 and a[12] += 1 and x[3].y and m[i][0]",
        "As Yan et al. [2004] found and Smith and Jones [2019] deny.",
        "Smith, [2019] says so.",
        "It lies in the range [0, 10] or x ∈ [0, 12].",
        "From [2019-2021] on.",
        "It is [sic] so [...] and [x] or [ ] and [T]he.",
        "At [12:30] on [2026-01-31] we use [0-9]+ and [1.5].",
        "x² and 5 m² and 10³",
        "cm<sup>2</sup>",
        "![1](https://a.b/c.png)",
        "[our terms](https://a.b/terms)",
        "(2024) and (1) and (see below) and (COVID-19)",
        "【注意】",
        "[three 3s] and [3 items]",
    ],
)
def test_what_is_no_citation(text):
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "names", "invented"),
    [
        ("Rates fell [6-10].", 5, 2),
        ("Rates rose [0].", 1, 1),
        ("Rates rose [9].", 1, 1),
        ("Rates rose [8, 9].", 2, 1),
        ("In the report [2004] it says so.", 1, 1),
        ("It takes 30 days.¹²", 1, 1),
        ("It falls 【4:8†x】.", 1, 1),
        ("It falls 【9】.", 1, 1),
        ("It falls [kb-99].", 1, 1),
        ("It falls [99999999999999999999].", 2, 2),
        ("It falls [1](https://a.b) and [9](https://a.b).", 2, 1),
    ],
)
def test_inventions_are_counted_by_name(text, names, invented):
    shown = found(text)
    assert sum(marker.names for marker in shown) == names
    assert sum(marker.invented for marker in shown) == invented


@pytest.mark.parametrize(
    ("text", "invented"),
    [
        ("[3-1]", 0),
        ("[9-1]", 1),
        ("[1,,2]", 0),
        ("[1-]", 0),
        ("[1--3]", 0),
        ("[-1]", 0),
        ("[1 2]", 0),
        ("[12 13]", 2),
        ("[1-999999999]", 1),
        (f"[1-{MAX_RANGE + 1}]", 1),
        ("[^note]", 0),
        ("[Source: a study]", 0),
        ("【x†y】", 0),
        ("It falls [1", 0),
        ("It falls [9, 1", 1),
    ],
)
def test_malformed_markers_are_told_and_invent_what_they_number(text, invented):
    shown = found(text)
    assert [marker.malformed for marker in shown] == [True]
    assert shown[0].places == ()
    assert shown[0].invented == invented


def test_the_base_of_a_pack_decides_what_zero_is():
    assert found("[0] [8]", base=0)[0].places == (0,)
    assert [marker.invented for marker in found("[0] [8]", base=0)] == [0, 1]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It falls [kb-11].", [("[kb-11]", (1,), 1, 0)]),
        ("It falls [kb-11; kb-99].", [("[kb-11; kb-99]", (1,), 2, 1)]),
        ("It falls [kb-99].", [("[kb-99]", (), 1, 1)]),
        ("It falls [doc-99].", [("[doc-99]", (), 1, 1)]),
        ("It falls (kb-99).", [("(kb-99)", (), 1, 1)]),
        ("It falls [1].", [("[1]", (), 1, 1)]),
        ("It is [sic] so (COVID-19).", []),
    ],
)
def test_packs_that_cite_ids(text, wanted):
    assert told(text, mode="id") == wanted


def test_ids_that_are_numbers_are_ids_and_keep_their_zeros():
    ids = ["7067032", "007", "7"]
    assert told("[7067032] [007] [8]", ids=ids, mode="id") == [
        ("[7067032]", (0,), 1, 0),
        ("[007]", (1,), 1, 0),
        ("[8]", (), 1, 1),
    ]


def test_with_nothing_retrieved_every_marker_is_invented():
    assert [marker.invented for marker in found("[1] [2, 3]", ids=[])] == [1, 2]
    assert [marker.invented for marker in found("[kb-1] [1] [sic]", ids=[], mode="id")] == [1, 1]


def test_a_document_of_several_passages_is_named_as_a_whole():
    assert found("[kb-1]", ids=["kb-1", "kb-2", "kb-1"], mode="id")[0].places == (0, 2)


def test_links_to_known_addresses_are_citations():
    text = (
        "See [our terms](https://www.a.org/terms/#fees), https://A.org/terms. "
        "and [2](https://a.org/terms)."
    )
    shown = told(text, ids=["t"], url="http://a.org/terms")
    assert [marker for marker, *_ in shown] == [
        "(https://www.a.org/terms/#fees)",
        "https://A.org/terms",
        "[2](https://a.org/terms)",
    ]
    assert all(places == (0,) and not invented for _, places, _, invented in shown)


@pytest.mark.parametrize(
    ("citation", "mode", "places"),
    [
        (1, "index", (0,)),
        ("1", "index", (0,)),
        ("kb-11", "index", (1,)),
        (0, "index", ()),
        (9, "index", ()),
        (-1, "index", ()),
        ("kb-99", "index", ()),
        ("kb-11", "id", (1,)),
        (2, "id", (1,)),
        ("9" * 5000, "index", ()),
    ],
)
def test_structured_citations(citation, mode, places):
    sources = Sources([Passage(name) for name in IDS], CitationStyle(mode, 1))
    assert sources.structured(citation) == places


PIECES = st.sampled_from(
    [
        *(
            "[",
            "]",
            "[1]",
            "[^",
            "[[1]]",
            "(",
            ")",
            "(kb-11)",
            "[kb-",
            "1",
            "9",
            ",",
            "-",
            "–",
            " ",
        ),
        *(
            "【",
            "】",
            "【1†",
            "¹",
            ".²",
            "<sup>",
            "</sup>",
            "`",
            "```",
            "\n",
            "\\",
            "http://a.b",
            "!",
        ),
        *("et al. ", "range ", "=", ".x", "+", "{", "a", "é", "²", "\ud800", "١", "１"),
    ]
)


@given(
    st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map("".join)),
    st.sampled_from(["index", "id"]),
)
def test_markers_are_where_they_say_and_never_overlap(text, mode):
    shown = found(text, mode=mode)
    for marker in shown:
        assert 0 <= marker.start < marker.end <= len(text)
        assert not text[marker.start].isspace()
        assert not text[marker.end - 1].isspace()
        assert 0 <= marker.invented <= marker.names
        assert all(place < len(IDS) for place in marker.places)
    for one, other in pairwise(shown):
        assert one.end <= other.start


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6))
def test_a_marker_made_of_numbers_names_each_of_them(numbers):
    marker = f"[{', '.join(map(str, numbers))}]"
    text = f"It falls {marker} now."
    (shown,) = found(text)
    assert text[shown.start : shown.end] == marker
    assert shown.names == len(numbers)
    assert shown.invented == sum(number > len(IDS) for number in numbers)


LENGTH = 200_000


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[1",
        "[1]",
        "(",
        "(a,",
        "[1,",
        ".¹",
        "【",
        "[a](",
        "x[1]=",
        "[[1]",
        "`",
        "<sup>1",
        "[1-9]",
    ],
)
def test_long_adversarial_texts_are_read_to_their_end(piece):
    """Quadratic work on 200,000 characters would not end; `tests/bench/linear.py` measures it."""
    text = (piece * LENGTH)[:LENGTH]
    assert found(text, mode="id") is not None
