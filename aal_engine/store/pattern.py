"""Patterns in the place of a file's path, for shells that do not resolve them."""

from __future__ import annotations

from pathlib import Path

from aal_engine.errors import InputError

_MAGIC = frozenset("*?[")


def matching(path: Path) -> list[Path]:
    """Return the files that a pattern matches, in the order of their paths; a path as it is.

    `*`, `?` and `[…]` match within a name, and `**` any folders. A path that exists is no pattern.

    Raises:
        InputError: the pattern matches no file.
    """
    if _MAGIC.isdisjoint(str(path)) or path.exists():
        return [path]
    pattern = str(path.relative_to(path.anchor))
    found = sorted(each for each in Path(path.anchor).glob(pattern) if each.is_file())
    if not found:
        raise InputError.at("matches no file", file=path)
    return found
