"""Compare a board with the one that the competition's site shows.

The site's scores belong to some part of the solution and are given to some digits. Both are found out from the
table itself: the column and the part with which the most teams agree.
"""

import itertools
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Floats
from podium.common.errors import HostError
from podium.common.statements import say
from podium.common.wording import printable
from podium.ranking.exports import read_site
from podium.tables import names
from podium.tables.files import Location
from podium.tables.schema import Cells, whole, wrong

OWNER = re.compile(r"(.+)-\d+")  # Codabench adds the number of the submission to the name of its owner
# The part of a board in a column of all_submissions.csv, and what it is called in a sentence.
COMPARED = {"score": "whole", "private_score": "Private", "public_score": "Public"}
NAMED = 3  # teams in the sentence
MOST_DIGITS = 17  # of a score behind the point; a float has no more
# A site may show a word instead of a score, but a number that no float holds is none.
SCORE = Cells("a score of at most 40 characters that a float can hold", lambda cells: cells.map(_is_score))
RANK = whole("a rank", 1, 10**9)


class SiteBoard(NamedTuple):
    """What a site shows: its name, and a row for each team with the texts of its scores."""

    name: str  # of the site, such as Codabench
    teams: list[str]
    scores: dict[str, list[str]]  # the columns of scores, each with a text per team
    ranks: list[str] | None  # if the table has them


def read(path: Location) -> SiteBoard:
    """Read Kaggle's, Codabench's or EvalAI's leaderboard, or a table with the columns team and score."""
    name, board, columns = read_site(path)
    teams = board["team"].tolist()
    if name == "Codabench" and all(map(OWNER.fullmatch, teams)):
        teams = [team.rpartition("-")[0] for team in teams]
    scores = {column: board[column].tolist() for column in columns}
    rank = next((column for column in ("Rank", "rank") if column in board), None)
    for column, cells in [*dict.fromkeys(columns, SCORE).items(), *([(rank, RANK)] if rank else [])]:
        fits = (board[column] == "") | cells.fits(board[column])
        if not fits.all():
            row = int(np.argmin(fits))
            raise HostError(wrong(path, row, column, cells.expected, board[column].iloc[row]))
    if not any(math.isfinite(each) for texts in scores.values() for each in _numbers(texts)):
        raise HostError(f"{path}: expected a score of any team, found none")
    return SiteBoard(name, teams, scores, None if rank is None else board[rank].tolist())


def compare(
    board: SiteBoard, ours: pd.DataFrame, higher_is_better: bool
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Compare the scores of a site with ours, a row per team with the columns of `COMPARED` that there are.

    The table has the columns ``team``, ``score`` and ``rank`` here, ``site_score`` and ``site_rank``, and
    ``same``; a team that only one of the boards has is in it, too. The facts say what was found out.
    """
    own = {names.key_of(team): team for team in ours["team"]}
    teams = [own.get(names.key_of(team), printable(team)) for team in board.teams]
    parts = [part for part in COMPARED if part in ours and ours[part].notna().any()]
    theirs = {column: _of_teams(teams, texts, higher_is_better) for column, texts in board.scores.items()}

    def agreeing(column: str, part: str) -> int:
        digits = _digits(board.scores[column])
        return int(_same(ours["team"].map(theirs[column]), ours[part], digits).sum())

    column, part = max(itertools.product(theirs, parts), key=lambda pair: agreeing(*pair))
    site_score, digits = theirs[column], _digits(board.scores[column])
    table = ours[["team"]].assign(score=ours[part])
    only_there = [team for team in site_score.index if team not in set(ours["team"])]
    table = pd.concat([table, pd.DataFrame({"team": only_there, "score": np.nan})], ignore_index=True)
    table["rank"] = _ranks(table["score"], higher_is_better)
    table["site_score"] = table["team"].map(site_score).astype(np.float64)
    table["site_rank"] = _site_ranks(board, teams, table, higher_is_better)
    table["same"] = _same(table["site_score"], table["score"], digits)
    both = table["score"].notna() & table["site_score"].notna()
    differing = table[both & ~table["same"]]
    facts = {
        "name": board.name,
        "part": COMPARED[part],
        "column": column,
        "digits": digits,
        "same": agreeing(column, part),
        "both": int(both.sum()),
        "differing": differing[["team", "score", "site_score"]].head(NAMED).to_dict("records"),
        "only_here": ours.loc[~ours["team"].isin(site_score.index), "team"].tolist(),
        "only_there": only_there,
    }
    return table, facts


def of_board(leaderboard: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Collect the scores that a site may show: those of teams and of baselines."""
    both = pd.concat([leaderboard, baselines], ignore_index=True)
    return both[["team", *(part for part in COMPARED if part in both)]]


def _is_score(text: str) -> bool:
    """Tell whether a site may show this in place of a score."""
    try:
        return len(text) <= 40 and not math.isinf(float(text))  # pandas 2 takes 1e400 for no number
    except ValueError:
        return True


def _numbers(texts: list[str]) -> Floats:
    """Read texts as numbers, NaN for what is none."""
    return pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(np.float64)


def _of_teams(teams: list[str], texts: list[str], higher_is_better: bool) -> "pd.Series[float]":
    """The best score that a site shows for each team."""
    of_teams = pd.Series(_numbers(texts), index=teams).groupby(level=0, sort=False)
    return of_teams.max() if higher_is_better else of_teams.min()


def _digits(texts: list[str]) -> int:
    """The number of digits behind the point to which scores are given.

    >>> _digits(["0.5", "0.7250", "", "1"])
    4
    """
    digits = (len(text.partition(".")[2]) for text in texts if re.fullmatch(r"-?[0-9]+\.[0-9]+", text))
    return min(MOST_DIGITS, max(digits, default=0))


def _same(theirs: "pd.Series[Any]", ours: "pd.Series[Any]", digits: int) -> "pd.Series[bool]":
    """Tell which scores agree to so many digits, rounded or cut."""
    unit = 10.0**-digits
    away = theirs.astype(np.float64) - ours.astype(np.float64)
    return (away.abs() <= unit / 2 * (1 + 1e-9)) | ((away <= 0) & (away > -unit))


def _ranks(scores: "pd.Series[Any]", higher_is_better: bool) -> "pd.Series[Any]":
    """Rank scores, the best first; equal ones share the better rank."""
    return scores.rank(method="min", ascending=not higher_is_better).astype("Int64")


def _site_ranks(board: SiteBoard, teams: list[str], table: pd.DataFrame, higher_is_better: bool) -> Any:
    """The ranks that a site gives, or those of its scores."""
    if board.ranks is None:
        return _ranks(table["site_score"], higher_is_better)
    ranks = dict(zip(teams, _numbers(board.ranks).tolist()))
    return table["team"].map(ranks).round().astype("Int64")


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
