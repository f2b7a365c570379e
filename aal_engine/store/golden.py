"""Packs on disk: `golden_sets/PACK/pack.yaml` and a file of cases for each suite."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aal_engine.decide.stop_rule import stop_rule_from
from aal_engine.errors import Fault, InputError, shown
from aal_engine.measure.golden import CitationStyle, GoldenSet, Pack, Suite
from aal_engine.measure.metric import DEFAULT_RETRIEVAL_METRICS, Kind
from aal_engine.measure.point import PointError
from aal_engine.measure.retrieval.metrics import parse as parse_metric
from aal_engine.store.case import CaseReader
from aal_engine.store.json_text import JSONProblem, decode
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList, open_input, read_lines
from aal_engine.store.yaml_text import line_of, read_yaml

PACK_FILE = "pack.yaml"
KINDS: tuple[Kind, ...] = ("retrieval", "answers")
"""What a suite is scored for, in this order; a suite that names no kinds is scored for both."""

FORM = "a pack is a folder with pack.yaml and the files of cases that it names"


@dataclass(frozen=True, slots=True)
class Inspected:
    """All that a look through a pack found: what could be read, the faults, the warnings."""

    pack: Pack | None
    sets: Mapping[str, GoldenSet] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()


def load_pack(folder: Path) -> Pack:
    """Read a pack's declaration; `folder` is the pack's folder or its pack.yaml.

    Raises:
        InputError: with every fault of the declaration.
    """
    faults = FaultList(PACK_FILE)
    try:
        value = read_yaml(_home(folder) / PACK_FILE, faults)
    except InputError as error:
        raise InputError(error.faults, way_out=FORM) from None
    faults.settle()
    conforms("pack", value, faults)
    faults.settle(way_out=FORM)
    pack = _pack(value, faults)
    faults.settle()
    return pack


def load_golden(folder: Path, suite: str) -> GoldenSet:
    """Read one suite of a pack, its cases in the order of their ids.

    Raises:
        InputError: with every fault of the declaration, or of the suite's file.
    """
    pack = load_pack(folder)
    if suite not in pack.suites:
        near = difflib.get_close_matches(suite, pack.suites, 1)
        hint = f"; did you mean {shown(near[0])}?" if near else ""
        raise InputError.at(
            f"has no suite {shown(suite)}{hint}",
            file=PACK_FILE,
            way_out=f"its suites: {', '.join(map(shown, pack.suites))}",
        )
    path = _home(folder) / pack.suites[suite].file
    faults = FaultList(path)
    reader = CaseReader(faults)
    cases = []
    rows = 0
    for line, row in _rows(path, faults):
        rows += 1
        case = reader.case(row, line)
        if case is not None:
            cases.append(case)
        if faults.full:
            break
    if not rows and not faults.faults:
        faults.add("holds no case")
    faults.settle()
    return GoldenSet(pack, pack.suites[suite], tuple(sorted(cases, key=lambda case: case.id)))


def inspect_pack(folder: Path) -> Inspected:
    """Read all of a pack and report everything that is wrong or doubtful in it."""
    try:
        pack = load_pack(folder)
    except InputError as error:
        return Inspected(None, faults=error.faults)
    sets: dict[str, GoldenSet] = {}
    faults: list[Fault] = []
    for name in pack.suites:
        try:
            sets[name] = load_golden(folder, name)
        except InputError as error:
            faults += error.faults
    doubts = [doubt for golden in sets.values() for doubt in warnings(golden)]
    return Inspected(pack, sets, tuple(dict.fromkeys(faults)), tuple(dict.fromkeys(doubts)))


def warnings(golden: GoldenSet) -> tuple[Fault, ...]:
    """Return what is allowed in a golden set but seldom meant."""
    if "retrieval" not in golden.suite.kinds:
        return ()
    return tuple(
        Fault(
            "has no relevant document, so its retrieval counts as 0; if nothing should be found, "
            "say expect: nothing",
            golden.suite.file,
            case=case.id,
            field="relevant",
        )
        for case in golden.cases
        if case.expect == "answer" and not any(grade > 0 for grade in case.relevant.values())
    )


def _home(folder: Path) -> Path:
    return folder.parent if folder.name == PACK_FILE else folder


def _pack(value: Mapping[str, Any], faults: FaultList) -> Pack:
    citations = value.get("citations", {})
    _check_stop_rules(value.get("stop_rules", ()), faults)
    return Pack(
        name=value["name"],
        agent=value["agent"],
        autonomy=value["autonomy"],
        sensitivity=value["sensitivity"],
        citations=CitationStyle(citations.get("mode", "index"), citations.get("base", 1)),
        language=value.get("language", "en"),
        stop_rules=tuple(value.get("stop_rules", ())),
        suites={name: _suite(name, value["suites"], faults) for name in value["suites"]},
    )


def _check_stop_rules(rules: Sequence[Mapping[str, Any]], faults: FaultList) -> None:
    known: dict[str, int] = {}
    for place, rule in enumerate(rules):
        earlier = known.setdefault(rule["id"], place)
        try:
            stop_rule_from(rule)
            if earlier != place:
                raise PointError(f"is the id of stop_rules[{earlier}] too", "id")
        except PointError as error:
            field = error.field.split(".")[0]
            faults.add(
                error.problem,
                line=line_of(rules, (place, field)),
                field=f"stop_rules[{place}].{error.field}",
            )


def _suite(name: str, suites: Mapping[str, Any], faults: FaultList) -> Suite:
    part = suites[name]
    kinds = tuple(kind for kind in KINDS if kind in part.get("kinds", KINDS))
    metrics = tuple(part.get("metrics", DEFAULT_RETRIEVAL_METRICS))
    if "retrieval" not in kinds:
        if "metrics" in part:
            faults.add(
                "names retrieval metrics, but the suite is not of kind retrieval; every answer "
                "metric is measured without being named",
                line=line_of(suites, (name, "metrics")),
                field=f"suites.{name}.metrics",
            )
        metrics = ()
    for place, metric in enumerate(metrics):
        try:
            parse_metric(metric)
        except InputError as error:
            faults.add(
                f"{error.faults[0].problem}; {error.way_out}",
                line=line_of(suites, (name, "metrics", place)),
                field=f"suites.{name}.metrics[{place}]",
            )
    return Suite(name, part["file"], kinds, metrics)


def _rows(path: Path, faults: FaultList) -> Iterator[tuple[int, Any]]:
    """Yield the line and the value of every row of a file of cases."""
    if path.suffix == ".jsonl":
        with open_input(path) as file:
            for line, text in read_lines(file, faults):
                try:
                    yield line, decode(text)
                except JSONProblem as problem:
                    faults.add(problem.problem, line=line)
        return
    value = read_yaml(path, faults)
    if isinstance(value, list):
        for place, row in enumerate(value):
            yield line_of(value, (place,)) or 1, row
    elif not faults.faults:
        faults.add("must be a list of cases", line=1)
