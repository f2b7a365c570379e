"""Whether a sentence denies what it mentions: negators in the clause, and verdicts on it.

In the manner of NegEx (Chapman et al., 2001): a negator reaches forward within its clause and not
far, rows of words that only look like a denial (`not only`, `no doubt`) are none, and two denials
cancel. In doubt a mention is taken for asserted, so that no forbidden claim is let through.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from aal_engine.measure.text.language import Language, Words
from aal_engine.measure.text.line import CLAUSE, COMMA, Line

REACH: Final = 1
"""How many content words may stand between a negator and what it denies, or the clause it is about
(`it is not true that`)."""

REACH_OVER: Final = 6
"""How many may stand between the start of that clause and what is denied in it."""

AFTER: Final = 3
"""How many tokens behind the mention a verdict on it (`... is a myth`) may start."""

LEAD: Final = 3
"""How many tokens a word may stand behind the one that makes it a negator (`ne ... plus`)."""

LOOK_BACK: Final = 40
"""How many tokens before the mention are read."""

LONGEST_ROW: Final = 4
"""How many words the longest harmless row of any language has."""

BEHIND: Final = 6
"""How many tokens behind the mention are read for the praise that a boast ends in."""

LISTED: Final = 3
"""How many tokens an item of a list has that a denial is carried over."""


def is_denied(line: Line, first: int, last: int, language: Language) -> bool:
    """Return whether the clause around the tokens from `first` to before `last` denies them.

    >>> from aal_engine.measure.text.language import ENGLISH
    >>> from aal_engine.measure.text.normal import tokens
    >>> text = "It was **not** owner-ratified."
    >>> is_denied(Line(text, tokens(text)), 3, 5, ENGLISH)
    True
    """
    if denying(language).isdisjoint(line.tokens[max(0, first - LOOK_BACK) : last + LOOK_BACK]):
        return False
    after = _denials_after(line, last, language)
    if after is None:
        return False
    return (_denials_before(line, first, last, language) + after) % 2 == 1


@lru_cache(maxsize=256)
def denying(language: Language) -> Words:
    """Return the words of which a denial has one."""
    return language.negators | language.led | language.deniers


def _is_negator(tokens: Sequence[str], place: int, language: Language) -> bool:
    word = tokens[place]
    if word in language.led:
        return not language.leads.isdisjoint(tokens[max(0, place - LEAD) : place])
    return word in language.negators


def _denials_before(line: Line, first: int, last: int, language: Language) -> int:
    """Count the denials before a mention in its clause that reach it."""
    tokens = line.words
    if tuple(tokens[max(0, first - 2) : first]) in language.comparisons:
        return 0
    negators = verdicts = between = 0
    over: int | None = None
    praised = False
    for place in range(first - 1, max(-1, first - 1 - LOOK_BACK), -1):
        word = tokens[place]
        if between > REACH_OVER or (over is not None and between > REACH):
            break
        if _bars(tokens, place, language) or _is_cut(line, place + 1, first, last, language):
            break
        praised = praised or _is_praise(tokens, place, language)
        if _is_negator(tokens, place, language):
            boasts = word in language.boasting and (praised or _is_praised(line, last, language))
            asserts = over is None or _is_asserting(line, place, over, language, _said(language))
            if not boasts and asserts and _reaches(tokens, place, between, language):
                negators += 1
                # `neither ... nor` denies once; of more than two nobody knows what they deny.
                if word in language.joins or negators > 1:
                    break
        elif over is not None and word in language.deniers:
            said = language.reporting | language.asserting
            verdicts += between == 0 or _is_asserting(line, place, over, language, said)
        elif over is None and word in language.complements:
            over, between = place, 0
        elif over is None and word in language.reporting:
            over, between = place + 1, 1
        elif word not in language.function_words:
            between += 1
    return (min(negators, 1) if language.concord else negators) + verdicts


def _bars(tokens: Sequence[str], place: int, language: Language) -> bool:
    """Return whether no denial reaches over a word: it opens a clause, or takes it for a fact.

    `as` opens none in `not sold as`.
    """
    word = tokens[place]
    if word in language.factive:
        return True
    if word == "as" and language.ascribing:
        return place == 0 or tokens[place - 1] not in language.ascribing
    return word in language.breaks


def _is_asserting(line: Line, place: int, over: int, language: Language, said: Words) -> bool:
    """Return whether a denial at a place is of what the clause from `over` on says.

    It is where one of the words `said` stands between them, or, if no word of content does, at the
    denial or shortly before it (`es stimmt nicht, dass`).
    """
    tokens = line.words
    content = [word for word in tokens[place + 1 : over] if word not in language.function_words]
    if not content:
        start = place
        while start > 0 and start > place - LEAD and not line.cuts[start]:
            start -= 1
        content = list(tokens[start : place + 1])
    return not said.isdisjoint(content)


@lru_cache(maxsize=256)
def _said(language: Language) -> Words:
    """Return the words after which a denied clause is denied; a denied denier turns it over."""
    return language.affirmers | language.deniers | language.reporting | language.asserting


def _is_cut(line: Line, place: int, first: int, last: int, language: Language) -> bool:
    """Return whether the clause of a mention starts at a place before it."""
    cut = line.cuts[place]
    return cut == CLAUSE or (cut == COMMA and not _is_carried(line, place, first, last, language))


def _is_carried(line: Line, place: int, first: int, last: int, language: Language) -> bool:
    """Return whether what is before a comma reaches over it: into `, dass ...` or along a list."""
    tokens = line.words
    if place < first and tokens[place] in language.complements:
        return True
    if first - place > LISTED:
        return False
    joined = (*tokens[place : first + 1], *tokens[last : last + LISTED + 2])
    return not language.joins.isdisjoint(joined)


def _is_harmless(tokens: Sequence[str], place: int, language: Language) -> bool:
    """Return whether a negator is part of a row of words that denies nothing."""
    for start in range(max(0, place - LONGEST_ROW + 1), place + 1):
        ahead = tuple(tokens[start : start + LONGEST_ROW])
        for row in language.harmless.get(ahead[:2], ()):
            if start + len(row) > place and ahead[: len(row)] == row:
                return True
    return False


def _reaches(tokens: Sequence[str], place: int, between: int, language: Language) -> bool:
    """Return whether a negator denies what stands `between` content words behind it."""
    reach = 0 if tokens[place] in language.short else REACH
    return between <= reach and not _is_harmless(tokens, place, language)


def _is_praise(tokens: Sequence[str], place: int, language: Language) -> bool:
    return tokens[place] in language.praise or tuple(tokens[place : place + 2]) in language.praises


def _is_praised(line: Line, last: int, language: Language) -> bool:
    """Return whether the clause of a mention goes on to praise it (`no one does it better`)."""
    for place in range(last, min(last + BEHIND, len(line.tokens))):
        if line.cuts[place]:
            return False
        if _is_praise(line.words, place, language):
            return True
    return False


def _denials_after(line: Line, last: int, language: Language) -> int | None:
    """Count the denials in a verdict behind a mention: `is a myth`, `is not true`, `it is not`.

    None is a verdict that affirms it, whatever stands before: `the rumour that ... is true`.
    """
    tokens = line.words
    end = last
    while end < len(tokens) and end < last + LOOK_BACK:
        if line.cuts[end] or tokens[end] in language.breaks:
            break
        end += 1
    for copula in range(last, min(last + AFTER, end)):
        if tokens[copula] in language.copulas:
            break
    else:
        return 0
    # What stands before the copula turns its verdict over: `has not been disproved`.
    denials = sum(_is_negator(tokens, place, language) for place in range(last, copula))
    for place in range(copula + 1, end):
        if _is_negator(tokens, place, language):
            denials += 1
        elif tokens[place] in language.deniers:
            return denials + 1
        elif tokens[place] in language.affirmers:
            return denials or None
        elif tokens[place] not in language.function_words and tokens[place] not in language.fillers:
            return 0
    return denials
