"""Writes a new pack: a whole, valid folder appears under its name, or nothing does."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aal_engine.errors import InputError, WriteError, file_name
from aal_engine.measure.golden import GoldenSet
from aal_engine.measure.metric import Kind
from aal_engine.store.folder import make_folder
from aal_engine.store.golden import PACK_FILE, load_golden

SUITE = "main"
CASES_FILE = "cases.jsonl"


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the author of a new pack says of it; see `pack.yaml`."""

    name: str
    agent: str
    autonomy: int
    sensitivity: str
    language: str


def write_pack(
    out: Path,
    declaration: Declaration,
    kinds: Sequence[Kind],
    rows: Iterable[Mapping[str, Any]],
    origin: str,
) -> GoldenSet:
    """Write a pack of one suite and return it as it is read back.

    It is written beside its place under another name, read, synced and renamed. `origin` is told
    in a comment of pack.yaml.

    Raises:
        InputError: something stands at `out` already, or the pack would not be valid.
        WriteError: it could not be written; nothing is left.
    """
    make_folder(out.parent)
    if out.exists() or out.is_symlink():
        raise InputError.at("is there already; an import makes a new pack", file=out)
    temporary = out.with_name(f".{out.name}.{os.urandom(6).hex()}.tmp")
    try:
        try:
            temporary.mkdir()
            _write(temporary / PACK_FILE, [_declared(declaration, kinds, origin)])
            _write(temporary / CASES_FILE, (json.dumps(r, ensure_ascii=False) + "\n" for r in rows))
            golden = load_golden(temporary, SUITE)
            _sync(temporary)
            temporary.rename(out)
            _sync(out.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise WriteError(f"{file_name(out)} was not written: {reason}") from None
    return golden


def _declared(declaration: Declaration, kinds: Sequence[Kind], origin: str) -> str:
    value = {
        "name": declaration.name,
        "agent": declaration.agent,
        "autonomy": declaration.autonomy,
        "sensitivity": declaration.sensitivity,
        "language": declaration.language,
        "citations": {"mode": "index", "base": 1},
        "suites": {SUITE: {"file": CASES_FILE, "kinds": list(kinds)}},
    }
    return f"# {origin}\n" + yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def _write(path: Path, pieces: Iterable[str]) -> None:
    with path.open("x", encoding="utf-8") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
