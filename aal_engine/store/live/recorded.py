"""An agent that was recorded: its replies are the rows of a run file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Output
from aal_engine.store.failure import Failure
from aal_engine.store.live.agent import Question, Reply
from aal_engine.store.run import load_run

Outputs = Mapping[tuple[str, int], Output]


class Recorded:
    """The outputs of one model family."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs

    async def ask(self, question: Question) -> Reply:
        """Give back what was recorded; what the agent retrieved then belongs to its answer."""
        output = self._outputs.get((question.case_id, question.attempt))
        if output is None or (output.answer is None and output.error is None):
            raise Failure("refused", "nothing was recorded", retry=False)
        return Reply(output.answer, output.citations, output.retrieved, error=output.error)

    async def close(self) -> None:
        """Do nothing: the file is read."""


def recorded(path: Path, style: CitationStyle) -> dict[str, Recorded]:
    """Return the recorded agent of each model family of a run file.

    Raises:
        InputError: it is no run, or names no family.
    """
    runs = load_run(path, citations=style).runs
    return {
        family: Recorded({(one.case_id, one.attempt): one for one in run.outputs})
        for family, run in runs.items()
        if family is not None
    }
