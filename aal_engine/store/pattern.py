"""Patterns in the place of a file's path, for shells that do not resolve them."""

from __future__ import annotations

from pathlib import Path

from aal_engine.errors import InputError
from aal_engine.store.remote import is_address, matching_addresses
from aal_engine.store.text_file import Source

_MAGIC = frozenset("*?[")


def matching(source: Source) -> list[Source]:
    """Return the files that a pattern matches, in the order of their paths; a path as it is.

    So with addresses.

    `*`, `?` and `[…]` match within a name, and `**` any folders. A path that exists is no pattern.

    Raises:
        InputError: the pattern matches no file.
    """
    if is_address(source):
        address = str(source)
        return [address] if _MAGIC.isdisjoint(address) else [*matching_addresses(address)]
    path = Path(source)
    if _MAGIC.isdisjoint(str(path)) or path.exists():
        return [path]
    pattern = str(path.relative_to(path.anchor))
    found: list[Source] = sorted(each for each in Path(path.anchor).glob(pattern) if each.is_file())
    if not found:
        raise InputError.at("matches no file", file=path)
    return found
