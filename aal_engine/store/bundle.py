"""The golden sets and policies that come with the package."""

from __future__ import annotations

from pathlib import Path

from aal_engine.errors import InputError

_PACKAGE = Path(__file__).resolve().parent.parent
# A wheel carries them inside the package; a checkout has them beside it.
_HOMES = (_PACKAGE / "bundle", _PACKAGE.parent)


def bundled(name: str) -> Path:
    """Return the path of a bundled file or folder, such as `golden_sets/handbook`.

    Raises:
        InputError: this installation does not carry it.
    """
    for home in _HOMES:
        if (home / name).exists():
            return home / name
    raise InputError.at(
        "is not part of this installation", file=name, way_out="install the package again"
    )
