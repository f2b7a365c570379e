"""What stands around a bracket of numbers: whether it is a citation, prose or in doubt.

Asked only of brackets that name something that was not retrieved. Prose are the places of an array,
data, intervals, years and the numbers of steps and tickets. What may be a citation and may be prose
is in doubt: it is reported, and invents nothing.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, TypeAlias

Verdict: TypeAlias = Literal["citation", "doubt", "prose"]

LOOK_AROUND: Final = 100
"""How many characters before and after a bracket are read to see what it belongs to."""
_NEAR: Final = 24
"""How many of them hold the one word that a bracket hangs on, the longest of the tables."""

_LARGE: Final = 50
_FAR: Final = 10
"""Numbers above both 50 and ten times the length of the list hardly count its passages."""

_LEAST_CODE: Final = 100

_DIGITS: Final = re.compile(r"[0-9]+")
_LETTER: Final = re.compile(r"[^\W\d_]")
_YEAR: Final = re.compile(r"(?:1[5-9]|20)[0-9]{2}")
_PAIR: Final = re.compile(r"\s*([0-9]+)\s*(?:[,;]|[-‐‑‒–—−])\s*([0-9]+)\s*")
_LIST: Final = re.compile(r"\s*[0-9]+\s*(?:,\s*[0-9]+\s*)+")
_AUTHOR: Final = re.compile(
    r"(?:\bet al\.?|[A-ZÀ-ÖØ-Þ][\w'’-]{1,40}(?: (?:and|&|und|et|y) [A-ZÀ-ÖØ-Þ][\w'’-]{1,40})?),? ?$"
)
_DETERMINED: Final = re.compile(
    r"\b(?:the|this|that|an?|each|every|another|its|their|our|der|die|das|dem|den|des|dies\w*|eine?\w?"
    r"|l[ea]s?|l['’]|un[ea]?|ces?|cette|el|los|las|est[ea])(?: [\w-]+){0,2} ?$",
    re.IGNORECASE,
)
_NOUN: Final = re.compile(
    r"\b(rfc|article|room|port|ticket|issue|figure|fig\.|table|step|option|type|chapter|section"
    r"|page|abb\.|erreur|salle|tableau|étape|chapitre|artículo|sala|puerto|figura|tabla|paso"
    r"|opción|tipo|capítulo|sección|página) ?$",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"\b(?:[Ee]rror|[Ss]tatus|HTTP|Fehler|[Cc]ode) ?$")
_GERMAN_NOUN: Final = re.compile(
    r"\b(?:Artikel|Raum|Zimmer|Abbildung|Tabelle|Schritt|Option|Typ|Kapitel|Abschnitt|Seite) ?$"
)
_OPEN: Final = re.compile(
    r"(?:\A|[.,;:!?()\n*|-]|\b(?:see|in|on|at|to|of|from|and|or|open|use|with|per|via|siehe|auf|aus"
    r"|von|nach|und|voir|dans|sur|ver|en))\s*$",
    re.IGNORECASE,
)
_CAMEL: Final = re.compile(r"\b[a-z]{2,40}[A-Z][a-z]\w{0,40}$")
_IDENTIFIER: Final = re.compile(
    r"(?:(?<![\w'’.%-])(?<![0-9] )[a-z]|[a-z0-9]_[a-z0-9]+|\b(?:arr|array|args|argv|kwargs|dp|df"
    r"|buf|tmp|nums|vec|ptr|str|idx|lst|dict|params|dims|obj|req|ary|xs|ys))(?:\[[0-9]{1,9}\])*$"
)
_ASSIGNED: Final = re.compile(r"(?:(?<![=!<>])=\s?|\"[\w-]{1,60}\":\s?|'[\w-]{1,60}':\s?)$")
_ROWS: Final = re.compile(r"\[\s*(?:\[[0-9, ]{1,60}\],\s*)*$")
_INTERVAL_BEFORE: Final = re.compile(
    r"(?:∈|\\in|\b(?:range|interval|domain|bereich|intervall|intervalle|intervalo|rango|CI|IQR)"
    r"(?: (?:of|from|von|de))?[:,]?|\b(?:lies?|lying|falls?|values?|numbers?|integers?|liegt|liegen"
    r"|werte?|valeurs?|valores) (?:with)?in|\bbetween|\bzwischen|\bentre) ?$",
    re.IGNORECASE,
)
_ESTIMATE: Final = re.compile(r"([0-9]{1,18})(?:\.[0-9]{1,18})?\s?%? ?$")
_FROM: Final = re.compile(
    r"\b(?:from|von|de|desde) (\[[0-9]+\] (?:to|bis|à|a|hasta) )?$", re.IGNORECASE
)
_TO: Final = re.compile(r" (?:to|bis|à|a|hasta) \[[0-9]+\]", re.IGNORECASE)
_REGEX: Final = re.compile(r"regexp?|character class")
_PATTERN: Final = re.compile(r"pattern|expression|muster|ausdruck|motif|patr[oó]n")
_CLASS: Final = re.compile(r"[0-9]-[0-9]")
_TICKET: Final = re.compile(r"\s*#\s*[0-9]+\s*")
_STORE: Final = re.compile(
    r"\b(?:amazon|aws|(?:stor|upload|sav|sync|cop(?:y|ie)|writ|back|host|put|mov)\w*(?: [\w-]+){0,3}"
    r" (?:in|to|into|on|from)) ?$",
    re.IGNORECASE,
)
_STORED: Final = re.compile(
    r" ?(?:buckets?|objects?|keys?|storage|uris?|urls?|apis?|prefix|compatible|lifecycle)\b"
    r"|\([^()\s]*(?:amazon|aws|s3)",
    re.IGNORECASE,
)
_ISOTOPE: Final = re.compile(r"(?:C|N|O|H|P|S|F|U|Sr|Cs|Tc|Ga|Lu|Pb|Rn|K|Fe|Co|Xe)\b")


class Counted(NamedTuple):
    """How many passages may be cited by position, and the lengths of ids made of digits."""

    passages: int
    digits: frozenset[int]


def judge(before: str, inside: str, after: str, counted: Counted) -> Verdict:
    """Return what a bracket is whose inside names something that was not retrieved.

    `before` and `after` are what stands around it, `LOOK_AROUND` characters at most.
    """
    if inside == "S3" and (_STORE.search(before) or _STORED.match(after)):
        return "prose"
    numbers = _DIGITS.findall(inside)
    if not numbers or _LETTER.search(inside):
        return "citation"
    if all(map(_YEAR.fullmatch, numbers)) and (
        4 not in counted.digits or _AUTHOR.search(before) is not None
    ):
        return "prose"
    near = before[-_NEAR:]
    if _is_data(before, near, inside, after) or _is_interval(near, inside):
        return "prose"
    least = min(int(digits[:18]) for digits in numbers)
    if _is_numbered(before, least):
        return "prose"
    far = not counted.digits and least > max(_LARGE, _FAR * counted.passages)
    return "doubt" if far or _is_doubtful(before, inside, after) else "citation"


def _is_data(before: str, near: str, inside: str, after: str) -> bool:
    """Return whether it is a value, a place in an array, a row of a matrix, a class, an isotope."""
    if _ASSIGNED.search(before) or _IDENTIFIER.search(near):
        return True
    if _LIST.fullmatch(inside) and _ROWS.search(before):
        return True
    if _CLASS.fullmatch(inside):
        beside = f"{before[-30:]} {after[:30]}".lower()
        if _REGEX.search(beside) or (inside[0] == "0" and _PATTERN.search(beside)):
            return True
    return _ISOTOPE.match(after) is not None


def _is_interval(near: str, inside: str) -> bool:
    return _PAIR.fullmatch(inside) is not None and _INTERVAL_BEFORE.search(near) is not None


def _is_numbered(before: str, number: int) -> bool:
    """Return whether it is the number of a thing (`Figure [4]`), not a source for a word.

    `this issue [9]` and `measurement error [9]` have a source.
    """
    near = before[-_NEAR:]
    if not near.rstrip(" .")[-1:].isalpha():
        return False
    if number >= _LEAST_CODE and _CODE.search(near):
        return True
    noun = _NOUN.search(near) or _GERMAN_NOUN.search(near)
    if noun is None:
        return False
    before = before[: len(before) - len(near) + noun.start()]
    if _DETERMINED.search(before):
        return False
    english = noun.re is _NOUN
    return (english and noun[0][0].isupper()) or _OPEN.search(before) is not None


def _is_doubtful(before: str, inside: str, after: str) -> bool:
    """Return whether it may be a ticket, a member of an object, a bound or an estimate's range."""
    if _TICKET.fullmatch(inside) or _CAMEL.search(before):
        return True
    start = _FROM.search(before)
    if start is not None and (start[1] or _TO.match(after)):
        return True
    pair = _PAIR.fullmatch(inside)
    estimate = _ESTIMATE.search(before)
    if pair is None or estimate is None or "," in inside or ";" in inside:
        return False
    return int(pair[1][:18]) <= int(estimate[1]) <= int(pair[2][:18])
