"""A document that somebody wrote for a door, in JSON or YAML, as plain values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aal_engine.errors import InputError, file_name
from aal_engine.store.json_text import JSONProblem, decode, read_json
from aal_engine.store.text_file import FaultList
from aal_engine.store.yaml_text import read_yaml


def read_object(path: Path) -> dict[str, Any]:
    """Return the one object of a file; `.yaml` and `.yml` are YAML, all others JSON.

    Raises:
        InputError: the file cannot be read, is not what its name says, or holds no object.
    """
    if path.suffix in (".yaml", ".yml"):
        faults = FaultList(path)
        value = read_yaml(path, faults)
        faults.settle()
        value = json.loads(json.dumps(value))  # Without the lines that YAML's values remember.
    else:
        value = read_json(path)
    if not isinstance(value, dict):
        raise InputError.at("does not hold one object", file=file_name(path))
    return value


def decode_object(content: bytes) -> dict[str, Any]:
    """Return the one object of a JSON text that came over a network.

    Raises:
        InputError: it is not UTF-8, not JSON, nested too deeply, or no object.
    """
    try:
        value = decode(content.decode())
    except UnicodeDecodeError:
        raise InputError.at("is not UTF-8 text", field="body") from None
    except JSONProblem as problem:
        raise InputError.at(problem.problem, field="body", line=problem.line) from None
    if not isinstance(value, dict):
        raise InputError.at("does not hold one object", field="body")
    return value
