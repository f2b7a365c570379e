"""What the inside of a marker names: numbers, ranges, ids, with labels and page numbers."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aal_engine.measure.source import Places, Sources

MAX_RANGE: Final = 100
"""A range of more numbers than this is malformed: only its ends are looked up."""

_LABEL: Final = re.compile(
    r"(?:\^|#|(?:sources?|src|docs?|documents?|passages?|refs?|references?|citations?|cite|contexts?"
    r"|chunks?|excerpts?|results?|ids?|quellen?|dokumente?|fuentes?|documentos?|extraits?|来源|文档)"
    r"(?![^\W\d_])[ \t]*[.:#№]?)[ \t]*",
    re.IGNORECASE,
)
PARTED: Final = re.compile(r"[ \t]*(?:[,;|&]|\b(?:and|und|et|y)\b)[ \t]*")
_SEVERAL: Final = re.compile(r"[,;|&:]")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_RANGE: Final = re.compile(r"([0-9]{1,18})[ \t]*[-‐‑‒–—−][ \t]*([0-9]{1,18})")
_ONLY_NUMBERS: Final = re.compile(r"[ \t^,;‐‑‒–—−-]*[0-9][0-9 \t^,;‐‑‒–—−-]*")
_LOCATOR: Final = re.compile(
    r"(?:pp?|pages?|s|seiten?|sec|section|§|ch|chapter|fig|figure|table|lines?|para|art|abs)\.?"
    r"[ \t]*[0-9ivx]{1,9}(?:[ \t]*[-–—][ \t]*[0-9ivx]{1,9})?",
    re.IGNORECASE,
)
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")

_SHORT_NUMBER: Final = 5
"""A number in round brackets with fewer digits is no id: it is a year, a count or a list's."""


class Reading(NamedTuple):
    """What the inside of a marker names: the fields of `aal_engine.measure.citation.Marker`."""

    places: Places
    names: int
    invented: int
    malformed: bool = False


def read(inside: str, sources: Sources) -> Reading | None:
    """Return what the inside of square brackets names, or None where it is no citation."""
    if _NUMBER.fullmatch(inside):
        places = sources.named(inside)
        return Reading(places, 1, 0 if places else 1)
    name = " ".join(inside.split())
    if name in sources.ids:
        return Reading(sources.ids[name], 1, 0)
    label = _LABEL.match(name)
    body = name if label is None else name[label.end() :]
    if not body or _ISO_DATE.fullmatch(body):
        return None
    if label is None and not sources.by_id and not _NUMBER.search(body):
        return None
    reading = _read_list(body, sources)
    if reading is None and label is not None and label[0].strip()[-1:] in ("^", ":"):
        places = sources.titles.get(body, ())
        reading = Reading(places, 1, 0) if places else Reading((), 0, 0, malformed=True)
    return reading


def _read_list(body: str, sources: Sources) -> Reading | None:
    places: list[int] = []
    names = invented = 0
    strange: list[str] = []
    for part in PARTED.split(body):
        label = _LABEL.match(part)
        name = part if label is None else part[label.end() :]
        bounds = _RANGE.fullmatch(name)
        if name in sources.ids or _NUMBER.fullmatch(name):
            numbers = [name]
        elif bounds is not None and 0 <= int(bounds[2]) - int(bounds[1]) < MAX_RANGE:
            numbers = [str(number) for number in range(int(bounds[1]), int(bounds[2]) + 1)]
        elif names and _LOCATOR.fullmatch(name):
            continue
        else:
            strange.append(name)
            continue
        for number in numbers:
            known = sources.named(number)
            places += known
            invented += not known
        names += len(numbers)
    if not strange:
        return Reading(tuple(places), names, invented)
    is_id = sources.is_shaped_as_id if sources.by_id else sources.is_of_series
    if all(map(is_id, strange)):
        return Reading(tuple(places), names + len(strange), invented + len(strange))
    return read_malformed(body, sources) if _ONLY_NUMBERS.fullmatch(body) else None


def read_malformed(body: str, sources: Sources) -> Reading:
    """Return what a marker that cannot be read names: its numbers that were not retrieved."""
    unknown = {digits for digits in _NUMBER.findall(body) if not sources.named(digits)}
    return Reading((), len(unknown), len(unknown), malformed=True)


def read_ids(inside: str, sources: Sources) -> Reading | None:
    """Return what the inside of round brackets names, or None where it is no row of known ids.

    In a pack that cites ids, an id that differs from a known one in digits alone is invented.
    """
    if inside in sources.ids:
        names = [inside]
    elif sources.by_id or _SEVERAL.search(inside):
        label = _LABEL.match(inside)
        names = PARTED.split(inside if label is None else inside[label.end() :])
    else:
        return None
    places: list[int] = []
    invented = 0
    for name in names:
        known = sources.ids.get(name, ())
        if not known and not (sources.by_id and sources.is_of_series(name)):
            return None
        if (name.isalpha() and not sources.by_id) or (
            name.isdecimal() and len(name) < _SHORT_NUMBER
        ):
            return None
        places += known
        invented += not known
    return Reading(tuple(places), len(names), invented)
