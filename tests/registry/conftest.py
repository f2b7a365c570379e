"""A registry's database of either kind, empty and prepared, and what tests put into it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aal_engine.registry.db.database import Database, connect, migrate


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path) -> Iterator[Database]:
    """Every test that takes this runs on both databases."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/registry.db"
    else:
        url = request.getfixturevalue("postgres").database()
    opened = connect(url)
    migrate(opened)
    yield opened
    opened.close()
