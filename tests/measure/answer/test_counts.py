"""One output against one case."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.measure.answer.counts import AnswerCounts, judge_answer
from aal_engine.measure.answer.examination import examine
from aal_engine.measure.answer.explanation import explain
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.point import parse_claim, parse_point
from aal_engine.measure.run import Output, Passage

TEXT = "Refunds take 30 days. Rates fell by half in all regions in 2024."


def passages(number, text=TEXT):
    return tuple(Passage(f"d{place}", text=text) for place in range(1, number + 1))


def judged(
    answer,
    points=(),
    claims=(),
    retrieved=8,
    expect="answer",
    language="en",
    style=None,
    citations=None,
):
    case = Case(
        "c",
        "What of it?",
        must_mention=tuple(map(parse_point, points)),
        must_not_claim=tuple(map(parse_claim, claims)),
        expect=expect,
    )
    shown = passages(retrieved) if isinstance(retrieved, int) else retrieved
    output = Output("c", answer=answer, retrieved=shown, citations=citations)
    return judge_answer(case, output, style or CitationStyle(), language)


def met(answer, point, language="en"):
    return judged(answer, [point], language=language).points_met == 1


# What each row of the public list of known mistakes expects; `O` numbers are the list's.
LISTED = {
    "O2": lambda row: judged(
        row["answer"], claims=[{"phrase": row["forbidden"], "negation": row["negation"]}]
    ),
    "O3": lambda row: judged(row["answer"], claims=row["forbidden"]),
    "O4": lambda row: judged(row["answer"], [row["point"]]),
    "O5": lambda row: judged(row["answer"], [row["point"]]),
    "O6": lambda row: judged(row["answer"], row["points"]),
    "O7": lambda row: judged(row["answer"], retrieved=len(row["retrieved"])),
    "O8": lambda row: judged(row["answer"], retrieved=len(row["retrieved"])),
    "O9": lambda row: judged(row["answer"], retrieved=len(row["retrieved"])),
    "O11": lambda row: judged(row["answer"], expect=row["expected"]),
}
WANTED = {
    "O2": {"forbidden_claims": 0, "forbidden_negated": 1},
    "O3": {"forbidden_claims": 0, "forbidden_asserted": 0},
    "O4": {"points": 1, "points_met": 0},
    "O5": {"points": 1, "points_met": 1},
    "O6": {"points": 3, "points_met": 3},
    "O7": {"citations": 5, "invented_citations": 2, "malformed_citations": 0},
    "O8": {"citations": 0, "invented_citations": 0, "malformed_citations": 0},
    "O9": {"citations": 3, "invented_citations": 1},
    "O11": {"abstained": True, "claims": 0, "cited_claims": 0, "checked_claims": 0},
}


@pytest.mark.parametrize("name", WANTED)
def test_the_public_list_of_mistakes(shared, name):
    lines = (shared / "cases/answers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["id"]: row["input"] for row in map(json.loads, lines)}
    counts = LISTED[name](rows[name])
    assert {field: getattr(counts, field) for field in WANTED[name]} == WANTED[name]


@pytest.mark.parametrize(
    ("answer", "point"),
    [
        ("It takes **30 days**.", "30 days"),
        ("A 30-day window.", {"phrase": "30 day"}),
        ("It is owner ratified.", "owner-ratified"),
        ("We pay the money back.", {"phrase": "refund", "aliases": ["money back"]}),
        ("Le CAFE\u0301 est là.", "café"),
        ("Run `aal gate` now.", "aal gate"),
        ("```\naal gate --policy p\n```", "aal gate"),
        ("See https://a.org/Terms/.", "https://www.a.org/Terms"),
        ("退款需要30天。", "退款"),
        ("서울은 큽니다.", "서울"),
        ("L'accord est signé.", "accord"),
        ("Refunds within  30\ndays.", {"regex": "within 30 days"}),
        ("REFUNDS take 30 days.", {"regex": "refunds? take"}),
        ("It is “fine”.", {"regex": '"fine"'}),
        ("It costs $29.00.", {"number": 29, "unit": "USD"}),
        ("It costs about 28.7 dollars.", {"number": 29, "unit": "USD", "tolerance": 0.5}),
        ("Due on 31 January 2026.", {"date": "2026-01-31"}),
        ("Due in January 2026.", {"date": "2026-01-31", "precision": "month"}),
        ("It is not allowed.", {"phrase": "allowed", "negated": "count"}),
        ("It is not allowed. It is allowed.", "allowed"),
        ("A, then B.", {"all_of": ["a", {"any_of": ["x", "b"]}]}),
        ("A, then B.", {"at_least": 2, "of": ["a", "x", "b"]}),
    ],
)
def test_points_that_are_met(answer, point):
    assert met(answer, point)


@pytest.mark.parametrize(
    ("answer", "point"),
    [
        ("The work is incomplete.", "complete"),
        ("It takes 30. Days pass.", "30 days"),
        ("- takes 30\n- days", "30 days"),
        ("The cost is $8.540.", "$9.540"),
        ("The cost is €29.", "$29"),
        ("See https://a.org/refund-policy.", "refund policy"),
        ("See https://a.org/terms/5.", {"number": 5}),
        ("It is not allowed.", "allowed"),
        ("It is not allowed.", {"regex": "allowed"}),
        ("It is fine.", {"regex": "Fine(?-i:X)"}),
        ("It is fine.\nDays pass.", {"regex": r"fine\.\s+days"}),
        ("The answer is 25.", {"number": 5}),
        ("The answer is -5.", {"number": 5}),
        ("It is 33.14.", {"number": 3.14}),
        ("It is 20%.", {"number": 20}),
        ("A, then B.", {"all_of": ["a", "x"]}),
        ("A, then B.", {"at_least": 3, "of": ["a", "x", "b"]}),
        ("[1] says so.", {"number": 1}),
        ("", "a"),
    ],
)
def test_points_that_are_not_met(answer, point):
    assert not met(answer, point)


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("Not found in provided context.", "en"),
        ("I don't know.", "en"),
        ("I’m sorry, but I do not have that information at the moment.", "en"),
        ("The documents do not include information on how long to wait.", "en"),
        ("The question cannot be answered. Please contact support.", "en"),
        (
            "There is no mention of refunds in the passages [1]. If you tell me more, I can help.",
            "en",
        ),
        ("I could not find any details on this. The documents only discuss shipping.", "en"),
        ("N/A", "en"),
        ("I'm sorry, but I can't help with that.", "en"),
        ("I couldn't find anything about this.", "en"),
        ("The handbook does not say.", "en"),
        ("That information is not in the sources.", "en"),
        ("None of the passages mention lottery tickets.", "en"),
        ("Nothing in the sources addresses this question.", "en"),
        ("There's nothing in the documents about that.", "en"),
        ("No relevant passages were found.", "en"),
        ("The sources are silent on this.", "en"),
        ("While the documents discuss refunds, they do not mention lottery tickets.", "en"),
        ("I searched all the provided documents, but they do not mention tickets.", "en"),
        ("The documents do not mention lottery tickets, so I cannot answer this.", "en"),
        ("Ich weiß es leider nicht.", "de"),
        ("Der Kontext enthält dazu keine Angaben. Bitte wenden Sie sich an den Support.", "de"),
        ("In den Dokumenten wird das nicht erwähnt.", "de"),
        ("Je ne sais pas.", "fr"),
        ("Les documents ne mentionnent pas ce délai.", "fr"),
        ("No lo sé.", "es"),
        ("El contexto no menciona el plazo. Por favor, consulte con soporte.", "es"),
    ],
)
def test_abstentions(answer, language):
    counts = judged(answer, expect="abstain", language=language)
    assert counts.abstained
    assert counts.claims == 0


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("The documents do not say. Refunds usually take 30 days to arrive.", "en"),
        ("Although the text does not mention it, refunds take 30 days.", "en"),
        ("The documents do not say it, but refunds usually take 30 days.", "en"),
        ("Refunds take thirty days, but the documents do not mention weekends.", "en"),
        ("Refunds take thirty days [1], although the sources do not specify weekends.", "en"),
        ("Tickets are refunded at every counter; the documents do not mention a fee.", "en"),
        ("While refunds take thirty days, the documents do not mention weekends.", "en"),
        ("The text does not mention a fee, so tickets are refunded free of charge.", "en"),
        ("Erstattungen dauern dreißig Tage, aber die Dokumente nennen keine Gebühr.", "de"),
        ("Los reembolsos tardan treinta días, pero el contexto no menciona tarifas.", "es"),
        ("We do not provide refunds after 30 days.", "en"),
        ("The drug does not cure the disease.", "en"),
        ("No customer data is stored on our servers.", "en"),
        ("We store no information about you.", "en"),
        ("Wir geben keine Daten an Dritte weiter.", "de"),
        ("Le contrat n'est pas renouvelé chaque année.", "fr"),
        ("No vendemos datos a terceros en ningún caso.", "es"),
        ("Non lo so.", "it"),
    ],
)
def test_answers_that_are_no_abstention(answer, language):
    assert not judged(answer, expect="abstain", language=language).abstained


def test_an_abstention_where_an_answer_is_due_keeps_its_counts():
    counts = judged("The documents do not say. Please contact our support team by mail.")
    assert counts.abstained
    assert counts.claims == 1


@pytest.mark.parametrize("answer", [None, "", " \n\t", "---"])
def test_no_answer_counts_nothing(answer):
    counts = judged(answer, ["a"], ["b"])
    assert counts == AnswerCounts(points=1)


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("Refunds take 30 days.", 1),
        ("- Refunds take 30 days", 1),
        ("| Refunds | 30 days |", 1),
        ("# Refunds take 30 days", 0),
        ("Do refunds take 30 days?", 0),
        ("Refunds take 30 days:", 0),
        ("It is so.", 0),
        ("Rates fell.", 0),
        ("```\nrefunds take 30 days\n```", 0),
        ("References: refunds take 30 days", 0),
        ("I could not find any information on refunds.", 0),
        ("退款需要三十天才能到账。", 1),
    ],
)
def test_what_is_a_claim(sentence, claims):
    assert judged(sentence).claims == claims


def test_claims_and_their_support_are_counted_by_reason():
    counts = judged(
        "Refunds take 30 days [1]. Refunds take 31 days [1]. Cats like warm milk [2]. "
        "Dogs like cold bones [9]. Refunds take 30 days always. Do refunds take days [1]?"
    )
    assert (counts.claims, counts.cited_claims, counts.checked_claims) == (5, 4, 4)
    assert (counts.weak_claims, counts.weak_overlap, counts.weak_number) == (3, 2, 1)
    assert (counts.supported_claims, counts.supportable_claims) == (1, 5)
    assert (counts.citing_pairs, counts.supporting_pairs) == (4, 1)
    assert (counts.citations, counts.invented_citations) == (5, 1)


def test_precision_looks_at_each_source_of_a_claim():
    shown = (
        Passage("a", text="Refunds."),
        Passage("b", text="30."),
        Passage("c", text="x"),
    )
    counts = judged("Refunds take 30 days [1][2][3].", retrieved=shown)
    # The first two are needed together, the third is not.
    assert (counts.supported_claims, counts.citing_pairs, counts.supporting_pairs) == (1, 3, 2)


def test_a_source_named_twice_is_one_and_a_document_is_one_whatever_passages_it_has():
    assert judged("Refunds take 30 days [1][1].").citing_pairs == 1
    shown = (
        Passage("a", "a#1", text="Refunds."),
        Passage("a", "a#2", text="Take 30."),
        Passage("b"),
    )
    counts = judged("Refunds take 30 days [a].", retrieved=shown, style=CitationStyle("id"))
    assert (counts.supported_claims, counts.citing_pairs, counts.supporting_pairs) == (1, 1, 1)


def test_without_the_passages_text_support_is_not_told():
    shown = (Passage("a"), Passage("b"))
    counts = judged(
        "Refunds take 30 days [1]. Cats like warm milk [9]. Rain falls here daily.", retrieved=shown
    )
    assert (counts.claims, counts.cited_claims, counts.checked_claims) == (3, 2, 0)
    assert (counts.supportable_claims, counts.weak_claims) == (1, 0)


def test_one_passage_without_text_leaves_its_claims_unchecked():
    shown = (Passage("a", text=TEXT), Passage("b"))
    counts = judged("Refunds take 30 days [1]. Rates fell by half [1, 2].", retrieved=shown)
    assert (counts.cited_claims, counts.checked_claims) == (2, 1)


def test_structured_citations_count_and_stand_for_every_claim_of_a_text_without_markers():
    counts = judged("Refunds take 30 days. Cats like warm milk.", citations=(1, "d2", "ghost"))
    assert (counts.citations, counts.invented_citations) == (3, 1)
    assert (counts.cited_claims, counts.weak_claims, counts.citing_pairs) == (2, 1, 6)
    marked = judged("Refunds take 30 days [1]. Cats like warm milk.", citations=(2,))
    assert (marked.citations, marked.cited_claims) == (2, 1)


@pytest.mark.parametrize("retrieved", [(), None])
def test_with_nothing_retrieved_a_citation_is_invented(retrieved):
    case = Case("c", "q")
    output = Output("c", answer="It is [1].", retrieved=retrieved, citations=("d1",))
    assert judge_answer(case, output, CitationStyle(), "en").invented_citations == 2


def test_a_list_of_sources_claims_nothing_and_may_invent():
    counts = judged(
        "Refunds take 30 days [1].\n\nSources:\n1. The terms of the shop\n9. A ghost of a book"
    )
    assert (counts.claims, counts.citations, counts.invented_citations) == (1, 3, 1)
    zero = judged(
        "Refunds take 30 days [0].\n\nSources:\n1. Terms\n9. Ghost", style=CitationStyle("index", 0)
    )
    assert zero.invented_citations == 0


@pytest.mark.parametrize(
    ("answer", "mode", "invented"),
    [
        ("It takes long.\n\nSources: 1, 9", "index", 1),
        ("It takes long.\n\n**Sources:** 1 and 2.", "index", 0),
        ("It takes long.\n\nSources: 2019, 2021", "index", 0),
        ("It takes long.\n\nSources: 12 documents", "index", 0),
        ("It takes long.\n\nSources: d1, d9", "id", 1),
        ("It takes long.\n\nSources:\n- d1 – Terms\n- d9: Ghost", "id", 1),
        ("It takes long.\n\nReferences:\n1. d9", "id", 1),
        ("It takes long.\n\nSources:\n- **d9** Ghost", "id", 1),
        ("It takes long.\n\nSources: GPT-4, the handbook of 2024", "id", 0),
    ],
)
def test_a_list_of_sources_needs_no_brackets_to_invent(answer, mode, invented):
    assert judged(answer, style=CitationStyle(mode)).invented_citations == invented


def test_a_list_of_sources_without_brackets_leaves_structured_citations_to_the_claims():
    counts = judged(
        "Refunds take 30 days.\n\nSources: d1", citations=("d1",), style=CitationStyle("id")
    )
    assert (counts.claims, counts.cited_claims, counts.invented_citations) == (1, 1, 0)


def test_a_marker_belongs_to_the_sentence_before_it():
    counts = judged("Refunds take 30 days.[1] Cats like warm milk. [2]\nRates fell by half [1].")
    assert (counts.claims, counts.cited_claims) == (3, 3)


ANSWERS = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            [
                *(
                    "Refunds take 30 days",
                    " [1]",
                    " [9-2]",
                    ". ",
                    "not ",
                    "\n",
                    "\n- ",
                    "# ",
                    "> ",
                    "| ",
                ),
                *(
                    "`x[0]`",
                    "```",
                    "“",
                    '"',
                    "2026-01-31 ",
                    "$5 ",
                    "-",
                    "a\u0301",
                    "中",
                    "\ud800",
                    "½",
                    "?",
                ),
                *(
                    "Sources:\n",
                    "1. ",
                    "http://a.b ",
                    "is a myth",
                    "I do not know",
                    "no, ",
                    "\x00",
                    "İ",
                ),
            ]
        ),
        max_size=30,
    ).map("".join),
)
FULL = Case(
    "c",
    "q",
    must_mention=tuple(
        map(
            parse_point,
            [
                "refunds take",
                {"regex": "[^ ]+ days"},
                {"number": 30, "unit": "days"},
                {"date": "2026-01-31"},
                {"any_of": ["http://a.b", "中"]},
            ],
        )
    ),
    must_not_claim=tuple(
        map(parse_claim, ["a", {"regex": "[a-z]+", "negation": "allow", "quotation": "allow"}])
    ),
)


@settings(max_examples=300)
@given(
    ANSWERS,
    st.sampled_from(["en", "de", "fr", "es", "zh", "xx", ""]),
    st.sampled_from(["index", "id"]),
)
def test_nothing_an_agent_writes_raises_and_what_is_shown_is_what_is_counted(
    answer, language, mode
):
    output = Output("c", answer=answer, retrieved=passages(3), citations=(1, "d9"))
    style = CitationStyle(mode, 1)
    counts = judge_answer(FULL, output, style, language)
    shown = explain(FULL, output, style, language)
    assert shown.counts == counts
    assert all(int(getattr(counts, field.name)) >= 0 for field in fields(counts))
    assert counts.invented_citations <= counts.citations
    assert counts.checked_claims <= counts.cited_claims <= counts.claims
    assert counts.supporting_pairs <= counts.citing_pairs
    assert sum(marker.invented for marker in shown.markers) + len(shown.invented_beside) == (
        counts.invented_citations
    )
    assert sum(sentence.role == "claim" for sentence in shown.sentences) >= counts.claims
    assert [point.met for point in shown.points].count(True) == counts.points_met
    for finding in (*shown.points, *shown.claims):
        for mention in finding.mentions:
            assert 0 <= mention.span[0] < mention.span[1] <= len(answer)


def test_spans_of_an_explanation_are_exact():
    answer = "Cafe\u0301 refunds [1] take not 30\u00a0days.² Is it “a cure”?"
    case = Case(
        "c",
        "q",
        must_mention=(parse_point("café"), parse_point({"number": 30, "unit": "days"})),
        must_not_claim=(parse_claim("a cure"),),
    )
    output = Output("c", answer=answer, retrieved=passages(1))
    shown = explain(case, output, CitationStyle(), "en")

    def cut(span):
        return answer[span[0] : span[1]]

    assert [answer[marker.start : marker.end] for marker in shown.markers] == ["[1]", "²"]
    assert [cut(mention.span) for point in shown.points for mention in point.mentions] == [
        "Cafe\u0301",
        "30",
    ]
    assert [mention.state for mention in shown.points[1].mentions] == ["negated"]
    assert [(cut(m.span), m.state) for m in shown.claims[0].mentions] == [("a cure", "quoted")]
    assert [(sentence.role, sentence.cited) for sentence in shown.sentences] == [
        ("claim", ("d1",)),
        ("question", ()),
    ]
    assert shown.claims[0].made


def test_public_answers_are_judged_without_a_fault(shared):
    folder = shared / "data/answers"
    answers = [
        json.loads(line)["answer_string"]
        for line in (folder / "expertqa/answers.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    mtrag = json.loads((folder / "mtrag/reference_subset_with_human_evaluations.json").read_bytes())
    answers += [row["model_response"] for row in mtrag["evaluations"]]
    assert len(answers) > 900
    for answer in answers:
        found = examine(
            FULL, Output("c", answer=answer, retrieved=passages(8)), CitationStyle(), "en"
        )
        for marker in found.prose.markers:
            assert answer[marker.start] in "[(【¹²³⁴⁵⁶⁷⁸⁹⁰h\\"


LENGTH = 200_000


@pytest.mark.parametrize("piece", ["a b ", "not a ", "[1] a. ", "30 days ", "is a myth ", "“a "])
def test_long_adversarial_answers_are_judged_to_their_end(piece):
    """Quadratic work on 200,000 characters would not end; `tests/bench/linear.py` measures it."""
    output = Output("c", answer=(piece * LENGTH)[:LENGTH], retrieved=passages(3))
    assert judge_answer(FULL, output, CitationStyle(), "en").answered
