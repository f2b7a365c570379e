"""One unit of an answer as its tokens, with what stands between them when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from aal_engine.measure.text.markup import Span, within
from aal_engine.measure.text.normal import token_spans, unify

CLAUSE_END: Final = re.compile(
    r"[;:.!?()\[\]|<>•·\u2028\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001faff]|--"
    r"|(?:^|\s)[-+&/=~](?:\s|$)"
)
_STARTS: Final = frozenset("-0123456789")
COMMA: Final = 1
CLAUSE: Final = 2


class Line:
    """The tokens of one unit and the text they were cut from.

    Phrases and support need the tokens alone; where they stand is found out for the few lines that
    a number, a date or a denial is looked for in. `code` is where code stands in the text.
    """

    def __init__(self, text: str, tokens: Sequence[str], code: Sequence[Span] = ()) -> None:
        self.text = text
        self.tokens = tokens
        self.code = code

    @cached_property
    def spans(self) -> list[Span]:
        """Where each token stands in `text`."""
        return token_spans(self.text)

    @cached_property
    def numerals(self) -> list[int]:
        """The places of the tokens that a number starts with."""
        return [place for place, token in enumerate(self.tokens) if token[0] in _STARTS]

    @cached_property
    def words(self) -> Sequence[str]:
        """The tokens, those in code as "": what is named there neither denies nor affirms."""
        if not self.code:
            return self.tokens
        return [
            "" if within(self.code, start) else token
            for token, (start, _) in zip(self.tokens, self.spans, strict=True)
        ]

    def gap(self, place: int) -> str:
        """Return what stands before the token at a place, back to the token before it, unified."""
        start = self.spans[place - 1][1] if place else 0
        end = self.spans[place][0] if place < len(self.spans) else len(self.text)
        return unify(self.text[start:end])

    @cached_property
    def cuts(self) -> list[int]:
        """What parts each token from the one before it: nothing (0), a comma, or a clause's end."""
        cuts = []
        for place in range(len(self.tokens)):
            gap = self.gap(place)
            if gap in ("", " "):
                cuts.append(0)
            elif CLAUSE_END.search(gap):
                cuts.append(CLAUSE)
            else:
                cuts.append(COMMA if "," in gap else 0)
        return cuts
