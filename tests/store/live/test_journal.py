"""The journal of a live run when what it is to hold, or where it is to stand, is not as it should be."""

from __future__ import annotations

import errno
import os

import pytest

from aal_engine.errors import WriteError
from aal_engine.measure.run import Output, Passage
from aal_engine.store.live.answered import Answered
from aal_engine.store.live.journal import open_journal, write_run
from aal_engine.store.text_file import MAX_LINE

BEGUN = "2026-01-31T09:30:00Z"
FOUND = (Passage("d1", None, 1.0, "x" * (MAX_LINE // 2)),)


@pytest.mark.parametrize("size", [MAX_LINE, MAX_LINE * 3 // 4], ids=["alone", "with its passages"])
def test_an_answer_that_no_run_file_can_hold_is_one_failure_and_not_the_end(size, tmp_path):
    with open_journal(tmp_path, "job", BEGUN) as journal:
        journal.found({"c1": FOUND, "c2": FOUND})
        for case, answer in (("c1", "y" * size), ("c2", "short")):
            journal.finish(Answered(Output(case, 1, "f", FOUND, answer), tries=2))
        kept = dict(journal.answered)
    too_long, good = kept["f", "c1", 1], kept["f", "c2", 1]
    assert (too_long.output.error, too_long.output.answer, too_long.tries) == (
        "unreadable",
        None,
        2,
    )
    assert (good.output.error, good.output.answer) == (None, "short")
    with open_journal(tmp_path, "job", BEGUN) as again:
        assert again.answered == kept
    run = write_run(tmp_path, (one.output for one in kept.values()))
    assert max(map(len, run.read_bytes().splitlines())) < MAX_LINE


def test_a_disk_that_does_not_keep_what_was_found_is_told(tmp_path, monkeypatch):
    def refuse(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with open_journal(tmp_path, "job", BEGUN) as journal:
        monkeypatch.setattr(os, "fsync", refuse)
        with pytest.raises(WriteError, match=r"journal\.jsonl was not written: Input/output error"):
            journal.found({"c1": FOUND})
