"""Texts written as the files of one folder, each of them whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from aal_engine.store.atomic import write_atomic
from aal_engine.store.folder import make_folder


def write_all(folder: Path, files: Iterable[tuple[str, str]], seen: Callable[[int], None]) -> int:
    """Write files, by name and text, into a folder, tell `seen` of each, and return their count.

    Raises:
        WriteError: a file could not be written; those before it stand.
    """
    count = 0
    made = False
    for name, text in files:
        if not made:
            make_folder(folder)
            made = True
        write_atomic(folder / name, text.encode())
        seen(1)
        count += 1
    return count
