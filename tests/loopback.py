"""A small HTTP server on the loopback address that answers as a test says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Endpoint:
    """What it heard, and how it answers: status and body, after a pause, a byte at a time.

    `first` are the statuses of the first answers, before `status`.
    """

    port: int = 0
    status: int = 200
    first: list[int] = field(default_factory=list)
    body: bytes = b"{}"
    pause: float = 0.0
    drip: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    heard: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def served() -> Iterator[Endpoint]:
    """Run an endpoint until the block ends."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            told = {name.lower(): value for name, value in self.headers.items()}
            endpoint.heard.append((self.command, self.path, told, self.rfile.read(length)))
            time.sleep(endpoint.pause)
            try:
                self.send_response(endpoint.first.pop(0) if endpoint.first else endpoint.status)
                for name, value in endpoint.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if endpoint.drip:
                    for byte in endpoint.body:
                        self.wfile.write(bytes([byte]))
                        time.sleep(endpoint.drip)
                else:
                    self.wfile.write(endpoint.body)
            except OSError:
                pass

        do_GET = do_POST = answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    endpoint.port = server.server_port
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
