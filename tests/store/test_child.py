"""Programs that answer JSON Lines, and those that do something else."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from aal_engine.errors import InputError
from aal_engine.store.child import Child
from aal_engine.store.failure import Failure

ECHO = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "answer": row["question"]}), flush=True)
"""


def program(code: str, timeout: float = 10) -> Child:
    return Child([sys.executable, "-c", code], timeout=timeout)


def ask(child: Child, *questions: str):
    async def asked():
        try:
            return await asyncio.gather(
                *(child.ask({"question": one}) for one in questions), return_exceptions=True
            )
        finally:
            await child.close()

    return asyncio.run(asked())


def test_many_questions_at_once_each_with_its_reply():
    questions = [f"q{number}" for number in range(200)]
    assert [reply["answer"] for reply in ask(program(ECHO), *questions)] == questions


def test_replies_in_another_order():
    code = (
        "import sys, json\nrows = [json.loads(sys.stdin.readline()) for _ in range(3)]\n"
        "for row in reversed(rows): print(json.dumps({'id': row['id'], 'answer': row['question']}))"
    )
    replies = ask(program(code), "a", "b", "c")
    assert [reply["answer"] for reply in replies] == ["a", "b", "c"]


FAULTS = {
    "it ends": ("import sys; sys.stdin.readline()", "unreachable"),
    "it crashes": ("import sys; sys.stdin.readline(); sys.exit('no')", "unreachable"),
    "garbage": ("import sys; sys.stdin.readline(); print('It works!', flush=True)", "unreadable"),
    "no number": ("import sys; sys.stdin.readline(); print('{}', flush=True)", "unreadable"),
    "no json": (
        "import sys; sys.stdin.readline(); print('{\"id\": 1,}', flush=True)",
        "unreadable",
    ),
    "endless": (
        "import sys\nwhile True: sys.stdout.write('x' * 100000)",
        "unreadable",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_reply_is_a_failure(fault):
    code, word = FAULTS[fault]
    [failure] = ask(program(code), "q")
    assert isinstance(failure, Failure) and failure.word == word


def test_a_program_that_hangs_is_slow_and_is_ended():
    began = time.monotonic()
    [failure] = ask(program("import time; time.sleep(60)", timeout=0.3), "q")
    assert isinstance(failure, Failure) and failure.word == "timeout"
    assert time.monotonic() - began < 10


def test_it_is_started_again_after_it_ended():
    code = "import sys, json; row = json.loads(sys.stdin.readline()); print(json.dumps(row))"

    async def asked():
        child = program(code)
        try:
            first = await child.ask({"question": "a"})
            await asyncio.sleep(0.3)
            return first, await child.ask({"question": "b"})
        finally:
            await child.close()

    assert [reply["question"] for reply in asyncio.run(asked())] == ["a", "b"]


def test_a_late_reply_is_nobody_s():
    code = (
        "import sys, json, time\nfirst = True\nfor line in sys.stdin:\n"
        "    time.sleep(2 if first else 0); first = False\n    print(line, end='', flush=True)"
    )

    async def asked():
        child = program(code, timeout=1.5)
        try:
            with pytest.raises(Failure):
                await child.ask({"question": "a"})
            await asyncio.sleep(1)
            return await child.ask({"question": "b"})
        finally:
            await child.close()

    assert asyncio.run(asked())["question"] == "b"


def test_a_program_that_is_not_there_is_named_without_its_folder():
    [error] = ask(Child(["/no/such/place/agent"], timeout=5), "q")
    assert isinstance(error, InputError)
    assert "agent" in str(error) and "/no/such" not in str(error)
