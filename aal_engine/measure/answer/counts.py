"""The counts of one output for one case.

Everything is found once, in an `Examination`: `judge_answer` counts it, and
`aal_engine.measure.answer.explanation` shows it, so that what is shown is what was counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from aal_engine.measure.answer.examination import Examination, examine
from aal_engine.measure.answer.hit import state
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.run import Output


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """What was counted in one output.

    `answered` is false where there is no answer or a blank one. `abstained`: it declines and claims
    nothing else. `citations` are the sources that markers and structured citations name,
    `invented_citations` those of them that were not retrieved (where the run does not say what was
    retrieved, nothing was), `malformed_citations` the markers that cannot be read.

    After a right abstention nothing counts as a claim. `checked_claims` are the cited claims whose
    passages' text the run has, `weak_claims` those of them with weak support, by the words shared
    (`weak_overlap`), a number that is absent (`weak_number`) or both. `supported_claims` are checked
    and not weak; `supportable_claims` are the claims without those that could not be checked, so
    that citation recall is supported / supportable. `citing_pairs` are a checked claim and a source
    it names, `supporting_pairs` those that are precise.

    `forbidden_claims` are the claims of the case that the answer makes, under their settings; the
    four counts after it are the mentions of every claim mentioned, by state, whether they count or
    not.
    """

    answered: bool = False
    abstained: bool = False
    citations: int = 0
    invented_citations: int = 0
    malformed_citations: int = 0
    claims: int = 0
    cited_claims: int = 0
    checked_claims: int = 0
    weak_claims: int = 0
    weak_overlap: int = 0
    weak_number: int = 0
    supported_claims: int = 0
    supportable_claims: int = 0
    citing_pairs: int = 0
    supporting_pairs: int = 0
    points: int = 0
    points_met: int = 0
    forbidden_claims: int = 0
    forbidden_asserted: int = 0
    forbidden_negated: int = 0
    forbidden_quoted: int = 0
    forbidden_asked: int = 0


def judge_answer(
    case: Case, output: Output, citations: CitationStyle, language: str
) -> AnswerCounts:
    """Return the counts of one output for one case; nothing an agent writes makes it raise.

    >>> from aal_engine.measure.run import Passage
    >>> output = Output("c1", answer="Rates rose [0].", retrieved=(Passage("a"), Passage("b")))
    >>> judge_answer(Case("c1", "What of rates?"), output, CitationStyle(), "en").invented_citations
    1
    """
    return count(examine(case, output, citations, language))


def count(examination: Examination) -> AnswerCounts:
    """Count what was found."""
    markers = examination.prose.markers
    statements = examination.statements
    checked = [statement for statement in statements if statement.support is not None]
    supports = [statement.support for statement in checked if statement.support is not None]
    cited = sum([statement.sources > 0 for statement in statements])
    weak = sum([support.weak for support in supports])
    states = [
        state(hit, examination.prose)
        for forbidden in examination.forbidden
        for hit in forbidden.hits
    ]
    structured = examination.structured
    return AnswerCounts(
        answered=examination.answered,
        abstained=examination.abstained,
        citations=sum([marker.names for marker in markers]) + len(structured),
        invented_citations=sum([marker.invented for marker in markers])
        + sum([not places for places in structured]),
        malformed_citations=sum([marker.malformed for marker in markers]),
        claims=len(statements),
        cited_claims=cited,
        checked_claims=len(supports),
        weak_claims=weak,
        weak_overlap=sum([support.weak_overlap for support in supports]),
        weak_number=sum([support.weak_number for support in supports]),
        supported_claims=len(supports) - weak,
        supportable_claims=len(statements) - cited + len(supports),
        citing_pairs=sum([statement.sources for statement in checked]),
        supporting_pairs=sum([statement.precise for statement in checked]),
        points=len(examination.required),
        points_met=sum([required.met for required in examination.required]),
        forbidden_claims=sum([forbidden.made for forbidden in examination.forbidden]),
        forbidden_asserted=states.count("asserted"),
        forbidden_negated=states.count("negated"),
        forbidden_quoted=states.count("quoted"),
        forbidden_asked=states.count("asked"),
    )
