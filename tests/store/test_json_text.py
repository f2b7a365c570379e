import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.store.json_text import MAX_DEPTH, JSONProblem, decode, read_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_was_written_is_read(value):
    assert decode(json.dumps(value)) == value
    assert decode(json.dumps(value, ensure_ascii=False)) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"id": "a"', "ends before its JSON value is complete"),
        ('{"id": "MARK', "ends before its JSON value is complete"),
        ('{"MARK" 1}', "is not JSON at column 9: a colon is expected"),
        ('{"a": MARK}', "is not JSON at column 7: a value is expected"),
        ('{"a": 1 "MARK": 2}', "is not JSON at column 9: a comma is expected"),
        ("{'a': 1}", "is not JSON at column 2: a key in double quotes is expected"),
        ('{"a": 1} MARK', "is not JSON at column 10: something follows the value"),
        ('{"a": "MA\tRK"}', "is not JSON at column 10: a control character stands in a string"),
        ('{"a": "\\qMARK"}', "is not JSON at column 8"),
        ('{"a": 1, "b": 2, "a": 3}', "has the key a twice in one object"),
        ('{"MARK it": 1, "MARK it": 3}', "has the key (not shown) twice in one object"),
        ('{"a": NaN}', "holds NaN or an infinity, which JSON does not have"),
        ("[-Infinity]", "holds NaN or an infinity, which JSON does not have"),
        ('{"a": "\\ud800"}', "holds half a surrogate pair, which is not Unicode text"),
        ('{"\\uDC00": 1}', "holds half a surrogate pair, which is not Unicode text"),
        ("[" + "9" * 5000 + "]", "holds a whole number of more than 300 digits"),
        ("[1" + "0" * 400 + "]", "holds a whole number of more than 300 digits"),
        ("[" * 100_000, "is nested deeper than 64 levels"),
    ],
)
def test_what_is_not_json_is_told_without_quoting_it(text, problem):
    with pytest.raises(JSONProblem) as caught:
        decode(text)
    assert caught.value.problem == problem
    assert "MARK" not in str(caught.value)


def test_surrogate_pairs_are_text():
    assert decode('"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


@pytest.mark.parametrize("form", ["[]", '{{"a": {}}}'])
def test_depth_is_bounded_exactly(form):
    def nested(levels, inner):
        for _ in range(levels):
            inner = f"[{inner}]" if form == "[]" else f'{{"a": {inner}}}'
        return inner

    decode(nested(MAX_DEPTH, "1"))
    with pytest.raises(JSONProblem, match="nested deeper"):
        decode(nested(MAX_DEPTH + 1, "1"))


def test_brackets_in_text_and_in_width_are_no_depth():
    assert decode(json.dumps(["[" * 100, *[[] for _ in range(100)]]))


def test_constants_are_read_for_a_caller_that_names_their_place():
    assert decode("[NaN, Infinity]", constants=True)[1] == float("inf")


def test_a_file_names_the_line_of_its_fault(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{\n"a": 1,\n"b": }\n')
    with pytest.raises(InputError) as caught:
        read_json(path)
    assert str(caught.value) == "a.json:3: is not JSON at column 6: a value is expected"
    path.write_text('{\n"a": 1,\n"b": 2}\n')
    assert read_json(path) == {"a": 1, "b": 2}
