"""Ratings of a trust graph from a file: lines of `source,target,value`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from aal_engine.errors import InputError
from aal_engine.store.text_file import FaultList, open_input, read_lines


def read_ratings(path: Path) -> Iterator[tuple[str, str, float]]:
    """Yield source, target and value of each line; a header `source,target,value` may stand first.

    Raises:
        InputError: the file cannot be read, or a line is not of three parts with a finite number.
    """
    faults = FaultList(path)
    with open_input(path) as file:
        for number, line in read_lines(file, faults):
            parts = [part.strip() for part in line.split(",")]
            if number == 1 and parts == ["source", "target", "value"]:
                continue
            value = _number(parts[2]) if len(parts) == 3 else None
            if value is None:
                raise InputError.at("not source,target,value", file=path, line=number)
            yield parts[0], parts[1], value
    faults.settle()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
