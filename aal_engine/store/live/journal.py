"""The journal of a live run: what was found and answered so far, each the moment it was known.

`OUT/work` is the customer's own: journal and run file hold passages and answers, and are readable by
their owner alone. One JSON object a line, appended in one write and synced: a process that dies
leaves whole lines, and at most a torn one at the end, which the next opening cuts off.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from aal_engine.canonical import JSON
from aal_engine.errors import Conflict, InputError, WriteError, file_name
from aal_engine.measure.origin import Identity
from aal_engine.measure.run import Output, Passage
from aal_engine.store.atomic import replacing
from aal_engine.store.folder import make_folder
from aal_engine.store.json_text import JSONProblem, decode
from aal_engine.store.live.answered import (
    Answered,
    Key,
    answered_from,
    row_of,
    run_row,
    told_passage,
)
from aal_engine.store.live.body import passage_of
from aal_engine.store.text_file import MAX_LINE

JOURNAL_SCHEMA = "aal/journal/1"
FOLDER = "work"
JOURNAL = "journal.jsonl"
RUN = "run.jsonl"
NOTE = "The files of this folder hold your passages and your agent's answers. They are your own."


class Journal:
    """An open journal, and what it holds."""

    def __init__(self, file: int, begun_at: str) -> None:
        self._file = file
        self.begun_at = begun_at
        self.index: Identity | None = None
        self.retrieved: dict[str, tuple[Passage, ...]] = {}
        self.answered: dict[Key, Answered] = {}

    def searched(self, index: Identity) -> None:
        """Note which index is searched.

        Raises:
            Conflict: a part of the run was searched in another one.
        """
        if self.index is None:
            self._append({"index": index.canonical()})
            self.index = index
        elif self.index != index:
            raise Conflict(
                "the index changed since this run began",
                way_out="pass --restart to ask everything anew, or name another --out or --slot",
            )

    def found(self, passages: Mapping[str, tuple[Passage, ...]]) -> None:
        """Note what was retrieved for some cases."""
        for case, listed in passages.items():
            row: JSON = {"case": case, "retrieved": [told_passage(one) for one in listed]}
            self._append(row, case, sync=False)
        self._sync()
        self.retrieved.update(passages)

    def finish(self, answered: Answered) -> None:
        """Note one finished question; an answer that no line of a run file can hold is unreadable."""
        output = answered.output
        if len(_run_line(output)) > MAX_LINE:
            found = self.retrieved.get(output.case_id)
            output = Output(
                output.case_id, output.attempt, output.model_family, found, error="unreadable"
            )
            answered = replace(answered, output=output)
        if output.retrieved is self.retrieved.get(output.case_id):
            output = replace(output, retrieved=None)
        self._append(row_of(replace(answered, output=output)), output.case_id)
        self.answered[answered.key] = answered

    def forget_failed(self) -> None:
        """Take what ended in an error for unfinished; its line stays until another one follows."""
        self.answered = {key: one for key, one in self.answered.items() if one.output.error is None}

    def _append(self, row: JSON, case: str | None = None, *, sync: bool = True) -> None:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if len(line) > MAX_LINE:
            raise InputError.at(
                f"its passages take more than {MAX_LINE // 2**20} MiB",
                case=case,
                way_out="ask for fewer with --k, or index shorter passages",
            )
        try:
            written = os.write(self._file, line)
            if written != len(line):
                raise OSError(None, "the disk is full")
        except OSError as error:
            raise _unwritten(error) from None
        if sync:
            self._sync()

    def _sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            raise _unwritten(error) from None


@contextmanager
def open_journal(out: Path, job: str, begun_at: str, *, restart: bool = False) -> Iterator[Journal]:
    """Open the journal of a run in `OUT/work`, or start it; `job` is the digest of what is asked.

    Raises:
        Conflict: the folder holds another run, or a process is at it.
        InputError: the journal is damaged.
        WriteError: it cannot be written.
    """
    folder = out / FOLDER
    make_folder(folder)
    path = folder / JOURNAL
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        folder.chmod(0o700)
        file = os.open(path, flags, 0o600)
    except OSError as error:
        raise WriteError(f"{JOURNAL} cannot be opened: {error.strerror}") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("another process is at this run", way_out="let it finish") from None
        if restart:
            os.ftruncate(file, 0)
        yield _opened(file, path, job, begun_at)
    finally:
        os.close(file)


def _opened(file: int, path: Path, job: str, begun_at: str) -> Journal:
    rows = _whole_rows(file, path)
    head = next(rows, None)
    if head is None:
        journal = Journal(file, begun_at)
        journal._append({"schema": JOURNAL_SCHEMA, "job": job, "begun_at": begun_at, "note": NOTE})
        return journal
    if head.get("schema") != JOURNAL_SCHEMA or not _is_time(head.get("begun_at")):
        raise _damaged(path)
    if head.get("job") != job:
        raise Conflict(
            "this folder holds another run: the pack, the agent, the index or how it is asked "
            "is not the same",
            way_out="name another --out or --slot, or pass --restart to ask everything anew",
        )
    journal = Journal(file, head["begun_at"])
    try:
        for row in rows:
            _take(journal, row)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _damaged(path) from None
    return journal


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def finished(out: Path, job: str) -> int:
    """Return how many questions of a run are finished, 0 where there is no such run."""
    path = out / FOLDER / JOURNAL
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        rows = _whole_rows(file, path, mend=False)
        head = next(rows, {})
        return sum("family" in row for row in rows) if head.get("job") == job else 0
    finally:
        os.close(file)


def _whole_rows(file: int, path: Path, *, mend: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the rows of a journal; a torn last line is cut off, if it may be mended."""
    with os.fdopen(os.dup(file), "rb") as lines:
        lines.seek(0)
        end = 0
        broken = False
        for raw in lines:
            if broken:
                raise _damaged(path)
            row = _decoded(raw)
            if row is None:
                broken = True
                continue
            end += len(raw)
            yield row
    if broken and mend:
        os.ftruncate(file, end)


def _decoded(raw: bytes) -> dict[str, Any] | None:
    if not raw.endswith(b"\n"):
        return None
    try:
        row = decode(raw.decode())
    except (UnicodeDecodeError, JSONProblem):
        return None
    return row if isinstance(row, dict) else None


def _unwritten(error: OSError) -> WriteError:
    return WriteError(f"{JOURNAL} was not written: {error.strerror or type(error).__name__}")


def _damaged(path: Path) -> InputError:
    return InputError.at(
        "is no journal, or is damaged",
        file=file_name(path),
        way_out="pass --restart to ask everything anew",
    )


def _take(journal: Journal, row: Mapping[str, Any]) -> None:
    if "index" in row:
        journal.index = Identity(**row["index"])
    elif "family" in row:
        answered = answered_from(row, journal.retrieved.get(row["case"]))
        journal.answered[answered.key] = answered
    else:
        journal.retrieved[row["case"]] = tuple(map(passage_of, row["retrieved"]))


def write_run(out: Path, outputs: Iterator[Output]) -> Path:
    """Write `run.jsonl` in `OUT/work`, a row an output; the same outputs give the same bytes.

    Raises:
        WriteError: it could not be written.
    """
    path = out / FOLDER / RUN
    with replacing(path) as file:
        os.fchmod(file.fileno(), 0o600)
        for output in outputs:
            file.write(_run_line(output))
    return path


def _run_line(output: Output) -> bytes:
    return json.dumps(run_row(output), ensure_ascii=False).encode() + b"\n"
