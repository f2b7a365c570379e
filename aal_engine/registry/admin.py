"""The operator's acts: suites, tasks, runs by hand, agents, the treasury, upkeep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from aal_engine.errors import Conflict, Fault, InputError, NotFound, shown
from aal_engine.registry import scorer, trust
from aal_engine.registry.db import account, agent, edge, result, run, standing, suite
from aal_engine.registry.db.slot import next_slot_of
from aal_engine.registry.db.suite import Stored
from aal_engine.registry.model.agent import Agent, check_agent, check_did
from aal_engine.registry.model.moment import millis, wire
from aal_engine.registry.model.run import is_run_id
from aal_engine.registry.model.suite import MAX_TASKS, Task, is_key
from aal_engine.registry.model.suite import suite as read_suite
from aal_engine.registry.model.suite import task as read_task
from aal_engine.registry.office import Office
from aal_engine.registry.treasury import ISSUANCE, MAX_SUPPLY, TREASURY

Row = dict[str, Any]


def suites(office: Office, *, now: datetime) -> list[Row]:
    """Return every suite, enabled or not, with its tasks' count and its next scheduled run."""
    with office.database.read() as connection:
        return [_told(each, now) for each in suite.listing(connection)]


def put_suite(
    office: Office,
    fields: Mapping[str, Any],
    *,
    tasks: Iterable[Mapping[str, Any]] | None = None,
    now: datetime,
) -> Row:
    """Create a suite, disabled unless said otherwise, or update the one of the same key.

    What is not given stays as it was. With `tasks` the suite has exactly those afterwards.

    Raises:
        InputError: a field or task breaks its rule, or a target is not registered.
    """
    key = fields.get("key")
    wanted = None if tasks is None else _tasks(tasks)
    with office.database.write() as connection:
        before = suite.find_key(connection, str(key)) if is_key(key) else None
        made = read_suite(fields, None if before is None else before.suite)
        _know(agent.unknown(connection, made.targets or ()))
        number = suite.put(connection, made, now_ms=millis(now))
        if wanted is not None:
            suite.replace_tasks(connection, number, wanted)
        stored = suite.find(connection, number)
    assert stored is not None
    return _told(stored, now)


def _tasks(given: Iterable[Mapping[str, Any]]) -> list[Task]:
    tasks = [_task(each) for each in given]
    if len(tasks) > MAX_TASKS:
        raise InputError.at(f"more than {MAX_TASKS} tasks", field="tasks")
    if len({task.name for task in tasks}) < len(tasks):
        raise InputError.at("two tasks have one name", field="tasks")
    return tasks


def _task(fields: Mapping[str, Any]) -> Task:
    task = read_task(fields)
    scorer.check(task.scorer, task.expected)
    return task


def _know(unknown: list[str]) -> None:
    if unknown:
        raise InputError(
            [Fault(f"no agent is registered as {shown(did)}", field="targets") for did in unknown],
            way_out="register the agent first",
        )


def add_task(office: Office, suite_id: int, fields: Mapping[str, Any]) -> Row:
    """Add a task to a suite; return it with its number.

    Raises:
        InputError: a field breaks its rule, or the scorer cannot use the expectation.
        NotFound: there is no such suite.
        Conflict: the suite has a task of this name, or too many.
    """
    task = _task(fields)
    with office.database.write() as connection:
        stored = _found(suite.find(connection, suite_id))
        if stored.tasks >= MAX_TASKS:
            raise Conflict(f"the suite has {MAX_TASKS} tasks, the most there may be")
        if suite.has_task(connection, suite_id, task.name):
            raise Conflict("the suite has a task of this name")
        number = suite.add_task(connection, suite_id, task)
    return {**asdict(task), "id": number}


def run_now(office: Office, suite_id: int, *, now: datetime) -> str:
    """Queue a run of a suite for the runner, enabled or not; return the run's id.

    Raises:
        Conflict: evals are not enabled, or the suite has no tasks.
        NotFound: there is no such suite.
    """
    if not office.enabled:
        raise Conflict(
            "evals are not enabled on this registry", way_out="set EVALS_ENABLED=true to run suites"
        )
    with office.database.write() as connection:
        stored = _found(suite.find(connection, suite_id))
        if stored.tasks == 0:
            raise Conflict("the suite has no tasks", way_out="add a task first")
        run_id = run.enqueue(connection, suite_id, stored.suite, None, now_ms=millis(now))
    assert run_id is not None  # Only a slot can be taken.
    return run_id


def remove_suite(office: Office, suite_id: int, *, now: datetime) -> None:
    """Remove a suite and its tasks; its results stay on the record, under its key.

    Raises:
        NotFound: there is no such suite.
    """
    with office.database.write() as connection:
        if not suite.remove(connection, suite_id, now_ms=millis(now)):
            _found(None)


def suite_number(office: Office, key: str) -> int:
    """Return the number of the suite that has a key.

    Raises:
        NotFound: there is no such suite.
    """
    with office.database.read() as connection:
        return _found(suite.find_key(connection, key) if is_key(key) else None).id


def _found(stored: Stored | None) -> Stored:
    if stored is None:
        raise NotFound("there is no such suite", way_out="aal registry suite list shows them")
    return stored


def _told(stored: Stored, now: datetime) -> Row:
    next_run = next_slot_of(stored, now)
    targets = stored.suite.targets
    return {
        "id": stored.id,
        **asdict(stored.suite),
        "targets": None if targets is None else list(targets),
        "pays": stored.suite.pays,
        "tasks": stored.tasks,
        "next_run_at": None if next_run is None else wire(millis(next_run)),
    }


def run_state(office: Office, run_id: str) -> Row:
    """Return how far a run is: its exams by state, its rewards by what became of them.

    Raises:
        NotFound: there is no such run.
    """
    with office.database.read() as connection:
        found = run.find(connection, run_id) if is_run_id(run_id) else None
        if found is None:
            raise NotFound("there is no such run")
        return {
            "run_id": found.id,
            "requested_at": wire(found.requested_at),
            "finished_at": None if found.finished_at is None else wire(found.finished_at),
            "exams": dict(run.progress(connection, run_id)),
            "rewards": dict(run.rewards(connection, run_id)),
        }


def register(
    office: Office, did: str, card: Any, *, home: str | None = None, now: datetime
) -> Agent:
    """Register an agent, or give a registered one another card and home; it is active after that.

    Raises:
        InputError: the DID, the card or the home cannot be used.
    """
    check_agent(did, card, home)
    with office.database.write() as connection:
        return agent.put(connection, did, card, home=home, now_ms=millis(now))


def deactivate(office: Office, did: str) -> None:
    """Take an agent out of all targets; its record stays.

    Raises:
        NotFound: nobody is registered under this DID.
    """
    with office.database.write() as connection:
        if not agent.deactivate(connection, check_did(did)):
            raise NotFound("no agent is registered under this DID")


def agents(office: Office, *, after: str = "", limit: int = 1000) -> list[Agent]:
    """Return agents by DID, those after a DID."""
    with office.database.read() as connection:
        return agent.page(connection, after=after, limit=limit)


def fund(office: Office, key: str, units: int, *, now: datetime) -> int:
    """Put units into the treasury, once for each key; return what it holds then.

    Raises:
        InputError: the key is empty or a reward's, or the units are out of range.
        Conflict: the key names another transfer, or there would be more than MAX_SUPPLY units.
    """
    if not key or not key.isprintable() or len(key) > 200 or key.startswith("eval:"):
        raise InputError.at(
            "not a name of 1 to 200 characters that does not begin with eval:", field="key"
        )
    with office.database.write() as connection:
        if account.balance(connection, ISSUANCE) - units < -MAX_SUPPLY:
            raise Conflict(f"there may be {MAX_SUPPLY} units at most, all accounts together")
        account.transfer(connection, key, ISSUANCE, TREASURY, units, now_ms=millis(now))
        return account.balance(connection, TREASURY)


def rate(office: Office, ratings: Iterable[tuple[str, str, float]], *, now: datetime) -> int:
    """Set edges of the trust graph: source, target, value above 0 where satisfied; return how many.

    Raises:
        InputError: an edge's ends are not DIDs, or its value is not finite.
    """
    count = 0
    with office.database.write() as connection:
        for source, target, value in ratings:
            check_did(source), check_did(target)
            if not abs(value) < float("inf"):
                raise InputError.at("not a finite number", field="value")
            edge.put(connection, source, target, value, satisfied=value > 0, now_ms=millis(now))
            count += 1
    return count


def standing_in_trust(
    office: Office, pretrusted: Mapping[str, float], restart: float
) -> trust.Trust:
    """Compute every peer's trust from the graph as it is now.

    Raises:
        InputError: `restart` or a weight is out of its range.
    """
    with office.database.read() as connection:
        graph = trust.graph(edge.every(connection), also=pretrusted)
    return trust.eigentrust(graph, pretrusted, restart)


def audit(office: Office) -> list[str]:
    """Hold the treasury against its transfers and the standings against the rows.

    Return what is wrong, in words; nothing where all is well.
    """
    with office.database.snapshot() as connection:
        wrong = account.faults(connection)
        wrong += [_unlike(each) for each in standing.differences(connection)]
    return wrong


def rebuild(office: Office) -> list[str]:
    """Make the standings what the rows say; return what was wrong, in words."""
    with office.database.write() as connection:
        standing.lock(connection)
        wrong = standing.differences(connection)
        standing.mend(connection, wrong)
    return [_unlike(each) for each in wrong]


def _unlike(each: standing.Difference) -> str:
    kept = "nothing" if each.kept is None else f"{each.kept.n} results, sum {each.kept.sum}"
    rows = "nothing" if each.counted is None else f"{each.counted.n}, sum {each.counted.sum}"
    return f"agent {each.agent_id} in suite {each.suite_id}: kept {kept}; the rows come to {rows}"


def prune(office: Office, *, before: datetime, batch: int = 5_000) -> int:
    """Delete results, and exams that paid nothing, from before a time; return how many results.

    Batch by batch, so that nobody waits long. Standings stay.
    """
    total = 0
    for acted, counts in ((result.prune, True), (run.prune, False)):
        deleted = batch
        while deleted:
            with office.database.write() as connection:
                deleted = acted(connection, before_ms=millis(before), limit=batch)
            total += deleted if counts else 0
    return total
