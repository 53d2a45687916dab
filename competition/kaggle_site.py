"""Kaggle's site: push a metric file as a kernel, fetch a leaderboard.

The `kaggle` package is imported only when it is needed: without credentials its import fails, exits or
prints help, depending on the version.  It waits for ever where a server does not answer; here every
request has a time limit.
"""

import contextlib
import functools
import importlib
import io
import json
import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from competition.errors import HostError, UsageError
from competition.files import write_atomically
from competition.fresh import read_source

__all__ = ["Pushed", "fetch_leaderboard", "push", "write_kernel"]

METADATA = "kernel-metadata.json"
SHORTEST_TITLE = 5
PAGE_SIZE = 200
TIME_LIMIT = 60.0  # seconds
CREDENTIALS = (
    "log in with `kaggle auth login`, or make a token on www.kaggle.com/settings/api and save it as "
    "~/.kaggle/access_token or in the environment variable KAGGLE_API_TOKEN"
)


class Pushed(NamedTuple):
    """What became of a pushed kernel.

    Attributes
    ----------
    url : where it is
    version : int
    """

    url: str
    version: int


# ---------------------------------------------------------------------------------------------
# The metric as a kernel
# ---------------------------------------------------------------------------------------------


def write_kernel(path: Path, owner: str, folder: Path, title: str | None = None) -> str:
    """Make the folder from which a metric file is pushed: the file itself and what Kaggle must know of it.

    Parameters
    ----------
    path : the metric file
    owner : user or organisation
    folder : where to write; made if it is not there
    title : of the kernel, at least 5 characters; without it, the file's name

    Returns
    -------
    str
        The kernel's id, owner/title.

    Raises
    ------
    UsageError
        There is no such file, or owner or title cannot be ones.
    HostError
        The file is not UTF-8 text.
    """
    source = read_source(path)
    title = path.stem.replace("_", " ") if title is None else title
    slug = re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
    if len(title) < SHORTEST_TITLE or not slug:
        raise UsageError(f"the title {title!r} is too short: Kaggle wants {SHORTEST_TITLE} characters")
    if not re.fullmatch("[A-Za-z0-9_-]+", owner):
        raise UsageError(f"{owner!r} is no name of a user or organisation")
    metadata = {
        "id": f"{owner}/{slug}",
        "title": title,
        "code_file": path.name,
        "language": "python",
        "kernel_type": "script",
        "is_private": True,
        "enable_gpu": False,
        "enable_tpu": False,
        "enable_internet": False,
        "dataset_sources": [],
        "competition_sources": [],
        "kernel_sources": [],
        "model_sources": [],
    }
    for name, text in ((path.name, source), (METADATA, json.dumps(metadata, indent=2) + "\n")):
        write_atomically(
            folder / name, functools.partial(Path.write_text, data=text, encoding="utf-8", newline="")
        )
    return str(metadata["id"])


def push(folder: Path) -> Pushed:
    """Push a folder that `write_kernel` made.

    Raises
    ------
    UsageError
        The kaggle package or its credentials are missing.
    HostError
        Kaggle refuses, or does not answer.
    """
    with _talking() as api:
        response = api.kernels_push(str(folder))
    if response.error:
        raise HostError(f"Kaggle refuses the kernel: {response.error}")
    return Pushed(response.url, response.version_number)


# ---------------------------------------------------------------------------------------------
# The leaderboard
# ---------------------------------------------------------------------------------------------


def fetch_leaderboard(competition: str) -> pd.DataFrame:
    """All pages of a competition's leaderboard: after the close the private one, before it the public one.

    Parameters
    ----------
    competition : str, as in the address of its page

    Returns
    -------
    DataFrame, in Kaggle's order
        team : str, with the team's id in brackets where several have the same name
        score : float, at the precision that the site displays; NaN where there is none
        submitted_at : str, ISO 8601, UTC; None where unknown
        team_id : int

    Raises
    ------
    UsageError
        The kaggle package or its credentials are missing.
    HostError
        Kaggle refuses, does not answer, or answers what cannot be.
    """
    entries: list[Any] = []
    with _talking() as api:
        service = importlib.import_module("kagglesdk.competitions.types.competition_api_service")
        with api.build_kaggle_client() as client:
            request = service.ApiGetLeaderboardRequest()
            request.competition_name = competition
            request.page_size = PAGE_SIZE
            tokens = {""}
            while True:
                page = client.competitions.competition_api_client.get_leaderboard(request)
                entries += page.submissions
                if not page.next_page_token:
                    break
                if page.next_page_token in tokens:
                    raise HostError("Kaggle's leaderboard comes back to a page that it has shown")
                tokens.add(page.next_page_token)
                request.page_token = page.next_page_token
    if not entries:
        raise HostError(f"the leaderboard of {competition} is empty")
    board = pd.DataFrame(
        {
            "team": [entry.team_name for entry in entries],
            "score": [_number(entry.score) for entry in entries],
            "submitted_at": [
                None if entry.submission_date is None else f"{entry.submission_date.isoformat()}Z"
                for entry in entries
            ],
            "team_id": [entry.team_id for entry in entries],
        }
    )
    shared = board["team"].duplicated(keep=False)
    board["team"] = board["team"].where(~shared, board["team"] + " (" + board["team_id"].astype(str) + ")")
    return board


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


# ---------------------------------------------------------------------------------------------
# The connection
# ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _talking() -> Iterator[Any]:
    """An authenticated `kaggle.api` that prints nothing and whose failures are errors of the command line."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            importlib.import_module("six")  # which kaggle needs but does not ask for
            requests: Any = importlib.import_module("requests")
        except ImportError as problem:
            raise UsageError(
                f"this needs the packages kaggle and six: pip install kaggle six ({problem})"
            ) from None
        with _time_limit(requests):
            try:
                yield _authenticated()
            except requests.Timeout:
                raise HostError(f"Kaggle did not answer within {TIME_LIMIT:g} s") from None
            except requests.HTTPError as problem:
                raise HostError(f"Kaggle refuses: {_one_line(problem)}") from None
            except requests.ConnectionError as problem:
                raise HostError(f"Kaggle cannot be reached: {_one_line(problem)}") from None
            except requests.RequestException as problem:
                raise HostError(f"Kaggle's answer cannot be understood: {_one_line(problem)}") from None


def _authenticated() -> Any:
    """`kaggle.api`."""
    requests: Any = importlib.import_module("requests")
    try:
        api = importlib.import_module("kaggle").api
        api.authenticate()
    except requests.RequestException:
        raise
    except ImportError as problem:
        raise UsageError(
            f"this needs the packages kaggle and six: pip install kaggle six ({problem})"
        ) from None
    except (Exception, SystemExit):
        raise UsageError(f"there are no credentials for Kaggle: {CREDENTIALS}") from None
    return api


@contextlib.contextmanager
def _time_limit(requests: Any) -> Iterator[None]:
    """Let no request wait longer than `TIME_LIMIT`."""
    send = requests.Session.send
    requests.Session.send = functools.partialmethod(send, timeout=TIME_LIMIT)
    try:
        yield
    finally:
        requests.Session.send = send


def _one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split())
