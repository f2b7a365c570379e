"""The error tree: one class per kind of failure, each with its exit code and HTTP status.

```
AalError                      2  400
  InputError                  2  422   a file or a call cannot be used; carries every fault found
  WriteError                  2  507   a file could not be written; nothing half-written is left
  MissingExtra                2  501   this needs an extra that is not installed
  NotFound                    2  404   nothing has this name
  Conflict                    2  409   the state forbids what was asked
    StaleClaim                2  409   another runner leads or holds this by now
  RegistryUnavailable         2  503   the registry's database does not answer
  ExamVoid                    2  503   the examiner's own fault: nothing is recorded of the agent
  RemoteError                 2  502   an index, agent, target or notifier did not answer as it should
    ActFailed                 6  502   an actuator did not do, or does not show, what it was told
  LedgerError                 3  409
    ChainBroken               3  409   the stored log is not what was appended
    HeadMoved                 3  409   somebody appended in between
    AppendRefused             3  409   this entry may not be written
    LedgerUnreadable          3  503   the ledger's files cannot be opened or locked
    NoTrustedKey              5  409   nothing that a trusted key signed vouches for the ledger
```

A message names what is wrong, where (file, line, case, field) and the way out. It never holds the
text of a question, an answer or a passage, and of a path it shows the last component alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

MAX_FAULTS_SHOWN = 20
MAX_NAME_SHOWN = 80


def shown(name: object) -> str:
    r"""Return an identifier as it may stand in a message: one printable line, 80 characters at most.

    Only for names (ids, fields, metric names), never for texts.

    >>> shown("case\n7")
    'case?7'
    """
    text = "".join(c if c.isprintable() else "?" for c in str(name))
    return text if len(text) <= MAX_NAME_SHOWN else text[: MAX_NAME_SHOWN - 1] + "…"


def file_name(path: object) -> str:
    """Return the last component of a path as it may stand in a message.

    Folders are left out: they name people, customers and machines.

    >>> file_name("/home/someone/run.jsonl")
    'run.jsonl'
    """
    text = str(path).rstrip("/")
    return shown(text.rsplit("/", 1)[-1] or "/")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in one place of one input."""

    problem: str
    file: str | None = None
    line: int | None = None
    case: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        where = ""
        if self.file is not None:
            where = shown(self.file)
            if self.line is not None:
                where += f":{self.line}"
        elif self.line is not None:
            where = f"line {self.line}"
        parts = [where] if where else []
        if self.case is not None:
            parts.append(f"case {shown(self.case)}")
        if self.field is not None:
            parts.append(shown(self.field))
        return ": ".join([*parts, self.problem])


class AalError(Exception):
    """Any failure that this package foresees."""

    exit_code: ClassVar[int] = 2
    http_status: ClassVar[int] = 400

    def __init__(self, message: str, *, way_out: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.way_out = way_out

    def __str__(self) -> str:
        return self.message if self.way_out is None else f"{self.message}\n  {self.way_out}"


class InputError(AalError):
    """An input cannot be used; every fault that was found is in `faults`."""

    http_status = 422

    def __init__(self, faults: Fault | Iterable[Fault], *, way_out: str | None = None) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__(_told(self.faults), way_out=way_out)

    @classmethod
    def at(
        cls,
        problem: str,
        *,
        file: object | None = None,
        line: int | None = None,
        case: str | None = None,
        field: str | None = None,
        way_out: str | None = None,
    ) -> InputError:
        """Make the error of a single fault."""
        name = None if file is None else file_name(file)
        return cls(Fault(problem, name, line, case, field), way_out=way_out)


def _told(faults: Sequence[Fault]) -> str:
    lines = [str(fault) for fault in faults[:MAX_FAULTS_SHOWN]]
    if len(faults) > MAX_FAULTS_SHOWN:
        lines.append(f"… and {len(faults) - MAX_FAULTS_SHOWN} more faults")
    return "\n".join(lines)


class WriteError(AalError):
    """A file could not be written; what stood there before is untouched."""

    http_status = 507


class MissingExtra(AalError):
    """A library of an extra is not installed.

    >>> print(MissingExtra("the HTTP door", "serve"))
    the HTTP door needs an extra that is not installed
      pip install 'aal-engine[serve]'
    """

    http_status = 501

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an extra that is not installed",
            way_out=f"pip install 'aal-engine[{extra}]'",
        )
        self.extra = extra


class NotFound(AalError):
    """Nothing has the name that was asked for."""

    http_status = 404


class Conflict(AalError):
    """What was asked for contradicts the present state; nothing was changed."""

    http_status = 409


class StaleClaim(Conflict):
    """Another runner leads, or holds this exam, by now; nothing was recorded."""


class RegistryUnavailable(AalError):
    """The registry's database does not answer, or is busy for too long."""

    http_status = 503


class ExamVoid(AalError):
    """What was measured says nothing of the agent: the fault is the examiner's own."""

    http_status = 503


class RemoteError(AalError):
    """Something that this program calls did not answer, or not as it should."""

    http_status = 502


class ActFailed(RemoteError):
    """An actuator did not do what it was told; `why` is one of `decide.act.WHYS`."""

    exit_code = 6

    def __init__(self, why: str, message: str, *, way_out: str | None = None) -> None:
        super().__init__(message, way_out=way_out)
        self.why = why


class LedgerError(AalError):
    """The ledger is broken, unreadable, or refused an entry."""

    exit_code = 3
    http_status = 409


class ChainBroken(LedgerError):
    """The stored log is not what was appended: entry `seq` shows it, `why` says how."""

    def __init__(self, seq: int, why: str, *, way_out: str | None = None) -> None:
        super().__init__(f"ledger entry {seq}: {why}", way_out=way_out)
        self.seq = seq
        self.why = why


class HeadMoved(LedgerError):
    """The ledger grew since its head was read; read it again and decide again."""


class AppendRefused(LedgerError):
    """This entry may not be written to the ledger."""


class LedgerUnreadable(LedgerError):
    """The ledger's files cannot be opened, locked or read."""

    http_status = 503


EXIT_CODES: Mapping[int, str] = {
    0: "released, verified or done",
    1: (
        "blocked: the gate decided against the release, or `aal golden lint --strict` warned; "
        "`aal monitor`, `aal schedule run --once`: a breach"
    ),
    2: "the call or an input cannot be used, or a result could not be written",
    3: (
        "the ledger is broken, unreadable or refused the entry; "
        "`aal registry audit`: the record does not add up"
    ),
    4: "`aal ledger verify`: entries hold, but a torn tail or unsigned entries follow",
    5: "`aal ledger verify`: no trusted key vouches for the ledger",
    6: "`aal release`: halted, unfinished, or not as the ledger says: a person is needed",
    70: "a fault of this program",
    130: "interrupted; what was written before is whole",
}


class NoTrustedKey(LedgerError):
    """A checkpoint or proof is not signed by the keys that the caller trusts."""

    exit_code = 5
