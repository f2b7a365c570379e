"""The compiled schemas and jsonschema are held to one verdict."""

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aal_engine.store.explain import _validator, explained
from aal_engine.store.predicate import _KEYWORDS, FOLDER, _compile, pattern, predicate, types_of

VALID = {
    "pack.json": {
        "name": "desk",
        "agent": "did:web:desk",
        "autonomy": 1,
        "sensitivity": "internal",
        "language": "pt-BR",
        "citations": {"mode": "index", "base": 0},
        "stop_rules": [
            {"id": "promise", "forbid": {"phrase": "guaranteed", "negation": "allow"}},
            {"id": "disclaimer", "require": "not legal advice"},
        ],
        "suites": {"core": {"file": "core.jsonl", "kinds": ["answers"], "metrics": ["mrr"]}},
    },
    "case.json": {
        "id": "refund-017",
        "question": "?",
        "relevant": {"doc-12": 2, "doc-40": -1},
        "must_mention": [
            "30 days",
            {"any_of": ["a", {"number": 5, "unit": "USD", "tolerance": 0.5}]},
            {"at_least": 1, "of": [{"regex": "a+"}, {"date": "2026-01"}]},
        ],
        "must_not_claim": [{"phrase": "a", "aliases": ["b"], "quotation": "allow"}],
        "expect": "abstain",
        "slices": ["billing", "fr"],
    },
    "run.json": {
        "id": 7,
        "attempt": 2,
        "model_family": "a",
        "retrieved": [{"doc_id": "d", "passage_id": 3, "score": 0.5, "text": "t", "more": []}],
        "answer": "a [1].",
        "citations": ["d", 1],
        "latency_ms": 12.5,
        "error": None,
    },
    "trec_answer.json": {
        "references": ["a"],
        "answer": [{"text": "t", "citations": [0, "a"]}],
    },
    "nuggets.json": {"query": "q", "nuggets": [{"text": "t", "importance": "vital"}]},
}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 2000)
    | st.sampled_from([0.5, 1.0, 2.0, -1e300])
    | st.sampled_from(["", " ", ".", "..", "a", "a b", "a/b", "a\n", "x" * 201, "answer", "\u202e"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "text", "phrase", "a b", "zz"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value, path=()):
    yield path
    if not isinstance(value, dict | list):
        return
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield from places(child, (*path, key))


@st.composite
def nearly_valid(draw, file):
    value = copy.deepcopy(VALID[file])
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(list(places(value))))
        holder: Any = value
        for step in path[:-1]:
            holder = holder[step]
        act = draw(st.sampled_from(["replace", "remove", "add"]))
        target = holder[path[-1]] if path else value
        if act == "add" and isinstance(target, dict):
            target[draw(st.sampled_from(["id", "questoin", "phrase", "a b"]))] = draw(VALUES)
        elif act == "add" and isinstance(target, list):
            target.append(draw(VALUES))
        elif not path:
            value = draw(VALUES)
        elif act == "remove":
            del holder[path[-1]]
        else:
            holder[path[-1]] = draw(VALUES)
    return value


@pytest.mark.parametrize("file", VALID)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_both_come_to_one_verdict(file, data):
    value = data.draw(nearly_valid(file) | VALUES)
    fits = predicate(file)(value)
    assert fits == _validator(file).is_valid(value)
    if not fits:
        assert list(explained(file, value))


@pytest.mark.parametrize("file", VALID)
def test_the_examples_fit(file):
    assert predicate(file)(VALID[file])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.name)
def test_every_schema_is_one_and_compiles(path):
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))
    assert predicate(path.name)(object()) is False


@pytest.mark.parametrize(
    ("schema", "fits", "refuses"),
    [
        ({"type": "integer"}, [1, -2], [1.0, True, "1", None]),
        ({"type": "number"}, [1, 1.5], [False, "1"]),
        ({"type": ["string", "null"]}, ["", None], [1, []]),
        ({"enum": ["a", "b"]}, ["a"], ["c", None, 1]),
        ({"const": "a"}, ["a"], ["b"]),
        ({"pattern": "^a$"}, ["a", 5], ["b", "a\n", "ba"]),
        ({"minLength": 1, "maxLength": 2}, ["a", "ab", 7], ["", "abc"]),
        ({"minimum": 1, "maximum": 2}, [1, 2.0, "x", True], [0, 2.5]),
        ({"minItems": 1, "maxItems": 2}, [[1], "x"], [[], [1, 2, 3]]),
        ({"uniqueItems": True}, [[1, True], [{}, []]], [[1, 1], [{"a": 1}, {"a": 1}]]),
        ({"items": {"type": "null"}}, [[], [None]], [[None, 1]]),
        ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 1}]),
        ({"required": ["a", "b"]}, [{"a": 1, "b": 1}, 3], [{"a": 1}]),
        ({"propertyNames": {"pattern": "^a"}}, [{"ab": 1}], [{"b": 1}]),
        ({"additionalProperties": False}, [{}], [{"a": 1}]),
        (
            {"properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "string"}},
            [{"a": None, "b": ""}],
            [{"a": ""}, {"b": None}],
        ),
        ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1], [0, 3]),
        ({"anyOf": [{"minimum": 2}, {"type": "string"}]}, [2, "a"], [1]),
        ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, [0, 3], [1, "x"]),
        (
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
            [{"a": 1, "b": 1}, {"c": 1}],
            [{"a": 1}, {}],
        ),
        ({"$ref": "name.json"}, ["a"], ["a b"]),
        ({"properties": {"x": True, "y": False}}, [{"x": 1}], [{"y": 1}]),
    ],
)
def test_each_keyword(schema, fits, refuses):
    check = _compile(schema, "name.json")
    stock = jsonschema.Draft202012Validator(schema) if "$ref" not in schema else None
    assert [value for value in fits if not check(value)] == []
    assert [value for value in refuses if check(value)] == []
    for value in [*fits, *refuses]:
        # The two differences that are meant: 1.0 is no whole number, and `$` is the very end.
        if stock is not None and value not in (1.0, "a\n"):
            assert stock.is_valid(value) == check(value), value


def test_a_keyword_that_is_not_known_is_never_left_out():
    assert "format" not in _KEYWORDS
    with pytest.raises(KeyError):
        predicate_of = _compile({"type": "string", "format": "date"}, "name.json")
        predicate_of("x")


def test_what_json_does_not_have_is_of_no_type():
    assert types_of(b"") == types_of(object()) == frozenset()
    assert not _compile({"type": ["string", "number", "null"]}, "name.json")(b"")


def test_only_a_dollar_at_the_end_is_changed():
    assert pattern("^a$|b").pattern == "^a$|b"
    assert pattern("a$").search("a\n") is None
