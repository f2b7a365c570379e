"""Normalised text and its tokens: the one form in which answers, passages and points are compared.

`tidy` keeps the case of letters and is what an author's patterns see, `normalise` folds case too,
and tokens are what phrases and support are compared by. Citations are taken out before any of it,
since NFKC turns `days.¹` into `days.1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final
from unicodedata import category, is_normalized, normalize

SINGLE_QUOTES: Final = frozenset("\u2018\u2019\u201a\u201b\u2032\u2035\u00b4\u02b9\u02bc")
DOUBLE_QUOTES: Final = frozenset(
    "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u2036\u301d\u301e\u301f"
)
DASHES: Final = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212")
_DROPPED_RANGES: Final = (
    "\u00ad\u00ad \u034f\u034f \u061c\u061c \u17b4\u17b5 \u180b\u180f \u200b\u200f \u202a\u202e"
    " \u2060\u206f \u20e3\u20e3 \ufe00\ufe0f \ufeff\ufeff \ufff0\ufffb \U000e0000\U000e0fff"
    " \u2122\u2122 \u2120\u2120 \u00ae\u00ae \u00a9\u00a9"
)
DROPPED: Final = frozenset(
    chr(code)
    for ends in _DROPPED_RANGES.split(" ")
    for code in range(ord(ends[0]), ord(ends[1]) + 1)
)
"""Characters that show nothing, and signs of rights, which NFKC would make letters of (`tm`)."""

FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters of Hangul that show as a space."""

FRACTION_SLASH: Final = "\u2044"

KEPT_SYMBOLS: Final = frozenset("°‰±≠≤≥")

UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts written without spaces, and Hangul, whose particles cling to the word: each character
is a token, so that a phrase is found wherever its characters stand in a row."""

_OTHER: Final = re.compile(r"[^\x00-\x7f]")
_IN_NUMBER: Final = re.compile(rb"[-.,'](?=[0-9])")
_GROUP: Final = re.compile(rb"'[0-9]{3}(?![0-9])")
_RAISED_DIGIT: Final = re.compile("[⁰¹²³⁴-⁹]")
_RAISED: Final = re.compile(
    r"(?:(?<![^\W\d_])(?:[cdkm]?m|ft|yd)[²³](?![⁰¹²³⁴-⁹]))|(?<=[^\s!-/:-@\[-`{-~⁰¹²³⁴-⁹])[⁰¹²³⁴-⁹]+"
)
"""A unit squared or cubed, or the number of a note right behind a word."""

_SHARPENED: Final = re.compile(rb"\b([a-zA-Z])(\+\+|#)(?![0-9a-zA-Z_\x80-\xff])")

_HELD: Final = {char: bytes([0xF8 + place]) for place, char in enumerate(".,-+#'")}
"""Bytes that no UTF-8 text has, for punctuation that belongs to a token."""


def _byte_table() -> bytes:
    table = bytearray(range(256))
    for code in range(128):
        char = chr(code)
        if not char.isalnum() and char not in "\n$%":
            char = " "
        table[code] = ord(char.lower())
    for char, held in _HELD.items():
        table[held[0]] = ord(char)
    return bytes(table)


_TABLE: Final = _byte_table()


@cache
def unspaced() -> re.Pattern[str]:
    """Return what matches a character of a script without spaces; slow to make, so not at once."""
    return re.compile(f"[{UNSPACED}]")


@cache
def _unspaced_cluster() -> re.Pattern[str]:
    """Return the same with the marks that combine with the character."""
    return re.compile(rf"[{UNSPACED}][^\x00-\x7f\w\s]*")


class _Plain(dict[str, str]):
    """What a character outside ASCII becomes in a unified text, found out once per character."""

    def __missing__(self, char: str) -> str:
        plain = char
        if char in SINGLE_QUOTES:
            plain = "'"
        elif char in DOUBLE_QUOTES:
            plain = '"'
        elif char in DASHES:
            plain = "-"
        elif char in DROPPED:
            plain = ""
        elif char in FILLERS:
            plain = " "
        elif FRACTION_SLASH in (parts := normalize("NFKC", char)):
            # A fraction (`½`) stands apart from the whole before it: `2½` is not 21 halves.
            plain = f" {parts.replace(FRACTION_SLASH, '/')} "
        self[char] = plain
        return plain


class _Spaced(dict[str, str]):
    """What a character outside ASCII becomes when tokens are cut: itself, a token or a gap."""

    def __missing__(self, char: str) -> str:
        kind = category(char)
        if kind[0] in "LMN":
            spaced = char
        elif kind == "Sc" or char in KEPT_SYMBOLS:
            spaced = f" {char} "
        else:
            spaced = " "
        self[char] = spaced
        return spaced


class _Simple(dict[str, bool]):
    """Whether a character outside ASCII is one that folding leaves as it is."""

    def __missing__(self, char: str) -> bool:
        self[char] = simple = char.casefold() == char and category(char)[0] != "M"
        return simple


_PLAIN: Final = _Plain()
_SPACED: Final = _Spaced()
_SIMPLE: Final = _Simple()


def _others(text: str) -> set[str]:
    """Return the characters of a text that are not ASCII: few, so what follows goes over them."""
    return set() if text.isascii() else set(_OTHER.findall(text))


def _replaced(text: str, others: Iterable[str], table: dict[str, str]) -> str:
    """Apply a table to the characters named; much quicker than `str.translate`."""
    for char in others:
        new = table[char]
        if new != char:
            text = text.replace(char, new)
    return text


def _unraised(text: str) -> str:
    """Return the text with a gap for each raised digit that NFKC would glue to the word before."""
    if _RAISED_DIGIT.search(text) is None:
        return text
    return _RAISED.sub(
        lambda match: match[0] if match[0][0].isalpha() else " " * len(match[0]), text
    )


def unify(text: str) -> str:
    """Return the text in NFKC with plain quotes and hyphens; white space is not collapsed.

    What shows nothing is dropped, and the numbers of notes are gaps (`days¹`); `m²` is `m2` and
    `½` is `1/2`.
    """
    if text.isascii():
        return text
    text = _unraised(text)
    text = _replaced(text, _others(text), _PLAIN)
    if is_normalized("NFKC", text):
        return text
    text = normalize("NFKC", text)
    return _replaced(text, _others(text), _PLAIN)


def tidy(text: str) -> str:
    r"""Return the text unified and with white space collapsed; letters keep their case.

    >>> tidy("Cafe\u0301\u2019s\u00a0 re\u00adfund")
    "Café's refund"
    """
    return " ".join(unify(text).split())


def fold(text: str) -> str:
    """Return the text unified and with case folded; white space is not collapsed."""
    text = unify(text).casefold()
    return text if text.isascii() else unify(text)


def normalise(text: str) -> str:
    r"""Return the text folded and with white space collapsed; doing it again changes nothing.

    The caseless form of the Unicode Standard, section 3.13 (D146), after this module's tables.

    >>> normalise("CAFÉ \u2018ﬁle\u2019,\n30\u00a0days")
    "café 'file', 30 days"
    """
    return " ".join(fold(text).split())


def _hold_number(match: re.Match[bytes]) -> bytes:
    """Keep a separator between digits, and a minus that stands before a number alone.

    An apostrophe is one where three digits follow it (`1'000`).
    """
    mark = match[0]
    start = match.start()
    before = match.string[start - 1 : start]
    if mark == b"-":
        signed = not before or before in b" \t\n(=:$"
        return _HELD["-"] if signed else b" "
    if not before.isdigit() or (mark == b"'" and _GROUP.match(match.string, start) is None):
        return b" "
    return _HELD[mark.decode()]


def _hold_sharp(match: re.Match[bytes]) -> bytes:
    return match[1] + b"".join(_HELD[char] for char in match[2].decode())


def token_lines(texts: Iterable[str]) -> list[list[str]]:
    """Cut each text into tokens: words, numbers with their separators and sign, currency and %.

    White space, hyphens and other punctuation part tokens and leave nothing. One call for the
    sentences of an answer is much quicker than a call for each.

    >>> token_lines(["Owner-ratified?", "$8.540, not -5%"])
    [['owner', 'ratified'], ['$', '8.540', 'not', '-5', '%']]
    """
    lines = [text.replace("\n", " ") for text in texts]
    if not lines:
        return []
    body = unify("\n".join(lines))
    others = _others(body)
    if others:
        if not all(map(_SIMPLE.__getitem__, others)):
            body = fold(body)
            others = _others(body)
        body = _replaced(body, others, _SPACED)
        if unspaced().search("".join(others)):
            body = _unspaced_cluster().sub(r" \g<0> ", body)
    data = body.encode("utf-8", "surrogatepass")
    data = _IN_NUMBER.sub(_hold_number, data)
    if b"#" in data or b"+" in data:
        data = _SHARPENED.sub(_hold_sharp, data)
    data = data.translate(_TABLE)
    for symbol in (b"$", b"%"):
        if symbol in data:
            data = data.replace(symbol, b" " + symbol + b" ")
    return [line.split() for line in data.decode("utf-8", "surrogatepass").split("\n")]


def tokens(text: str) -> list[str]:
    """Cut one text into tokens, as `token_lines` does."""
    return token_lines((text,))[0]


def token_spans(text: str) -> list[tuple[int, int]]:
    """Return where in the text each of its tokens stands, in the order of `tokens`.

    Where one character gives several tokens (`½`), they share its span.

    >>> text = "Prix\u202f: 1\u00a0000\u00a0\u20ac"
    >>> [text[start:end] for start, end in token_spans(text)]
    ['Prix', '1', '000', '€']
    """
    folded, origin = (text.lower(), range(len(text))) if text.isascii() else _traced(text)
    spans = []
    place = 0
    for token in tokens(text):
        found = folded.find(token, place)
        start = place if found < 0 else found
        place = min(start + len(token), len(folded))
        first = origin[start] if start < len(folded) else len(text)
        last = origin[place - 1] if place else 0
        spans.append((first, max(first, _cluster_end(text, last))))
    return spans


def _traced(text: str) -> tuple[str, Sequence[int]]:
    """Fold a text cluster by cluster; return it with the place in the text of each character."""
    text = _unraised(text)
    folded: list[str] = []
    origin: list[int] = []
    start = 0
    while start < len(text):
        end = _cluster_end(text, start)
        piece = fold(text[start:end])
        folded.append(piece)
        origin += [start] * len(piece)
        start = end
    return "".join(folded), origin


def _cluster_end(text: str, start: int) -> int:
    """Return where the character at a place ends, marks that combine with it included."""
    end = start + 1
    while end < len(text) and (
        text[end] in DROPPED or category(text[end])[0] == "M" or "\u1161" <= text[end] <= "\u11ff"
    ):
        end += 1
    return end
