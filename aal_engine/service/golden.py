"""What an author does with golden sets: look through them, compare them, make them from others'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aal_engine.measure.golden import Case, GoldenSet, Pack
from aal_engine.store.golden import Inspected, inspect_pack, load_golden, load_pack
from aal_engine.store.importer import Imported, import_beir, import_nuggets, import_trec
from aal_engine.store.new_pack import Declaration
from aal_engine.store.qrels import Grade, reversed_grades

__all__ = [
    "Changed",
    "Declaration",
    "Difference",
    "Grade",
    "Imported",
    "Inspected",
    "difference",
    "import_beir",
    "import_nuggets",
    "import_trec",
    "inspect_packs",
    "open_pack",
    "reversed_grades",
]


@dataclass(frozen=True, slots=True)
class Changed:
    """A case that both packs have and that is not the same, and the fields that differ."""

    case: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one suite's cases between two packs; ids in their order."""

    suite: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Changed, ...]
    same: int


def inspect_packs(folders: Sequence[Path]) -> list[Inspected]:
    """Look through packs; see `aal_engine.store.golden.inspect_pack`."""
    return [inspect_pack(folder) for folder in folders]


def open_pack(folder: Path) -> tuple[Pack, tuple[GoldenSet, ...]]:
    """Read a pack with all of its suites.

    Raises:
        InputError: with every fault of the first file that has one.
    """
    pack = load_pack(folder)
    return pack, tuple(load_golden(folder, name) for name in pack.suites)


def difference(before: Path, after: Path) -> list[Difference]:
    """Compare two packs suite by suite, under the suites' names.

    Raises:
        InputError: as `open_pack`.
    """
    old, new = (
        {golden.suite.name: golden.by_id for golden in open_pack(folder)[1]}
        for folder in (before, after)
    )
    return [
        _difference(suite, old.get(suite, {}), new.get(suite, {}))
        for suite in sorted(old.keys() | new.keys())
    ]


def _difference(suite: str, old: Mapping[str, Case], new: Mapping[str, Case]) -> Difference:
    both = sorted(old.keys() & new.keys())
    changed = [Changed(case, _fields(old[case], new[case])) for case in both]
    return Difference(
        suite,
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(change for change in changed if change.fields),
        same=sum(not change.fields for change in changed),
    )


def _fields(old: Case, new: Case) -> tuple[str, ...]:
    before, after = old.canonical(), new.canonical()
    return tuple(field for field in sorted(before) if before[field] != after[field])
