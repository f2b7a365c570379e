"""What the environment tells this package; nothing else reads it."""

from __future__ import annotations

import os
from pathlib import Path

from aal_engine.errors import InputError, shown

ON = ("1", "true", "yes", "on")
OFF = ("", "0", "false", "no", "off")
MIN_TOKEN = 16
"""Characters that a credential has at least."""


def no_colour() -> bool:
    """Whether the user asked for output without colours (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def job_summary() -> Path | None:
    """Return the file to which a CI job's summary is appended, where the CI system offers one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    return Path(path) if path else None


def secret(name: str) -> str | None:
    """Return the secret in the environment variable that a policy names, None where it is unset."""
    return os.environ.get(name) or None


def read_token() -> str | None:
    """Return the credential that reading over HTTP asks for, None where anybody may read.

    Raises:
        InputError: it is too short to be a secret.
    """
    return _token("AAL_READ_TOKEN")


def evals_enabled() -> bool:
    """Whether evals run and are published on this registry; off unless the operator says so.

    Raises:
        InputError: EVALS_ENABLED is neither on nor off.
    """
    return _flag("EVALS_ENABLED")


def evals_fan_out() -> bool:
    """Whether every runner of the registry examines, not the leader alone.

    Raises:
        InputError: EVALS_FAN_OUT is neither on nor off.
    """
    return _flag("EVALS_FAN_OUT")


def evals_tick() -> float:
    """Return the seconds between two looks for what is due: from 0.1 to 3600, 2 unless said.

    Raises:
        InputError: EVALS_TICK_SECONDS is no such number.
    """
    said = os.environ.get("EVALS_TICK_SECONDS") or "2"
    try:
        tick = float(said)
    except ValueError:
        tick = 0.0
    if not 0.1 <= tick <= 3600:
        raise InputError.at("not a number from 0.1 to 3600", field="EVALS_TICK_SECONDS")
    return tick


def evals_networks() -> tuple[str, ...]:
    """Return the networks that agents may be called on beside the public ones, in CIDR form."""
    return _words("EVALS_ALLOW_NETWORKS")


def evals_ports() -> tuple[str, ...] | None:
    """Return the ports, or ranges of ports, that agents may be called on, None where not said."""
    return _words("EVALS_ALLOW_PORTS") or None


def evals_database() -> str:
    """Return the registry's database: a file, or a URL."""
    return os.environ.get("EVALS_DATABASE") or "registry.db"


def evals_admin_token() -> str | None:
    """Return the platform admin's credential, None where there is none: then nobody is admin.

    Raises:
        InputError: it is too short to be a secret.
    """
    return _token("EVALS_ADMIN_TOKEN")


def _flag(name: str) -> bool:
    said = os.environ.get(name, "").strip().lower()
    if said not in ON and said not in OFF:
        raise InputError.at("neither on nor off", field=name, way_out="set it to true or false")
    return said in ON


def _words(name: str) -> tuple[str, ...]:
    return tuple(os.environ.get(name, "").replace(",", " ").split())


def _token(name: str) -> str | None:
    token = os.environ.get(name) or None
    if token is not None and len(token) < MIN_TOKEN:
        raise InputError.at(f"shorter than {MIN_TOKEN} characters", field=name)
    return token


def intake_token() -> str | None:
    """Return the credential of who may send outputs to the monitor, None where none is asked for.

    Raises:
        InputError: it is too short to be a secret.
    """
    token = os.environ.get("AAL_INTAKE_TOKEN") or None
    if token is not None and len(token) < MIN_TOKEN:
        raise InputError.at(f"shorter than {MIN_TOKEN} characters", field="AAL_INTAKE_TOKEN")
    return token


def key(name: str) -> str:
    """Return the key that stands in an environment variable; it is kept nowhere else.

    Raises:
        InputError: the variable is not set, or holds what no header can carry.
    """
    value = (secret(name) or "").strip()
    if not value:
        raise InputError.at(f"the environment variable {shown(name)} is not set")
    if not value.isascii() or not value.isprintable():
        raise InputError.at(f"the environment variable {shown(name)} holds no key")
    return value
