"""How a call to something outside can fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Failure(Exception):
    """An exchange that brought no usable answer; `word` is one of `measure.origin.FAILURES`.

    `retry` says that another try may do better, and `after` how many seconds the other side asks
    to be left alone before. `fatal` says that no other request will do better either: the key is
    refused. `detail` is a status code or a short phrase of our own, never text that was received.
    """

    word: str
    detail: str
    retry: bool = True
    after: float | None = None
    fatal: bool = False
