"""The registry's database: SQLite embedded, or PostgreSQL for several workers."""

from __future__ import annotations

from aal_engine.errors import MissingExtra

try:
    import sqlalchemy as sqlalchemy
except ModuleNotFoundError:
    raise MissingExtra("the registry", "registry") from None
