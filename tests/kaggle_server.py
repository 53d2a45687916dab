"""A small HTTP server that plays Kaggle, for the real `kaggle` client; nothing else can be reached.

The client is told by KAGGLE_API_ENVIRONMENT=LOCALHOST to talk to a server on this machine, and by
`lead_client_to` to which one.  Every connection to anywhere else is an error.
"""

import base64
import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

USER, KEY = "host", "not-a-real-key"
LEADERBOARD = "/api/v1/competitions.CompetitionApiService/GetLeaderboard"
SAVE_KERNEL = "/api/v1/kernels.KernelsApiService/SaveKernel"
LOCAL = ("127.0.0.1", "localhost", "::1")

Answer = tuple[int, dict[str, Any]]


class Kaggle:
    """What the server answers, by path, and what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[dict[str, Any]], Answer]] = {}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.delay = 0.0
        self.raw: bytes | None = None

    def answer(self, path: str, request: dict[str, Any], authorization: str | None) -> Answer:
        self.requests.append((path, request))
        expected = "Basic " + base64.b64encode(f"{USER}:{KEY}".encode()).decode()
        if authorization != expected:
            return 401, {"code": 401, "message": "Unauthenticated"}
        if path not in self.answers:
            return 404, {"code": 404, "message": f"no such call: {path}"}
        return self.answers[path](request)


@contextlib.contextmanager
def serve(kaggle: Kaggle) -> Iterator[str]:
    """Run the server; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = kaggle.answer(self.path, request, self.headers["Authorization"])
            time.sleep(kaggle.delay)
            body = json.dumps(answer).encode() if kaggle.raw is None else kaggle.raw
            with contextlib.suppress(BrokenPipeError):  # the client has given up
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def forbid_network(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """No connection but to this machine, no credentials, no proxy, and an empty home."""
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] in LOCAL, f"a test wants to reach {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    for name in list(os.environ):
        if name.startswith("KAGGLE_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(home / "kaggle"))
    monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "LOCALHOST")


def lead_client_to(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Give the client credentials, and for Kaggle's address this one."""
    monkeypatch.setenv("KAGGLE_USERNAME", USER)
    monkeypatch.setenv("KAGGLE_KEY", KEY)
    endpoints = pytest.importorskip("kagglesdk.kaggle_env", reason="needs the package kaggle")._env_to_endpoint
    for environment in list(endpoints):
        monkeypatch.setitem(endpoints, environment, address)
