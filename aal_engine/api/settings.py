"""What the environment tells this package; nothing else reads it."""

from __future__ import annotations

import os
from pathlib import Path


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
