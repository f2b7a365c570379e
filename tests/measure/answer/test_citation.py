"""Citation markers in every style."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.measure.answer.citation import markers
from aal_engine.measure.answer.reference import MAX_RANGE
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage
from aal_engine.measure.text.markup import read_markup

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
        ("Rates fell [Source 2: Terms, fees].", "[Source 2: Terms, fees]", (1,)),
        ("Rates fell (Source 2: Terms).", "(Source 2: Terms)", (1,)),
        ("Rates fell [Document 9 - Terms].", "[Document 9 - Terms]", ()),
        ("Rates fell [doc2].", "[doc2]", (1,)),
        ("Die Zinsen fielen [Quelle: 2].", "[Quelle: 2]", (1,)),
        ("Rates fell [Sources 1 and 2].", "[Sources 1 and 2]", (0, 1)),
        ("Rates fell [2, p. 5].", "[2, p. 5]", (1,)),
        ("Rates fell 【1】.", "【1】", (0,)),
        ("Rates fell 【2†source】.", "【2†source】", (1,)),
        ("Rates fell 【4:0†x】.", "【4:0†x】", (0,)),
        ("Rates fell 【4:0†kb-12】.", "【4:0†kb-12】", (2,)),
        ("It takes 30 days.¹", "¹", (0,)),
        ("It takes “30 days.”¹²", "¹²", (0, 1)),
        ("It takes “30 days.”²¹", "²¹", ()),
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
        ("It takes 30 days.²¹", 1, 1),
        ("It falls 【4:8†x】.", 1, 1),
        ("It falls 【9】.", 1, 1),
        ("It falls [kb-99].", 1, 1),
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
        ("[1]", "index", (0,)),
        (" 1", "index", (0,)),
        ("1, 2", "index", (0, 1)),
        ("1, 9", "index", ()),
        ("[9]", "index", ()),
    ],
)
def test_structured_citations(citation, mode, places):
    sources = Sources([Passage(name) for name in IDS], CitationStyle(mode, 1))
    assert sources.structured(citation) == places


LABELS = """
doc docs document src source sources ref reference passage citation cite context chunk excerpt
result id quelle dokument fuente documento extrait note footnote no nr see cf S s 文档
"""


@pytest.mark.parametrize("separator", ["-", "_", "/", ".", ":", "", "#", "--", " "])
@pytest.mark.parametrize("label", LABELS.split())
def test_ids_that_begin_as_a_label_does_are_counted_exactly(label, separator):
    one, two, lost, other = (f"{label}{separator}{number}" for number in (1, 2, 98, 99))
    lists = {
        one: (1, 0),
        lost: (1, 1),
        f"{one}, {two}": (2, 0),
        f"{one}, {lost}": (2, 1),
        f"{lost}, {other}": (2, 2),
        f"{one}; {other}": (2, 1),
        f"{one} and {other}": (2, 1),
        f"Source: {other}": (1, 1),
    }
    for inside, wanted in lists.items():
        for opened, closed in ("[]", "()", "【】"):
            text = f"It falls {opened}{inside}{closed}."
            shown = found(text, ids=[one, two], mode="id")
            counts = sum(mark.names for mark in shown), sum(mark.invented for mark in shown)
            assert counts == wanted, text
            assert not any(mark.malformed for mark in shown)


LINKED = ["https://example.org/a", "https://example.org/b"]


@pytest.mark.parametrize(
    ("text", "names", "invented"),
    [
        ("It falls ([terms](https://example.org/a)).", 1, 0),
        ("It falls [terms](https://example.org/c).", 1, 1),
        ("It falls [1](https://example.org/c), [x](<https://example.org/b> 'B').", 2, 1),
        ("See https://example.org/c.", 1, 1),
        ("See <https://www.example.org/a/#top>.", 1, 0),
        ("It falls.\n\nSources:\n- https://example.org/a\n- https://example.org/c", 2, 1),
        ("It falls [terms](/c).", 1, 1),
        ("![a picture](https://example.org/c.png)", 0, 0),
        ("[top](#top), [mail](mailto:a@example.org), [call](tel:1)", 0, 0),
        ("`https://example.org/c` and `[x](https://example.org/c)`", 0, 0),
    ],
)
def test_where_links_are_cited_an_address_that_was_not_retrieved_is_invented(text, names, invented):
    ids = [Passage(link) for link in LINKED]
    urls = [Passage(f"d{place}", url=link) for place, link in enumerate(LINKED)]
    for passages, mode in ((ids, "id"), (ids, "link"), (urls, "link")):
        sources = Sources(passages, CitationStyle(mode))
        shown = markers(text, sources, read_markup(text))
        assert (sum(m.names for m in shown), sum(m.invented for m in shown)) == (names, invented)
    known = markers(text, Sources(urls, CitationStyle()), read_markup(text))
    assert all(marker.invented == 0 for marker in known)


THREE = ["a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        *("[1, 2, and 9]", "[1, and 9]", "[1 or 9]", "[1 und 9]", "[1 y 9]", "［9］", "[９]"),
        *("[1，9]", "[1、9]", "〔9〕", "〖9〗", "[٩]", "[⁹]", "[\u200b9]", "[9\ufeff]"),
        *("[**9**]", '["9"]', "[_9_]", "[`9`]", "[No. 9]", "[Note 9]", "[Footnote 9]"),
        *("[Fußnote 9]", "[S9]", "[doc_9]", "[doc-9]", "[9†source]", "(Source 9)", "(source: 9)"),
        *("(Quelle 9)", "[9, emphasis added]", "[9: 3]", "[1/9]", "[@9]", "[9]+.", "[9]{a}"),
        *("[1][9]", "so.¹ ⁹", "so.⁹", "so.<sup>9</sup>", "<sup>[9]</sup>", "[9 p. 4]"),
    ],
)
def test_an_invented_number_is_found_in_every_dress(text):
    shown = found(f"Rates rose {text}", ids=THREE)
    assert sum(marker.invented for marker in shown) == 1
    assert not any(marker.malformed for marker in shown)


def test_a_range_in_words_and_a_superscript_on_a_word_name_all_their_numbers():
    assert told("Rates rose [1 to 9].", ids=THREE) == [("[1 to 9]", (0, 1, 2), 9, 6)]
    assert told("Rates rose<sup>9</sup>.", ids=THREE) == [("<sup>9</sup>", (), 1, 1)]
    assert told("It has 5 metres<sup>2</sup> and x<sup>9</sup>.", ids=THREE) == []


@pytest.mark.parametrize(
    "text",
    [
        "The rate rose [9].",
        "The rate rose[9].",
        "according to the article [9].",
        "In the table [9] it says so.",
        "taken from [9].",
        "The measurement error [9] grows.",
        "Their health status [9] fell.",
        "It is wild type [9].",
        "recent articles [9]",
        "vitamin K[9] and",
        "mRNA[9]",
        "CO2[9]",
        "It isn't[9] so.",
        "It weighs 5 g[9].",
        "_It rose_[9].",
        "Sources: [9]",
        "It rose to 12 [9].",
        "It rose by 5.2% [2, 9].",
        "As shown in [2, 9].",
        "Rates rose [1], [2, 9].",
    ],
)
def test_an_invented_number_after_ordinary_words_stays_invented(text):
    assert sum(marker.invented for marker in found(text, ids=THREE)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Set x = [5] and y = [6, 7] in Python",
        "timeout=[30]",
        '{"ids": [7, 8, 9]}',
        "the matrix [[4, 5], [6, 7], [8, 9]]",
        "arr[5] and x[5] and m_row[5] and x[5][6]",
        "the regex [0-9] matches",
        "[0-9] is a pattern of digits",
        "It lies in [5, 10].",
        "(95% CI: [5, 10])",
        "Error [404] and status [503]",
        "RFC [2119] and Room [101] and Step [4]:",
        "Figure [4] … Table [5]",
        "Es steht in Schritt [4], siehe Tabelle [5].",
        "on port [8080]",
        "[14]C decays",
        "[2023] Annual report, born in [1950], [1990-1995] growth",
        "Müller u. a. [2018]",
        "(Source: 2023) (source: 2023 report) (Document 4521)",
    ],
)
def test_numbers_that_are_no_sources_invent_nothing(text):
    assert told(text, ids=THREE) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("the ticket [#4521]", 1),
        ("the issue [#12]", 1),
        ("12.3 [10-14] in adults", 1),
        ("from [0] to [100]", 2),
        ("userList[5]", 1),
        ("It counts [4521] and [51].", 2),
        ("It falls [99999999999999999999].", 1),
    ],
)
def test_what_may_be_prose_is_malformed_and_invents_nothing(text, count):
    shown = found(text, ids=THREE)
    assert [(marker.malformed, marker.invented) for marker in shown] == [(True, 0)] * count


def test_superscripts_in_a_row_are_one_number_each_where_the_whole_names_nothing():
    assert told("It is so.¹²³", ids=THREE) == [("¹²³", (0, 1, 2), 3, 0)]
    assert told("It is so.¹⁹", ids=THREE) == [("¹⁹", (), 1, 1)]


@pytest.mark.parametrize(
    "text",
    [
        *("[kb-99, p. 4]", "[kb-99, section 4]", "(kb-99, p. 4)", "(see kb-99)", "[see kb-99]"),
        *("(cf. kb-99)", "[kb‑99]", "[kb–99]", "(KB-99)", "[**kb-99**]", "[`kb-99`]"),
        *("[p. 4, kb-99]", "[kb-99 p. 4]", "(kb-10, kb-99)", "[kb-10 or kb-99]", "[KB-10; kb-99]"),
    ],
)
def test_an_unknown_id_is_found_in_every_dress(text):
    assert sum(marker.invented for marker in found(f"It falls {text}.", mode="id")) == 1
    known = text.replace("99", "11")
    (shown,) = found(f"It falls {known}.", mode="id")
    assert shown.invented == 0
    assert 1 in shown.places


@pytest.mark.parametrize(
    ("known", "unknown"),
    [
        ("3f2b8c1e-9a4d-4e6f-8b2a-1c3d5e7f9a0b", "9a4d8c1e-3f2b-4e6f-8b2a-0c3d5e7f9a0b"),
        ("00ff12ab3c", "a1b2c3d4e5"),
    ],
)
def test_unknown_hexadecimal_ids_of_the_same_length_are_invented(known, unknown):
    text = f"It falls [{known}] ({known}) [{unknown}] ({unknown})."
    assert [m.invented for m in found(text, ids=[known], mode="id")] == [0, 0, 1, 1]


def test_lone_words_are_no_ids_but_the_known_ones():
    text = "[NAME] [DATE] [note] [here] [optional] [Ctrl] (see) (Policy) [policy]"
    assert told(text, ids=["policy"], mode="id") == [("[policy]", (0,), 1, 0)]


def test_numbers_in_round_brackets_are_ids_where_they_are_as_long_as_one():
    text = "(12345) (1003) (1009) (1995) (3)"
    assert told(text, ids=["1001", "1002", "1003"], mode="id") == [
        ("(1003)", (2,), 1, 0),
        ("(1009)", (), 1, 1),
    ]


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


@pytest.mark.parametrize(
    ("text", "invented"),
    [
        ("Rates fell [kb-12#fees].", 0),
        ("Rates fell [kb-99#fees].", 1),
        ("Rates fell [kb-12:3, kb-99:4].", 1),
        ("Rates fell (kb-99#fees).", 1),
        ("Rates fell (source: kb-99).", 1),
        ("Rates fell (Source: hr-07).", 1),
        ("Rates fell 【4:0†kb-99】.", 1),
        ("Rates fell 【4:0†kb-12】.", 0),
    ],
)
def test_ids_with_a_place_or_a_label_are_read_as_ids(text, invented):
    assert [marker.invented for marker in found(text, mode="id")] == [invented]


@pytest.mark.parametrize(
    "text", ["At [12:30] sharp.", "See (John 3:16).", "Use (GPT-4).", "(see F-16)"]
)
def test_what_only_looks_like_an_id_with_a_place_is_prose(text):
    assert found(text, mode="id") == []
