"""JSON as RFC 8259 has it, read without surprises: every key once, bounded depth, real numbers."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from aal_engine.errors import InputError
from aal_engine.store.text_file import FaultList, Source, read_whole

MAX_DEPTH = 64
"""Levels to which lists and objects may be nested."""

MAX_DIGITS = 300

_IDENTIFIER = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_EXPECTED = {
    "Expecting value": "a value is expected",
    "Expecting ',' delimiter": "a comma is expected",
    "Expecting ':' delimiter": "a colon is expected",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected",
    "Unterminated string starting at": "a string is not closed",
    "Extra data": "something follows the value",
    "Invalid control character at": "a control character stands in a string",
}


class JSONProblem(Exception):
    """A text is not JSON; `problem` says why without quoting it, `line` counts from 1."""

    def __init__(self, problem: str, line: int = 1) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def named(key: str) -> str:
    """Return a key as it may stand in a message: only what looks like an identifier is shown."""
    return key if _IDENTIFIER.fullmatch(key) else "(not shown)"


def decode(text: str, *, constants: bool = False) -> Any:
    """Return the value of a JSON text.

    With `constants`, NaN and the infinities are read, for a caller that can name their place.

    Raises:
        JSONProblem: it is not JSON, holds a key twice, or is nested deeper than 64 levels.

    >>> decode('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    try:
        value = (_LENIENT if constants else _STRICT).decode(text)
    except json.JSONDecodeError as error:
        raise JSONProblem(_told(text, error), error.lineno) from None
    except RecursionError:
        raise JSONProblem(f"is nested deeper than {MAX_DEPTH} levels") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and _deeper(value):
        raise JSONProblem(f"is nested deeper than {MAX_DEPTH} levels")
    if _SURROGATE.search(text) and not _encodable(value):
        raise JSONProblem("holds half a surrogate pair, which is not Unicode text")
    return value


def read_json(source: Source) -> Any:
    """Return the one JSON value of a file of at most 64 MiB.

    Raises:
        InputError: the file cannot be read or is not JSON; file and line are named.
    """
    faults = FaultList(source)
    text = read_whole(source, faults)
    faults.settle()
    assert text is not None
    try:
        return decode(text)
    except JSONProblem as problem:
        raise InputError.at(problem.problem, file=faults.file, line=problem.line) from None


def _told(text: str, error: json.JSONDecodeError) -> str:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return "ends before its JSON value is complete"
    expected = _EXPECTED.get(error.msg)
    where = f"is not JSON at column {error.colno}"
    return f"{where}: {expected}" if expected else where


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JSONProblem(f"has the key {named(key)} twice in one object")
            seen.add(key)
    return value


def _refused(_: str) -> NoReturn:
    raise JSONProblem("holds NaN or an infinity, which JSON does not have")


def _whole(digits: str) -> int:
    # Beyond this a whole number has no float, and every later comparison would have to know.
    if len(digits) > MAX_DIGITS:
        raise JSONProblem(f"holds a whole number of more than {MAX_DIGITS} digits")
    return int(digits)


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refused, parse_int=_whole)
_LENIENT = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole)


def _deeper(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _encodable(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
