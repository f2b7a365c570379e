"""Folders to write results to."""

from __future__ import annotations

from pathlib import Path

from aal_engine.errors import WriteError, file_name


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there.

    Raises:
        WriteError: a file stands in the way, or the system refuses.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise WriteError(f"{file_name(path)} is a file where a folder is needed") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise WriteError(f"the folder {file_name(path)} was not made: {reason}") from None
