"""One output against one case: what it cites, what it claims, what it mentions and must not.

Everything is found once, in an `Examination`: `judge_answer` counts it, and
`aal_engine.measure.explanation` shows it, so that what is shown is what was counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, TypeAlias

from aal_engine.measure.abstention import declines, is_courtesy
from aal_engine.measure.claims import Support, passage_terms, precise, shared, support
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.hit import Hit, hits, holds, is_quoted, leaves, state
from aal_engine.measure.language import language_of
from aal_engine.measure.leaf import Leaf
from aal_engine.measure.point import Claim, Point
from aal_engine.measure.prose import Prose
from aal_engine.measure.run import Output
from aal_engine.measure.source import Places, Sources
from aal_engine.measure.term import term_set

LEAST_TERMS: Final = 3
"""How many content words and numbers make a sentence a claim."""

Role: TypeAlias = Literal[
    "claim", "heading", "question", "lead-in", "abstention", "sources", "code", "short"
]
"""Why a unit of an answer is a claim, or is none."""


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


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of an answer: the unit, the passages it cites and the sources it names.

    `support` is None where the claim cites nothing or the run lacks a cited passage's text.
    """

    unit: int
    places: Places
    names: int
    support: Support | None
    precise: int


@dataclass(frozen=True, slots=True)
class Required:
    """A required point, whether the answer meets it, and the mentions that tell."""

    point: Point
    met: bool
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A forbidden claim, whether the answer makes it, and its mentions if it has all it needs."""

    claim: Claim
    made: bool
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Examination:
    """All that was found in one output; `roles` and `statements` are of the units of `prose`."""

    case: Case
    prose: Prose
    answered: bool
    abstained: bool
    structured: tuple[Places, ...]
    roles: tuple[Role, ...]
    statements: tuple[Statement, ...]
    required: tuple[Required, ...]
    forbidden: tuple[Forbidden, ...]


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


def examine(case: Case, output: Output, citations: CitationStyle, language: str) -> Examination:
    """Find everything that is measured in one output for one case."""
    tables = language_of(language)
    sources = Sources(output.retrieved or (), citations)
    prose = Prose(output.answer or "", sources, tables)
    structured = tuple(sources.structured(citation) for citation in output.citations or ())
    roles, terms = _roles(prose)
    abstained = "abstention" in roles and all(
        is_courtesy(tokens, tables)
        for role, tokens in zip(roles, prose.tokens, strict=True)
        if role == "claim"
    )
    statements: tuple[Statement, ...] = ()
    if not (abstained and case.expect == "abstain"):
        statements = tuple(_statements(prose, output, structured, terms))
    return Examination(
        case=case,
        prose=prose,
        answered=bool(prose.units),
        abstained=abstained,
        structured=structured,
        roles=roles,
        statements=statements,
        required=tuple(_required(point, prose) for point in case.must_mention),
        forbidden=tuple(_forbidden(claim, prose) for claim in case.must_not_claim),
    )


def _roles(prose: Prose) -> tuple[tuple[Role, ...], dict[int, set[str]]]:
    """Tell what each unit of an answer is, and return the terms of those that are claims."""
    roles: list[Role] = []
    terms: dict[int, set[str]] = {}
    for place, (unit, tokens) in enumerate(zip(prose.units, prose.tokens, strict=True)):
        role: Role = "claim"
        if unit.kind != "sentence" and unit.kind != "row":
            role = unit.kind
        elif prose.asks(place):
            role = "question"
        elif prose.leads_in(place):
            role = "lead-in"
        elif declines(tokens, prose.language):
            role = "abstention"
        else:
            found = term_set(tokens, prose.language) if len(tokens) >= LEAST_TERMS else set()
            if len(found) < LEAST_TERMS:
                role = "short"
            else:
                terms[place] = found
        roles.append(role)
    return tuple(roles), terms


def _statements(
    prose: Prose, output: Output, structured: Sequence[Places], terms: Mapping[int, set[str]]
) -> Iterator[Statement]:
    """Yield the claims of an answer with what they cite.

    Where the text has no marker at all, the citations given beside it stand for every claim.
    """
    passages = output.retrieved or ()
    beside = [] if prose.markers else list(structured)
    has_text = any(passage.text is not None for passage in passages)
    marker = 0
    for unit, claim in terms.items():
        start, end = prose.units[unit][:2]
        cited = list(beside)
        names = len(beside)
        while marker < len(prose.markers) and prose.markers[marker].start < end:
            if prose.markers[marker].start >= start:
                cited.append(prose.markers[marker].places)
                names += prose.markers[marker].names
            marker += 1
        places = tuple(dict.fromkeys(place for named in cited for place in named))
        found = [passage_terms(passages[place], prose.language) for place in places]
        known = [of for of in found if of is not None]
        # A claim that cites nothing but inventions has no support, if support is told at all.
        if names and len(known) == len(found) and (known or has_text):
            shares = shared(claim, known)
            together = support(claim, shares)
            precisely = precise(claim, shares, together)
            yield Statement(unit, places, names, together, precisely)
        else:
            yield Statement(unit, places, names, None, 0)


def _required(point: Point, prose: Prose) -> Required:
    found = {id(leaf): hits(leaf, prose) for leaf in leaves(point)}

    def meets(leaf: Leaf) -> bool:
        return any(leaf.negated == "count" or not hit.negated for hit in found[id(leaf)])

    return Required(point, holds(point, meets), tuple(chain.from_iterable(found.values())))


def _forbidden(claim: Claim, prose: Prose) -> Forbidden:
    found = {id(leaf): hits(leaf, prose) for leaf in leaves(claim.point)}
    if not holds(claim.point, lambda leaf: bool(found[id(leaf)])):
        return Forbidden(claim, made=False, hits=())

    def counts(hit: Hit) -> bool:
        if claim.negation == "allow" and hit.negated:
            return False
        return not (claim.quotation == "allow" and is_quoted(hit, prose))

    made = holds(claim.point, lambda leaf: any(map(counts, found[id(leaf)])))
    return Forbidden(claim, made, tuple(chain.from_iterable(found.values())))


def count(examination: Examination) -> AnswerCounts:
    """Count what was found."""
    markers = examination.prose.markers
    statements = examination.statements
    supports = [statement.support for statement in statements if statement.support is not None]
    cited = sum(statement.names > 0 for statement in statements)
    weak = sum(support.weak for support in supports)
    states = [
        state(hit, examination.prose)
        for forbidden in examination.forbidden
        for hit in forbidden.hits
    ]
    structured = examination.structured
    return AnswerCounts(
        answered=examination.answered,
        abstained=examination.abstained,
        citations=sum(marker.names for marker in markers) + len(structured),
        invented_citations=sum(marker.invented for marker in markers)
        + sum(not places for places in structured),
        malformed_citations=sum(marker.malformed for marker in markers),
        claims=len(statements),
        cited_claims=cited,
        checked_claims=len(supports),
        weak_claims=weak,
        weak_overlap=sum(support.weak_overlap for support in supports),
        weak_number=sum(support.weak_number for support in supports),
        supported_claims=len(supports) - weak,
        supportable_claims=len(statements) - cited + len(supports),
        citing_pairs=sum(s.names for s in statements if s.support is not None),
        supporting_pairs=sum(statement.precise for statement in statements),
        points=len(examination.required),
        points_met=sum(required.met for required in examination.required),
        forbidden_claims=sum(forbidden.made for forbidden in examination.forbidden),
        forbidden_asserted=states.count("asserted"),
        forbidden_negated=states.count("negated"),
        forbidden_quoted=states.count("quoted"),
        forbidden_asked=states.count("asked"),
    )
