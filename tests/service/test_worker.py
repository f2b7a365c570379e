"""Answers judged in several processes: the same counts, whatever becomes of the processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from aal_engine.measure.golden import Case, CitationStyle, Pack
from aal_engine.measure.point import parse_point
from aal_engine.measure.run import Output, Passage
from aal_engine.measure.score import Row, judge_rows
from aal_engine.service import worker
from aal_engine.service.worker import Workers

PACK = Pack("p", "a", 1, "public", CitationStyle(), "en", (), {})
ALWAYS = Workers(2, worth=0)


def rows(count: int) -> list[Row]:
    made = []
    for place in range(count):
        case = Case(f"c{place}", "?", must_mention=(parse_point(f"{place} days"),))
        text = f"It takes {place % 7} days [{place % 3}]."
        passages = (Passage("d", text="It takes 3 days."),)
        output = Output(case.id, answer=None if place % 10 == 9 else text, retrieved=passages)
        made.append(Row(case, "", 1, None if place % 11 == 10 else output))
    return made


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert multiprocessing.active_children() == []


def test_the_counts_are_those_of_one_process_in_the_same_order(monkeypatch):
    given = rows(300)
    assert list(ALWAYS(PACK, given)) == list(judge_rows(PACK, given))
    monkeypatch.setattr(worker, "CHUNK_CHARACTERS", 30)
    assert list(Workers(3, worth=0)(PACK, given[:40])) == list(judge_rows(PACK, given[:40]))
    assert list(ALWAYS(PACK, [])) == []


@pytest.mark.parametrize(("jobs", "worth"), [(1, 0), (2, 10**9)])
def test_little_work_starts_no_process(monkeypatch, jobs, worth):
    monkeypatch.setattr(worker, "_Worker", None)
    given = rows(20)
    assert list(Workers(jobs, worth)(PACK, given)) == list(judge_rows(PACK, given))


def test_what_a_process_that_died_had_to_judge_is_judged_here():
    given = rows(600)
    found = ALWAYS(PACK, given)
    first = next(found)
    for child in multiprocessing.active_children():
        os.kill(child.pid, signal.SIGKILL)
    assert [first, *found] == list(judge_rows(PACK, given))


def test_no_process_at_all_is_no_matter(monkeypatch):
    def refuse(self):
        raise OSError

    monkeypatch.setattr(multiprocessing.context.SpawnProcess, "start", refuse)
    given = rows(100)
    assert list(ALWAYS(PACK, given)) == list(judge_rows(PACK, given))


def test_leaving_off_ends_the_processes():
    found = ALWAYS(PACK, rows(600))
    next(found)
    assert len(multiprocessing.active_children()) == 2
    found.close()


ENDLESS = """
import itertools, sys
sys.path.insert(0, sys.argv[1])
from test_worker import ALWAYS, PACK, rows
if __name__ == "__main__":
    import multiprocessing
    found = ALWAYS(PACK, rows(60_000))
    next(found)
    print(*[child.pid for child in multiprocessing.active_children()], flush=True)
    for _ in found:
        pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_processes_end_with_the_one_that_started_them(tmp_path, how):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    command = [sys.executable, script, os.path.dirname(__file__)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as parent:
        children = list(map(int, parent.stdout.readline().split()))
        assert len(children) == 2
        os.kill(parent.pid, how)
        parent.wait(30)
    until = time.monotonic() + 30
    while any(map(alive, children)):
        assert time.monotonic() < until
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
