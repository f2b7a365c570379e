"""What the README says is what the code does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import doors
import pytest
from fault import attacks

from aal_engine.decide.decision import CHECKS
from aal_engine.decide.trust import read_trust
from aal_engine.errors import EXIT_CODES
from aal_engine.measure.metric import METRICS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table whose header starts with `heading`."""
    lines = README.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_the_ten_minutes_end_in_what_they_say(tmp_path):
    section = README.partition("## Ten minutes to your own data")[2].partition("\n### ")[0]
    fences = re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL)
    pack, policy = (text for kind, text in fences if kind == "yaml")
    cases, run = (text for kind, text in fences if kind == "json")
    support = tmp_path / "golden_sets" / "support"
    support.mkdir(parents=True)
    (support / "pack.yaml").write_text(pack)
    (support / "core.jsonl").write_text(cases)
    (tmp_path / "run.jsonl").write_text(run)
    (tmp_path / "gateway-policy.yaml").write_text(policy)
    typed = "".join(text for kind, text in fences if kind == "sh").replace("\\\n", " ")
    commands = [shlex.split(line) for line in typed.splitlines()]
    first = next(place for place, (_, door, *_) in enumerate(commands) if door == "gate")
    for _, door, *arguments in commands[: first + 1]:
        done = doors.call(door, tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
    assert dict(fences)["text"] == done.stdout


def test_the_table_of_exit_codes():
    assert [(int(code), says) for code, says in table("code")] == list(EXIT_CODES.items())


def test_the_table_of_checks():
    assert [(name.strip("`"), says) for name, says in table("check")] == list(CHECKS.items())


def test_the_table_of_metrics():
    told = [
        (name.strip("`").partition("@")[0].partition("[")[0], better, says)
        for name, better, says in table("metric")
    ]
    assert told == [
        (stem, {"none": "–"}.get(metric.direction, metric.direction), metric.says)
        for stem, metric in METRICS.items()
    ]


def test_the_table_of_attacks():
    told = [[cell.strip() for cell in row.strip("|").split("|")] for row in attacks.table()]
    assert table("attack") == told[2:]


def test_the_policy_of_trust_can_be_read():
    policy = re.search(r"```text\n(log .*?)```", README, re.DOTALL)
    assert policy is not None
    assert read_trust(policy[1], "keys.txt").quorum == "none"


def test_ci_calls_the_readmes_test_command():
    command = re.search(r"^python3 -m venv .*pytest.*$", README, re.MULTILINE)
    assert command is not None
    assert command[0] in (ROOT / ".ci" / "run").read_text().splitlines()


def commands() -> list[list[str]]:
    blocks = re.findall(r"```(?:sh|yaml)\n(.*?)```", README, re.DOTALL)
    text = "\n".join(blocks).replace("\\\n", " ").replace(">\n", "")
    found = re.findall(r"(?:^|\s)(aal [a-z]+ [^\n#`]*(?:\n\s+--[^\n]*)*)", text)
    return [shlex.split(command) for command in found]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_in_the_readme_is_one_that_the_doors_know(command):
    from importlib import import_module

    import typer

    _, door, *arguments = command
    group = typer.main.get_command(import_module(f"aal_engine.agent.{door}").app)
    while hasattr(group, "commands") and arguments and not arguments[0].startswith("-"):
        group = group.commands[arguments.pop(0)]
    known = {name for parameter in group.params for name in parameter.opts}
    assert {part for part in arguments if part.startswith("--")} <= known
