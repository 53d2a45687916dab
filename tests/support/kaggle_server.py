"""A made-up Kaggle that answers the real `kaggle` client in this process.

`answer_here` leads every request of the package `requests` to it, so no test can reach anything else.
"""

import base64
import functools
import io
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import pytest

USER, KEY = "host", "not-a-real-key"
SERVICE = "/v1/competitions.CompetitionApiService/"
START_UPLOAD = "/v1/blobs.BlobApiService/StartBlobUpload"
UPLOADS = "https://www.kaggle.com/uploads/"

Answer = tuple[int, dict[str, Any]]


def now() -> str:
    """The time as the site writes it."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


class Kaggle:
    """The answers by path, and the requests that came."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[dict[str, Any]], Answer]] = {}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.seconds: float = 0  # that an answer takes
        self.is_reachable = True
        self.raw: bytes | None = None
        # Says for the number of a request with which status it fails, and whether its work is done before.
        self.fault: Callable[[int], tuple[int, bool] | None] = lambda number: None
        self.blobs: dict[str, bytes] = {}

    def answer(self, path: str, request: dict[str, Any], authorization: str | None) -> Answer:
        """Check the credentials of a call, and answer it with what the test has set for its path."""
        expected = "Basic " + base64.b64encode(f"{USER}:{KEY}".encode()).decode()
        if authorization != expected:
            return 401, {"code": 401, "message": "Unauthenticated"}
        if path not in self.answers:
            return 404, {"code": 404, "message": f"no such call: {path}"}
        return self.answers[path](request)

    def store(self, token: str, asks: bool, content: bytes) -> Answer:
        """Take an upload, or say whether it has arrived, as the client asks after one that failed."""
        if asks:
            return (200 if self.blobs[token] else 308), {}
        self.blobs[token] = content
        return 200, {}

    def answered(self, request: Any) -> Answer:
        """Record a request, and answer it or, before or after its work is done, with a fault."""
        path = urlsplit(request.url).path
        if request.method == "PUT":
            content = b"" if request.body is None else request.body.read()
            asks = request.headers.get("Content-Range", "").startswith("bytes */")
            told: dict[str, Any] = {}
            work = functools.partial(self.store, path.rpartition("/")[2], asks, content)
        else:
            told = json.loads(request.body)
            work = functools.partial(self.answer, path, told, request.headers.get("Authorization"))
        self.requests.append((path, told))
        fault = self.fault(len(self.requests))
        if fault is None:
            return work()
        status, is_done = fault
        if is_done:
            work()
        return status, {"code": status, "message": "out of order"}


def answer_here(monkeypatch: pytest.MonkeyPatch, kaggle: Kaggle) -> None:
    """Let this made-up Kaggle answer all requests, and give the client credentials."""
    pytest.importorskip("kagglesdk.kaggle_env", reason="needs the package kaggle")
    import requests

    def send(self: object, request: Any, timeout: float | None = None, **_: object) -> Any:
        if not kaggle.is_reachable:
            raise requests.ConnectionError("no route to this host")
        if timeout is not None and kaggle.seconds > timeout:
            raise requests.Timeout("too slow")
        status, answer = kaggle.answered(request)
        response = requests.Response()
        response.request, response.url = request, request.url
        response.status_code, response.reason = status, HTTPStatus(status).phrase
        response.headers["Content-Type"] = "application/json"
        response._content = json.dumps(answer).encode() if kaggle.raw is None else kaggle.raw
        return response

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    monkeypatch.setenv("KAGGLE_USERNAME", USER)
    monkeypatch.setenv("KAGGLE_KEY", KEY)


def without_credentials(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Hide the credentials of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("KAGGLE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(home / "kaggle"))


# ---- A competition's site --------------------------------------------------------------------------------


class Site(Kaggle):
    """Play the site for a host with one competition.

    Once `metric_chosen` is set, ``score(rows of the solution, submission) -> float`` is the competition's
    metric.
    """

    def __init__(self) -> None:
        super().__init__()
        self.competition: dict[str, Any] | None = None
        self.settings: dict[str, Any] = {}
        self.pages: dict[str, dict[str, Any]] = {}
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
        self.benchmarks: list[dict[str, Any]] = []
        self.is_of_others = False  # the competition belongs to somebody else
        self.dates = dict.fromkeys(("files", "solution"), "")  # of the last uploads
        self.names: dict[str, str] = {}  # of uploaded files, by their tokens
        calls: dict[str, Callable[[dict[str, Any]], Any]] = {
            "CreateCompetition": self.create,
            "GetCompetitionSettings": self.read_settings,
            "UpdateCompetitionSettings": lambda request: self.settings.update(request["settings"]),
            "ListCompetitionPages": lambda request: {"pages": list(self.pages.values())},
            "CreateCompetitionPage": self.create_page,
            "UpdateCompetitionPage": lambda request: self.pages[request["pageName"]].update(request["page"]),
            "CreateCompetitionData": self.create_data,
            "ListDataFiles": self.list_files,
            "CreateCompetitionSolution": self.create_solution,
            "GetCompetitionSolutionStatus": self.solution_status,
            "StartSubmissionUpload": self.start_upload,
            "CreateSubmission": self.create_submission,
            "UpdateSubmissionBenchmark": self.benchmarks.append,
            "GetSubmission": lambda request: self.submissions[request["ref"] - 1],
            "ListSubmissions": lambda request: {"submissions": self.submissions[::-1]},
        }
        for name, call in calls.items():
            self.answers[SERVICE + name] = functools.partial(self.of_competition, name, call)
        self.answers[START_UPLOAD] = lambda request: (200, self.start_upload(request))

    def list_files(self, request: dict[str, Any]) -> dict[str, Any]:
        """List the competition's files, some of them in one answer; the site gives at most 200."""
        date = {"creationDate": self.dates["files"]}
        files = [
            {"name": name, "totalBytes": len(data) - self.lost_bytes, **date}
            for name, data in self.files.items()
        ]
        start = int(request.get("pageToken") or 0)
        end = start + min(self.page_of_files, request.get("pageSize", 20))
        return {"files": files[start:end], "nextPageToken": str(end) if files[end:] else ""}

    def read_settings(self, request: dict[str, Any]) -> Any:
        """Give the settings to the host of the competition, and to nobody else."""
        return (403, {"code": 403, "message": "Permission denied"}) if self.is_of_others else self.settings

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

    def create_page(self, request: dict[str, Any]) -> Any:
        """Create a page; its name can be taken."""
        page = request["page"]
        if page["name"] in self.pages:
            return 400, {"code": 400, "message": f"Page {page['name']} exists"}
        self.pages[page["name"]] = page
        return page

    def start_upload(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give the client a token and an address for an upload."""
        token = f"blob-{len(self.blobs)}"
        self.blobs[token] = b""
        self.names[token] = request.get("fileName", "")
        return {"token": token, "createUrl": UPLOADS + token}

    def create_data(self, request: dict[str, Any]) -> Any:
        """Replace the competition's files by uploaded ones."""
        if not all(self.blobs[file["token"]] for file in request["files"]):
            return 500, {"code": 500, "message": "An upload is not complete"}
        arrived = request["files"][self.lost_files :]
        self.files = {file["name"]: self.blobs[file["token"]] for file in arrived}
        self.dates["files"] = now()
        return {"url": "https://www.kaggle.com/competitions/data"}

    def create_solution(self, request: dict[str, Any]) -> Answer | None:
        """Read an uploaded solution."""
        if not self.blobs[request["blobToken"]]:
            return 500, {"code": 500, "message": "The upload is not complete"}
        self.solution = pd.read_csv(io.BytesIO(self.blobs[request["blobToken"]])).iloc[self.lost_rows :]
        self.dates["solution"] = now()
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
            "solutionInfo": {
                "publicRows": int(usage["Public"]),
                "privateRows": int(usage["Private"]),
                "uploadDate": self.dates["solution"],
            },
        }

    def create_submission(self, request: dict[str, Any]) -> Any:
        """Score an uploaded submission in the sandbox."""
        assert request["sandbox"]
        assert self.solution is not None
        token = request["blobFileTokens"]
        result: dict[str, Any] = {
            "ref": len(self.submissions) + 1,
            "date": now(),
            "fileName": self.names[token],
        }
        result["description"] = request["submissionDescription"]
        try:
            submission = pd.read_csv(io.BytesIO(self.blobs[token]))
            for part in ("Public", "Private"):
                rows = self.solution[self.solution["Usage"] == part].drop(columns="Usage")
                result[f"{part.lower()}Score"] = f"{self.score(rows, submission):.{self.decimals}f}"
            result["status"] = "COMPLETE"
        except Exception as problem:
            result |= {"status": "ERROR", "errorDescription": str(problem)}
        self.submissions.append(result)
        return {"ref": result["ref"], "message": "submitted"}
