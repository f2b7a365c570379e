"""A progress bar on standard error, for what takes longer than two seconds at a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

PATIENCE = 2.0


class Progress:
    """Shows nothing for two seconds, and nothing at all where nobody watches."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._total = 0
        self._seen = 0
        self._begun = time.monotonic()
        self._watched = sys.stderr.isatty()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def total(self, rows: int) -> None:
        """Hear how much there is."""
        self._total = rows

    def seen(self, rows: int) -> None:
        """Hear how much more was done."""
        self._seen += rows
        if not self._watched:
            return
        if self._bar is None:
            if time.monotonic() - self._begun < PATIENCE:
                return
            self._bar = self._started()
        self._bar.update(self._bar.task_ids[0], completed=self._seen)

    def _started(self) -> Bar:
        from rich.console import Console
        from rich.progress import Progress as Bar

        bar = Bar(console=Console(stderr=True), transient=True)
        bar.add_task(self._what, total=self._total)
        bar.start()
        return bar
