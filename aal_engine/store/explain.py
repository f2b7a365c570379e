"""Says in plain words why a value does not fit a JSON Schema.

jsonschema finds the faults; the words are our own, since the library's quote the value, and a
value may be the text of a question or an answer. The `description` that stands in a schema beside
a pattern, or beside alternatives, completes "must be …".
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import jsonschema
from jsonschema import ValidationError
from jsonschema.validators import extend
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from aal_engine.store.predicate import pattern, schema, types_of
from aal_engine.store.yaml_text import Steps

Told: TypeAlias = tuple[Steps, str]
"""Where a fault is, and what it is."""

_TYPE_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a mapping",
}


def explained(file: str, value: Any) -> Iterator[Told]:
    """Yield every fault of a value that the schema of a file refuses, each once, by place.

    Of what has the wrong type nothing else is said.
    """
    errors = sorted(_validator(file).iter_errors(value), key=_place)
    mistyped = {tuple(error.absolute_path) for error in errors if error.validator == "type"}
    told: set[Told] = set()
    for error in errors:
        if error.validator == "type" or tuple(error.absolute_path) not in mistyped:
            for fault in _told(error):
                if fault not in told:
                    told.add(fault)
                    yield fault
    assert told, f"{file}: refused by the compiled schema alone"


def _place(error: ValidationError) -> list[tuple[int, str]]:
    # The library goes through keys in the order of a set, which differs from run to run.
    return [(s, "") if isinstance(s, int) else (-1, s) for s in error.absolute_path]


@cache
def _validator(file: str) -> Any:
    draft = jsonschema.Draft202012Validator
    checker = draft.TYPE_CHECKER.redefine("integer", lambda _, value: "integer" in types_of(value))
    validator: Any = extend(draft, {"pattern": _search}, type_checker=checker)  # type: ignore[no-untyped-call]
    registry: Any = Registry(retrieve=_retrieved)  # type: ignore[call-arg]
    return validator({"$ref": file}, registry=registry)


def _retrieved(uri: str) -> Resource[Any]:
    # A `$schema` would bring back the stock validator, to which 1.0 is a whole number.
    contents = {key: part for key, part in schema(uri).items() if key != "$schema"}
    return Resource.from_contents(contents, default_specification=DRAFT202012)


def _search(_: object, text: str, instance: object, __: object) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not pattern(text).search(instance):
        yield ValidationError("pattern")


def _told(error: ValidationError) -> Iterable[Told]:
    path: Steps = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        return [(path, f"has a key that is not {_description(error, 'a name of this kind')}")]
    return _WORDING[str(error.validator)](error, path)


def _description(error: ValidationError, otherwise: str) -> str:
    part = error.schema
    return str(part.get("description", otherwise)) if isinstance(part, Mapping) else otherwise


def _type(error: ValidationError, path: Steps) -> Iterable[Told]:
    wanted: Any = error.validator_value
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    found = min(types_of(error.instance), default=None)
    problem = f"must be {' or '.join(_TYPE_WORDS[name] for name in names)}"
    if names == ["integer"] and found == "number":
        problem += ", written without a point"
    else:
        problem += f", not {_TYPE_WORDS[found] if found else 'a value of another kind'}"
    if "string" in names and found in ("boolean", "integer", "null", "number"):
        problem += "; put it in quotes"
    return [(path, problem)]


def _required(error: ValidationError, path: Steps) -> Iterable[Told]:
    keys: Any = error.validator_value
    value: Any = error.instance
    return [((*path, key), "is missing") for key in keys if key not in value]


def _additional(error: ValidationError, path: Steps) -> Iterable[Told]:
    known = list(error.schema.get("properties", ())) if isinstance(error.schema, Mapping) else []
    value: Any = error.instance
    return [((*path, key), _unknown(key, known)) for key in value if key not in known]


def _unknown(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key.lower(), known, 1) if len(key) <= 40 else []
    if near:
        return f"is not a known key; did you mean {near[0]}?"
    return f"is not a known key; known are {', '.join(known)}"


def _branches(error: ValidationError, path: Steps) -> Iterable[Told]:
    """Explain the branch that was meant: the one whose type, or whose keys, the value has."""
    described = _description(error, "")
    if described:
        return [(path, f"must be {described}")]
    branches: dict[int, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(int(inner.relative_schema_path[0]), []).append(inner)
    depth = len(error.absolute_path)
    meant = [
        inner
        for inner in branches.values()
        if not any(e.validator == "type" and len(e.absolute_path) == depth for e in inner)
    ]
    if len(meant) == 1:
        return [told for inner in sorted(meant[0], key=_place) for told in _told(inner)]
    kinds = [
        _TYPE_WORDS[name]
        for inner in branches.values()
        for e in inner
        if e.validator == "type" and len(e.absolute_path) == depth
        for name in ([e.validator_value] if isinstance(e.validator_value, str) else [])
    ]
    return [(path, f"must be {' or '.join(dict.fromkeys(kinds)) or 'of one of the known forms'}")]


def _listed(options: Any) -> str:
    return ", ".join(map(str, options))


def _saying(
    words: Callable[[ValidationError], str],
) -> Callable[[ValidationError, Steps], list[Told]]:
    return lambda error, path: [(path, words(error))]


def _limit(words: str, *, empty: bool = False) -> Callable[[ValidationError, Steps], list[Told]]:
    def tell(error: ValidationError) -> str:
        if empty and error.validator_value == 1:
            return "must not be empty"
        return words.format(error.validator_value)

    return _saying(tell)


_WORDING: Mapping[str, Callable[[ValidationError, Steps], Iterable[Told]]] = {
    "type": _type,
    "required": _required,
    "additionalProperties": _additional,
    "anyOf": _branches,
    "oneOf": _branches,
    "pattern": _saying(lambda e: f"must be {_description(e, 'of the form that the schema gives')}"),
    "enum": _saying(lambda e: f"must be one of {_listed(e.validator_value)}"),
    "const": _saying(lambda e: f"must be {e.validator_value}"),
    "uniqueItems": _saying(lambda _: "holds the same item twice"),
    "minimum": _limit("must be at least {}"),
    "maximum": _limit("must be at most {}"),
    "minLength": _limit("must have at least {} characters", empty=True),
    "maxLength": _limit("must have at most {} characters"),
    "minItems": _limit("must have at least {} items", empty=True),
    "maxItems": _limit("must have at most {} items"),
    "minProperties": _limit("must have at least {} keys", empty=True),
    "maxProperties": _limit("must have at most {} keys"),
}
