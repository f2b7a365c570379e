"""JSON Schemas compiled to plain functions: yes or no, fast, and with no library to import.

A compiled schema takes a few tenths of a microsecond a value; jsonschema takes a hundred times as
long and is asked only to explain a value that was refused. Both read the same schema files, and
the tests hold them to the same verdict. Only the keywords of the tables below may be used: another
one is an error when the schema is compiled, never a check that is silently left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

Predicate: TypeAlias = Callable[[Any], bool]
Schema: TypeAlias = Mapping[str, Any]

FOLDER = Path(__file__).with_name("schemas")
ANNOTATIONS = frozenset(
    ("$schema", "$comment", "$defs", "title", "description", "default", "examples")
)
JSON_TYPES: Mapping[type, frozenset[str]] = {
    str: frozenset(("string",)),
    int: frozenset(("integer", "number")),
    float: frozenset(("number",)),
    bool: frozenset(("boolean",)),
    type(None): frozenset(("null",)),
    list: frozenset(("array",)),
    dict: frozenset(("object",)),
}
"""What a Python value is in JSON Schema. Unlike there, 1.0 is a number and no integer."""


@cache
def schema(file: str) -> Schema:
    """Return the schema that a file of the schema folder holds."""
    loaded: Schema = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    return loaded


@cache
def predicate(reference: str) -> Predicate:
    """Return the function that says whether a value fits a schema, as `case.json#/$defs/id`."""
    file, _, pointer = reference.partition("#")
    part: Any = schema(file)
    for step in pointer.split("/")[1:]:
        part = part[step]
    return _compile(part, file)


def types_of(value: object) -> frozenset[str]:
    """Return the JSON Schema types of a value; none for what JSON does not have."""
    for kind in type(value).__mro__:
        if kind in JSON_TYPES:
            return JSON_TYPES[kind]
    return frozenset()


def pattern(text: str) -> re.Pattern[str]:
    """Compile a schema's pattern; a `$` at its end means the end, not the line before it."""
    return re.compile(text[:-1] + r"\Z" if text.endswith("$") else text)


class _Checks(dict[type, tuple[Predicate, ...] | None]):
    """The checks that a value of each Python type must pass; None for a type that is refused."""

    def __init__(self, part: Schema, file: str) -> None:
        super().__init__()
        wanted = part.get("type", [])
        self._wanted = frozenset([wanted] if isinstance(wanted, str) else wanted)
        self._any_type = "type" not in part
        self._checks = {
            keyword: _KEYWORDS[keyword](argument, part, file)
            for keyword, argument in part.items()
            if keyword not in ANNOTATIONS and keyword not in _READ_WITH_ANOTHER
        }
        if not _OBJECT.isdisjoint(part):
            self._checks["properties"] = _object(part, file)

    def __missing__(self, kind: type) -> tuple[Predicate, ...] | None:
        known = next((base for base in kind.__mro__ if base in JSON_TYPES), None)
        types = JSON_TYPES[known] if known else frozenset()
        found = None
        if self._any_type or types & self._wanted:
            found = tuple(
                check
                for keyword, check in self._checks.items()
                if keyword not in _APPLIES or _APPLIES[keyword] in types
            )
        self[kind] = found
        return found


def _compile(part: Schema | bool, file: str) -> Predicate:
    if isinstance(part, bool):
        return lambda _: part
    if set(part) - ANNOTATIONS == {"$ref"}:
        return _reference(part["$ref"], part, file)
    by_type = _Checks(part, file)

    def check(value: Any) -> bool:
        checks = by_type[type(value)]
        if checks is None:
            return False
        for test in checks:  # noqa: SIM110 a generator would double the time
            if not test(value):
                return False
        return True

    return check


def _reference(target: str, _: Schema, file: str) -> Predicate:
    reference = file + target if target.startswith("#") else target
    found: list[Predicate] = []

    def check(value: Any) -> bool:
        # Looked up when it is first asked, for a schema may refer to itself.
        if not found:
            found.append(predicate(reference))
        return found[0](value)

    return check


def _object(part: Schema, file: str) -> Predicate:
    """Return the check of an object's values, known keys and further ones in one pass."""
    known = {key: _compile(sub, file) for key, sub in part.get("properties", {}).items()}
    further = part.get("additionalProperties", True)
    other = None if further is True else _compile(further, file)

    def check(value: Mapping[str, Any]) -> bool:
        for key, item in value.items():
            test = known.get(key, other)
            if test is not None and not test(item):
                return False
        return True

    return check


def _names(part: Schema, _: Schema, file: str) -> Predicate:
    name = _compile(part, file)
    return lambda value: all(map(name, value))


def _required(keys: list[str], _: Schema, __: str) -> Predicate:
    if len(keys) == 1:
        return lambda value: keys[0] in value
    wanted = frozenset(keys)
    return lambda value: wanted <= value.keys()


def _items(part: Schema, _: Schema, file: str) -> Predicate:
    item = _compile(part, file)
    return lambda value: all(map(item, value))


def _unique(wanted: bool, _: Schema, __: str) -> Predicate:
    assert wanted

    def key(item: Any) -> Any:
        if isinstance(item, dict | list):
            return json.dumps(item, sort_keys=True)
        return (isinstance(item, bool), item)

    return lambda value: len(set(map(key, value))) == len(value)


def _enum(options: list[str], _: Schema, __: str) -> Predicate:
    assert all(isinstance(option, str) for option in options)
    known = frozenset(options)
    return lambda value: isinstance(value, str) and value in known


def _const(option: str, beside: Schema, file: str) -> Predicate:
    return _enum([option], beside, file)


def _pattern(text: str, _: Schema, __: str) -> Predicate:
    search = pattern(text).search
    return lambda value: search(value) is not None


def _all(parts: list[Schema], _: Schema, file: str) -> Predicate:
    checks = [_compile(part, file) for part in parts]
    return lambda value: all(check(value) for check in checks)


def _any(parts: list[Schema], _: Schema, file: str) -> Predicate:
    checks = [_compile(part, file) for part in parts]

    return lambda value: any(check(value) for check in checks)


def _one(parts: list[Schema], _: Schema, file: str) -> Predicate:
    checks = [_compile(part, file) for part in parts]
    return lambda value: [check(value) for check in checks].count(True) == 1


def _condition(part: Schema, beside: Schema, file: str) -> Predicate:
    if_, then = _compile(part, file), _compile(beside.get("then", True), file)
    other = _compile(beside.get("else", True), file)
    return lambda value: then(value) if if_(value) else other(value)


# Bounds are written so that NaN passes: it is neither below nor above one.
def _least(limit: float, _: Schema, __: str) -> Predicate:
    return lambda value: not value < limit


def _most(limit: float, _: Schema, __: str) -> Predicate:
    return lambda value: not value > limit


def _shortest(limit: int, _: Schema, __: str) -> Predicate:
    return lambda value: len(value) >= limit


def _longest(limit: int, _: Schema, __: str) -> Predicate:
    return lambda value: len(value) <= limit


_KEYWORDS: Mapping[str, Callable[[Any, Schema, str], Predicate]] = {
    "$ref": _reference,
    "allOf": _all,
    "anyOf": _any,
    "oneOf": _one,
    "if": _condition,
    "enum": _enum,
    "const": _const,
    "propertyNames": _names,
    "required": _required,
    "minProperties": _shortest,
    "maxProperties": _longest,
    "items": _items,
    "uniqueItems": _unique,
    "minItems": _shortest,
    "maxItems": _longest,
    "pattern": _pattern,
    "minLength": _shortest,
    "maxLength": _longest,
    "minimum": _least,
    "maximum": _most,
}
_OBJECT = frozenset(("properties", "additionalProperties"))
_READ_WITH_ANOTHER = frozenset(("type", "then", "else", *_OBJECT))
_APPLIES: Mapping[str, str] = {
    **dict.fromkeys(
        ("properties", "propertyNames", "required", "minProperties", "maxProperties"), "object"
    ),
    **dict.fromkeys(("items", "uniqueItems", "minItems", "maxItems"), "array"),
    **dict.fromkeys(("pattern", "minLength", "maxLength"), "string"),
    **dict.fromkeys(("minimum", "maximum"), "number"),
}
"""The type of value that a keyword says something of; of every other it says nothing."""
