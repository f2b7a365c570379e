"""Pages of eval records and of decisions, each with the cursor of the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aal_engine.api.cursor import cursor as cursor_of
from aal_engine.api.cursor import key_of
from aal_engine.service.results import Filters, Results

LIMIT = 50
MAX_LIMIT = 200

Page = dict[str, Any]


def eval_page(results: Results, asked: Filters, *, cursor: str | None, limit: int) -> Page:
    """Return a page of eval records, the newest first.

    Raises:
        InputError: the cursor is none of this list's.
        LedgerError: the ledger is broken or cannot be read.
    """
    key = key_of(cursor, _given(asked), 2)
    before = None if key is None else (key[0], key[1])
    # One more than is shown, to know of a next page.
    return _page(results.evals(asked, before=before, limit=limit + 1), asked, limit)


def release_page(results: Results, asked: Filters, *, cursor: str | None, limit: int) -> Page:
    """Return a page of decisions, the newest first.

    Raises:
        InputError: the cursor is none of this list's.
        LedgerError: the ledger is broken or cannot be read.
    """
    key = key_of(cursor, _given(asked), 1)
    before = None if key is None else key[0]
    return _page(results.releases(asked, before=before, limit=limit + 1), asked, limit)


def _given(asked: Filters) -> Mapping[str, object]:
    given = {name: getattr(asked, name) for name in Filters.__slots__}
    return {name: value for name, value in given.items() if value not in (None, ())}


def _page(
    found: Sequence[tuple[int | tuple[int, int], Mapping[str, Any]]], asked: Filters, limit: int
) -> Page:
    more = len(found) > limit
    return {
        "items": [row for _, row in found[:limit]],
        "next_cursor": cursor_of(found[limit - 1][0], _given(asked)) if more else None,
    }
