"""Serves a registry over HTTP inside the test's own process."""

from __future__ import annotations

from starlette.testclient import TestClient

from aal_engine.api.admin import operator
from aal_engine.api.app import Wing, create_app
from aal_engine.api.registry import public
from aal_engine.registry.office import Office

TOKEN = "a-credential-of-the-platform-admin"


def serve(office: Office | None, token: str | None = TOKEN) -> TestClient:
    return TestClient(create_app([Wing([public(office), operator(office, token)])]))
