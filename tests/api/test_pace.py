"""The runner's settings: what the environment says, within bounds, or a word that names it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from aal_engine.api.pace import NUMBERS, pace
from aal_engine.errors import InputError
from aal_engine.registry.address import Allowed, allow
from aal_engine.registry.probe.lookup import CANARY
from aal_engine.registry.runner import Pace

README = Path(__file__).resolve().parents[2] / "README.md"
OTHERS = (
    "EVALS_ALLOW_NETWORKS",
    "EVALS_ALLOW_PORTS",
    "EVALS_CA_FILE",
    "EVALS_CANARY",
    "EVALS_FAN_OUT",
)


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in (*NUMBERS, *OTHERS):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tells():
    """The rows of the README's table of variables."""
    lines = README.read_text(encoding="utf-8").splitlines()
    start = lines.index("| variable | default | what it is |") + 2
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[start:])
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_readme_tells_of_every_variable_and_of_its_default(tells):
    names = {name.strip("`"): default.strip("`") for name, default, _ in tells}
    assert names.keys() == {*NUMBERS, *OTHERS}
    numbers = {name: float(names[name]) for name in NUMBERS}
    assert numbers == {name: default for name, (default, _, _) in NUMBERS.items()}
    allowed = allow((), names["EVALS_ALLOW_PORTS"].split(","))
    assert (allowed, names["EVALS_CANARY"]) == (Allowed(), CANARY)


def test_without_a_word_the_runner_is_as_its_own_defaults_say():
    assert pace() == Pace()


def test_what_the_environment_says_arrives(monkeypatch):
    said = {
        "EVALS_TICK_SECONDS": "0.5", "EVALS_PARALLEL": "7", "EVALS_LEASE_SECONDS": "30",
        "EVALS_TASK_SECONDS": "3", "EVALS_EXAM_SECONDS": "60", "EVALS_LAG_SECONDS": "1",
        "EVALS_BODY_BYTES": "1000", "EVALS_FAN_OUT": "true", "EVALS_CA_FILE": "ca.pem",
        "EVALS_CANARY": "up.example", "EVALS_ALLOW_NETWORKS": "10.0.0.0/8, fd00::/8",
        "EVALS_ALLOW_PORTS": "443,8000-8100",
    }  # fmt: skip
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    read = pace()
    assert (read.tick, read.parallel, read.ttl, read.fan_out) == (0.5, 7, 30, True)
    limits = read.limits
    assert (limits.probe.seconds, limits.probe.body, limits.probe.lookup) == (3, 1000, 3)
    assert (limits.exam, limits.lag) == (60, 1)
    assert (limits.ca_file, limits.canary) == ("ca.pem", "up.example")
    assert [str(network) for network in limits.allowed.networks] == ["10.0.0.0/8", "fd00::/8"]
    assert limits.allowed.ports == ((443, 443), (8000, 8100))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in NUMBERS for value in ("fast", "nan", "-1", "1e99")),
        ("EVALS_ALLOW_NETWORKS", "inside"),
        ("EVALS_ALLOW_PORTS", "http"),
        ("EVALS_FAN_OUT", "perhaps"),
    ],
)
def test_what_cannot_be_used_is_named(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"^{name}: "):
        pace()
