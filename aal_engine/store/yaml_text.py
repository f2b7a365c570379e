"""YAML read without surprises: JSON's types alone, every key once, bounded depth and aliases.

YAML 1.1 guesses a lot: `no` is false, `007` is 7, `2026-01-31` is a date, `12:30` is 750. Here a
plain scalar is a number only where JSON would read one, true, false and null are the words of the
YAML 1.2 core schema, and everything else is the text that stands there. Keys are always text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import yaml

from aal_engine.store.json_text import MAX_DEPTH, MAX_DIGITS, named
from aal_engine.store.text_file import FaultList, Source, read_whole

Steps: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys of mappings and places in lists, from 0."""

MAX_NODES = 2_000_000
"""Values that a document may hold once its aliases are written out."""

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,39})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_REASONS = {
    "mapping values are not allowed in this context": "text that holds ': ' needs quotes",
    "mapping values are not allowed here": "text that holds ': ' needs quotes",
    "found character that cannot start any token": "text that starts with %, @, ` or a tab "
    "needs quotes",
    "found unexpected end of stream": "a quote is not closed",
    "did not find expected key": "look at the indentation and the quotes",
    "did not find expected '-' indicator": "look at the indentation of the list",
    "did not find expected ',' or '}'": "a { is not closed",
    "did not find expected ',' or ']'": "a [ is not closed",
    "could not find expected ':'": "a key needs a colon",
    "found invalid Unicode character escape code": "an escape (\\u) is no character",
    "control characters are not allowed": "it holds a control character",
    "exceeded maximum nesting depth": "it is nested too deeply",
}


class Mapped(dict[str, Any]):
    """A mapping that knows the line it starts on and the line of each key, from 1."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Listed(list[Any]):
    """A list that knows the line it starts on and the line of each item, from 1."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def line_of(value: object, path: Steps = ()) -> int | None:
    """Return the line of the deepest place on `path` that is known, None if the value knows none.

    >>> line_of(decode_yaml("{a: [{b: 1}]}", FaultList("x.yaml")), ("a", 0, "b"))
    1
    """
    line = value.line if isinstance(value, Mapped | Listed) else None
    for step in path:
        try:
            line = value.lines[step]  # type: ignore[attr-defined]
            value = value[step]  # type: ignore[index]
        except (AttributeError, KeyError, IndexError, TypeError):
            return line
    return line


def read_yaml(source: Source, faults: FaultList) -> Any:
    """Return the value of a YAML file of one document, or None with its faults noted."""
    text = read_whole(source, faults)
    return None if text is None else decode_yaml(text, faults)


def decode_yaml(text: str, faults: FaultList) -> Any:
    """Return the value of a YAML text of one document, or None with its faults noted.

    >>> decode_yaml("{id: 007, answer: no, grade: 2}", FaultList("a.yaml"))
    {'id': '007', 'answer': 'no', 'grade': 2}
    """
    try:
        return _Builder(faults).build(yaml.parse(text, Loader=_LOADER))
    except _Refused as refused:
        faults.add(refused.problem, line=refused.line)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        told = getattr(error, "problem", None) or getattr(error, "reason", None)
        reason = _REASONS.get(str(told))
        line = None if mark is None else mark.line + 1
        faults.add("is not YAML here" + (f": {reason}" if reason else ""), line=line)
    return None


class _Refused(Exception):
    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class _Frame:
    """A list or mapping that is still open."""

    __slots__ = ("anchor", "key", "size", "value")

    def __init__(self, value: Listed | Mapped, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.size = 1


class _Builder:
    """Builds values from parser events, one pass, no recursion."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._open: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents = 0
        self._root: Any = None

    def build(self, events: Iterator[yaml.Event]) -> Any:
        for event in events:
            assert event.start_mark is not None
            line = event.start_mark.line + 1
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event, line)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                self._start(event, line)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                frame = self._open.pop()
                self._place(frame.value, frame.size, frame.anchor, frame.value.line)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event, line)
            elif isinstance(event, yaml.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    raise _Refused("holds a second document; one is expected", line)
        return self._root

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, line: int) -> None:
        if event.tag is not None:
            raise _Refused("has a tag (!), which is not read", line)
        if len(self._open) >= MAX_DEPTH:
            raise _Refused(f"is nested deeper than {MAX_DEPTH} levels", line)
        self._no_key(line)
        mapping = isinstance(event, yaml.MappingStartEvent)
        self._open.append(_Frame(Mapped(line) if mapping else Listed(line), event.anchor))

    def _no_key(self, line: int) -> None:
        if self._open and isinstance(self._open[-1].value, Mapped) and self._open[-1].key is None:
            raise _Refused("has a key that is a list, a mapping or an alias", line)

    def _alias(self, event: yaml.AliasEvent, line: int) -> None:
        self._no_key(line)
        if event.anchor not in self._anchors:
            raise _Refused("has an alias (*) of something that is not there yet", line)
        value, size = self._anchors[event.anchor]
        self._place(value, size, None, line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if event.tag is not None and event.tag not in _TEXT_TAGS:
            raise _Refused("has a tag (!), which is not read", line)
        frame = self._open[-1] if self._open else None
        if frame is not None and isinstance(frame.value, Mapped) and frame.key is None:
            self._key(frame, frame.value, event, line)
        else:
            plain = event.tag is None and event.implicit[0]
            self._place(_plain(event.value) if plain else event.value, 1, event.anchor, line)

    def _key(self, frame: _Frame, mapping: Mapped, event: yaml.ScalarEvent, line: int) -> None:
        key = event.value
        if key == "<<" and event.implicit[0]:
            raise _Refused("has a merge key (<<), which is not read: write its fields out", line)
        if key in mapping:
            self._faults.add(
                f"has the key {named(key)} twice, first on line {mapping.lines[key]}", line=line
            )
        mapping.lines[key] = line
        frame.key = key

    def _place(self, value: Any, size: int, anchor: str | None, line: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)
        if not self._open:
            self._root = value
            return
        frame = self._open[-1]
        frame.size += size
        if frame.size > MAX_NODES:
            raise _Refused(f"holds more than {MAX_NODES:,} values with its aliases", line)
        if isinstance(frame.value, Mapped):
            assert frame.key is not None
            frame.value[frame.key] = value
            frame.key = None
        else:
            frame.value.append(value)
            frame.value.lines.append(line)


def _plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= MAX_DIGITS else text
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text
