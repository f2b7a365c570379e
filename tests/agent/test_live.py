"""`lighthouse evals run` against live systems: real servers, three families, gated and recorded."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import doors
import live_pack
import pytest
from live_agents import PLACES, a2a_serving, chat, cited_sentence, closed_port, completion, serving

AT = ("--at", "2026-01-31T09:30:00Z")
FAILED = ("unreachable", "timeout", "refused", "unreadable", "other")


def run(
    folder: Path, *more: str, version: str = "1.0.0", out: str = "out", index="kb.jsonl", **env
):
    arguments = ("--pack", "support", "--agent", "agent.yaml", "--version", version, "--out", out)
    index_part = ("--index", index) if index else ()
    return doors.call(
        "lighthouse", folder, "evals", "run", *arguments, *index_part, *AT, *more, **env
    )


def records(folder: Path, kind: str) -> Mapping[str, dict]:
    listed = json.loads((folder / f"{kind}.json").read_text())["records"]
    return {record["model_family"]: record for record in listed}


@pytest.fixture
def folder(tmp_path):
    return live_pack.make(tmp_path)


def test_three_families_of_a_chat_endpoint_gated_and_recorded(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1/", key_from="DESK_KEY")
        done = run(folder, "--policy", "policy.yaml", DESK_KEY="sk-1")
        assert done.returncode == 0, done.stdout + done.stderr
        assert set(server.keys) == {"Bearer sk-1"} and len(server.seen) == 60
    answers = records(folder / "out", "answers")
    assert set(answers) == set(live_pack.FAMILIES)
    for record in answers.values():
        assert record["metrics"]["grounded"]["value"] == 1.0
        assert record["metrics"]["citation_rate"]["value"] == 1.0
        assert record["metrics"]["complete"]["value"] > 0.9
        assert record["index"]["model"] == "tantivy/en_stem" and record["index"]["count"] == 60
        assert not any(name.startswith("failed") for name in record["counts"])
    retrieval = records(folder / "out", "retrieval")
    # Three passages a document are one document once folded.
    assert retrieval["gpt"]["metrics"]["success@1"]["value"] == 1.0
    assert json.loads((folder / "out" / "decision.json").read_text())["verdict"] == "released"
    assert "asked: 60 answers, 0 failures, 0 retries" in done.stdout and "tokens: " in done.stdout
    assert doors.call("ledger", folder, "verify").returncode == 0


def test_three_families_of_an_a2a_agent(folder):
    with a2a_serving() as url:
        live_pack.agent(folder, kind="a2a", url=url, families={name: {} for name in "abc"})
        done = run(folder)
    assert done.returncode == 0, done.stderr
    for record in records(folder / "out", "answers").values():
        assert record["passed"] and record["metrics"]["citation_rate"]["value"] == 1.0


PROGRAM = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    first = row["passages"][0]
    text = first["text"].split(". ")[0]
    print(json.dumps({"id": row["id"], "answer": f"{text} [{first['label']}].",
                      "usage": {"input_tokens": 10, "output_tokens": 5}}), flush=True)
"""


def own(handler, body):
    first = body["passages"][0]
    text = first["text"].split(". ")[0]
    handler.reply({"answer": f"{text} [{first['label']}].", "citations": [1]})


def test_a_program_and_an_endpoint_of_one_s_own(folder):
    live_pack.agent(folder, kind="command", command=[sys.executable, "-c", PROGRAM])
    assert run(folder, "--families", "claude", out="program").returncode == 0
    with serving(own) as server:
        live_pack.agent(folder, kind="http", url=server.url)
        assert run(folder, "--families", "claude,gpt", out="http").returncode == 0
    assert records(folder / "program", "answers")["claude"]["metrics"]["grounded"]["value"] == 1.0
    assert set(records(folder / "http", "answers")) == {"claude", "gpt"}


def test_an_agent_that_retrieves_for_itself_needs_no_index(folder):
    def behaviour(handler, body):
        assert body["passages"] is None
        found = [{"doc_id": "doc-001", "score": 1.0, "text": "It is so."}]
        handler.reply({"answer": "It is so [1].", "retrieved": found})

    with serving(behaviour) as server:
        live_pack.agent(folder, kind="http", url=server.url)
        assert run(folder, index=None).returncode == 0
    record = records(folder / "out", "answers")["gpt"]
    assert record["metrics"]["grounded"]["value"] == 1.0 and "index" not in record


def test_an_index_alone_is_measured_and_releases_nothing(folder):
    done = doors.call(
        "lighthouse", folder, "evals", "run", "--pack", "support", "--index", "kb.jsonl",
        "--version", "1", "--out", "out", "--policy", "policy.yaml",
    )  # fmt: skip
    assert done.returncode == 1
    assert "no answer evaluation, no release" in done.stdout
    assert not (folder / "out" / "answers.json").exists()


def failing(word: str):
    """Serve an agent whose `gpt` alone fails, in one way, on a quarter of the questions."""

    def behaviour(handler, body):
        prompt = body["messages"][-1]["content"]
        number = prompt.rpartition("topic")[2][:3]
        if body["model"] != "second" or number[-1] not in "adgj":
            handler.reply(completion(cited_sentence(prompt, PLACES[body["model"]])))
        elif word == "unreachable":
            handler.close_connection = True
            handler.connection.close()
        elif word == "timeout":
            time.sleep(5)
        elif word == "refused":
            handler.reply({"error": "overloaded"}, 503)
        else:
            handler.reply(b"<html>It works!</html>")

    return behaviour


@pytest.mark.parametrize("word", ["unreachable", "timeout", "refused", "unreadable"])
def test_a_dead_a_slow_a_refusing_and_a_garbled_agent_are_told_apart(word, folder):
    with serving(failing(word)) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", timeout=2.5, tries=2, concurrency=16)
        done = run(folder, "--policy", "policy.yaml")
    assert done.returncode == 1, done.stderr
    answers = records(folder / "out", "answers")
    failed = {name: answers["gpt"]["counts"].get(f"failed_{name}") for name in FAILED}
    assert failed == {**dict.fromkeys(FAILED, 0), word: 8}
    assert answers["gpt"]["counts"]["missing_outputs"] == 8 and not answers["gpt"]["passed"]
    assert answers["claude"]["passed"]
    assert "failed_timeout" not in answers["claude"]["counts"]
    assert f"8 failures (8 {word})" in done.stdout
    assert f"failed: {word}" in done.stdout


def test_a_family_that_never_answers_has_a_record_that_says_so(folder):
    live_pack.agent(folder, url=f"http://127.0.0.1:{closed_port()}", tries=1)
    done = run(folder, "--policy", "policy.yaml")
    assert done.returncode == 1
    for record in records(folder / "out", "answers").values():
        assert record["counts"]["failed_unreachable"] == 20 and not record["passed"]


def test_what_failed_is_asked_again_on_demand(folder):
    down = True

    def behaviour(handler, body):
        if down:
            handler.reply({}, 500)
        else:
            chat(handler, body)

    with serving(behaviour) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", tries=1)
        assert run(folder).returncode == 0
        down = False
        assert run(folder).returncode == 0
        assert len(server.seen) == 60
        done = run(folder, "--retry-failed")
        assert done.returncode == 0 and len(server.seen) == 120
    assert all(record["passed"] for record in records(folder / "out", "answers").values())


def test_an_overloaded_agent_is_left_alone_as_long_as_it_asks(folder):
    asked: list[float] = []

    def behaviour(handler, body):
        asked.append(time.monotonic())
        if len(asked) == 1:
            handler.reply({}, 429, Retry_After="1")
        else:
            chat(handler, body)

    with serving(behaviour) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", concurrency=1)
        done = run(folder, "--families", "claude")
    assert "0 failures, 1 retries" in done.stdout
    assert asked[1] - asked[0] >= 1


def test_no_more_questions_at_once_than_allowed(folder):
    def behaviour(handler, body):
        time.sleep(0.02)
        chat(handler, body)

    with serving(behaviour) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", concurrency=3)
        assert run(folder).returncode == 0
    assert server.most_under_way == 3


def test_a_refused_key_ends_the_run_at_once(folder):
    with serving(lambda handler, body: handler.reply({}, 401)) as server:
        live_pack.agent(folder, url=server.url, key_from="DESK_KEY", concurrency=1)
        done = run(folder, DESK_KEY="sk-Qx-Zw")
        assert len(server.seen) == 1
    assert done.returncode == 2 and "refuses the key: HTTP 401" in done.stderr
    assert "Qx" not in done.stdout + done.stderr
    assert not (folder / "out" / "answers.json").exists()


def test_a_key_that_is_not_set_is_missed_before_anything_is_asked(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=server.url, key_from="DESK_KEY")
        done = run(folder, DESK_KEY="")
        assert not server.seen
    assert done.returncode == 2 and "DESK_KEY is not set" in done.stderr
    assert not (folder / "out").exists()


def test_the_deadline_ends_a_run_that_goes_on_later(folder):
    def behaviour(handler, body):
        time.sleep(0.2)
        chat(handler, body)

    with serving(behaviour) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", deadline=1.0, concurrency=4)
        done = run(folder)
        assert done.returncode == 2 and "deadline of 1 s passed" in done.stderr
        assert not (folder / "out" / "answers.json").exists()
        seen = len(server.seen)
        live_pack.agent(folder, url=f"{server.url}/v1", concurrency=32)
        assert run(folder).returncode == 0
        assert len(server.seen) < 60 + seen
    assert all(record["passed"] for record in records(folder / "out", "answers").values())


def test_an_index_that_fails_midway_is_no_empty_list(folder):
    calls = []

    def index(handler, body):
        if "identity" in body:
            handler.reply({"name": "kb", "count": 60, "model": None})
            return
        calls.append(body)
        if len(calls) > 1:
            handler.reply({"error": "down"}, 500)
        else:
            hits = [
                [{"id": "doc-001", "score": 1.0, "text": "x"}] for _ in body["search"]["queries"]
            ]
            handler.reply({"hits": hits})

    live_pack.make(folder / "large", cases=40)
    home = folder / "large"
    with serving(index) as server, serving(chat) as agents:
        live_pack.agent(home, url=f"{agents.url}/v1")
        options = {"kind": "http", "url": server.url, "tries": 1}
        (home / "index.yaml").write_text(json.dumps(options))
        done = run(home, index="index.yaml")
        assert done.returncode == 2 and "did not answer" in done.stderr
        assert not agents.seen
        assert not list(home.glob("out/*.json"))
        calls.clear()
        calls_before = len(server.seen)
        done = run(home, index="index.yaml")
        # It goes on with the eight questions that were not searched.
        assert done.returncode == 0, done.stderr
        assert len(server.seen) - calls_before == 2
        assert len(server.seen[-1]["search"]["queries"]) == 8


def test_a_dry_run_asks_nothing_of_the_agent_and_writes_nothing(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=server.url, parameters={"max_tokens": 100})
        before = sorted(folder.rglob("*"))
        done = run(folder, "--dry-run")
        assert done.returncode == 0 and not server.seen
        assert sorted(folder.rglob("*")) == before
        told = json.loads(run(folder, "--dry-run", "--format", "json").stdout)["estimate"]
    assert told["requests"] == 60 and told["most_tokens_out"] == 6000 and told["searches"] == 20
    assert "estimate" in done.stdout and "60 requests to 3 families" in done.stdout
    assert 60 * 400 / 4 < told["estimated_tokens_in"] < 60 * 4000 / 4


def test_a_slot_is_run_once(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        first = run(folder, "--slot", "2026-01-31T09:30Z", "--policy", "policy.yaml")
        files = {path: path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()}
        again = run(folder, "--slot", "2026-01-31T09:30Z", "--policy", "policy.yaml")
        assert len(server.seen) == 60
        assert (first.returncode, again.returncode) == (0, 0)
        assert "nothing was asked now" in again.stderr
        assert files == {p: p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()}
        assert run(folder, "--slot", "next", "--policy", "policy.yaml").returncode in (0, 1)
        assert len(server.seen) == 120
    assert (folder / "out" / "next" / "decision.json").is_file()
    assert run(folder, "--slot", "../up").returncode == 2


def test_another_question_is_another_run(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        assert run(folder).returncode == 0
        live_pack.agent(folder, url=f"{server.url}/v1", timeout=5, concurrency=1, tries=9)
        assert run(folder).returncode == 0, "how it is asked may change"
        live_pack.agent(folder, url=f"{server.url}/v1", prompt={"system": "Be brief."})
        done = run(folder)
        assert done.returncode == 2 and "holds another run" in done.stderr
        assert run(folder, "--restart").returncode == 0
        assert len(server.seen) == 120
        pack = folder / "support" / "pack.yaml"
        pack.write_text(pack.read_text().replace("base: 1", "base: 0"))
        done = run(folder)
        assert done.returncode == 2 and "holds another run" in done.stderr
        pack.write_text(pack.read_text().replace("base: 0", "base: 1"))
        kb = folder / "kb.jsonl"
        kb.write_text(kb.read_text().replace("part 1", "piece 1"))
        assert run(folder).returncode == 0, "a finished run does not search"
        journal = folder / "out" / "work" / "journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(
            b"".join(line for line in lines if b'"case":"case-007","retr' not in line)
        )
        done = run(folder)
        assert done.returncode == 2 and "the index changed since this run began" in done.stderr


def test_a_changed_index_is_seen_by_the_gate(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        assert run(folder, "--policy", "policy.yaml", out="a").returncode == 0
        kb = folder / "kb.jsonl"
        kb.write_text(kb.read_text().replace("known well", "well known"))
        done = run(folder, "--policy", "policy.yaml", "--baseline", "a/decision.json",
                   version="1.1.0", out="b")  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "the index changed since the last release: kb@" in done.stdout


def test_what_is_seldom_meant_is_noted(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        done = run(folder, "--families", "claude", "--k", "5")
        assert "recall@10, precision@10, ndcg@10: measured on lists of 5 passages" in done.stderr
        (folder / "ids_only.py").write_text(
            "class Index:\n"
            "    def search(self, queries, k):\n        return [[('doc-001', 1.0)] for _ in queries]\n"
            "    def identity(self):\n        return {'name': 'ids'}\n"
        )
        done = run(folder, "--families", "claude", index="ids_only:Index", out="b")
    assert done.returncode == 0 and "the index gives no texts" in done.stderr


def test_attempts_are_asked_each(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        assert run(folder, "--attempts", "2", "--families", "gpt").returncode == 0
        assert len(server.seen) == 40
    assert records(folder / "out", "answers")["gpt"]["counts"]["attempts"] == 40


def test_a_recorded_run_is_an_agent_too(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        assert run(folder, out="a").returncode == 0
    arguments = ("--pack", "support", "--version", "1.0.0", *AT)
    recorded = str(Path("a", "work", "run.jsonl"))
    done = doors.call(
        "lighthouse", folder, "evals", "run", *arguments, "--out", "b",
        "--agent", recorded, "--families", "claude,gpt,llama",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, after = (records(folder / name, "answers") for name in "ab")
    for family, record in after.items():
        assert record["metrics"] == before[family]["metrics"]


def test_json_holds_records_totals_and_the_decision(folder):
    with serving(chat) as server:
        live_pack.agent(folder, url=f"{server.url}/v1")
        done = run(folder, "--policy", "policy.yaml", "--format", "json")
    told = json.loads(done.stdout)
    assert len(told["records"]) == 6 and told["totals"]["answers"] == 60
    assert told["decision"]["verdict"] == "released"


CALLS = {
    "nothing to ask": ((), "there is nothing to ask"),
    "both recorded and live": (("--run", "x", "--agent", "agent.yaml"), "recorded already"),
    "no such family": (("--agent", "agent.yaml", "--families", "mistral"), "no family mistral"),
    "no such agent": (("--agent", "gone.yaml"), "no such file"),
    "k of nothing": (("--agent", "agent.yaml", "--k", "0"), "must be from 1"),
    "no such suite": (("--agent", "agent.yaml", "--suite", "x"), "no suite x"),
    "recorded without families": (("--agent", "kb.jsonl"), "name them with --families"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_cannot_be_used(name, folder):
    live_pack.agent(folder, url="http://127.0.0.1:1")
    more, says = CALLS[name]
    done = doors.call(
        "lighthouse", folder, "evals", "run", "--pack", "support", "--version", "1", "--out", "out",
        *more,
    )  # fmt: skip
    assert done.returncode == 2 and says in done.stderr
    assert not (folder / "out").exists()


AGENTS = {
    "an unknown kind": {"kind": "magic"},
    "a key in the open": {"key": "sk-Qx-Zw"},
    "a header": {"headers": {"Authorization": "Bearer sk-Qx-Zw"}},
    "no family": {"families": {}},
    "no model": {"families": {"claude": {}}, "url": "http://127.0.0.1:1"},
    "no url": {},
    "a password in the url": {"url": "http://u:sk-Qx-Zw@127.0.0.1:1"},
    "an index for an agent": {"kind": "tantivy"},
}


@pytest.mark.parametrize("name", AGENTS)
def test_agents_that_cannot_be_asked(name, folder):
    live_pack.agent(folder, **AGENTS[name])
    done = run(folder)
    assert done.returncode == 2
    assert "Qx" not in done.stdout + done.stderr
    assert not (folder / "out").exists()
