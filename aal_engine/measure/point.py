"""Points that an answer must mention and claims that it must never make, as golden sets write them.

A point is a tree: `AllOf`, `AnyOf` and `AtLeast` over leaves. This module reads and checks the
trees; `aal_engine.measure.answer.hit` finds them in an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal, TypeAlias, TypeVar

from aal_engine.canonical import JSON, MAX_INTEGER
from aal_engine.measure.leaf import Date, Leaf, Negated, Number, Pattern, Phrase
from aal_engine.measure.text.date import DATE_LENGTH, PRECISIONS, iso_date
from aal_engine.measure.text.normal import tokens
from aal_engine.measure.text.pattern import flaw

Setting: TypeAlias = Literal["count", "allow"]

MAX_DEPTH: Final = 8
MAX_LEAVES: Final = 256
MAX_FORMS: Final = 64
MAX_LENGTH: Final = 1000
"""The longest phrase, pattern or unit, in characters."""


class PointError(ValueError):
    """A point or claim is not well formed: `problem` says how, `field` where in its tree.

    Neither holds the text of a phrase or pattern. `field` is empty where the whole value is meant.
    """

    def __init__(self, problem: str, field: str = "") -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.problem = problem
        self.field = field


@dataclass(frozen=True, slots=True)
class AllOf:
    """Met when every part is met, each anywhere in the answer."""

    of: tuple[Point, ...]

    def canonical(self) -> dict[str, JSON]:
        """Return the tree as JSON with every default spelled out."""
        return {"all_of": [part.canonical() for part in self.of]}


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Met when one part is met."""

    of: tuple[Point, ...]

    def canonical(self) -> dict[str, JSON]:
        """Return the tree as JSON with every default spelled out."""
        return {"any_of": [part.canonical() for part in self.of]}


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Met when `least` parts are met."""

    least: int
    of: tuple[Point, ...]

    def canonical(self) -> dict[str, JSON]:
        """Return the tree as JSON with every default spelled out."""
        return {"at_least": self.least, "of": [part.canonical() for part in self.of]}


Point: TypeAlias = Leaf | AllOf | AnyOf | AtLeast


@dataclass(frozen=True, slots=True)
class Claim:
    """A point that must not be made, and whether a denied or a quoted mention counts as made.

    A question always counts: only `negation` and `quotation` can be allowed.
    """

    point: Point
    negation: Setting = "count"
    quotation: Setting = "count"

    def canonical(self) -> dict[str, JSON]:
        """Return the claim as JSON with every default spelled out."""
        return self.point.canonical() | {"negation": self.negation, "quotation": self.quotation}


def parse_point(value: JSON) -> Point:
    """Read a required point; a plain string is a phrase.

    `negated: count` on a leaf, or on a node for all leaves below it, lets a denied hit meet it.

    Raises:
        PointError: the first fault found, with its place.

    >>> parse_point("30 days") == parse_point({"phrase": "30 days"})
    True
    >>> parse_point({"all_of": ["refund", {"at_least": 2, "of": ["card"]}]})
    Traceback (most recent call last):
    aal_engine.measure.point.PointError: all_of[1].at_least: must be a whole number from 1 to 1
    """
    return _Reader(claim=False).point(value, "", "ignore", 1)


def parse_claim(value: JSON) -> Claim:
    """Read a forbidden claim: a point with `negation` and `quotation` beside it.

    Raises:
        PointError: the first fault found, with its place.

    >>> parse_claim({"phrase": "owner-ratified", "negation": "allow"}).quotation
    'count'
    """
    settings: dict[str, Setting] = {"negation": "count", "quotation": "count"}
    if isinstance(value, Mapping):
        for name, default in settings.items():
            settings[name] = _choice(value, "", name, SETTINGS, default)
        value = {key: item for key, item in value.items() if key not in settings}
    # A claim settles denied mentions as a whole, so none of its leaves leaves them out by itself.
    point = _Reader(claim=True).point(value, "", "count", 1)
    return Claim(point, settings["negation"], settings["quotation"])


SETTINGS: Final[tuple[Setting, ...]] = ("count", "allow")
NEGATED: Final[tuple[Negated, ...]] = ("ignore", "count")
_Choice = TypeVar("_Choice", bound=str)
_Part: TypeAlias = Mapping[str, JSON]


class _Reader:
    """One reading of a tree: counts its leaves so that no tree grows past bounds."""

    def __init__(self, *, claim: bool) -> None:
        self.claim = claim
        self.leaves = 0

    def point(self, value: JSON, field: str, negated: Negated, depth: int) -> Point:
        if depth > MAX_DEPTH:
            raise PointError(f"is nested more than {MAX_DEPTH} deep", field)
        if isinstance(value, str):
            value = {"phrase": value}
        if not isinstance(value, Mapping):
            raise PointError("must be a phrase or a mapping", field)
        kinds = [key for key in (*_LEAVES, *_NODES) if key in value]
        if len(kinds) != 1:
            known = ", ".join((*_LEAVES, *_NODES))
            raise PointError(f"must have exactly one of {known}", field)
        kind = kinds[0]
        allowed = {kind, "negated", *_BESIDE.get(kind, ())}
        for key in value:
            if key not in allowed:
                raise PointError(f"is not known beside `{kind}`", _below(field, str(key)))
        negated = self._negated(value, field, negated)
        if kind in _LEAVES:
            self.leaves += 1
            if self.leaves > MAX_LEAVES:
                raise PointError(f"holds more than {MAX_LEAVES} leaves")
            return _LEAVES[kind](value, field, negated)
        parts = self._parts(value, field, _NODES[kind], negated, depth)
        if kind == "all_of":
            return AllOf(parts)
        if kind == "any_of":
            return AnyOf(parts)
        least = value["at_least"]
        if isinstance(least, bool) or not isinstance(least, int) or not 1 <= least <= len(parts):
            problem = f"must be a whole number from 1 to {len(parts)}"
            raise PointError(problem, _below(field, "at_least"))
        return AtLeast(least, parts)

    def _negated(self, value: _Part, field: str, inherited: Negated) -> Negated:
        negated = _choice(value, field, "negated", NEGATED, inherited)
        if self.claim and negated == "ignore":
            problem = "is for required points; a claim says `negation: allow`"
            raise PointError(problem, _below(field, "negated"))
        return negated

    def _parts(
        self, value: _Part, field: str, name: str, negated: Negated, depth: int
    ) -> tuple[Point, ...]:
        items = value.get(name)
        place = _below(field, name)
        if isinstance(items, str) or not isinstance(items, Sequence) or not items:
            raise PointError("must be a list with at least one entry", place)
        return tuple(
            self.point(item, f"{place}[{index}]", negated, depth + 1)
            for index, item in enumerate(items)
        )


def _below(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _choice(
    value: _Part, field: str, name: str, choices: tuple[_Choice, ...], default: _Choice
) -> _Choice:
    given = value.get(name, default)
    for choice in choices:
        if given == choice:
            return choice
    raise PointError(f"must be one of {', '.join(choices)}", _below(field, name))


def _text(value: JSON, field: str) -> str:
    if not isinstance(value, str):
        raise PointError("must be text", field)
    if len(value) > MAX_LENGTH:
        raise PointError(f"is longer than {MAX_LENGTH} characters", field)
    return value


def _phrase(value: _Part, field: str, negated: Negated) -> Phrase:
    aliases = value.get("aliases", ())
    place = _below(field, "aliases")
    if isinstance(aliases, str) or not isinstance(aliases, Sequence):
        raise PointError("must be a list of texts", place)
    if len(aliases) >= MAX_FORMS:
        raise PointError(f"holds more than {MAX_FORMS - 1} aliases", place)
    forms = [(value["phrase"], _below(field, "phrase"))]
    forms += [(alias, f"{place}[{index}]") for index, alias in enumerate(aliases)]
    texts = [_text(form, where) for form, where in forms]
    for text, (_, where) in zip(texts, forms, strict=True):
        if not tokens(text):
            raise PointError("has no word, number or currency sign to look for", where)
    return Phrase((texts[0], *sorted(set(texts[1:]) - {texts[0]})), negated)


def _pattern(value: _Part, field: str, negated: Negated) -> Pattern:
    place = _below(field, "regex")
    regex = _text(value["regex"], place)
    problem = flaw(regex)
    if problem is not None:
        raise PointError(problem, place)
    return Pattern(regex, negated)


def _amount(value: _Part, field: str, name: str, least: int) -> int | float:
    amount = value.get(name, 0)
    place = _below(field, name)
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise PointError("must be a number", place)
    if not isfinite(amount) or abs(amount) > MAX_INTEGER:
        raise PointError("must be a finite number of at most 2^53 - 1", place)
    if amount < least:
        raise PointError("must not be negative", place)
    return amount


def _number(value: _Part, field: str, negated: Negated) -> Number:
    unit = value.get("unit")
    if unit is not None:
        unit = _text(unit, _below(field, "unit")).strip()
        if not tokens(unit):
            raise PointError("has no word or sign to look for", _below(field, "unit"))
    amount = _amount(value, field, "number", -MAX_INTEGER)
    tolerance = _amount(value, field, "tolerance", 0)
    relative = _amount(value, field, "relative", 0)
    if tolerance and relative:
        raise PointError("cannot stand beside `tolerance`", _below(field, "relative"))
    return Number(amount, unit, tolerance, relative, negated)


def _date(value: _Part, field: str, negated: Negated) -> Date:
    place = _below(field, "date")
    written = value["date"]
    year_alone = isinstance(written, int) and not isinstance(written, bool)
    text = f"{written:04d}" if year_alone else _text(written, place)
    found = iso_date(text)
    if found is None:
        raise PointError("must be a date of the calendar: YYYY-MM-DD, YYYY-MM or YYYY", place)
    precision = _choice(value, field, "precision", PRECISIONS, found)
    if PRECISIONS.index(precision) < PRECISIONS.index(found):
        problem = f"asks for more than `date` gives, which is a {found}"
        raise PointError(problem, _below(field, "precision"))
    return Date(text[: DATE_LENGTH[precision]], precision, negated)


_LEAVES: Final[Mapping[str, Callable[[_Part, str, Negated], Leaf]]] = {
    "phrase": _phrase,
    "regex": _pattern,
    "number": _number,
    "date": _date,
}
_NODES: Final[Mapping[str, str]] = {"all_of": "all_of", "any_of": "any_of", "at_least": "of"}
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "phrase": ("aliases",),
    "number": ("unit", "tolerance", "relative"),
    "date": ("precision",),
    "at_least": ("of",),
}
