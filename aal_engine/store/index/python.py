"""A customer's own index in Python, named as `module:attribute`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

from aal_engine.errors import InputError, RemoteError, shown
from aal_engine.measure.origin import Identity
from aal_engine.store.index.hit import Hit, Index, identified, ordered

Found = TypeVar("Found")

STRANGE = (Exception, SystemExit)
"""What a customer's code may raise: `sys.exit(0)` in it must not end a gate as if it had passed."""


class PythonIndex:
    """Asks an object that has `search(queries, k)` and `identity()`, and trusts neither."""

    def __init__(self, index: Index, name: str) -> None:
        self._index = index
        self._name = name

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return what the customer's index finds.

        Raises:
            RemoteError: it raised, or answered something else than hits.
        """

        def search() -> list[list[Hit]]:
            # Lists of the customer's own may run code, and fail, when they are read.
            found = self._index.search(list(queries), k)
            return ordered(self._name, found, len(queries), k)

        return _called(search, self._name)

    def identity(self) -> Identity:
        """Return what the customer's index says of itself."""
        return _called(lambda: identified(self._name, self._index.identity()), self._name)


def _called(act: Callable[[], Found], name: str) -> Found:
    try:
        return act()
    except RemoteError:
        raise
    except STRANGE as error:  # Whatever it is, its words may quote a question.
        raise RemoteError(f"the index {shown(name)} raised {type(error).__name__}") from None


def imported(target: str) -> Any:
    """Return what `module:attribute` names; modules may stand in the working folder.

    Raises:
        InputError: there is no such thing.
    """
    module, _, attribute = target.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
        for step in attribute.split("."):
            found = getattr(found, step)
    except STRANGE as error:  # An import runs whatever stands there.
        raise _unusable(target, f"cannot be imported: {type(error).__name__}") from None
    return found


def open_python(target: str, options: Mapping[str, Any] | None = None) -> PythonIndex:
    """Import an index; a class, or a function that makes one, is called with the options.

    Raises:
        InputError: there is no such thing, it cannot be made, or it is no index.
    """
    found = imported(target)
    if isinstance(found, type) or not hasattr(found, "search"):
        try:
            found = found(**(options or {}))
        except STRANGE as error:  # It runs whatever stands there.
            raise _unusable(target, f"cannot be made: {type(error).__name__}") from None
    for method in ("search", "identity"):
        if not callable(getattr(found, method, None)):
            raise _unusable(target, f"has no {method}()")
    return PythonIndex(found, target)


def _unusable(target: str, why: str) -> InputError:
    return InputError.at(
        f"{shown(target)} {why}",
        field="index",
        way_out="name it as module:attribute, importable from the working folder; an index has "
        "search(queries, k) and identity()",
    )
