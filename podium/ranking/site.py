"""Compare a board with the one that the competition's site shows.

The site's scores belong to some part of the solution and are given to some digits. Both are found out from the
table itself: the column and the part with which the most teams agree.
"""

import itertools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.errors import HostError
from podium.common.statements import say
from podium.common.wording import printable
from podium.ranking.exports import read_site
from podium.tables import names
from podium.tables.files import Location

OWNER = re.compile(r"(.+)-\d+")  # Codabench adds the number of the submission to the name of its owner
# The part of a board in a column of all_submissions.csv, and what it is called in a sentence.
COMPARED = {"score": "whole", "private_score": "Private", "public_score": "Public"}
NAMED = 3  # teams in the sentence
MOST_DIGITS = 17  # of a score behind the point; a float has no more


class SiteBoard(NamedTuple):
    """What a site shows."""

    name: str  # of the site, such as Codabench
    table: pd.DataFrame  # the texts of each row: team, and the columns of scores
    columns: list[str]  # those of scores


def read(path: Location) -> SiteBoard:
    """Read Kaggle's, Codabench's or EvalAI's leaderboard, or a table with the columns team and score."""
    name, board, columns = read_site(path)
    if name == "Codabench" and board["team"].str.fullmatch(OWNER).all():
        board["team"] = board["team"].str.rpartition("-")[0]
    if board[columns].apply(_numbers).isna().all(axis=None):
        raise HostError(f"{path}: expected a score of any team, found none")
    return SiteBoard(name, board[["team", *columns]], columns)


def compare(
    board: SiteBoard, ours: pd.DataFrame, higher_is_better: bool
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Compare the scores of a site with ours, a row per team with the columns of `COMPARED` that there are.

    The table has the columns ``team``, ``score`` and ``rank`` here, ``site_score`` and ``site_rank``, and
    ``same``; a team that only one of the boards has is in it, too. The facts say what was found out. If a site
    shows a team several times, its best score counts, and its ranks are those of the scores.
    """
    own = {names.key_of(team): team for team in ours["team"]}
    teams = [own.get(names.key_of(team), printable(team)) for team in board.table["team"]]
    rows = board.table.drop(columns="team").apply(_numbers).set_axis(teams).groupby(level=0, sort=False)
    theirs, ours = rows.max() if higher_is_better else rows.min(), ours.set_index("team")
    only_there = theirs.index.difference(ours.index, sort=False)
    only_here = ours.index.difference(theirs.index, sort=False)
    everybody = ours.index.append(only_there)
    theirs, ours = theirs.reindex(everybody), ours.reindex(everybody)
    digits = {column: _digits(board.table[column]) for column in board.columns}

    def same(column: str, part: str) -> "pd.Series[bool]":
        return _same(theirs[column], ours[part], digits[column])

    parts = [part for part in COMPARED if part in ours and ours[part].notna().any()]
    column, part = max(itertools.product(board.columns, parts), key=lambda pair: same(*pair).sum())
    table = pd.DataFrame(
        {
            "team": everybody,
            "score": ours[part],
            "rank": _ranks(ours[part], higher_is_better),
            "site_score": theirs[column],
            "site_rank": _ranks(theirs[column], higher_is_better),
            "same": same(column, part),
        }
    ).reset_index(drop=True)
    both = table["score"].notna() & table["site_score"].notna()
    differing = table[both & ~table["same"]]
    facts = {
        "name": board.name,
        "part": COMPARED[part],
        "column": column,
        "digits": digits[column],
        "same": int(table["same"].sum()),
        "both": int(both.sum()),
        "differing": differing[["team", "score", "site_score"]].head(NAMED).to_dict("records"),
        "only_here": only_here.tolist(),
        "only_there": only_there.tolist(),
    }
    return table, facts


def of_board(leaderboard: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Collect the scores that a site may show: those of teams and of baselines."""
    both = pd.concat([leaderboard, baselines], ignore_index=True)
    return both[["team", *(part for part in COMPARED if part in both)]]


def _numbers(texts: "pd.Series[str]") -> "pd.Series[float]":
    """Read texts as numbers, NaN for what is none, such as a word that a site shows instead."""
    numbers = pd.to_numeric(texts, errors="coerce").astype(np.float64)
    return numbers.where(np.isfinite(numbers))


def _digits(texts: Iterable[str]) -> int:
    """The number of digits behind the point to which scores are given.

    >>> _digits(["0.5", "0.7250", "", "1"])
    4
    """
    digits = (len(text.partition(".")[2]) for text in texts if re.fullmatch(r"-?[0-9]+\.[0-9]+", text))
    return min(MOST_DIGITS, max(digits, default=0))


def _same(theirs: "pd.Series[float]", ours: "pd.Series[float]", digits: int) -> "pd.Series[bool]":
    """Tell which scores agree to so many digits, rounded or cut."""
    unit, away = 10.0**-digits, theirs - ours
    return (away.abs() <= unit / 2 * (1 + 1e-9)) | ((away <= 0) & (away > -unit))


def _ranks(scores: "pd.Series[float]", higher_is_better: bool) -> "pd.Series[Any]":
    """Rank scores, the best first; equal ones share the better rank."""
    return scores.rank(method="min", ascending=not higher_is_better).astype("Int64")


def sentence(facts: dict[str, Any]) -> str:
    """Say how far the board and that of the site agree."""
    part = "" if facts["part"] == "whole" else f" in the {facts['part']} part"
    parts = [say("same_on_site", **(facts | {"part": part}))]
    parts += [say("differs_on_site", digits=facts["digits"], **each) for each in facts["differing"]]
    if (more := facts["both"] - facts["same"] - len(facts["differing"])) > 0:
        parts.append(say("more_differ_on_site", more=more))
    if facts["both"] == 0:
        parts = [say("no_team_on_site", name=facts["name"])]
    elif facts["same"] * 2 < facts["both"]:
        parts.append(say("many_differ_on_site"))
    only = {"here": facts["only_here"], "there": facts["only_there"]}
    parts += [say("only_on_one_site", where=where, teams=teams) for where, teams in only.items() if teams]
    return f"{'; '.join(parts)}."
