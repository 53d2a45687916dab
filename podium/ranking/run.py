"""A run: what was asked, what came out, and its run.json."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import hosted
from podium.errors import UsageError
from podium.files import is_url
from podium.ranking import speed
from podium.ranking.board import RUN, Ranking, read_selection
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission

__all__ = ["Request", "Run", "read_run", "read_tables", "request_of"]


class Request(NamedTuple):
    """What is ranked.

    Attributes
    ----------
    metric : name or path
    solution, submissions : paths or URLs
    runtimes, selection : likewise, or None
    parameters : dict, the metric's keyword arguments where not their defaults
    """

    metric: str
    solution: str
    submissions: str
    runtimes: str | None = None
    selection: str | None = None
    parameters: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class Run(NamedTuple):
    """A finished run: what was asked, its result, and run.json."""

    request: Request
    rules: Rules
    ranking: Ranking
    facts: dict[str, Any]


def read_run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The run.json of a folder (or at a path).

    Raises
    ------
    UsageError
    """
    path = Path(folder) / RUN if Path(folder).is_dir() else Path(folder)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        for name in ("inputs", "rules", "parameters", "submissions", "store", "outputs"):
            facts[name]
    except OSError as problem:
        raise UsageError(
            f"cannot read {path}: {problem.strerror or problem}; expected a finished run"
        ) from None
    except (ValueError, KeyError, TypeError) as problem:
        raise UsageError(
            f"{path}: expected the run.json of podium rank; {problem} is wrong or lacking"
        ) from None
    return dict(facts)


def request_of(facts: dict[str, Any], folder: Path) -> Request:
    """What a run.json says was ranked; paths are relative to its folder."""
    inputs = facts["inputs"]

    def path_of(name: str) -> str | None:
        path = (inputs.get(name) or {}).get("path")
        if path is None or is_url(path) or (name == "metric" and path in hosted.FILES):
            return path
        return os.path.normpath(os.path.join(folder, path))

    return Request(
        str(path_of("metric")),
        str(path_of("solution")),
        str(path_of("submissions")),
        path_of("runtimes"),
        path_of("selection"),
        {name: _from_json(value) for name, value in facts["parameters"].items()},
    )


def read_tables(
    request: Request, submissions: Sequence[Submission]
) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """The host's runtimes and selection; None where there are none.

    Raises
    ------
    HostError
    """
    return (
        None if request.runtimes is None else speed.read(request.runtimes),
        None if request.selection is None else read_selection(request.selection, submissions),
    )


def _from_json(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf") else value
