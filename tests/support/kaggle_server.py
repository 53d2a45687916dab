"""A small HTTP server that plays Kaggle for the real `kaggle` client, which can reach nothing else.

KAGGLE_API_ENVIRONMENT=LOCALHOST tells the client to talk to a server on this machine, and `lead_client_to`
tells it to which one. A connection to any other address is an error.
"""

import base64
import contextlib
import functools
import io
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

USER, KEY = "host", "not-a-real-key"
LEADERBOARD = "/api/v1/competitions.CompetitionApiService/GetLeaderboard"
LOCAL = ("127.0.0.1", "localhost", "::1")

Answer = tuple[int, dict[str, Any]]


class Kaggle:
    """The server's answers by path, and the requests that it got."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[dict[str, Any]], Answer]] = {}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.delay = 0.0
        self.over = threading.Event()
        self.raw: bytes | None = None
        self.fault: Callable[[int], tuple[int, bool] | None] = lambda number: None
        self.blobs: dict[str, bytes] = {}

    def faulty(self, work: Callable[[], Answer]) -> Answer:
        """Answer what `work` returns, or a fault in its place, which may come before or after the work is
        done.
        """
        fault = self.fault(len(self.requests))
        if fault is None:
            return work()
        status, is_done = fault
        if is_done:
            work()
        return status, {"code": status, "message": "out of order"}

    def answer(self, path: str, request: dict[str, Any], authorization: str | None) -> Answer:
        """Record a request, check its credentials, and answer it with what the test has set for its path."""
        self.requests.append((path, request))
        expected = "Basic " + base64.b64encode(f"{USER}:{KEY}".encode()).decode()
        if authorization != expected:
            return 401, {"code": 401, "message": "Unauthenticated"}
        if path not in self.answers:
            return 404, {"code": 404, "message": f"no such call: {path}"}
        return self.faulty(lambda: self.answers[path](request))


@contextlib.contextmanager
def serve(kaggle: Kaggle) -> Iterator[str]:
    """Run the server for a block of code, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = kaggle.answer(self.path, request, self.headers["Authorization"])
            kaggle.over.wait(kaggle.delay)
            body = json.dumps(answer).encode() if kaggle.raw is None else kaggle.raw
            with contextlib.suppress(ConnectionError):  # the client has given up
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def do_PUT(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            kaggle.requests.append((self.path, {}))

            def store() -> Answer:
                token = self.path.rpartition("/")[2]
                # With such a header, the client asks how much has arrived.
                if self.headers.get("Content-Range", "").startswith("bytes */"):
                    return (200 if kaggle.blobs[token] else 308), {}
                kaggle.blobs[token] = content
                return 200, {}

            status, _ = kaggle.faulty(store)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # so that server_close() waits for answers that are on their way
    serving = threading.Thread(target=server.serve_forever, args=(0.02,))
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        kaggle.over.set()
        server.shutdown()
        server.server_close()
        serving.join()


def forbid_network(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Forbid connections to other machines; there are no credentials and no proxy, and the home folder is
    empty.
    """
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
    """Give the client credentials, and this address as that of Kaggle."""
    monkeypatch.setenv("KAGGLE_USERNAME", USER)
    monkeypatch.setenv("KAGGLE_KEY", KEY)
    endpoints = pytest.importorskip("kagglesdk.kaggle_env", reason="needs the package kaggle")._env_to_endpoint
    for environment in list(endpoints):
        monkeypatch.setitem(endpoints, environment, address)


# ---- A competition's site --------------------------------------------------------------------------------

SERVICE = "/api/v1/competitions.CompetitionApiService/"
START_UPLOAD = "/api/v1/blobs.BlobApiService/StartBlobUpload"


class Site(Kaggle):
    """Play the site for a host with one competition, from its creation to its launch.

    Once `metric_chosen` is set, ``score(rows of the solution, submission) -> float`` is the competition's
    metric.
    """

    def __init__(self, address: str = "") -> None:
        super().__init__()
        self.address = address
        self.competition: dict[str, Any] | None = None
        self.settings: dict[str, Any] = {}
        self.pages: dict[str, dict[str, Any]] = {}
        self.blobs: dict[str, bytes] = {}
        self.files: dict[str, bytes] = {}
        self.solution: pd.DataFrame | None = None
        self.metric_chosen = True
        self.setup_error = ""
        self.decimals = 5
        self.page_of_files = 200
        self.lost_files = self.lost_bytes = self.lost_rows = 0  # of what is uploaded
        self.ref: str | None = None  # the competition's address, if the site chooses another one
        self.score: Callable[[pd.DataFrame, pd.DataFrame], float] = lambda solution, submission: 0.0
        self.submissions: list[dict[str, Any]] = []
        self.launched: str | None = None
        calls: dict[str, Callable[[dict[str, Any]], Any]] = {
            "CreateCompetition": self.create,
            "GetCompetitionSettings": lambda request: self.settings,
            "UpdateCompetitionSettings": self.update_settings,
            "ListCompetitionPages": lambda request: {"pages": list(self.pages.values())},
            "CreateCompetitionPage": self.create_page,
            "UpdateCompetitionPage": self.update_page,
            "CreateCompetitionData": self.create_data,
            "ListDataFiles": self.list_files,
            "CreateCompetitionSolution": self.create_solution,
            "GetCompetitionSolutionStatus": self.solution_status,
            "StartSubmissionUpload": lambda request: self.start_upload(request),
            "CreateSubmission": self.create_submission,
            "GetSubmission": lambda request: self.submissions[request["ref"] - 1],
            "LaunchCompetition": self.launch,
        }
        for name, call in calls.items():
            self.answers[SERVICE + name] = functools.partial(self.of_competition, name, call)
        self.answers[START_UPLOAD] = lambda request: (200, self.start_upload(request))

    def list_files(self, request: dict[str, Any]) -> dict[str, Any]:
        """List the competition's files, some of them in one answer; the site gives at most 200."""
        files = [{"name": name, "totalBytes": len(data) - self.lost_bytes} for name, data in self.files.items()]
        start = int(request.get("pageToken") or 0)
        end = start + min(self.page_of_files, request.get("pageSize", 20))
        return {"files": files[start:end], "nextPageToken": str(end) if files[end:] else ""}

    def of_competition(
        self, name: str, call: Callable[[dict[str, Any]], Any], request: dict[str, Any]
    ) -> Answer:
        """Answer a call about the competition, or with a fault if there is no such competition."""
        slug = None if self.competition is None else self.competition["slug"]
        if name != "CreateCompetition" and (slug is None or request.get("competitionName", slug) != slug):
            return 404, {"code": 404, "message": "Competition not found"}
        answer = call(request)
        return answer if isinstance(answer, tuple) else (200, answer or {})

    def create(self, request: dict[str, Any]) -> Any:
        """Create the competition; its address can be taken."""
        if self.competition is not None:
            return 400, {"code": 400, "message": f"The URL {request['slug']} is taken"}
        self.competition = request
        self.settings = {"title": request["title"]}
        url = f"https://www.kaggle.com/competitions/{request['slug']}"
        return {"id": 1, "ref": self.ref or request["slug"], "url": url}

    def update_settings(self, request: dict[str, Any]) -> Any:
        """Change settings of the competition."""
        self.settings |= request["settings"]
        return self.settings

    def create_page(self, request: dict[str, Any]) -> Any:
        """Create a page; its name can be taken."""
        page = request["page"]
        if page["name"] in self.pages:
            return 400, {"code": 400, "message": f"Page {page['name']} exists"}
        self.pages[page["name"]] = page
        return page

    def update_page(self, request: dict[str, Any]) -> Any:
        """Change a page."""
        self.pages[request["pageName"]] |= request["page"]
        return self.pages[request["pageName"]]

    def start_upload(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give the client a token and an address for an upload."""
        token = f"blob-{len(self.blobs)}"
        self.blobs[token] = b""
        return {"token": token, "createUrl": f"{self.address}/upload/{token}"}

    def create_data(self, request: dict[str, Any]) -> Any:
        """Replace the competition's files by uploaded ones."""
        if not all(self.blobs[file["token"]] for file in request["files"]):
            return 500, {"code": 500, "message": "An upload is not complete"}
        arrived = request["files"][self.lost_files :]
        self.files = {file["name"]: self.blobs[file["token"]] for file in arrived}
        return {"url": "https://www.kaggle.com/competitions/data"}

    def create_solution(self, request: dict[str, Any]) -> Answer | None:
        """Read an uploaded solution."""
        if not self.blobs[request["blobToken"]]:
            return 500, {"code": 500, "message": "The upload is not complete"}
        self.solution = pd.read_csv(io.BytesIO(self.blobs[request["blobToken"]])).iloc[self.lost_rows :]
        return None

    def solution_status(self, request: dict[str, Any]) -> Any:
        """Say how the site has read the solution, and whether the metric is chosen."""
        if self.solution is None:
            return {"ready": False}
        usage = self.solution["Usage"].value_counts()
        return {
            "ready": not self.setup_error,
            "setupError": self.setup_error,
            "kernelsMetric": self.metric_chosen,
            "rowIdColumnName": self.solution.columns[0],
            "solutionInfo": {"publicRows": int(usage["Public"]), "privateRows": int(usage["Private"])},
        }

    def create_submission(self, request: dict[str, Any]) -> Any:
        """Score an uploaded submission in the sandbox."""
        assert request["sandbox"]
        assert self.solution is not None
        result: dict[str, Any] = {"ref": len(self.submissions) + 1, "date": "2027-01-01T00:00:00Z"}
        try:
            submission = pd.read_csv(io.BytesIO(self.blobs[request["blobFileTokens"]]))
            for part in ("Public", "Private"):
                rows = self.solution[self.solution["Usage"] == part].drop(columns="Usage")
                result[f"{part.lower()}Score"] = f"{self.score(rows, submission):.{self.decimals}f}"
            result["status"] = "COMPLETE"
        except Exception as problem:
            result |= {"status": "ERROR", "errorDescription": str(problem)}
        self.submissions.append(result)
        return {"ref": result["ref"], "message": "submitted"}

    def launch(self, request: dict[str, Any]) -> None:
        """Open the competition, now or at a date."""
        self.launched = request.get("futureTime", "now")
