import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.store.text_file import FaultList
from aal_engine.store.yaml_text import decode_yaml, line_of


def read(text):
    faults = FaultList("a.yaml")
    return decode_yaml(text, faults), [str(fault) for fault in faults.faults]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("007", "007"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
        ("12:30", "12:30"),
        (".inf", ".inf"),
        (".5", ".5"),
        ("+1", "+1"),
        ("1.", "1."),
        ("'7'", "7"),
        ('"true"', "true"),
        ("!!str 7", "7"),
        ("! 7", "7"),
        ("7", 7),
        ("-7", -7),
        ("0", 0),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
    ],
)
def test_a_scalar_is_what_json_would_read_or_else_text(written, value):
    found, faults = read(f"a: {written}")
    assert (found["a"], type(found["a"]), faults) == (value, type(value), [])


def test_keys_are_text():
    assert read("184: 2\n007: 1\nno: 0\n2026-01-31: 3\n") == (
        {"184": 2, "007": 1, "no": 0, "2026-01-31": 3},
        [],
    )


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_json_in_yaml_and_dumped_yaml_are_read_as_they_were(value):
    assert read(yaml.safe_dump(value)) == (value, [])
    if all(char.isprintable() for char in json.dumps(value, ensure_ascii=False)):
        assert read(json.dumps(value, ensure_ascii=False)) == (value, [])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\nb: 2\na: 3", "a.yaml:3: has the key a twice, first on line 1"),
        ("MARK it: 1\nMARK it: 3", "a.yaml:2: has the key (not shown) twice, first on line 1"),
        ("a: 1\n---\nb: MARK", "a.yaml:2: holds a second document; one is expected"),
        ("a: !!python/object:MARK x", "a.yaml:1: has a tag (!), which is not read"),
        ("a: !MARK {b: 1}", "a.yaml:1: has a tag (!), which is not read"),
        ("a: *MARK", "a.yaml:1: has an alias (*) of something that is not there yet"),
        ("a: &a [*a]", "a.yaml:1: has an alias (*) of something that is not there yet"),
        ("? [MARK]\n: b", "a.yaml:1: has a key that is a list, a mapping or an alias"),
        ("a: &a x\n*a : 1", "a.yaml:2: has a key that is a list, a mapping or an alias"),
        (
            "a: {<<: {b: MARK}}",
            "a.yaml:1: has a merge key (<<), which is not read: write its fields out",
        ),
        ("a: 'MARK", "a.yaml:1: is not YAML here: a quote is not closed"),
        ("a: MARK: b", "a.yaml:1: is not YAML here: text that holds ': ' needs quotes"),
        ("- MARK\nb: 1", "a.yaml:2: is not YAML here: look at the indentation of the list"),
        ("a: [MARK", "a.yaml:2: is not YAML here: a [ is not closed"),
        ('a: "MARK\\ud800"', "a.yaml:1: is not YAML here: an escape (\\u) is no character"),
        ("a: MARK\x01", "a.yaml: is not YAML here: it holds a control character"),
        ("a: " + "[" * 65 + "]" * 65, "a.yaml:1: is nested deeper than 64 levels"),
        ("a: " + "[" * 5000, "a.yaml:1: is not YAML here: it is nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_told_without_quoting_it(text, fault):
    _, faults = read(text)
    assert faults == [fault]


def test_aliases_are_read():
    assert read("a: &x [1, 2]\nb: *x\nc: {d: *x}") == (
        {"a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]}},
        [],
    )


def test_a_bomb_of_aliases_is_refused_at_once():
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    value, faults = read(text)
    assert value is None
    assert faults == ["a.yaml:7: holds more than 2,000,000 values with its aliases"]


def test_lines_of_keys_and_items_are_known():
    value, _ = read("top:\n  - id: a\n    deep: {x: 1,\n      y: 2}\n  -\n    id: b\n  - text\n")
    assert line_of(value, ("top", 0, "id")) == 2
    assert line_of(value, ("top", 0, "deep", "y")) == 4
    assert line_of(value, ("top", 1, "id")) == 6
    assert line_of(value, ("top", 2)) == 7
    assert line_of(value, ("top", 0, "missing")) == 2
    assert line_of(value, ("nothing", 3)) == 1
    assert line_of({"a": 1}, ("a",)) is None
