"""A live run brings no key, question, passage or answer into any log, record or message."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import doors
import live_pack
import pytest
from live_agents import a2a_serving, chat, closed_port, completion, serving

KEY = "sk-QxLongKeyZw"
MARK = "QxMarkZw"
ANSWER = "QxAnswerZw"
WORK = {"journal.jsonl", "run.jsonl"}
INPUTS = {"core.jsonl", "kb.jsonl"}


@pytest.fixture
def folder(tmp_path):
    return live_pack.make(tmp_path / "QxPathZw", cases=4, mark=MARK)


def clean(folder: Path, done: doors.Done, caplog) -> None:
    """Only the work folder has texts, and nothing at all has the key."""
    texts = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in INPUTS
    }
    texts["printed"] = (done.stdout + done.stderr).encode()
    texts["logged"] = caplog.text.encode()
    for name, text in texts.items():
        assert KEY.encode() not in text, name
        if Path(name).name not in WORK:
            for marker in (MARK, ANSWER, "QxPathZw"):
                assert marker.encode() not in text, (name, marker)


def run(folder: Path, *more: str, **env: str) -> doors.Done:
    return doors.call(
        "lighthouse", folder, "evals", "run", "--pack", "support", "--index", "kb.jsonl",
        "--agent", "agent.yaml", "--version", "1.0.0", "--out", "out", "--policy", "policy.yaml",
        *more, DESK_KEY=KEY, **env,
    )  # fmt: skip


def echo(handler, body):
    """An agent that gives away all that it was sent."""
    sent = handler.headers.get("Authorization", "")
    handler.reply(completion(f"{ANSWER} {sent} {body['messages'][-1]['content']}"))


def broken(handler, body):
    handler.reply({"error": {"message": f"{handler.headers.get('Authorization')} {body}"}}, 500)


def garbled(handler, body):
    handler.reply(f"{ANSWER} {handler.headers.get('Authorization')} {json.dumps(body)}".encode())


def refusing(handler, body):
    handler.reply({"error": f"{handler.headers.get('Authorization')}"}, 401)


@pytest.mark.parametrize("behaviour", [chat, echo, broken, garbled, refusing])
def test_nothing_of_it_leaves_the_work_folder(behaviour, folder, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(behaviour) as server:
        live_pack.agent(folder, url=f"{server.url}/v1", key_from="DESK_KEY", tries=2)
        for more in ((), ("--dry-run",), ("--format", "json"), ("--retry-failed",)):
            clean(folder, run(folder, *more), caplog)
        if behaviour is not refusing:
            assert (folder / "out" / "decision.json").is_file()
        assert f"Bearer {KEY}" in server.keys


def test_nothing_of_it_leaves_an_a2a_agent(folder, caplog):
    caplog.set_level(logging.DEBUG, "aal_engine")
    with a2a_serving() as url:
        live_pack.agent(folder, kind="a2a", url=url, key_from="DESK_KEY",
                        families={name: {} for name in live_pack.FAMILIES})  # fmt: skip
        clean(folder, run(folder), caplog)
    live_pack.agent(folder, kind="a2a", url=f"http://127.0.0.1:{closed_port()}", tries=1,
                    families={name: {} for name in live_pack.FAMILIES})  # fmt: skip
    clean(folder, run(folder, "--restart"), caplog)


def index(found):
    def behaviour(handler, body):
        if "identity" in body:
            handler.reply({"name": "own", "count": 1, "model": None})
        else:
            handler.reply(found(body["search"]["queries"]))

    return behaviour


INDEXES = {
    "an error that quotes": lambda queries: {"error": queries},
    "too few": lambda queries: {"hits": [[]]},
    "ids that are questions": lambda queries: {"hits": [[{"id": q + "\n", "score": 1}] for q in queries]},
    "scores that are questions": lambda queries: {"hits": [[{"id": "a", "score": q}] for q in queries]},
    "no hits": lambda queries: {"found": queries},
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXES)
def test_nothing_of_it_stands_in_an_index_s_fault(name, folder, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(index(INDEXES[name])) as server:
        live_pack.agent(folder, url="http://127.0.0.1:1")
        (folder / "i.yaml").write_text(
            json.dumps({"kind": "http", "url": server.url, "key_from": "DESK_KEY", "tries": 1})
        )
        done = doors.call(
            "lighthouse", folder, "evals", "run", "--pack", "support", "--index", "i.yaml",
            "--agent", "agent.yaml", "--version", "1", "--out", "out", DESK_KEY=KEY,
        )  # fmt: skip
    assert done.returncode == 2
    clean(folder, done, caplog)


def test_a_python_index_that_raises_what_it_was_asked(folder, caplog, monkeypatch):
    (folder / "own_index.py").write_text(
        "class Own:\n"
        "    def search(self, queries, k):\n        raise ValueError(queries[0])\n"
        "    def identity(self):\n        return {'name': 'own'}\n"
    )
    live_pack.agent(folder, url="http://127.0.0.1:1")
    done = doors.call(
        "lighthouse", folder, "evals", "run", "--pack", "support", "--index", "own_index:Own",
        "--agent", "agent.yaml", "--version", "1", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 2 and "raised ValueError" in done.stderr
    clean(folder, done, caplog)
