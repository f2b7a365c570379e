"""Whether a sentence denies what it mentions: negators in the clause, and verdicts on it.

In the manner of NegEx (Chapman et al., 2001): a negator reaches forward within its clause and not
far, rows of words that only look like a denial (`not only`, `no doubt`) are none, and two denials
cancel. In doubt a mention is taken for asserted, so that no forbidden claim is let through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from aal_engine.measure.language import Language
from aal_engine.measure.line import Line

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

LISTED: Final = 3
"""How many tokens an item of a list has that a denial is carried over."""

_CLAUSE_END: Final = re.compile(r"[;:.!?()\[\]|]|--|(?:^|\s)-(?:\s|$)")


def is_denied(line: Line, first: int, last: int, language: Language) -> bool:
    """Return whether the clause around the tokens from `first` to before `last` denies them.

    >>> from aal_engine.measure.language import ENGLISH
    >>> from aal_engine.measure.text import tokens
    >>> text = "It was **not** owner-ratified."
    >>> is_denied(Line(text, tokens(text)), 3, 5, ENGLISH)
    True
    """
    words = line.tokens[max(0, first - LOOK_BACK) : last + LOOK_BACK]
    if all(
        table.isdisjoint(words) for table in (language.negators, language.led, language.deniers)
    ):
        return False
    before = _denials_before(line, first, last, language)
    return (before + _denials_after(line, last, language)) % 2 == 1


def _is_negator(tokens: Sequence[str], place: int, language: Language) -> bool:
    word = tokens[place]
    if word in language.led:
        return not language.leads.isdisjoint(tokens[max(0, place - LEAD) : place])
    return word in language.negators


def _denials_before(line: Line, first: int, last: int, language: Language) -> int:
    """Count the denials before a mention in its clause that reach it."""
    tokens = line.tokens
    if tuple(tokens[max(0, first - 2) : first]) in language.comparisons:
        return 0
    start = _clause_start(line, first, last, language)
    harmless = _harmless(tokens, start, first, language)
    negators = verdicts = between = 0
    over = False
    for place in range(first - 1, start - 1, -1):
        word = tokens[place]
        if place in harmless:
            continue
        if _is_negator(tokens, place, language):
            reach = 0 if word in language.short else REACH
            negators += between <= reach
            if word in language.joins:
                # `neither ... nor` denies once.
                break
        elif over and word in language.deniers:
            verdicts += between <= REACH
        elif not over and between <= REACH_OVER and word in language.complements:
            over, between = True, 0
        elif not over and between <= REACH_OVER and word in language.reporting:
            over, between = True, 1
        elif word not in language.function_words:
            between += 1
    return (min(negators, 1) if language.concord else negators) + verdicts


def _clause_start(line: Line, first: int, last: int, language: Language) -> int:
    """Return the first token of the clause that a mention stands in."""
    for place in range(first - 1, max(-1, first - 1 - LOOK_BACK), -1):
        gap = line.gap(place + 1)
        if _CLAUSE_END.search(gap) or (
            "," in gap and not _is_carried(line, place + 1, first, last, language)
        ):
            return place + 1
        if line.tokens[place] in language.breaks:
            return place + 1
    return max(0, first - LOOK_BACK)


def _is_carried(line: Line, place: int, first: int, last: int, language: Language) -> bool:
    """Return whether what is before a comma reaches over it: into `, dass ...` or along a list."""
    tokens = line.tokens
    if place < first and tokens[place] in language.complements:
        return True
    if first - place > LISTED:
        return False
    joined = (*tokens[place : first + 1], *tokens[last : last + LISTED + 2])
    return not language.joins.isdisjoint(joined)


def _harmless(tokens: Sequence[str], start: int, first: int, language: Language) -> set[int]:
    """Return the places before a mention that are part of a row of words that denies nothing."""
    found: set[int] = set()
    for place in range(start, first):
        for row in language.harmless.get(tokens[place], ()):
            if tuple(tokens[place : place + len(row)]) == row:
                found.update(range(place, place + len(row)))
                break
    return found


def _denials_after(line: Line, last: int, language: Language) -> int:
    """Count the denials in a verdict behind a mention: `is a myth`, `is not true`, `it is not`."""
    tokens = line.tokens
    end = last
    while end < len(tokens) and end < last + LOOK_BACK:
        if _CLAUSE_END.search(line.gap(end)) or "," in line.gap(end):
            break
        if tokens[end] in language.breaks:
            break
        end += 1
    for copula in range(last, min(last + AFTER, end)):
        if tokens[copula] in language.copulas:
            break
    else:
        return 0
    denials = 0
    for place in range(copula + 1, end):
        if _is_negator(tokens, place, language):
            denials += 1
        elif tokens[place] in language.deniers:
            return denials + 1
        elif tokens[place] in language.affirmers:
            return denials
        elif tokens[place] not in language.function_words | language.fillers:
            return 0
    return denials
