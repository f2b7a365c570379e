"""What makes a case unable to tell a good answer from a bad one, found without any answer.

A point that the question itself meets, a claim that the required points make, a point that no
passage has: an agent passes or fails such a case whatever it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, TypeAlias

from aal_engine.errors import shown
from aal_engine.measure.answer.examination import forbidden, required
from aal_engine.measure.answer.hit import holds, leaves
from aal_engine.measure.answer.prose import Prose
from aal_engine.measure.answer.sample import samples
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import Case, CitationStyle, GoldenSet
from aal_engine.measure.leaf import Leaf, Phrase
from aal_engine.measure.point import Claim, Point
from aal_engine.measure.text.language import Language, language_of
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.term import term_set


class Doubt(NamedTuple):
    """What is doubtful in a case, and in which field; it never holds the text of one."""

    case: str
    field: str
    problem: str


Rule: TypeAlias = Callable[[Case, Language], Iterator[Doubt]]

_NO_SOURCES: Final = Sources((), CitationStyle())


def doubts(golden: GoldenSet) -> Iterator[Doubt]:
    """Yield what is doubtful in the cases of a suite of answers, in their order."""
    language = language_of(golden.pack.language)
    for case in golden.cases:
        for rule in _RULES:
            yield from rule(case, language)
    yield from _asked_twice(golden.cases)


def _prose(text: str, language: Language) -> Prose:
    return Prose(text, _NO_SOURCES, language)


def _demands(case: Case, _: Language) -> Iterator[Doubt]:
    if case.expect == "answer" and not (case.must_mention or case.must_not_claim):
        problem = "is missing, and so is must_not_claim: any answer will do; say what it must hold"
        yield Doubt(case.id, "must_mention", problem)


def _unmeasured(case: Case, _: Language) -> Iterator[Doubt]:
    if case.expect == "abstain" and case.must_mention:
        problem = "is never looked for, since the case expects an abstention; take one of them out"
        yield Doubt(case.id, "must_mention", problem)


def _in_question(case: Case, language: Language) -> Iterator[Doubt]:
    asked = _prose(case.question, language)
    for field, point in _mentions(case):
        if required(point, asked).met:
            problem = "is found in the question itself: who repeats it meets it; ask for more"
            yield Doubt(case.id, field, problem)
    for field, claim in _claims(case):
        if forbidden(claim, asked).made:
            problem = "is found in the question itself: who repeats it makes it; say more of it"
            yield Doubt(case.id, field, problem)


def _empty_words(case: Case, language: Language) -> Iterator[Doubt]:
    listed = (*_mentions(case), *((field, claim.point) for field, claim in _claims(case)))
    for field, point in listed:
        if any(_is_empty(leaf, language) for leaf in leaves(point)):
            problem = "has a form of words that any sentence may have; name what it is about"
            yield Doubt(case.id, field, problem)


def _is_empty(leaf: Leaf, language: Language) -> bool:
    """Return whether a form is one or two words that carry no content."""
    forms = leaf.forms if isinstance(leaf, Phrase) else ()
    rows = [tokens(form) for form in forms if "://" not in form]
    return any(len(row) < 3 and not term_set(row, language) for row in rows)


def _contradictions(case: Case, language: Language) -> Iterator[Doubt]:
    """Find claims that an answer makes by meeting the required points."""
    mentions = [(field, samples(point, language)) for field, point in _mentions(case)]
    proses = {text: _prose(text, language) for _, texts in mentions for text in texts}
    whole = _prose("\n\n".join(texts[0] for _, texts in mentions if texts), language)
    for field, claim in _claims(case):
        makers = [
            name
            for name, texts in mentions
            if any(forbidden(claim, proses[text]).made for text in texts)
        ]
        if makers:
            problem = f"is made by an answer that meets {makers[0]}; make one of the two narrower"
            yield Doubt(case.id, field, problem)
        elif forbidden(claim, whole).made:
            problem = "is made by an answer that meets all of must_mention; make it narrower"
            yield Doubt(case.id, field, problem)


_RULES: Final[Sequence[Rule]] = (
    _demands,
    _unmeasured,
    _in_question,
    _empty_words,
    _contradictions,
)


def _mentions(case: Case) -> Iterator[tuple[str, Point]]:
    for place, point in enumerate(case.must_mention):
        yield f"must_mention[{place}]", point


def _claims(case: Case) -> Iterator[tuple[str, Claim]]:
    for place, claim in enumerate(case.must_not_claim):
        yield f"must_not_claim[{place}]", claim


def _asked_twice(cases: Sequence[Case]) -> Iterator[Doubt]:
    first: dict[tuple[str, ...], str] = {}
    for case in cases:
        earlier = first.setdefault(tuple(tokens(case.question)), case.id)
        if earlier != case.id:
            problem = f"is asked by case {shown(earlier)} too: one question counts twice"
            yield Doubt(case.id, "question", problem)


def unsupported(golden: GoldenSet, texts: Iterator[str]) -> Iterator[Doubt]:
    """Yield the required points that no text supports: parts may stand in different ones.

    `texts` are those of the corpus; each is read once, and none further when all is found.
    """
    language = language_of(golden.pack.language)
    missing = {
        leaf for case in golden.cases for _, point in _mentions(case) for leaf in leaves(point)
    }
    found: set[Leaf] = set()
    while missing and (text := next(texts, None)) is not None:
        prose = _prose(text, language)
        here = {leaf for leaf in missing if required(leaf, prose).met}
        missing -= here
        found |= here
    yield from _unmet(golden, found)


def _unmet(golden: GoldenSet, found: set[Leaf]) -> Iterator[Doubt]:
    for case in golden.cases:
        for field, point in _mentions(case):
            if case.expect != "abstain" and not holds(point, found.__contains__):
                problem = "is in no passage of the corpus: only an agent that knows more meets it"
                yield Doubt(case.id, field, problem)


def absent_documents(golden: GoldenSet, known: AbstractSet[str]) -> Iterator[Doubt]:
    """Yield the relevant documents that the corpus lacks."""
    for case in golden.cases:
        lacking = [doc for doc, grade in case.relevant.items() if grade > 0 and doc not in known]
        if lacking:
            problem = f"names {len(lacking)} documents that the corpus lacks: {shown(lacking[0])}"
            yield Doubt(case.id, "relevant", problem + (", …" if len(lacking) > 1 else ""))
