"""A suite and a task are what their rules say, and every fault is told by field."""

from __future__ import annotations

import pytest

from aal_engine.errors import InputError
from aal_engine.registry.model.suite import suite, task

SUITE = {"key": "http-basics", "name": "HTTP basics"}
TASK = {"name": "alive", "input": "/health", "scorer": "status_ok"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": "Has Space"},
        {"key": ""},
        {"key": 7},
        {"name": ""},
        {"name": "x" * 201},
        {"name": "nul\0"},
        {"name": "\ud800"},
        {"description": None},
        {"task_type": "grpc"},
        {"task_type": ["http_probe"]},
        {"interval_minutes": 0},
        {"interval_minutes": 1.5},
        {"interval_minutes": True},
        {"interval_minutes": 10**9},
        {"targets": "did:web:a"},
        {"targets": ["not a did"]},
        {"targets": ["did:web:a", "did:web:a"]},
        {"reward": -1},
        {"reward": 10**18},
        {"cooldown_minutes": -1},
        {"daily_budget": 0},
        {"reputation": 1},
        {"enabled": "yes"},
        {"pays": True},
        {"id": 4},
    ],
)
def test_a_field_that_breaks_its_rule_is_refused_by_name(wrong):
    (field,) = wrong
    with pytest.raises(InputError) as caught:
        suite({**SUITE, **wrong})
    assert [fault.field for fault in caught.value.faults] == [field]


def test_every_fault_of_a_suite_is_told_at_once():
    with pytest.raises(InputError) as caught:
        suite({"enabled": 3, "what": 1})
    assert {fault.field for fault in caught.value.faults} == {"key", "name", "enabled", "what"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"input": ""},
        {"input": 5},
        {"scorer": ""},
        {"expected": ["a"]},
        {"weight": 0},
        {"weight": -1},
        {"weight": float("nan")},
        {"weight": float("inf")},
        {"weight": True},
        {"weight": "1"},
        {"id": 3},
    ],
)
def test_a_task_that_breaks_a_rule_is_refused_by_name(wrong):
    (field,) = wrong
    with pytest.raises(InputError) as caught:
        task({**TASK, **wrong})
    assert [fault.field for fault in caught.value.faults] == [field]


def test_a_numeric_expectation_is_kept_as_json_writes_it():
    assert task({**TASK, "expected": 500}).expected == "500"
    assert task({**TASK, "expected": 2.5}).expected == "2.5"
    assert task({**TASK, "expected": "500"}).expected == "500"


def test_what_is_not_given_stays_as_it_was():
    before = suite({**SUITE, "reward": 5, "enabled": True, "targets": ["did:web:a"]})
    assert suite({"key": "http-basics"}, before) == before
    assert suite({"targets": None}, before).targets is None
