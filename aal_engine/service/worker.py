"""Processes that judge answers beside this one; what they find does not depend on how many.

Each worker has a pipe of its own and judges what comes through it until the pipe is closed, which
the end of this process does too, however it comes. Chunks go to the workers in turn and their
counts come back in the same order, a few chunks ahead of what was read, so that memory is bounded.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from aal_engine.measure.golden import Pack
from aal_engine.measure.score import Row, judge_rows

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from aal_engine.measure.answer.counts import AnswerCounts

Chunk: TypeAlias = Sequence[Row]

MOST_WORKERS: Final = 8
WORTH: Final = 10_000_000
"""How many characters of answers repay the start of the processes: about five seconds of work."""

CHUNK_ROWS: Final = 64
CHUNK_CHARACTERS: Final = 1_000_000
AHEAD: Final = 2
"""How many chunks a worker has at a time; their counts fit in its pipe."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Judges rows in `jobs` processes, or here where there is little to do.

    `jobs` None is as many as this process may use cores.
    """

    jobs: int | None = None
    worth: int = WORTH

    def __call__(self, pack: Pack, rows: Sequence[Row]) -> Iterator[AnswerCounts | None]:
        """Yield the counts of each row, None where it has no answer, in their order."""
        jobs = min(_cores() if self.jobs is None else self.jobs, MOST_WORKERS)
        size = sum(map(_characters, rows)) if jobs > 1 else 0
        if jobs < 2 or size < self.worth:
            yield from judge_rows(pack, rows)
        else:
            yield from _shared_out(pack, rows, jobs)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _characters(row: Row) -> int:
    return 0 if row.output is None else len(row.output.answer or "")


def _chunks(rows: Sequence[Row]) -> Iterator[Chunk]:
    """Cut rows into chunks of bounded text; a single row may be longer."""
    chunk: list[Row] = []
    size = 0
    for row in rows:
        length = _characters(row)
        if chunk and (len(chunk) == CHUNK_ROWS or size + length > CHUNK_CHARACTERS):
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += length
    if chunk:
        yield chunk


def _shared_out(pack: Pack, rows: Sequence[Row], jobs: int) -> Iterator[AnswerCounts | None]:
    workers = [_Worker(pack) for _ in range(jobs)]
    waiting: deque[tuple[_Worker, Chunk]] = deque()
    try:
        for place, chunk in enumerate(_chunks(rows)):
            if len(waiting) == jobs * AHEAD:
                yield from _taken(pack, *waiting.popleft())
            worker = workers[place % jobs]
            worker.give(chunk)
            waiting.append((worker, chunk))
        while waiting:
            yield from _taken(pack, *waiting.popleft())
    finally:
        for worker in workers:
            worker.end()


def _taken(pack: Pack, worker: _Worker, chunk: Chunk) -> Iterator[AnswerCounts | None]:
    """Yield what a worker found in its oldest chunk; a chunk of one that died is judged here."""
    counts = worker.take()
    yield from judge_rows(pack, chunk) if counts is None else counts


class _Worker:
    """One process and the pipe to it. Nothing that goes wrong with it is raised."""

    def __init__(self, pack: Pack) -> None:
        from multiprocessing import get_context

        # Not forked: the threads of Arrow's pool hold locks that a fork would never see released.
        context = get_context("spawn")
        self._pipe: Connection | None = None
        self._process: BaseProcess | None = None
        with suppress(OSError):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, pack), daemon=True)
            process.start()
            theirs.close()
            self._process, self._pipe = process, ours

    def give(self, chunk: Chunk) -> None:
        """Send a chunk to be judged."""
        if self._pipe is not None:
            try:
                self._pipe.send(chunk)
            except OSError:
                self._pipe = None

    def take(self) -> list[AnswerCounts | None] | None:
        """Return the counts of the oldest chunk given, or None where the process is no more."""
        if self._pipe is None:
            return None
        try:
            counts: list[AnswerCounts | None] = self._pipe.recv()
        except (OSError, EOFError):
            self._pipe = None
            return None
        return counts

    def end(self) -> None:
        """Stop the process, in the middle of its work if need be."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.terminate()
            self._process.join()


def _work(pipe: Connection, pack: Pack) -> None:
    """Judge what comes through a pipe until it is closed."""
    import signal

    # Ctrl-C reaches every process of the terminal; the one that started this ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(list(judge_rows(pack, pipe.recv())))
