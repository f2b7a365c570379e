"""Decisions for others to rely on: in-toto statements about the version that was decided on.

`summary` is a SLSA verification summary (https://slsa.dev/verification_summary/v1): whether the
version passed, under which policy, on which evidence, and where the ledger holds the decision.
`checks` is a predicate of this project: every check with its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from aal_engine.canonical import JSON
from aal_engine.decide.entry import Entry
from aal_engine.errors import InputError

STATEMENT = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
SUMMARY = "https://slsa.dev/verification_summary/v1"
CHECKS = "https://aal.example/checks/v1"
LEDGER = "https://aal.example/ledger/v1"
VERIFIER = "https://aal.example/gate/v1"
LEVEL = "AAL_RELEASE_GATE"

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was looked at: a name and the SHA-256 of its bytes, in hexadecimal."""

    uri: str
    sha256: str

    def told(self) -> dict[str, JSON]:
        """Return it as a resource descriptor."""
        return {"digest": {"sha256": self.sha256}, "uri": self.uri}


@dataclass(frozen=True, slots=True)
class Attested:
    """A decision as a statement tells it.

    `subject` and `sha256` are what it is about; `index`, `leaf` (hexadecimal) and `origin` are where
    the ledger holds it.
    """

    subject: str
    sha256: str
    agent: str
    version: str
    passed: bool
    at: str
    policy: Evidence
    evidence: tuple[Evidence, ...]
    engine: str
    origin: str
    index: int
    leaf: str

    def summary(self) -> dict[str, JSON]:
        """Return the statement with the verification summary."""
        return self._statement(
            SUMMARY,
            {
                LEDGER: self._place(),
                "inputAttestations": [each.told() for each in self.evidence],
                "policy": self.policy.told(),
                "resourceUri": f"aal:agent/{quote(self.agent)}@{quote(self.version)}",
                "timeVerified": self.at,
                "verificationResult": "PASSED" if self.passed else "FAILED",
                "verifiedLevels": [LEVEL if self.passed else "FAILED"],
                "verifier": {"id": VERIFIER, "version": {"aal_engine": self.engine}},
            },
        )

    def checks(self, checks: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
        """Return the statement with every check."""
        told: dict[str, JSON] = {
            "checks": list(checks),
            "ledger": self._place(),
            "timeVerified": self.at,
        }
        return self._statement(CHECKS, told)

    def _place(self) -> dict[str, JSON]:
        return {"index": self.index, "leaf": self.leaf, "origin": self.origin}

    def _statement(self, kind: str, predicate: Mapping[str, JSON]) -> dict[str, JSON]:
        return {
            "_type": STATEMENT,
            "predicate": predicate,
            "predicateType": kind,
            "subject": [{"digest": {"sha256": self.sha256}, "name": self.subject}],
        }


def attested(
    origin: str, parts: Sequence[Entry], subject: tuple[str, str] | None = None
) -> Attested:
    """Return a decision of the ledger, from its parts in order.

    `subject` is the name and the SHA-256 of what was built of the version, such as an image; without
    it the statement is about the decision itself.
    """
    last = parts[-1]
    *_, body = _bodies(parts)
    name, sha256 = subject or (f"{body['agent']}/{body['version']}", body["decision"])
    return Attested(
        subject=name,
        sha256=sha256,
        agent=body["agent"],
        version=body["version"],
        passed=body["verdict"] == "released",
        at=last.at,
        policy=Evidence("aal:policy/release", body["policy"]),
        evidence=tuple(
            Evidence(_uri(record), record["record"])
            for body in _bodies(parts)
            for record in body["records"]
        ),
        engine=body["engine"].partition("@")[2],
        origin=origin,
        index=last.seq,
        leaf=last.leaf.hex(),
    )


def rows(parts: Sequence[Entry]) -> list[dict[str, JSON]]:
    """Return the checks of a decision, each by the names of its columns."""
    tables = [body["checks"] for body in _bodies(parts)]
    return [
        dict(zip(table["columns"], row, strict=True)) for table in tables for row in table["rows"]
    ]


def _bodies(parts: Sequence[Entry]) -> list[Mapping[str, Any]]:
    return [part.body for part in parts]


def read_subject(text: str) -> tuple[str, str]:
    """Read a subject as people write it: `NAME=sha256:HEX`.

    Raises:
        InputError: it is not of that form.

    >>> read_subject("desk.tar=sha256:" + "0" * 64)[0]
    'desk.tar'
    """
    name, _, digest = text.rpartition("=sha256:")
    if name and name.isprintable() and _SHA256.fullmatch(digest):
        return name, digest
    raise InputError.at("is not of the form NAME=sha256:HEX", field="--subject")


def _uri(record: Mapping[str, Any]) -> str:
    parts = (record["kind"], record["suite"], record["model_family"])
    return "/".join(["aal:record", *(quote(part, safe="") for part in parts if part)])
