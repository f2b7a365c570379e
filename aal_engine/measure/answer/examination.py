"""All that is found in one output for one case: markers, claims, points met, claims not to make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

from aal_engine.measure.answer.abstention import declines, is_courtesy
from aal_engine.measure.answer.claims import Support, passage_terms, precise, shared, support
from aal_engine.measure.answer.hit import Hit, hits, holds, is_quoted, leaves, mentions
from aal_engine.measure.answer.prose import ASKING, LEADING_IN, Prose
from aal_engine.measure.answer.source import Places, Sources
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.leaf import Leaf
from aal_engine.measure.point import Claim, Point
from aal_engine.measure.run import Output, Passage
from aal_engine.measure.text.language import language_of
from aal_engine.measure.text.term import term_set

LEAST_TERMS: Final = 3
"""How many content words and numbers make a sentence a claim."""

Role: TypeAlias = Literal[
    "claim", "heading", "question", "lead-in", "abstention", "sources", "code", "short"
]
"""Why a unit of an answer is a claim, or is none."""


class Statement(NamedTuple):
    """One claim of an answer: its unit, the passages it cites, and how many sources it names.

    A source is a passage, or a document where ids are cited; what was not retrieved is one too.
    `precise` counts the sources cited with precision. `support` is None where the claim cites nothing or the run lacks a cited passage's text.
    """

    unit: int
    places: Places
    sources: int
    support: Support | None
    precise: int


@dataclass(frozen=True, slots=True)
class Required:
    """A required point, and whether the answer meets it."""

    point: Point
    met: bool


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
        required=tuple(required(point, prose) for point in case.must_mention),
        forbidden=tuple(forbidden(claim, prose) for claim in case.must_not_claim),
    )


def _roles(prose: Prose) -> tuple[tuple[Role, ...], dict[int, set[str]]]:
    """Tell what each unit of an answer is, and return the terms of those that are claims."""
    roles: list[Role] = []
    terms: dict[int, set[str]] = {}
    for place, (unit, tokens) in enumerate(zip(prose.units, prose.tokens, strict=True)):
        kind = unit.kind
        role: Role = "claim"
        if kind != "sentence" and kind != "row":
            role = kind
        elif (sign := prose.sign(place)) in ASKING:
            role = "question"
        elif sign in LEADING_IN:
            role = "lead-in"
        elif declines(prose.line(place), prose.language):
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
    has_text = any(passage.text is not None for passage in passages)
    markers = prose.markers
    beside = () if prose.cites else tuple(structured)
    marker = 0
    for unit, claim in terms.items():
        start, end = prose.units[unit][:2]
        named: list[Places] = list(beside)
        invented = named.count(())
        while marker < len(markers) and markers[marker].start < end:
            if markers[marker].start >= start:
                named.append(markers[marker].places)
                invented += markers[marker].invented
            marker += 1
        if not named:
            yield Statement(unit, (), 0, None, 0)
            continue
        places = tuple(dict.fromkeys(chain.from_iterable(named)))
        found = _sources(places, passages, prose)
        if not found and not invented:
            yield Statement(unit, places, 0, None, 0)
        elif None in found or not (found or has_text):
            # A claim that cites nothing but inventions has no support, if support is told at all.
            yield Statement(unit, places, len(found) + invented, None, 0)
        else:
            shares = shared(claim, [of for of in found if of is not None])
            together = support(claim, shares)
            precisely = precise(claim, shares, together)
            yield Statement(unit, places, len(found) + invented, together, precisely)


def _sources(
    places: Places, passages: Sequence[Passage], prose: Prose
) -> list[frozenset[str] | None]:
    """Return the terms of each source cited: a passage, or a document where ids are cited."""
    if not prose.sources.by_id:
        return [passage_terms(passages[place], prose.language) for place in places]
    documents: dict[str, frozenset[str] | None] = {}
    for place in places:
        terms = passage_terms(passages[place], prose.language)
        before = documents.get(passages[place].doc_id, frozenset())
        joined = None if terms is None or before is None else before | terms
        documents[passages[place].doc_id] = joined
    return list(documents.values())


def required(point: Point, prose: Prose) -> Required:
    """Return whether an answer meets a point; it is read no further than it takes to know."""

    def meets(leaf: Leaf) -> bool:
        found = mentions(leaf, prose)
        return any(leaf.negated == "count" or not hit.negated for hit in found)

    return Required(point, holds(point, meets))


def forbidden(claim: Claim, prose: Prose) -> Forbidden:
    """Return whether an answer makes a claim under the claim's settings, and by what."""
    if not holds(claim.point, lambda leaf: any(True for _ in mentions(leaf, prose))):
        return Forbidden(claim, made=False, hits=())
    found = {id(leaf): hits(leaf, prose) for leaf in leaves(claim.point)}

    def counts(hit: Hit) -> bool:
        if claim.negation == "allow" and hit.negated:
            return False
        return not (claim.quotation == "allow" and is_quoted(hit, prose))

    made = holds(claim.point, lambda leaf: any(map(counts, found[id(leaf)])))
    return Forbidden(claim, made, tuple(chain.from_iterable(found.values())))
