"""Sentences and the other units of an answer, cut line by line and without a model.

Headings, list items, table rows, quotations and code end where their lines end. Prose is cut at
stops; abbreviations, initials, ordinals and decimals are none. A marker after the stop belongs to
the sentence before it, unless the text goes on in lower case (`It fell. [2] shows why.`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from aal_engine.measure.text.block import blocks
from aal_engine.measure.text.language import Language, words
from aal_engine.measure.text.markup import Span

Kind: TypeAlias = Literal["sentence", "heading", "row", "code", "sources"]


class Unit(NamedTuple):
    """A stretch of an answer, `text[start:end]`, without the white space and bullets around it.

    `sources` is a line of a list of sources, `quoted` tells a line of a block quotation.
    """

    start: int
    end: int
    kind: Kind
    quoted: bool = False


_BEFORE_NUMBER: Final = words(
    "no nos nr n° fig figs eq eqs p pp s ss vol vols ch chap sec sect art arts abs ziff para ref refs"
    " núm num pág págs cap jan feb mar apr jun jul aug sep sept oct nov dec ca c approx circa ver v"
    " rn tab app op opp"
)
"""Abbreviations that a number follows; before anything else their stop ends a sentence."""

_NEVER_LAST: Final = words(
    "mr mrs ms mx dr prof rev hon messrs gen col lt capt cpt sgt sen rep gov pres supt vs viz cf"
    " approx eg ie resp bzw ggf vgl evtl inkl exkl zzgl abzgl sog bspw str hr fr hrn dipl ing mag"
    " mme mlle mm mgr sr sra srta dra ud uds vd vds lic av avda ee e.g i.e z.b d.h u.a o.ä i.d.r"
    " u.u v.a m.e p.ex p.ej c.-à-d st ste mt ft dept univ assn fig figs eq eqs"
)
"""Abbreviations that something always follows."""

_SELDOM_LAST: Final = words(
    "mio mrd tsd inc ltd co corp llc plc bros jr sr esq al ed eds trans est incl excl tel ext min max avg hrs hr"
    " oz lb lbs sq vol no nos a.m p.m am pm u.s u.k u.n e.u u.s.a ph.d m.d b.a m.a d.c uu ee.uu"
)
"""Abbreviations after which a new sentence starts with a function word, or not at all."""

_LABELLED: Final = words(
    "vitamin plan option type class grade appendix section figure table group hepatitis part step"
    " tier level phase case schedule annex exhibit question answer typ klasse teil anhang gruppe"
    " annexe groupe partie anexo grupo parte tipo"
)
"""Words that a single letter follows as a name and not as an initial."""

_WIDE: Final = "。！？｡।؟۔"
"""Stops of scripts that put no space behind them."""

_STOP: Final = re.compile(
    rf"([.!?…{_WIDE}][.!?…{_WIDE}]*+)[)\]\"'”’»」』）*_]*+(?:[“‘](?!\w))?+(?:[ \u00a0\u202f]»)?+"
    r"(\s*+)[*_\"'“‘„«»¿¡(\[]*+([^\W_]++)?"
)
"""A stop with what closes behind it, the gap after it, and the word that comes next."""

_ASCII_STOP: Final = re.compile(r"([.!?][.!?]*+)[)\]\"'*_]*+(\s*+)[*_\"'(\[]*+([a-zA-Z0-9]++)?")
"""The same for a text of ASCII alone, in half the time."""

_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_SPACED: Final = re.compile(
    r"(?:^|[\s(])(?:z\. ?B|d\. ?h|u\. ?a|u\. ?U|v\. ?a|i\. ?d|i\. ?d\. ?R|o\. ?ä|p\. ?ej|p\. ?ex"
    r"|e\. ?g|i\. ?e)$"
)
_AFTER_STOP: Final = " \t\r\n\"'”’»*_)]"
_LONG: Final = 7
"""No abbreviation is a word of so many letters."""

_LOOK_BACK: Final = 24
"""How many characters before a stop are read to see whether it belongs to an abbreviation."""


def units(
    text: str,
    mask: str,
    fenced: Sequence[Span],
    marked: Collection[int],
    language: Language,
) -> list[Unit]:
    """Return the sentences and other units of a text in order; none overlaps another.

    `mask` is the text with its markers blanked and its code and links filled with letters, as long
    as the text; `fenced` are its blocks of code and `marked` the places where a marker starts.

    >>> from aal_engine.measure.text.language import ENGLISH
    >>> text = "Dr. Lee pays 3.5%. Who else?"
    >>> [text[unit.start : unit.end] for unit in units(text, text, (), (), ENGLISH)]
    ['Dr. Lee pays 3.5%.', 'Who else?']
    """
    found: list[Unit] = []
    for start, end, kind, quoted in blocks(text, mask, fenced, marked):
        if kind != "prose":
            found.append(Unit(start, end, kind, quoted))
        elif found and found[-1].kind == "sentence" and not mask[start:end].strip():
            found[-1] = found[-1]._replace(end=end)
        else:
            for first, last in _sentences(text, mask, start, end, language):
                found.append(Unit(first, last, "sentence", quoted))
    return found


def last_sign(mask: str, unit: Unit) -> str:
    """Return the last character of a unit before closing quotes, brackets and markers.

    `mask` has the markers blanked. The text of no unit is empty, its words may be: then it is "".
    """
    sign = mask[unit.end - 1]
    return mask[unit.start : unit.end].rstrip(_AFTER_STOP)[-1:] if sign in _AFTER_STOP else sign


def _sentences(text: str, mask: str, start: int, end: int, language: Language) -> Iterator[Span]:
    pattern = _ASCII_STOP if mask.isascii() else _STOP
    for stop in pattern.finditer(mask, start, end):
        after, follows = stop.span(2)
        if follows == end:
            break
        run, word = stop[1], stop[3] or ""
        last = after if follows - after < 2 else after + len(text[after:follows].rstrip())
        if run[-1] not in _WIDE:
            if follows == after and not _is_glued(mask, stop, word, language):
                continue
            if run == "." and _is_abbreviation(mask, start, stop.start(), word, language):
                continue
            # A name in code is written as it is, also where it opens a sentence.
            named = run == "." and text[stop.start(3)] == "`" if word else False
            if word.islower() and word[0].isalpha() and not named:
                if last == after or not text[after].isspace():
                    continue
                # A marker apart from the stop is the subject of what goes on in lower case.
                last, follows = after, follows - len(text[after:follows].lstrip())
        yield start, last
        start = follows
    yield start, end


def _is_glued(mask: str, stop: re.Match[str], word: str, language: Language) -> bool:
    """Return whether a sentence starts right behind a stop (`fell.The`): seldom, and told by it."""
    return (
        mask[stop.start() - 1].islower()
        and stop.end(1) - stop.start() == 1
        and word.istitle()
        and _opens(word, language)
    )


def _opens(word: str, language: Language) -> bool:
    """Return whether a word that may follow an abbreviation is one that starts a sentence."""
    return len(word) > 1 and not word.islower() and word.lower() in language.function_words


def _is_abbreviation(mask: str, start: int, stop: int, word: str, language: Language) -> bool:
    """Return whether the stop at a place belongs to what is before it and ends no sentence."""
    if mask[stop - _LONG : stop].isalpha() and stop - start > _LONG:
        return False
    before = mask[max(start, stop - _LOOK_BACK) : stop]
    parts = before.rsplit(None, 2)
    token = parts[-1].lstrip("([{\"'“‘„«*_") if parts and not before[-1].isspace() else ""
    low = token.lower().rpartition("-")[2]
    opens = _opens(word, language)
    if len(token) == 1 and token.isalpha():
        return _is_initial(parts, before, opens)
    if token.isdigit():
        ahead = mask[start:stop].removesuffix(token).rstrip("*_ \t")
        enumerates = len(token) < 4 and ahead[-1:] in ("", ":")
        return enumerates or _is_ordinal(parts, opens, language)
    if low in _BEFORE_NUMBER and word[:1].isdigit():
        return mask[start:stop] != token or low != "no"
    if low in _NEVER_LAST:
        return True
    return (low in _SELDOM_LAST or _DOTTED.fullmatch(low) is not None) and not opens


def _is_ordinal(parts: Sequence[str], opens: bool, language: Language) -> bool:
    """Return whether a stop makes an ordinal of a number (`31. Januar`), not behind `Nr.`."""
    numbered = len(parts) > 1 and parts[-2][-1] == "." and not parts[-2][:-1].isdigit()
    return language.ordinal_stop and len(parts[-1]) < 3 and not opens and not numbered


def _is_initial(parts: Sequence[str], before: str, opens: bool) -> bool:
    """Return whether a single letter before a stop is an initial or part of an abbreviation."""
    if _SPACED.search(before):
        return True
    if len(parts) > 1 and parts[-2].lower() in _LABELLED:
        return False
    return not opens
