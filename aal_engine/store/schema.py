"""Checks values against the JSON Schemas of this package and notes what is wrong in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from aal_engine.store.json_text import named
from aal_engine.store.predicate import pattern, predicate, schema
from aal_engine.store.text_file import FaultList
from aal_engine.store.yaml_text import line_of

NAME = pattern(schema("name.json")["pattern"])
"""What packs, agents, versions, suites, slices and model families may be called."""


def conforms(
    name: str,
    value: object,
    faults: FaultList,
    *,
    line: int | None = None,
    case: str | None = None,
) -> bool:
    """Say whether a value fits the schema `schemas/NAME.json`; if not, note every fault.

    Lines come from the value where it was read from YAML, else from `line`.
    """
    if predicate(f"{name}.json")(value):
        return True
    # The library that explains is slow to import, and the good case does not need it.
    from aal_engine.store.explain import explained

    told = [
        (line_of(value, path) or line, path, problem)
        for path, problem in explained(f"{name}.json", value)
    ]
    for place, path, problem in sorted(told, key=lambda fault: fault[0] or 0):
        faults.add(problem, line=place, case=case, field=_field(path))
        if faults.full:
            break
    return False


def _field(path: Sequence[str | int]) -> str | None:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else ("." if text else "") + named(step)
    return text or None
