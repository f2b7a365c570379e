"""Fixtures that every part of the test suite shares."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from postgres import postgres as postgres

# A busy machine is slow now and then, which says nothing of the code.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public inputs beside the checkout; tests that need it skip without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("public inputs are not at hand beside this checkout")
    return folder
