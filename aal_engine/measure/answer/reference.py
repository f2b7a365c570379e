"""What the inside of a marker names: numbers, ranges, ids, with labels and page numbers."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aal_engine.measure.answer.source import Places, Sources, plain

MAX_RANGE: Final = 100
"""A range of more numbers than this is malformed: only its ends are looked up."""

_LABEL: Final = re.compile(
    r"(?:\^|#|@|(?-i:S)(?=[0-9])|(?:see(?: also)?|cf|siehe|vgl|voir|véase)(?![^\W_])[.:]?"
    r"|(?:sources?|src|docs?|documents?|passages?|refs?|references?|citations?|cite|contexts?"
    r"|chunks?|excerpts?|results?|ids?|quellen?|dokumente?|fuentes?|documentos?|extraits?"
    r"|no|nr|notes?|footnotes?|fu(?:ß|ss)noten?|来源|文档)"
    r"(?![^\W\d_])(?:[_-](?=[0-9])|[ \t]*[.:#№]?))[ \t]*",
    re.IGNORECASE,
)
_ROUND_LABEL: Final = re.compile(
    r"(?:sources?|docs?|documents?|passages?|refs?|references?|citations?|quellen?|dokumente?"
    r"|fuentes?|来源)[ \t]*[.:#№]?[ \t]*(?=[0-9]{1,3}(?![0-9]))",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(r"(?:sources?|quellen?|fuentes?)[ \t]*:", re.IGNORECASE)
_TITLED: Final = re.compile(r"([0-9]{1,3})(?:[ \t]*:[ \t]*|[ \t]+-[ \t]+|[ \t]+(?=\())[^\W\d_].*")
"""A number with the title of what it names (`Source 7: Handbook`)."""
_AND: Final = r"(?:and|or|und|oder|et|ou|y|o)\b"
_PARTED: Final = re.compile(rf"[ \t]*[,;|&、][ \t]*(?:{_AND}[ \t]*)?")
_JOINED: Final = re.compile(rf"[ \t]+{_AND}[ \t]*|(?<=[0-9])[ \t]*/[ \t]*(?=[0-9])")
_SEVERAL: Final = re.compile(r"[,;|&:]")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_RANGE: Final = re.compile(
    r"([0-9]{1,18})[ \t]*(?:-|\b(?:to|bis|through|à|a)\b)[ \t]*([0-9]{1,18})"
)
_ONLY_NUMBERS: Final = re.compile(r"[ \t^,;|&/、-]*[0-9][0-9 \t^,;|&/、-]*")
_LABEL_AND_NUMBERS: Final = re.compile(
    rf"(?:{_LABEL.pattern})?{_ONLY_NUMBERS.pattern}", re.IGNORECASE
)
_LOCATOR: Final = re.compile(
    r"(?:(?:pp?|pages?|seiten?|sec|sections?|§|ch|chapter|fig|figure|table|lines?|paras?|art|abs)\.?"
    r"|s(?:\.|(?=[ \t])))[ \t]*[0-9ivx]{1,9}(?:[ \t]*-[ \t]*[0-9ivx]{1,9})?",
    re.IGNORECASE,
)
_TRAILING_LOCATOR: Final = re.compile(
    rf"(?:[ \t]+{_LOCATOR.pattern}|:[ \t]+[0-9]{{1,9}})$", re.IGNORECASE
)
_NOTE: Final = re.compile(
    r"(?:emphasis|italics?|translation|hervorhebung|übersetzung)\b[^,;]*|(?:my|own|our) "
    r"(?:emphasis|translation)|translated|ibid\.?|ebd\.?|et seq\.?|ff?\.?",
    re.IGNORECASE,
)
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")
_YEAR: Final = re.compile(r"(?:1[5-9]|20)[0-9]{2}")

_PLACE: Final = re.compile(r"(?<=[^\s#:@])[#:@][\w.-]{1,100}$")
"""A place in a document, behind its id (`kb-12#fees`, `kb-12:3`)."""

_SHORT_NUMBER: Final = 4
"""A number in round brackets with fewer digits is no id: it is a count or a list's."""


class Reading(NamedTuple):
    """What the inside of a marker names: the fields of `aal_engine.measure.answer.citation.Marker`."""

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
    name = plain(name)
    if not name or _ISO_DATE.fullmatch(name):
        return None
    label = _LABEL.match(name)
    if label is None and not sources.by_id and not _NUMBER.search(name):
        return None
    labelled = _ROUND_LABEL.match(name)
    titled = None if labelled is None else _TITLED.fullmatch(name, labelled.end())
    if titled is not None:
        return _read_part(titled[1], sources)
    reading = _read_list(name, sources)
    if reading is None and label is not None and label[0].strip()[-1:] in ("^", ":"):
        body = name[label.end() :]
        if body:
            places = sources.titles.get(body, ())
            reading = Reading(places, 1, 0) if places else Reading((), 0, 0, malformed=True)
    return reading


def _read_list(body: str, sources: Sources) -> Reading | None:
    places: list[int] = []
    names = invented = 0
    strange = has_id = False
    for part in _PARTED.split(body):
        reading = _read_part(part, sources)
        if reading is not None:
            places += reading.places
            names += reading.names
            invented += reading.invented
            has_id = has_id or not _NUMBER.match(part)
        elif not _LOCATOR.fullmatch(part) and not (names and _NOTE.fullmatch(part)):
            strange = True
    if names and not strange:
        return Reading(tuple(places), names, invented)
    if _LABEL_AND_NUMBERS.fullmatch(body):
        return read_malformed(body, sources)
    if sources.by_id and has_id and invented:
        return Reading((), invented, invented, malformed=True)
    return None


def _read_part(part: str, sources: Sources) -> Reading | None:
    """Return what one name of a list names: the whole before any label is taken off it."""
    if _NUMBER.fullmatch(part):
        known = sources.named(part)
        return Reading(known, 1, 0 if known else 1)
    known = sources.known(part)
    if known:
        return Reading(known, 1, 0)
    bounds = _RANGE.fullmatch(part)
    is_range = bounds is not None and (not sources.by_id or not sources.is_of_series(part))
    if is_range and bounds is not None:
        first, last = int(bounds[1]), int(bounds[2])
        if not 0 <= last - first < MAX_RANGE:
            return None
        named = [sources.named(str(number)) for number in range(first, last + 1)]
        return _together([Reading(known, 1, 0 if known else 1) for known in named])
    if sources.is_of_series(part) or (
        sources.by_id and not _LOCATOR.fullmatch(part) and sources.is_shaped_as_id(part)
    ):
        return Reading((), 1, 1)
    joined = _JOINED.split(part)
    if len(joined) > 1:
        reading = _together([_read_part(one, sources) for one in joined])
        if reading is not None:
            return reading
    label = _LABEL.match(part)
    if label is not None:
        return _read_part(part[label.end() :], sources)
    located = _TRAILING_LOCATOR.search(part) or _place(part, sources)
    return None if located is None else _read_part(part[: located.start()], sources)


def _place(name: str, sources: Sources) -> re.Match[str] | None:
    """Return where the place in a document starts, if an id that is cited stands before it."""
    found = _PLACE.search(name) if sources.by_id else None
    if found is None or name[: found.start()].isdecimal():
        return None
    head = name[: found.start()]
    return found if sources.known(head) or sources.is_of_series(head) else None


def _together(readings: list[Reading | None]) -> Reading | None:
    read_all = [reading for reading in readings if reading is not None]
    if len(read_all) < len(readings):
        return None
    return Reading(
        tuple(place for reading in read_all for place in reading.places),
        sum(reading.names for reading in read_all),
        sum(reading.invented for reading in read_all),
    )


def read_malformed(body: str, sources: Sources) -> Reading:
    """Return what a marker that cannot be read names: its numbers that were not retrieved."""
    unknown = {digits for digits in _NUMBER.findall(body) if not sources.named(digits)}
    return Reading((), len(unknown), len(unknown), malformed=True)


def read_ids(inside: str, sources: Sources) -> Reading | None:
    """Return what the inside of round brackets names, or None where it is no row of known ids.

    In a pack that cites ids, an id that differs from a known one in digits alone is invented; in
    one that cites positions, a number after `source` is one.
    """
    if inside in sources.ids:
        names = [inside]
    else:
        body = plain(inside)
        labelled = None if sources.by_id else _ROUND_LABEL.match(body)
        if labelled is not None:
            titled = _TITLED.fullmatch(body, labelled.end())
            if titled is not None:
                return _read_part(titled[1], sources)
            return _read_list(body[labelled.end() :], sources)
        names = _PARTED.split(body)
    readings: list[Reading] = []
    for name in names:
        reading = _read_id(name, sources)
        if reading is not None:
            readings.append(reading)
        elif not _LOCATOR.fullmatch(name):
            return None
    return _together([*readings]) if readings else None


def _read_id(name: str, sources: Sources) -> Reading | None:
    known = sources.known(name)
    if name.isdecimal() and (
        len(name) < _SHORT_NUMBER or (not known and _YEAR.fullmatch(name) is not None)
    ):
        return None
    if known:
        return Reading(known, 1, 0) if sources.by_id or not name.isalpha() else None
    if sources.by_id and sources.is_of_series(name):
        return Reading((), 1, 1)
    joined = _JOINED.split(name)
    if len(joined) > 1:
        reading = _together([_read_id(one, sources) for one in joined])
        if reading is not None:
            return reading
    label = _LABEL.match(name)
    if label is not None:
        body = name[label.end() :]
        reading = _read_id(body, sources)
        named = reading is None and sources.by_id and _SOURCE.match(name) is not None
        return Reading((), 1, 1) if named and sources.is_shaped_as_id(body) else reading
    located = _place(name, sources)
    return None if located is None else _read_id(name[: located.start()], sources)
