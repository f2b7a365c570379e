"""One quick pass over an answer that tells most of them from those to be examined in full.

The screen may send an answer on for nothing; it must never let one by of which the examination
would find a hit. It is built once per pack: the words without which no phrase of a rule is there,
the patterns of all rules as one RE2 set, and the markers that surely name what was retrieved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from aal_engine.decide.stop_rule import StopRule
from aal_engine.measure.answer.hit import leaves
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.leaf import Date, Leaf, Number, Pattern, Phrase
from aal_engine.measure.run import Output
from aal_engine.measure.text.normal import tidy, tokens

if TYPE_CHECKING:
    import re2

_MARKER: Final = re.compile(r"\[([^\[\]\\\n]{1,64})\](?!\()")
_FOREIGN: Final = re.compile(r"[【】［］〔〕〖〗⁰¹²³⁴-⁹]")
_NAMED: Final = re.compile(r"\([^()]{0,400}?[0-9]")
_LABELLED: Final = re.compile(r"\([\W_]{0,40}[^\W\d_][^()]{0,200}?[0-9]")
_ENUMERATED: Final = re.compile(r"(?:^|[\s(])([0-9]{1,3})[.)][ \t]")
_SEAM: Final = re.compile("[\u200b\u2060\ufeff\u2010]")
_EMPHASIS: Final = re.compile(r"[^\W\d_](?:\*+|~~)[^\W\d_]")
_CODE: Final = re.compile(r"`[^`\[\n]*`")
_DIGIT: Final = re.compile(r"[0-9]|[^\x00-\x7f]")
_ANCHOR: Final = re.compile(r"[\^$]|\\[AzBb]")


def _is_dressed(text: str) -> bool:
    """Whether an answer shows other words than it is written with, or has links."""
    if "&" in text or "<" in text or "://" in text or "-\n" in text or "-\r" in text:
        return True
    if ("*" in text or "~" in text) and ("~~~" in text or _EMPHASIS.search(text) is not None):
        return True
    if "`" in text and ("\\`" in text or "`" in _CODE.sub("", text)):
        return True
    if not text.isascii() and _SEAM.search(text) is not None:
        return True
    return "www." in text.lower()


class Screen:
    """The quick pass for one pack's citation style and stop rules."""

    def __init__(self, style: CitationStyle, rules: Iterable[StopRule]) -> None:
        found = list(_leaves(rules))
        self._style = style
        self._always = any(rule.require and not rule.when for rule in rules)
        self._numbers = any(isinstance(leaf, Number | Date) for leaf in found)
        words: set[str] = set()
        patterns: list[str] = []
        for leaf in found:
            if isinstance(leaf, Phrase):
                words |= {max(row, key=len) for form in leaf.forms if (row := tokens(form))}
            elif isinstance(leaf, Pattern):
                patterns.append(leaf.regex)
                self._always |= _ANCHOR.search(leaf.regex) is not None
        self._words = frozenset(words)
        self._patterns = _set_of(patterns) if patterns else None

    def cites_plainly(self, output: Output) -> bool:
        """Say whether an answer surely cites nothing that was not retrieved."""
        text = output.answer or ""
        retrieved = output.retrieved or ()
        sources = Sources(retrieved, self._style)
        if not all(map(sources.structured, output.citations or ())):
            return False
        inside = set(_MARKER.findall(text))
        if inside and not all(map(sources.named, inside)):
            return False
        rest = _MARKER.sub(" ", text) if inside else text
        if "[" in rest or "]" in rest or (not rest.isascii() and _FOREIGN.search(rest)):
            return False
        if "<" in rest and "<sup" in rest.lower():
            return False
        if "(" in rest and (_NAMED if sources.by_id else _LABELLED).search(rest) is not None:
            return False
        last = len(retrieved)
        return all(0 < int(number) <= last for number in _ENUMERATED.findall(rest))

    def breaks_nothing(self, output: Output) -> bool:
        """Say whether an answer surely mentions nothing that any stop rule speaks of.

        Only of an answer that cites plainly.
        """
        text = output.answer or ""
        if self._always or _is_dressed(text):
            return False
        bare = _MARKER.sub(" ", text)
        if self._numbers and _DIGIT.search(bare) is not None:
            return False
        if self._words and not self._words.isdisjoint(tokens(text)):
            return False
        # A marker in code stays where it is, any other leaves a gap.
        return self._patterns is None or not (
            self._patterns.Match(tidy(bare)) or self._patterns.Match(tidy(text))
        )


def _leaves(rules: Iterable[StopRule]) -> Iterator[Leaf]:
    """Yield the leaves without which no rule has a hit."""
    for rule in rules:
        if rule.forbid is not None:
            yield from leaves(rule.forbid.point)
        elif rule.when is not None:
            yield from leaves(rule.when)
        elif rule.within is not None:
            yield from leaves(rule.within.beside or rule.within.any)


def _set_of(patterns: Iterable[str]) -> re2.Set:
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    joined = re2.Set.SearchSet(options)
    for pattern in patterns:
        joined.Add(pattern)
    joined.Compile()
    return joined
