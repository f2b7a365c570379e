"""The per-case table: columns, digest, averages over attempts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from aal_engine.errors import InputError
from aal_engine.measure.record import summarise
from aal_engine.measure.table import (
    Source,
    case_starts,
    case_table,
    floats,
    metric_names,
    per_case,
    source_of,
    table_digest,
)

NAN = float("nan")
AT = "2026-01-31T09:30:00.000Z"


def table(**changes) -> pa.Table:
    source = Source(
        kind="answers",
        pack="support",
        agent="desk",
        version="1.0.0",
        model_family="claude",
        suite="core",
        golden_set="a" * 64,
        golden_cases=3,
        run="b" * 64,
        engine="aal-engine@0",
        foreign_outputs=2,
    )
    fields = {
        "case_ids": ["a", "a", "b", "c"],
        "case_digests": ["1", "1", "2", "3"],
        "attempts": [1, 2, 1, 0],
        "missing": [False, False, False, True],
        "slices": {"fr": [True, True, False, True]},
        "counts": {"invented_citations": [0, 1, 0, 0], "forbidden_claims": [0, 0, 0, 0]},
        "metrics": {
            "complete": np.array([1.0, 0.0, 1.0, 0.0]),
            "weak_support": np.array([NAN, 0.5, NAN, NAN]),
        },
    }
    return case_table(source, **(fields | changes))


def test_attempts_are_averaged_before_cases():
    record = summarise(table(), AT)
    assert record.metrics["complete"].value == 0.5
    assert record.metrics["complete"].n == 3


def test_null_is_left_out_and_n_says_so():
    mean = summarise(table(), AT).metrics["weak_support"]
    assert (mean.value, mean.n) == (0.5, 1)


def test_a_metric_that_applies_nowhere_is_null():
    mean = summarise(table(metrics={"complete": np.full(4, NAN)}), AT).metrics["complete"]
    assert (mean.value, mean.n) == (None, 0)


def test_slices_and_counts():
    record = summarise(table(), AT)
    assert record.slices["fr"].cases == 2
    assert record.slices["fr"].metrics["complete"].value == 0.25
    assert record.counts == {
        "attempts": 3,
        "missing_outputs": 1,
        "missing_attempts": 1,
        "foreign_outputs": 2,
        "invented_citations": 1,
        "forbidden_claims": 0,
    }
    assert not record.passed


def test_the_record_keeps_what_the_table_was_made_from():
    assert source_of(table()).suite == "core"
    assert summarise(table(), AT).golden_set == "a" * 64


def test_no_record_holds_a_value_with_more_than_twelve_decimals():
    thirds = table(metrics={"complete": np.array([1.0, 1.0, 0.0, 0.0])})
    assert summarise(thirds, AT).metrics["complete"].value == 0.333333333333


def test_the_digest_is_of_the_content_alone():
    whole = table()
    pieces = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert table_digest(pieces) == table_digest(whole)
    assert table_digest(table(attempts=[1, 3, 1, 0])) != table_digest(whole)
    assert table_digest(
        whole.rename_columns([*whole.column_names[:-1], "support"])
    ) != table_digest(whole)


def test_sliced_columns_are_read_at_their_offset():
    cut = table().slice(1, 2)
    np.testing.assert_array_equal(floats(cut, "weak_support"), [0.5, NAN])


def test_metric_names_leave_out_ids_counts_and_slices():
    assert metric_names(table()) == ("complete", "weak_support")


@pytest.mark.parametrize("ids", [["b", "a", "b", "c"], ["a", "a", "a", "c"]])
def test_rows_out_of_order_are_refused(ids):
    with pytest.raises(InputError, match="out of order"):
        case_starts(table(case_ids=ids, attempts=[1, 2, 1, 0]))


def test_any_other_table_is_refused():
    with pytest.raises(InputError, match="not a per-case table"):
        source_of(pa.table({"a": [1]}))


def test_per_case_of_nothing_is_nothing():
    assert per_case(np.empty(0), np.empty(0, np.int64)).shape == (0,)
