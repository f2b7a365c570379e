"""What Agent Evals promises its readers, sentence by sentence, and the tests that show it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent

READ = "registry/test_read.py"
ADMIN = "registry/test_admin.py"
SCORER = "registry/test_scorer.py"
RUNNER = "registry/test_runner.py"
PROBE = "registry/test_run.py"
DIALECT = "registry/probe/test_dialect.py"
CARD = "registry/test_card.py"
SUITE = "registry/model/test_suite.py"
DB_RUN = "registry/db/test_run.py"
COMMIT = "registry/db/test_commit.py"
LEASE = "registry/db/test_lease.py"
TRUST = "registry/test_trust.py"
PUBLIC = "api/test_registry.py"
OPERATOR = "api/test_admin.py"
WING = "api/test_office.py"

PROMISES = {
    "The registry runs published test suites against live agents, scores every response "
    "deterministically, and serves the results": [
        (RUNNER, "test_a_due_suite_is_run_once_over_every_agent"),
        (SCORER, "test_scoring_never_errors_and_is_a_function"),
        (PUBLIC, "test_results_of_an_agent_whatever_its_did_is_made_of"),
    ],
    "You read it through three public endpoints — the suite catalog, an agent's result history, "
    "and a leaderboard — all unauthenticated.": [
        (PUBLIC, "test_the_catalog"),
        (PUBLIC, "test_results_of_an_agent_whatever_its_did_is_made_of"),
        (PUBLIC, "test_the_leaderboard_has_25_rows_unless_asked_otherwise"),
    ],
    "How tasks are delivered: http_probe (GET a path on the agent's endpoint) or a2a_message "
    "(POST a message payload, the way a client agent would call it)": [
        (DIALECT, "test_a_path_stays_on_the_endpoint"),
        (DIALECT, "test_what_is_sent_in_each_dialect"),
    ],
    "Run cadence for the scheduler; unset means manual-only": [
        (DB_RUN, "test_each_slot_is_queued_once_however_often_the_loop_ticks"),
        (DB_RUN, "test_a_suite_without_cadence_or_tasks_or_not_enabled_is_never_due"),
    ],
    "An explicit list of agent DIDs — or, when unset, active agents homed on this registry "
    "(federated mirrors are never evaluated remotely)": [
        (DB_RUN, "test_targets_are_those_listed_or_all_that_are_active_and_at_home"),
        (RUNNER, "test_a_mirror_and_an_inactive_agent_are_never_examined"),
    ],
    "Each task inside a suite is one scored step: a name, an input (the path or message to send), "
    "a scorer, an expected value, and a weight.": [
        (ADMIN, "test_a_task_is_added_with_its_number"),
        (SUITE, "test_a_task_that_breaks_a_rule_is_refused_by_name"),
    ],
    "Version 1 scorers are deliberately deterministic — pure functions of the observed response, "
    "with no model-graded judging — so a score is reproducible and disputable": [
        (SCORER, "test_scoring_never_errors_and_is_a_function"),
        (READ, "test_evidence_stands_beside_each_result"),
    ],
    "The response status is 2xx": [(SCORER, "test_a_verdict")],
    "The response body equals the expected value (whitespace-trimmed)": [
        (SCORER, "test_a_verdict")
    ],
    "The response body contains the expected value": [(SCORER, "test_a_verdict")],
    "The expected pattern matches somewhere in the body": [(SCORER, "test_a_verdict")],
    "The response arrives at or under the expected threshold": [(SCORER, "test_a_verdict")],
    "An unknown scorer or a malformed expectation scores 0 — scoring never errors, it just fails "
    "the task.": [(SCORER, "test_scoring_never_errors_and_is_a_function")],
    "Runs are produced by a background eval runner — leader-elected, so exactly one runner is "
    "active per registry no matter how many API workers are serving traffic.": [
        (LEASE, "test_of_many_that_ask_at_once_one_leads"),
        (RUNNER, "test_only_one_of_several_runners_leads"),
    ],
    "On a short, operator-tunable interval it collects the suites that are due": [
        (RUNNER, "test_a_due_suite_is_run_once_over_every_agent"),
    ],
    "Resolves the agent's service endpoint from its agent card (the advertised host, or the first "
    "supported interface URL).": [(CARD, "test_where_an_agent_is_reached")],
    "Executes every task in the suite against that endpoint — a GET for http_probe, a POST of the "
    "task's message for a2a_message — under a bounded per-task timeout.": [
        (PROBE, "test_a_body_that_comes_a_byte_each_half_second_ends_at_the_deadline"),
        (DIALECT, "test_what_is_sent_in_each_dialect"),
    ],
    "Scores each response deterministically and writes one result row per task: score, pass/fail, "
    "measured latency, and any error.": [(COMMIT, "test_one_row_a_task_with_its_evidence")],
    "Aggregates a suite score — the weight-averaged mean of the task scores — which drives the "
    "optional reputation and reward hooks below.": [
        (COMMIT, "test_the_suite_score_is_the_weighted_mean"),
        (COMMIT, "test_the_oracles_edge_is_the_suite_score_and_counts"),
    ],
    "An agent with no reachable endpoint scores 0 on every task with the error no_endpoint; a "
    "timeout or connection failure scores 0 with the error recorded.": [
        (PROBE, "test_no_endpoint_scores_nothing_on_every_task"),
        (PROBE, "test_a_hostile_agent_fails_in_time_and_the_error_says_how"),
    ],
    "Each pass evaluates a bounded batch of target agents under bounded timeouts, so an eval "
    "sweep can never monopolize the registry.": [
        (RUNNER, "test_many_exams_pass_through_few_places_and_a_slow_agent_keeps_one"),
        (PROBE, "test_an_exam_ends_however_many_tasks_stall"),
        (DB_RUN, "test_a_short_run_does_not_wait_for_a_long_one"),
    ],
    "A suite that misses a tick is simply picked up on the next one.": [
        (DB_RUN, "test_of_slots_that_were_missed_the_newest_is_run_once"),
        (RUNNER, "test_missed_slots_are_picked_up_once_and_nothing_drifts"),
    ],
    "The published catalog — every enabled suite with its key, description, task type, cadence, "
    "and whether it pays": [(READ, "test_the_catalog_holds_every_enabled_suite_and_no_other")],
    "An agent's most recent task results, newest first (limit 1–100)": [
        (READ, "test_results_are_newest_first_and_no_more_than_asked_for"),
        (PUBLIC, "test_a_limit_that_is_not_from_1_to_100_is_refused"),
    ],
    "Agents ranked by mean score, optionally filtered to one suite (limit 1–100)": [
        (READ, "test_the_order_of_the_leaderboard_is_mean_then_results_then_did"),
        (READ, "test_the_leaderboard_of_one_suite"),
        (PUBLIC, "test_a_limit_that_is_not_from_1_to_100_is_refused"),
    ],
    "A result row is compact and self-describing": [(READ, "test_a_row_is_as_it_was_promised")],
    "on a registry where evals are not enabled, these endpoints return empty lists rather than "
    "failing, so a client can probe capability support without special-casing errors.": [
        (READ, "test_with_the_gate_down_everything_is_empty"),
        (PUBLIC, "test_with_the_gate_down_every_list_is_empty"),
        (PUBLIC, "test_a_server_without_a_registry_is_one_where_evals_are_not_published"),
    ],
    "The leaderboard ranks agents by the mean score across every recorded task result — "
    "optionally restricted to a single suite — descending, with total run volume as the "
    "tiebreaker.": [
        (READ, "test_the_order_of_the_leaderboard_is_mean_then_results_then_did"),
        (READ, "test_equal_to_grouping_every_row"),
    ],
    "Each entry carries the agent DID, the mean, the number of recorded results, and the "
    "timestamp of the most recent one.": [
        (READ, "test_the_order_of_the_leaderboard_is_mean_then_results_then_did"),
    ],
    "A perfect 1.0 over a handful of results is weaker evidence than 0.94 over hundreds.": [
        (READ, "test_candidates_have_bound_runs_and_age"),
    ],
    "Check last_at.": [(READ, "test_freshness_is_the_time_since_the_last_result")],
    "when its reputation signal is enabled, each run upserts a local-trust edge from a synthetic "
    "registry oracle identity (did:theprotocol:eval-oracle) toward the agent — counted "
    "satisfactory when the suite score reaches 0.5, unsatisfactory otherwise, with the edge's "
    "trust value set to the suite score.": [
        (COMMIT, "test_the_oracles_edge_is_the_suite_score_and_counts"),
        (COMMIT, "test_without_the_signal_there_is_no_edge"),
    ],
    "The next EigenTrust computation absorbs that edge like any other.": [
        (ADMIN, "test_the_oracles_voice_reaches_the_next_computation"),
        (TRUST, "test_against_the_exact_vectors"),
    ],
    "When a run completes with at least one passing task, the suite's configured amount is "
    "released to the agent through the registry's ordinary treasury reward rails, referenced back "
    "to the suite that earned it.": [
        (COMMIT, "test_one_passing_task_earns_the_reward_and_none_earns_nothing"),
    ],
    "Suites that pay are flagged pays: true in the public catalog.": [
        (PUBLIC, "test_the_catalog"),
        (READ, "test_the_catalog_holds_every_enabled_suite_and_no_other"),
    ],
    "it is not a mint (the reward moves existing treasury funds through the same audited path as "
    "every other platform reward, so the supply invariant is untouched)": [
        (COMMIT, "test_an_empty_treasury_skips_the_reward_and_the_run_stands"),
        (ADMIN, "test_an_audit_sees_what_does_not_add_up"),
        (ADMIN, "test_a_transfer_cannot_be_changed_or_deleted"),
    ],
    "Filter by capability: leaderboard for the suite closest to your task, then the candidate's "
    "per-agent history for recency, latency, and error patterns.": [
        (PUBLIC, "test_candidates_are_filtered"),
        (READ, "test_a_row_is_as_it_was_promised"),
    ],
    "The suite lifecycle — create, add tasks, publish, run — lives on the admin surface "
    "(platform-admin credential required)": [
        (OPERATOR, "test_the_life_of_a_suite"),
        (OPERATOR, "test_without_the_credential_every_endpoint_is_closed"),
        (OPERATOR, "test_a_server_without_a_credential_has_no_open_door"),
    ],
    "Every suite, enabled or not, with task counts and next scheduled run": [
        (ADMIN, "test_the_next_scheduled_run"),
        (OPERATOR, "test_the_life_of_a_suite"),
    ],
    "Create or update a suite by key (cadence, targets, pay, reputation signal, enabled)": [
        (ADMIN, "test_a_suite_is_updated_by_its_key_and_keeps_what_is_not_given"),
        (SUITE, "test_a_field_that_breaks_its_rule_is_refused_by_name"),
    ],
    "Add a scored task (input, scorer, expected, weight)": [
        (ADMIN, "test_a_task_is_added_with_its_number"),
    ],
    "Run the suite immediately; returns the run_id": [
        (ADMIN, "test_a_run_by_hand_works_on_a_draft"),
        (RUNNER, "test_a_run_by_hand_works_on_a_draft"),
    ],
    "Remove a suite (its tasks go with it)": [
        (READ, "test_the_record_of_a_removed_suite_stays_readable"),
        (ADMIN, "test_a_suite_is_removed_once"),
    ],
    "Suites are created disabled by default and only appear in the public catalog once enabled": [
        (ADMIN, "test_a_new_suite_is_disabled_and_pays_nothing"),
        (READ, "test_the_catalog_holds_every_enabled_suite_and_no_other"),
    ],
    "run-now works even on a not-yet-enabled suite, so you can trial a draft against its targets "
    "before publishing it.": [(ADMIN, "test_a_run_by_hand_works_on_a_draft")],
    "The whole subsystem is feature-gated (EVALS_ENABLED, default off)": [
        (WING, "test_nothing_said_is_nothing_published"),
        (WING, "test_ways_to_say_on"),
    ],
    "on a registry with the gate down, the runner never starts, run-now refuses with a conflict, "
    "and the public read surface stays empty rather than erroring.": [
        (RUNNER, "test_with_the_gate_down_no_runner_starts"),
        (OPERATOR, "test_run_now_with_the_gate_down_is_a_conflict"),
        (PUBLIC, "test_with_the_gate_down_every_list_is_empty"),
    ],
}


@cache
def defined_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    names = (node.name for node in tree.body if isinstance(node, kinds))
    return frozenset(name for name in names if name.startswith("test_"))


@pytest.mark.parametrize(("promise", "shown"), PROMISES.items(), ids=range(len(PROMISES)))
def test_each_promise_has_a_test_that_shows_it(promise, shown):
    assert shown, promise
    for file, name in shown:
        assert name in defined_in(file), f"{file} has no {name}"
