"""What the environment tells this package; nothing else reads it."""

from __future__ import annotations

import math
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
    return flag("EVALS_ENABLED")


def flag(name: str) -> bool:
    """Return a switch; unset is off.

    Raises:
        InputError: it is neither on nor off.
    """
    said = os.environ.get(name, "").strip().lower()
    if said not in ON and said not in OFF:
        raise InputError.at("neither on nor off", field=name, way_out="set it to true or false")
    return said in ON


def number(name: str, default: float, least: float, most: float) -> float:
    """Return a number within bounds; `default` where the variable is not set.

    Raises:
        InputError: it is no number, or lies outside the bounds.
    """
    said = os.environ.get(name, "").strip()
    try:
        value = float(said) if said else default
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise InputError.at(f"not a number from {least:g} to {most:g}", field=name)
    return value


def word(name: str) -> str | None:
    """Return a variable's value, None where it is not set."""
    return os.environ.get(name, "").strip() or None


def words(name: str) -> tuple[str, ...] | None:
    """Return a list that is written with commas or spaces; None where the variable is not set."""
    return tuple(os.environ.get(name, "").replace(",", " ").split()) or None


def evals_database() -> str:
    """Return the registry's database: a file, or a URL."""
    return os.environ.get("EVALS_DATABASE") or "registry.db"


def evals_admin_token() -> str | None:
    """Return the platform admin's credential, None where there is none: then nobody is admin.

    Raises:
        InputError: it is too short to be a secret.
    """
    return _token("EVALS_ADMIN_TOKEN")


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
