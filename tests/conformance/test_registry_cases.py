"""Faults that other programs had, case by case, and the tests that show that this one has not."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
EXAM, RUNNER = "registry/test_run.py", "registry/test_runner.py"
RUNS, COMMIT = "registry/db/test_run.py", "registry/db/test_commit.py"
SCORER, DIALECT = "registry/test_scorer.py", "registry/probe/test_dialect.py"

SHOWN = {
    "R1": [(DIALECT, "test_what_answers_200_and_is_no_agent_fails")],
    "R2": [(EXAM, "test_an_address_inside_is_refused_before_a_socket_opens")],
    "R3": [(EXAM, "test_an_address_inside_is_refused_before_a_socket_opens")],
    "R4": [(EXAM, "test_a_body_that_comes_a_byte_each_half_second_ends_at_the_deadline")],
    "R5": [(EXAM, "test_sixty_four_exams_at_once_have_a_connection_each_and_all_are_answered")],
    "R6": [
        (EXAM, "test_a_word_at_the_end_of_a_large_body_is_found_under_the_cap_and_never_beyond_it")
    ],
    "R7": [(RUNNER, "test_a_fault_in_the_database_costs_one_tick")],
    "R8": [(RUNNER, "test_a_fault_in_the_database_costs_one_tick")],
    "R9": [(RUNS, "test_a_tick_just_before_a_slot_does_not_move_it"), (RUNNER, "test_missed_slots_are_picked_up_once_and_nothing_drifts")],
    "R10": [
        (RUNNER, "test_only_one_of_several_runners_leads"),
        ("fault/test_registry_servers.py", "test_the_leading_server_is_killed_under_load"),
    ],
    "R11": [
        ("fault/test_registry_runners.py",
         "test_one_leader_among_runners_stopped_and_continued_at_random")
    ],
    "R12": [(RUNNER, "test_without_a_resolver_the_run_is_void_and_no_agent_is_scored")],
    "R13": [(SCORER, "test_an_expression_that_backtracks_without_end_elsewhere_is_linear_here")],
    "R14": [(EXAM, "test_a_name_with_two_families_falls_to_the_one_that_answers")],
    "R15": [
        ("test_cadence.py", "test_a_slot_is_the_same_instant_in_every_zone"),
        ("registry/db/test_slot.py", "test_a_change_of_the_clocks_does_not_shift_a_cadence"),
    ],
    "R16": [
        (COMMIT, "test_a_commit_is_made_once"),
        (COMMIT, "test_a_payout_that_is_tried_again_is_the_same_payout"),
    ],
}  # fmt: skip


def test_each_case_is_shown_by_a_test_that_is_there(shared):
    lines = (shared / "cases" / "registry.jsonl").read_text().splitlines()
    assert SHOWN.keys() == {json.loads(line)["id"] for line in lines}


@pytest.mark.parametrize("case", SHOWN)
def test_the_test_that_shows_a_case(case):
    for file, name in SHOWN[case]:
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name
