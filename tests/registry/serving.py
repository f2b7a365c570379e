"""Serves a registry over HTTP inside the test's own process."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient

from aal_engine.api import admin, registry
from aal_engine.errors import AalError
from aal_engine.registry.office import Office

TOKEN = "a-credential-of-the-platform-admin"


def serve(office: Office | None, token: str | None = TOKEN) -> TestClient:
    app = FastAPI()
    app.state.office = office
    app.state.admin_token = token
    app.include_router(registry.router)
    app.include_router(admin.router)

    @app.exception_handler(AalError)
    def told(_: Request, error: AalError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, error.http_status)

    return TestClient(app, raise_server_exceptions=False)
