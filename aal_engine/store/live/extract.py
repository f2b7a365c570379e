"""The engine's own answering agent: sentences of the passages, each with its citation.

No language model is involved. It chooses the sentences that share most with the question, for their
length and the place of their passage, and says that it does not know where the passages share too
little with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage
from aal_engine.measure.text.language import language_of
from aal_engine.measure.text.markup import blanked, read_markup
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.sentence import units
from aal_engine.measure.text.term import term_set
from aal_engine.store.failure import Failure
from aal_engine.store.live.agent import Question, Reply
from aal_engine.store.live.prompt import label

READ = 5
"""Passages that are read, from the top."""

SENTENCES = 3
LEAST_EVIDENCE = 0.35
"""Share of the question's weight that one passage must hold for an answer."""

DAMPING = 8
"""Terms that are added to a sentence's length: without them the shortest would always win."""

DECIMALS = 6
UNKNOWN = "I do not know: the passages do not answer this question."


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that may go into the answer, and the place of its passage."""

    text: str
    terms: frozenset[str]
    place: int


class Extract:
    """Answers with sentences taken from the passages."""

    def __init__(self, style: CitationStyle, language: str) -> None:
        self._style = style
        self._language = language_of(language)

    async def ask(self, question: Question) -> Reply:
        """Answer from the first passages."""
        if question.passages is None:
            raise Failure("refused", "this agent answers from an index alone", retry=False)
        return Reply(self.answer(question.text, question.passages))

    async def close(self) -> None:
        """Do nothing: nothing was opened."""

    def answer(self, question: str, passages: Sequence[Passage]) -> str:
        """Return the answer; the same inputs give the same one on every machine."""
        asked = term_set(tokens(question), self._language)
        read = passages[:READ]
        held = [self._terms(f"{one.title or ''}\n{one.text or ''}") for one in read]
        weights = _weights(asked, held)
        whole = sum(sorted(weights.values()))
        shares = [_weight(asked & terms, weights) / whole for terms in held] if whole else []
        if not shares or max(shares) < LEAST_EVIDENCE:
            return UNKNOWN
        found = [
            sentence for place, one in enumerate(read) for sentence in self._sentences(one, place)
        ]

        def worth(number: int) -> float:
            sentence = found[number]
            shared = _weight(asked & sentence.terms, weights)
            density = shared / (len(sentence.terms) + DAMPING)
            return round(density + shares[sentence.place] / (4 * (sentence.place + 1)), DECIMALS)

        best = sorted(range(len(found)), key=lambda number: (-worth(number), number))[:SENTENCES]
        return " ".join(self._cited(found[number], read) for number in sorted(best))

    def _terms(self, text: str) -> frozenset[str]:
        return frozenset(term_set(tokens(text), self._language))

    def _sentences(self, passage: Passage, place: int) -> list[Sentence]:
        text = passage.text or ""
        markup = read_markup(text)
        mask = blanked(text, markup.code, "x")
        found = []
        for unit in units(text, mask, markup.fenced, (), self._language):
            if unit.kind == "sentence":
                words = " ".join(text[unit.start : unit.end].split())
                found.append(Sentence(words, self._terms(words), place))
        return found

    def _cited(self, sentence: Sentence, passages: Sequence[Passage]) -> str:
        mark = label(passages[sentence.place], sentence.place, self._style)
        stop = sentence.text[-1] if sentence.text[-1] in ".!?" else "."
        return f"{sentence.text.rstrip('.!?:;')} [{mark}]{stop}"


def _weights(asked: set[str], held: Sequence[frozenset[str]]) -> Mapping[str, float]:
    """Weigh the question's terms: what fewer of the passages hold says more."""
    holders = Counter(term for terms in held for term in asked & terms)
    return {term: log(1 + (len(held) + 1) / (holders[term] + 0.5)) for term in asked}


def _weight(terms: set[str] | frozenset[str], weights: Mapping[str, float]) -> float:
    # In a fixed order: the last bit of a sum of floats depends on it.
    return sum(weights[term] for term in sorted(terms))
