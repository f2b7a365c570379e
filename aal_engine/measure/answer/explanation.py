"""What decided the counts of one output: spans of the answer, for its author's eyes alone.

Made of the same `Examination` that is counted. Spans are half-open ranges of characters of the
answer; an explanation holds no text, but with the answer beside it shows all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aal_engine.measure.answer.citation import Marker
from aal_engine.measure.answer.claims import Support
from aal_engine.measure.answer.counts import AnswerCounts, count
from aal_engine.measure.answer.examination import Examination, Role, examine
from aal_engine.measure.answer.hit import Hit, State, hits, leaves, span, state
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.run import Output
from aal_engine.measure.text.markup import Span


@dataclass(frozen=True, slots=True)
class Sentence:
    """One unit of the answer, what it is, and for a claim what it cites and what bears it out.

    `cited` are document ids in the order in which they are named. `support` is None where the unit
    is no claim, cites nothing, or cites a passage whose text the run lacks.
    """

    span: Span
    role: Role
    cited: tuple[str, ...] = ()
    support: Support | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """One hit of a point or claim and its state."""

    span: Span
    state: State


@dataclass(frozen=True, slots=True)
class PointShown:
    """The required point at a place of `must_mention`, and what was found of it."""

    place: int
    met: bool
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class ClaimShown:
    """The forbidden claim at a place of `must_not_claim`, and what was found of it."""

    place: int
    made: bool
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The counts of one output and what each of them counts.

    `invented_beside` are the places of the structured citations that name nothing retrieved.
    """

    counts: AnswerCounts
    markers: tuple[Marker, ...]
    invented_beside: tuple[int, ...]
    sentences: tuple[Sentence, ...]
    points: tuple[PointShown, ...]
    claims: tuple[ClaimShown, ...]


def explain(case: Case, output: Output, citations: CitationStyle, language: str) -> Explanation:
    """Return what decided each count of `judge_answer` for the same arguments.

    >>> output = Output("c1", answer="Rates rose [2].", retrieved=())
    >>> shown = explain(Case("c1", "What of rates?"), output, CitationStyle(), "en")
    >>> [(marker.start, marker.end, marker.invented) for marker in shown.markers]
    [(11, 14, 1)]
    """
    found = examine(case, output, citations, language)
    return Explanation(
        counts=count(found),
        markers=tuple(found.prose.markers),
        invented_beside=tuple(place for place, named in enumerate(found.structured) if not named),
        sentences=_sentences(found, output),
        points=tuple(
            PointShown(
                place,
                required.met,
                _mentions(
                    found, [h for leaf in leaves(required.point) for h in hits(leaf, found.prose)]
                ),
            )
            for place, required in enumerate(found.required)
        ),
        claims=tuple(
            ClaimShown(place, forbidden.made, _mentions(found, forbidden.hits))
            for place, forbidden in enumerate(found.forbidden)
        ),
    )


def _sentences(found: Examination, output: Output) -> tuple[Sentence, ...]:
    passages = output.retrieved or ()
    statements = {statement.unit: statement for statement in found.statements}
    shown = []
    for place, (unit, role) in enumerate(zip(found.prose.units, found.roles, strict=True)):
        statement = statements.get(place)
        if statement is None:
            shown.append(Sentence((unit.start, unit.end), role))
        else:
            cited = tuple(passages[at].doc_id for at in statement.places)
            shown.append(Sentence((unit.start, unit.end), role, cited, statement.support))
    return tuple(shown)


def _mentions(found: Examination, found_hits: Sequence[Hit]) -> tuple[Mention, ...]:
    return tuple(Mention(span(hit, found.prose), state(hit, found.prose)) for hit in found_hits)
