"""Authors' patterns: RE2 alone, so that no pattern takes more than time linear in the text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from aal_engine.measure.text.normal import unify

if TYPE_CHECKING:
    import re2

_PROBES: Final = ("", "a", " ", "1 a")
"""An expression that matches nothing at all somewhere does so in one of these."""


@lru_cache(maxsize=4096)
def compiled(regex: str) -> re2._Regexp:
    """Return the compiled expression; letters' case makes no difference unless it says `(?-i)`.

    Raises:
        re2.error: it is not an RE2 expression, or needs more memory than RE2 allows.
    """
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(normalize("NFC", regex), options)


def flaw(regex: str) -> str | None:
    """Return why an expression cannot serve as a pattern, or None where it can.

    >>> flaw("refunds? +within"), flaw("x*")
    (None, 'matches the empty string')
    """
    import re2

    if unify(normalize("NFC", regex)) != normalize("NFC", regex):
        return (
            "holds a character that the text it is matched with never has: write quotes as ' and"
            ' ", dashes as -, letters and digits in their plain (NFKC) form'
        )
    try:
        expression = compiled(regex)
    except re2.error:
        return "is not an RE2 expression"
    if any(found.start() == found.end() for text in _PROBES for found in expression.finditer(text)):
        return "matches the empty string"
    return None
