"""How far the passages that a claim cites bear it out, by the words and numbers they share.

Support is the share of a claim's terms that the passages have: |U & P| / |U|, where U are the
distinct stems and numbers of the claim and P those of the cited passages and their titles. A claim
is weakly supported below `LEAST`, or where one of its numbers is in none of them. It finds wrong
citations and numbers that drifted; a paraphrase that twists the sense it does not find.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final, NamedTuple

from aal_engine.measure.run import Passage
from aal_engine.measure.text.language import Language
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.term import term_set

LEAST: Final = 0.5
"""The share of a claim's terms below which its support is weak."""

LONGEST_KEPT: Final = 8_000
"""Terms of a longer passage, in characters, are not kept for the next output that cites it."""


class Support(NamedTuple):
    """What the passages cited for a claim have of it.

    `share` is between 0 and 1; `numbers_absent` are the claim's numbers that no passage has.
    """

    share: float
    numbers_absent: tuple[str, ...]

    @property
    def weak_overlap(self) -> bool:
        """Too few of the claim's terms are there."""
        return self.share < LEAST

    @property
    def weak_number(self) -> bool:
        """A number of the claim is not there."""
        return bool(self.numbers_absent)

    @property
    def weak(self) -> bool:
        """The claim is weakly supported, for either reason."""
        return self.weak_overlap or self.weak_number


def shared(claim: AbstractSet[str], passages: Sequence[AbstractSet[str]]) -> list[AbstractSet[str]]:
    """Return the terms that a claim shares with each passage."""
    return [claim & passage for passage in passages]


def support(claim: AbstractSet[str], shares: Sequence[AbstractSet[str]]) -> Support:
    """Return the support of a claim by passages together, from the terms it shares with each.

    >>> support({"refund", "take", "#30"}, [{"refund", "take"}, {"refund"}])
    Support(share=0.6666666666666666, numbers_absent=('30',))
    """
    found: AbstractSet[str] = shares[0] if len(shares) == 1 else set().union(*shares)
    if len(found) == len(claim):
        return Support(1.0, ())
    absent = [term[1:] for term in claim - found if term[0] == "#"]
    return Support(len(found) / len(claim), tuple(sorted(absent)) if absent else ())


def precise(claim: AbstractSet[str], shares: Sequence[AbstractSet[str]], together: Support) -> int:
    """Return how many passages are cited with precision for a claim that they support `together`.

    One is where it supports the claim alone, or the others without it do not: citation precision
    of ALCE (Gao et al., 2023), with lexical support for entailment.
    """
    if together.weak or len(shares) == 1:
        return 0 if together.weak else 1
    return sum(
        not support(claim, [share]).weak
        or support(claim, [*shares[:place], *shares[place + 1 :]]).weak
        for place, share in enumerate(shares)
    )


def passage_terms(passage: Passage, language: Language) -> frozenset[str] | None:
    """Return the terms of a passage and its title, or None where the run does not have its text."""
    if passage.text is None:
        return None
    if len(passage.text) > LONGEST_KEPT:
        return _terms.__wrapped__(passage.text, passage.title, language)
    return _terms(passage.text, passage.title, language)


@lru_cache(maxsize=512)
def _terms(text: str, title: str | None, language: Language) -> frozenset[str]:
    return frozenset(term_set(tokens(text if title is None else f"{title}\n{text}"), language))
