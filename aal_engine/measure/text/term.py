"""Terms: what a sentence is about, as stems of its content words and as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from aal_engine.measure.text.language import Language
from aal_engine.measure.text.normal import unspaced

MAX_KEPT: Final = 100_000
"""How many words' terms are kept at a time; the memory for them is bounded by it."""

LONGEST_WORD: Final = 40
"""A longer word is its own term."""

_NUMBER: Final = re.compile(r"-?([0-9][0-9.,']*)")


class Terms(dict[str, str]):
    """The term of each token of a language: a stem, `#` and a number, or nothing."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, token: str) -> str:
        if len(token) > LONGEST_WORD:
            return token
        if len(self) >= MAX_KEPT:
            self.clear()
        self[token] = term = self._term(token)
        return term

    def _term(self, token: str) -> str:
        if token in self.language.function_words or not any(map(str.isalnum, token)):
            return ""
        number = _NUMBER.fullmatch(token)
        if number is not None:
            return "#" + plain_number(number[1])
        return stem(token, self.language)


def plain_number(digits: str) -> str:
    """Return a number without what writings of it differ in: grouping, zeros that say nothing.

    Only a separator with other than three digits behind it is taken for a decimal mark, so that
    `1,000` and `1.000` are alike in every language.

    >>> plain_number("1,000"), plain_number("29.00"), plain_number("3,5")
    ('1000', '29', '3.5')
    """
    bare = digits.replace("'", "").strip(".,").replace(",", ".")
    head, mark, tail = bare.rpartition(".")
    if not mark or len(tail) == 3:
        whole, decimals = head + tail, ""
    else:
        whole, decimals = head, tail.rstrip("0")
    whole = whole.replace(".", "").lstrip("0") or "0"
    return f"{whole}.{decimals}" if decimals else whole


def stem(word: str, language: Language) -> str:
    """Return the Snowball stem of a folded word; the word itself where its language has none."""
    if language.stemmer is None:
        return word
    import snowballstemmer

    # A stemmer holds the word that it works on: one for each call is cheap and safe in threads.
    stemmed: str = snowballstemmer.stemmer(language.stemmer).stemWord(word)
    return stemmed


@lru_cache(maxsize=64)
def terms_of(language: Language) -> Terms:
    """Return the table of a language's terms, which all texts share."""
    return Terms(language)


def term_set(tokens: Sequence[str], language: Language) -> set[str]:
    """Return the distinct terms of a row of tokens.

    Of scripts without spaces, two characters in a row are a term, as in Lucene's CJK analysis.

    >>> from aal_engine.measure.text.language import ENGLISH
    >>> sorted(term_set(["the", "refunds", "take", "30", "days"], ENGLISH))
    ['#30', 'day', 'refund', 'take']
    """
    found = set(map(terms_of(language).__getitem__, tokens))
    found.discard("")
    if "".join(found).isascii():
        return found
    whole = {term for term in found if not unspaced().match(term)}
    return found if len(whole) == len(found) else whole | _pairs(tokens)


def _pairs(tokens: Sequence[str]) -> set[str]:
    """Return the pairs of neighbours among unspaced characters; one that stands alone is itself."""
    found = set()
    run: list[str] = []
    for token in (*tokens, ""):
        if unspaced().match(token):
            run.append(token)
        else:
            found |= set(map("".join, pairwise(run))) if len(run) > 1 else set(run)
            run = []
    return found
