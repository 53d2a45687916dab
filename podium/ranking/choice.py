"""Which of each team's files counts, and the rule in words."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium import scoring
from podium.errors import HostError
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission, errors_of_boost
from podium.ranking.work import Scored

__all__ = ["PUBLIC", "choose", "table_of_files", "with_runtimes"]

PUBLIC = scoring.PARTS[0]


def _column(part: str) -> str:
    """The column of a part's scores."""
    return "score" if part == scoring.ALL else f"{part.lower()}_score"


def table_of_files(submissions: Sequence[Submission], scored: Sequence[Scored]) -> pd.DataFrame:
    """Every file and what became of it.

    Parameters
    ----------
    submissions : sequence of Submission
    scored : sequence of Scored
        In the same order.

    Returns
    -------
    DataFrame
        A row per file: ``team``, ``submission``, ``sha256``; where any file has them ``side_sha256``,
        ``submitted_at``, ``given_public_score``; the scores of each part, NaN of a rejected file; ``rejected``,
        the reason or None.
    """
    table: dict[str, Any] = {
        "team": [each.team for each in submissions],
        "submission": [each.name for each in submissions],
        "sha256": [each.digest for each in scored],
    }
    for column, texts in {
        "side_sha256": [each.side_digest for each in scored],
        "submitted_at": [each.submitted_at for each in submissions],
        "given_public_score": [each.public_score for each in submissions],
    }.items():
        if any(texts):
            table[column] = [text or None for text in texts]
    for part in next((each.scores for each in scored if each.scores is not None), {}):
        table[_column(part)] = [math.nan if each.scores is None else each.scores[part] for each in scored]
    table["rejected"] = [each.rejected for each in scored]
    return pd.DataFrame(table)


def choose(
    files: pd.DataFrame,
    selection: pd.DataFrame | None,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    solution: scoring.Solution,
    higher_is_better: bool,
) -> tuple[pd.DataFrame, str]:
    """Mark each team's file that counts.

    Parameters
    ----------
    files : DataFrame
        As `table_of_files` makes it.
    selection : DataFrame or None
        ``team`` and ``submission``: of these teams only these files count.
    runtimes : DataFrame or None
        As `podium.ranking.speed.read` returns it.
    rules : Rules
    solution : Solution
    higher_is_better : bool

    Returns
    -------
    files : DataFrame
        With the columns ``chosen`` and ``why``.
    rule : str
        The rule in words.

    Notes
    -----
    Of equal scores the earlier file counts, then the faster one, then the first by name.
    """
    public = _column(PUBLIC) if PUBLIC in solution.rows else "given_public_score"
    rule = rules.choose or ("public:2" if public in files else "private")
    files = files.assign(chosen=False, why="rejected")
    scored = files[files["rejected"].isna()]
    if scored.empty:
        return files, rule
    ties = with_runtimes(scored, runtimes)
    with errors_of_boost() as boost:
        times = {"team": range(len(ties)), "score": None, "submitted_at": ties.get("submitted_at")}
        when = boost.parse(pd.DataFrame(times)).submitted_at
    order = scored[["team", "submission"]].assign(
        time=when, runtime=pd.to_numeric(ties["runtime"], errors="coerce")
    )

    def best(left: "pd.Index[int]", column: str, number: int) -> "pd.Index[int]":
        """Of the files that are left each team's best ones."""
        score = pd.to_numeric(scored[column], errors="coerce") * (-1 if higher_is_better else 1)
        ranked = order.assign(score=score).loc[left]
        ranked = ranked.sort_values(["team", "score", "time", "runtime", "submission"])
        return ranked.index[ranked.groupby("team").cumcount() < number]

    by = "score" if solution.deciding == scoring.ALL else f"{solution.deciding} score"
    left, words = scored.index, f"the best of each team's files by {by}"
    if rule != "private":
        if public not in files:
            raise HostError(f"--choose {rule}: the solution has no Public part, and no public_score is given")
        number = int(rule.removeprefix("public:"))
        left = best(left, public, number)
        words = f"the better by {by} of each team's {number} best files by Public score"
    files.loc[scored.index, "why"] = "not among the best by Public score"
    if selection is not None:
        named = scored["team"].isin(selection["team"]).to_numpy()
        wanted = pd.MultiIndex.from_frame(selection)
        is_selected = pd.MultiIndex.from_frame(scored[["team", "submission"]]).isin(wanted)
        files.loc[scored.index[named], "why"] = "not selected"
        left = scored.index[np.where(named, is_selected, scored.index.isin(left))]
        words = f"the better by {by} of the files that a team selected; for teams without a selection, {words}"
    files.loc[left, "why"] = f"another file is better by {by}"
    files.loc[best(left, _column(solution.deciding), 1), ["chosen", "why"]] = True, f"best by {by}"
    return files, words


def with_runtimes(files: pd.DataFrame, runtimes: pd.DataFrame | None) -> pd.DataFrame:
    """Files with their runtimes and, unless they know them, with the times of submission.

    Parameters
    ----------
    files : DataFrame
        With the columns ``team`` and ``submission``.
    runtimes : DataFrame or None
        As `podium.ranking.speed.read` returns it.

    Returns
    -------
    DataFrame
        The files with ``runtime`` (seconds, or None) and, where known, ``submitted_at``.
    """
    if runtimes is None:
        return files.assign(runtime=None)
    keys = [name for name in ("team", "submission") if name in runtimes]
    known = runtimes[[name for name in (*keys, "runtime", "submitted_at") if name in runtimes]]
    both = files.merge(known, on=keys, how="left", suffixes=("", "_of_runtimes"))
    if "submitted_at_of_runtimes" in both:
        both["submitted_at"] = both["submitted_at"].combine_first(both.pop("submitted_at_of_runtimes"))
    return both.set_index(files.index)
