"""Talk to Kaggle's site through the package `kaggle`.

The package is imported only when it is needed. Without credentials its import fails, exits or prints help.
"""

import contextlib
import functools
import importlib
import io
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from podium.common.errors import HostError, UsageError, missing_extra

PAGE_SIZE = 200  # rows or files in one answer
TIME_LIMIT = 60.0  # seconds to wait for one answer
CREDENTIALS = (
    "run `kaggle auth login`, or save a token of www.kaggle.com/settings/api as ~/.kaggle/access_token or in "
    "KAGGLE_API_TOKEN"
)


class Refused(HostError):
    """The site does not let this host do what was asked, or there is no such competition."""


def pages(fetch: Callable[[str], Any]) -> Iterator[Any]:
    """Fetch all pages of a list, each by the token that the one before it names."""
    token, seen = "", set[str]()
    while token not in seen:
        seen.add(token)
        page = fetch(token)
        yield page
        token = page.next_page_token or ""


def number(text: str | None) -> float:
    """Read a score as the site shows it."""
    try:
        value = float(text or "nan")
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


@contextlib.contextmanager
def talking() -> Iterator[Any]:
    """Sign in at Kaggle, for a block of code in which the package prints nothing and fails with one line."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            importlib.import_module("six")  # kaggle needs this package, but does not declare it
            requests: Any = importlib.import_module("requests")
            with _time_limit(requests):
                yield _authenticated(requests)
        except ImportError as problem:
            raise missing_extra("this command", f"the packages kaggle and six ({problem})", "host") from None
        except requests.Timeout:
            raise HostError(f"Kaggle did not answer within {TIME_LIMIT:g} s") from None
        except requests.HTTPError as problem:
            kind = Refused if getattr(problem.response, "status_code", 0) in (403, 404) else HostError
            raise kind(_refusal(problem)) from None
        except requests.ConnectionError as problem:
            raise HostError(f"Kaggle cannot be reached: {one_line(problem)}") from None
        except requests.RequestException as problem:
            raise HostError(f"Kaggle's answer cannot be understood: {one_line(problem)}") from None
        except ValueError as problem:  # the package raises it, for example if an upload failed
            raise HostError(f"{one_line(problem)}: start the same command again") from None


def ask(api: Any, method: str, request_class: str, **fields: Any) -> Any:
    """Make a call for which the package has no method of its own."""
    service = importlib.import_module("kagglesdk.competitions.types.competition_api_service")
    request = getattr(service, request_class)()
    for name, value in fields.items():
        setattr(request, name, value)
    with api.build_kaggle_client() as client:
        return getattr(client.competitions.competition_api_client, method)(request)


def _refusal(problem: Any) -> str:
    """The message for an HTTP error: what it means, and what to do."""
    status = getattr(problem.response, "status_code", 0)
    reason = one_line(problem)
    if status == 401:
        return f"Kaggle does not know these credentials, or they have expired ({reason}): {CREDENTIALS}"
    if status == 429:
        return f"Kaggle got too many requests ({reason}): start the same command again in some minutes"
    if status >= 500:
        return f"Kaggle has a fault ({reason}): start the same command again later"
    return f"Kaggle refuses: {reason}"


def _authenticated(requests: Any) -> Any:
    """The package's interface, signed in; a UsageError if there are no credentials."""
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
    """Give every request a time limit, because the package itself would wait forever."""
    send = requests.Session.send
    requests.Session.send = functools.partialmethod(send, timeout=TIME_LIMIT)
    try:
        yield
    finally:
        requests.Session.send = send


def one_line(problem: object) -> str:
    """Put a text on one line."""
    return " ".join(str(problem).split())
