"""Kaggle's site by its `kaggle` package: the connection, and a competition's leaderboard.

The package is imported only when it is needed: without credentials its import fails, exits or prints help,
depending on the version.  It waits for ever where a server does not answer; here every request has a time
limit.
"""

import contextlib
import functools
import importlib
import io
import math
import warnings
from collections.abc import Iterator
from typing import Any

import pandas as pd

from podium.errors import HostError, UsageError

__all__ = ["fetch_leaderboard", "one_line", "talking"]

PAGE_SIZE = 200
TIME_LIMIT = 60.0  # seconds
CREDENTIALS = (
    "log in with `kaggle auth login`, or make a token on www.kaggle.com/settings/api and save it as "
    "~/.kaggle/access_token or in the environment variable KAGGLE_API_TOKEN"
)


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
    with talking() as api:
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
def talking() -> Iterator[Any]:
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
            with _time_limit(requests):
                yield _authenticated(requests)
        except ImportError as problem:
            raise UsageError(
                f"this needs the packages kaggle and six: pip install kaggle six ({problem})"
            ) from None
        except requests.Timeout:
            raise HostError(f"Kaggle did not answer within {TIME_LIMIT:g} s") from None
        except requests.HTTPError as problem:
            raise HostError(_refusal(problem)) from None
        except requests.ConnectionError as problem:
            raise HostError(f"Kaggle cannot be reached: {one_line(problem)}") from None
        except requests.RequestException as problem:
            raise HostError(f"Kaggle's answer cannot be understood: {one_line(problem)}") from None
        except ValueError as problem:  # of the package, such as for an upload that failed
            raise HostError(f"{one_line(problem)}: start the same command again") from None


def _refusal(problem: Any) -> str:
    """What an answer means that is an error, and what to do about it."""
    status = getattr(problem.response, "status_code", 0)
    reason = one_line(problem)
    if status == 401:
        return f"Kaggle does not know these credentials, or they have expired ({reason}): {CREDENTIALS}"
    if status == 429:
        return f"Kaggle asks for patience ({reason}): start the same command again in some minutes"
    if status >= 500:
        return f"Kaggle fails ({reason}): start the same command again later"
    return f"Kaggle refuses: {reason}"


def _authenticated(requests: Any) -> Any:
    """`kaggle.api`."""
    try:
        api = importlib.import_module("kaggle").api
        api.authenticate()
    except (requests.RequestException, ImportError):
        raise
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


def one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split())
