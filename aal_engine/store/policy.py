"""Policies on disk: `policies/*.yaml`."""

from __future__ import annotations

from aal_engine.decide.policy import Policy, policy_from
from aal_engine.errors import InputError
from aal_engine.measure.metric import METRICS, metric
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList, Source
from aal_engine.store.yaml_text import line_of, read_yaml

_FLOOR_WORDS = frozenset(
    ("floors", "floor", "invented_citations", *(n for n, m in METRICS.items() if m.floor))
)


def load_policy(source: Source) -> Policy:
    """Read a policy.

    Raises:
        InputError: the file cannot be read, has a key or a value that a policy does not have, or
            names one of the two floors, which no policy can move.
    """
    faults = FaultList(source)
    value = read_yaml(source, faults)
    faults.settle()
    if isinstance(value, dict):
        floors = [(key,) for key in value if key in _FLOOR_WORDS]
        tolerances = value.get("tolerances")
        if isinstance(tolerances, dict):
            floors += [("tolerances", key) for key in tolerances if key in _FLOOR_WORDS]  # type: ignore[misc]
        for path in floors:
            faults.add(
                "names a floor: invented citations and forbidden claims always block, "
                "and no policy can move that",
                line=line_of(value, path),
                field=".".join(path),
            )
        faults.settle(way_out="leave it out")
    conforms("policy", value, faults)
    faults.settle()
    for name in value.get("tolerances", {}):
        try:
            if name not in METRICS:
                metric(name)
        except InputError:
            faults.add(
                "is not a metric of this engine",
                line=line_of(value, ("tolerances", name)),
                field=f"tolerances.{name}",
            )
    faults.settle(way_out="metrics: " + ", ".join(METRICS))
    try:
        return policy_from(value)
    except InputError as error:
        for fault in error.faults:
            faults.add(fault.problem, line=line_of(value, ("monitor",)), field=fault.field)
        faults.settle(way_out=error.way_out)
        raise
