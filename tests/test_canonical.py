"""Canonical bytes: what is written, what is refused, and that both ways of writing agree."""

from __future__ import annotations

import json
import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.canonical import MAX_INTEGER, canonical, digest
from aal_engine.errors import InputError

MARKER = "zebra-marker"

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=5)
    ),
    max_leaves=30,
)


@given(values)
def test_bytes_are_those_of_the_reference_implementation(value):
    assert canonical(value) == rfc8785.dumps(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_written_as_the_reference_writes_it(number):
    assert canonical(number) == rfc8785.dumps(number)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, b"0"),
        (-0.0, b"0"),
        (1.0, b"1"),
        (-1e15, b"-1000000000000000"),
        (float(2**53), b"9007199254740992"),
        (1e20, b"100000000000000000000"),
        (1e21, b"1e+21"),
        (1e-6, b"0.000001"),
        (1e-7, b"1e-7"),
        (9.999999999999999e-5, b"0.00009999999999999999"),
        (123456789012345.6, b"123456789012345.6"),
        (5e-324, b"5e-324"),
    ],
)
def test_numbers_at_the_edges_of_their_forms(number, text):
    assert canonical([number]) == b"[" + text + b"]"


def test_members_are_sorted_by_utf_16_code_units():
    # RFC 8785, section 3.2.3: U+1F600 is written with surrogates, which sort before U+FB33.
    assert canonical({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


def _number(digits: str) -> int | float:
    return int(digits) if abs(int(digits)) <= MAX_INTEGER else float(digits)


@given(values)
def test_reading_canonical_bytes_and_writing_them_again_changes_nothing(value):
    text = canonical(value)
    assert canonical(json.loads(text, parse_int=_number)) == text


@pytest.mark.parametrize(
    ("value", "field", "problem"),
    [
        ({"a": [1, math.nan]}, "a[1]", "finite"),
        ({"a": {"b": math.inf}}, "a.b", "finite"),
        ([2**54], "[0]", "beyond 2^53 - 1"),
        ([-(2**53)], "[0]", "beyond 2^53 - 1"),
        ({"": 1, "b": 2**54}, "b", "beyond 2^53 - 1"),
        ({"a": "\ud800"}, "a", "surrogate"),
        ({"a": {1, 2}}, "a", "is a set"),
        ({"a": b"bytes"}, "a", "is a bytes"),
        ({"a": {3: 1}}, "a", "key that is not a string"),
    ],
)
def test_what_has_no_canonical_form_is_refused_by_field(value, field, problem):
    with pytest.raises(InputError) as caught:
        canonical(value)
    (fault,) = caught.value.faults
    assert fault.field == field
    assert problem in fault.problem


def test_a_value_at_the_top_is_refused_without_a_field():
    with pytest.raises(InputError, match=r"^is not a finite number$"):
        canonical(math.nan)


def test_endless_nesting_is_refused():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InputError, match="nested too deeply"):
        canonical(value)


def test_no_refusal_shows_the_text_it_refuses():
    with pytest.raises(InputError) as caught:
        canonical({"a": [MARKER, MARKER + "\udfff"]})
    assert MARKER not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_subclasses_of_plain_types_are_written_as_plain():
    numpy = pytest.importorskip("numpy")
    assert canonical({"mean": numpy.float64(0.5), "one": numpy.float64(1.0)}) == (
        b'{"mean":0.5,"one":1}'
    )


def test_digest_is_of_the_bytes_and_so_not_of_their_order():
    assert digest({"a": 1, "b": 2.0}) == digest({"b": 2, "a": 1.0})
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
