"""The page's views as files of one folder, which opens from disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aal_engine.api.link import Filed
from aal_engine.api.view import FILES, STATIC, Shown, View
from aal_engine.service.results import Results


def site(results: Results) -> Iterator[tuple[str, str]]:
    """Yield each file's name and text.

    Decisions come after all that links to them, so that what is appended meanwhile leads nowhere
    that is not written.

    Raises:
        LedgerError: the ledger is broken or cannot be read.
    """
    links = Filed()
    view = View(results, links)
    for name in FILES:
        yield name, (STATIC / name).read_text(encoding="utf-8")
    yield from _pages(links.agents, view.agents)
    yield from _pages(links.decisions, view.decisions)
    yield from _pages(links.ledger, view.ledger)
    reader = results.reader()
    if reader is None:
        return
    for key in reader.subjects(limit=-1):
        yield from _pages(
            lambda before, key=key: links.agent(key, before),  # type: ignore[misc]
            lambda before, key=key: view.agent(key, before),  # type: ignore[misc]
        )
    before, written = None, set()
    while found := reader.decisions(before=before, limit=100):
        for decided in found:
            digest = decided.parts[0]["decision"]
            if digest not in written:
                yield links.decision(digest), view.decision(digest).html
            written.add(digest)
        before = found[-1].key


def _pages(name: Callable[[Any], str], view: Callable[[Any], Shown]) -> Iterator[tuple[str, str]]:
    """Yield a view and the further pages of it."""
    key: Any = None
    while True:
        shown = view(key)
        yield name(key), shown.html
        if shown.more is None:
            return
        key = shown.more
