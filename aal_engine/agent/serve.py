"""`aal serve`: evaluations, releases and the registry over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import tell
from aal_engine.api import settings
from aal_engine.errors import InputError, MissingExtra
from aal_engine.service.results import Results

app = typer.Typer(add_completion=False, rich_markup_mode=None)

LOOPBACK = "127.0.0.1"
LOOPBACKS = ("127.0.0.1", "::1", "localhost")
GRACE = 10
"""Seconds that requests have to end when the server is stopped."""

HELP = """Serve over HTTP, until Ctrl-C or SIGTERM.

The eval records and decisions of the ledger are at /api/v1/evals and /api/v1/releases. Where the
environment variable AAL_READ_TOKEN is set, they are for who sends it as a bearer credential. So are
the MCP tools, at /mcp. /metrics has figures for Prometheus.

EVALS_ENABLED=true publishes and runs the registry that EVALS_DATABASE names (registry.db unless it
is set; aal registry init prepares it). EVALS_ADMIN_TOKEN is its platform admin's credential: without
one the operator's endpoints are closed.

The OpenAPI document is at /openapi.json, /healthz answers when the server does. It listens on this
machine alone unless --host says otherwise; put a proxy with TLS before it then.

With --monitor PACK the outputs of that pack's agent can be sent to POST /v1/outputs (one JSON object
a line) and, as OpenTelemetry traces, to POST /v1/traces. They are watched as `aal monitor` watches a
log, and GET /v1/outputs shows what stands. Senders need AAL_INTAKE_TOKEN where it is set.

\b
Examples:
  aal serve --port 8080
  aal serve --monitor golden_sets/support --policy gateway-policy.yaml --ledger ledger
"""


@app.command(help=HELP)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
    ledger: Annotated[Path, typer.Option(help="Folder of the release ledger.")] = Path("ledger"),
    monitor: Annotated[
        Path | None, typer.Option(help="Folder of a pack whose agent's outputs are sent here.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="The policy that the monitor goes by.")
    ] = None,
    state: Annotated[
        Path, typer.Option(help="Folder of the monitor's memory; made on first use.")
    ] = Path("monitor"),
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name by which MCP clients, and senders without a token, call this; repeatable."
        ),
    ] = None,
) -> None:
    """Serve over HTTP."""
    try:
        import uvicorn

        from aal_engine.api.app import create_app
        from aal_engine.api.evals import results_wing
        from aal_engine.api.mcp import mcp_wing
        from aal_engine.api.office import registry_office, registry_wing
        from aal_engine.api.page import page_wing
    except ImportError:
        raise MissingExtra("the server", "serve") from None
    with ExitStack() as opened:
        token, results = settings.read_token(), Results(ledger)
        hosts = [*LOOPBACKS, *(allow_host or ())]
        # The registry before the results: /api/v1/evals/suites is no eval record's id.
        office = registry_office()
        wings = [
            registry_wing(office),
            results_wing(results, token),
            page_wing(results, token, office),
            mcp_wing(results, token, hosts, office),
        ]
        if monitor is not None:
            if policy is None:
                raise InputError.at("--monitor goes by a policy", way_out="pass --policy too")
            wings.append(_monitor_wing(opened, monitor, policy, ledger, state, host, hosts))
        listen(uvicorn, create_app(wings, token), host, port)


def _monitor_wing(
    opened: ExitStack,
    pack: Path,
    policy: Path,
    ledger: Path,
    state: Path,
    host: str,
    hosts: Sequence[str],
) -> Any:
    from aal_engine.api.intake import wing
    from aal_engine.service.watch import open_monitor

    token = settings.intake_token()
    if token is None and host not in LOOPBACKS:
        raise InputError.at(
            "outputs are taken from other machines only from who has a credential",
            field="AAL_INTAKE_TOKEN",
            way_out="set it to a secret that the senders know, or listen on 127.0.0.1",
        )
    monitor = open_monitor(
        pack, policy, ledger=ledger, state=state, secrets=settings.secret, tell=_log
    )
    return wing(opened.enter_context(monitor), token, hosts)


def _log(line: str) -> None:
    tell(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}")


def listen(uvicorn: Any, served: Any, host: str, port: int) -> None:
    """Serve an app until it is stopped, and say where.

    Raises:
        InputError: the address or the port cannot be listened on.
    """
    config = uvicorn.Config(
        served,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,  # paths and queries name agents, and nobody reads them
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=GRACE,
    )
    try:
        socket = config.bind_socket()
        socket.listen(config.backlog)
    except (OSError, SystemExit):
        raise InputError.at(f"port {port} cannot be listened on", field="--port") from None
    bound = socket.getsockname()
    tell(f"listening on http://{bound[0]}:{bound[1]}")
    uvicorn.Server(config).run(sockets=[socket])


def main() -> None:
    """Run `python -m aal_engine.agent.serve`."""
    run_door(app, "python -m aal_engine.agent.serve")


if __name__ == "__main__":
    main()
