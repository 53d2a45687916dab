"""The board as a page to publish: one file, no network, for 8 teams or 2,000.

`of_board` shows the board, how sure it is and what else it could have been; `of_team` is what one team is told
that asks why it has its rank.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.errors import UsageError
from podium.ranking import estimate
from podium.ranking.run import Run
from podium.wording import listed

__all__ = ["of_board", "of_team"]

TEAMS_DRAWN = 30
ROWS_SHOWN = 50
MOST_ROWS = 2000  # the rest stand in the table's file
VARIANTS_DRAWN = 40
LINEAR_UP_TO = 40  # ranks; more are drawn logarithmically
PLOT = 640  # units of width
NEIGHBOURS = 3  # on either side

Floats = npt.NDArray[np.float64]


def of_board(run: Run) -> str:
    """The page of a board."""
    ranking = run.ranking
    board = ranking.leaderboard
    html: str = _template("board.html").render(
        facts=run.facts,
        counts=ranking.facts["counts"],
        boosted=bool((board["boost"] > 0).any()) or bool(board["eligible"].any()),
        rows=_rows(run),
        rows_shown=ROWS_SHOWN,
        more_rows=max(0, len(board) - MOST_ROWS),
        prizes=_prizes(run),
        blobs=_blobs(run),
        ahead=_ahead(run),
        variants=_records(ranking.variants),
        heat=_heat(run),
        path=_records(ranking.path),
        shake=_shake(board),
        groups=_groups(ranking.subpopulations),
        similar=_records(ranking.similar),
        number=number,
        percent=percent,
        teams_drawn=TEAMS_DRAWN,
    )
    return html


def of_team(run: Run, team: str) -> str:
    """The page of a team.

    Raises
    ------
    UsageError
        There is no such team.
    """
    ranking = run.ranking
    files = ranking.submissions[ranking.submissions["team"] == team]
    if files.empty:
        known = sorted(set(ranking.submissions["team"]))
        raise UsageError(f"--team {team}: expected one of the teams, such as {listed(known)}")
    board = ranking.leaderboard
    found = np.flatnonzero(board["team"] == team)
    place = int(found[0]) if len(found) else None
    row = rows = held = None
    if place is not None:
        rows = _rows(run, slice(max(0, place - NEIGHBOURS), place + NEIGHBOURS + 1))
        row = next(each for each in rows if each["team"] == team)
        if ranking.variant_ranks is not None:
            of_team_row = ranking.variant_ranks.iloc[place]
            held = {
                "share": of_team_row["held"],
                "others": [
                    (name, rank)
                    for name, rank in of_team_row.drop(["rank", "team", "held"]).items()
                    if rank != of_team_row["rank"]
                ],
            }
    groups = ranking.subpopulations
    of_groups = [] if groups is None or place is None else list(groups.drop(columns="team").iloc[place].items())
    html: str = _template("team.html").render(
        team=team,
        facts=run.facts,
        files=_records(files),
        row=row,
        rows=rows,
        held=held,
        groups=sorted(of_groups, key=lambda group: group[1]),
        break_even=_break_even(run, place),
        number=number,
        percent=percent,
    )
    return html


def number(value: Any, digits: int = 5) -> str:
    """A number with so many decimals, without a sign at zero; a dash for nothing."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    text = f"{float(value):,.{digits}f}"
    return text.removeprefix("-") if not float(text.replace(",", "")) else text


def percent(share: float) -> str:
    """A share, never 0% or 100% for what is not."""
    if share != share:
        return "–"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"


def _template(name: str) -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("podium.ranking")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True
    ).get_template(name)


def _records(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    if table is None:
        return []
    names = list(map(str, table.columns))
    return [dict(zip(names, row)) for row in table.astype(object).itertuples(index=False, name=None)]


def _rows(run: Run, which: slice = slice(MOST_ROWS)) -> list[dict[str, Any]]:
    """Rows of the board with their intervals, as shares of the width of a bar."""
    rows, intervals = _records(run.ranking.leaderboard[which]), run.ranking.intervals
    if intervals is None:
        return rows
    columns = ["boosted_score_low", "boosted_score_high"]
    drawn = intervals[which].head(ROWS_SHOWN)
    if drawn.empty:
        return rows
    low, high = float(drawn[columns[0]].min()), float(drawn[columns[1]].max())
    width = (high - low) or 1.0
    for row, interval in zip(rows, _records(intervals[which])):
        row["interval"] = interval
        row["bar"] = [
            min(max((interval[name] - low) / width, 0), 1) * 100 for name in (*columns, "boosted_score")
        ]
    return rows


def _axis(ranks: npt.ArrayLike, teams: int) -> Floats:
    """Places of ranks on an axis from 0 to 1, logarithmic where there are many."""
    ranks = np.asarray(ranks, dtype=np.float64)
    if teams <= LINEAR_UP_TO:
        return np.asarray((ranks - 1) / max(teams - 1, 1))
    return np.asarray(np.log(ranks) / math.log(teams))


def _ticks(teams: int) -> list[tuple[int, float]]:
    ranks = [rank for rank in (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000) if rank < teams]
    if teams <= LINEAR_UP_TO:
        ranks = [rank for rank in ranks if rank not in (2, 3)] if teams > 12 else list(range(1, teams))
    elif ranks and teams / ranks[-1] < 1.4:
        ranks = ranks[:-1]
    return list(zip([*ranks, teams], _axis([*ranks, teams], teams).tolist()))


def _prizes(run: Run) -> dict[str, Any] | None:
    """Who wins which prize how often: the podium plot."""
    intervals = run.ranking.intervals
    if intervals is None:
        return None
    names = [name for name in map(str, intervals) if name.startswith("prize_")]
    likely = intervals[(intervals[names].sum(axis=1) > 0)] if names else intervals.head(0)
    rows = [
        (row["team"], row["rank"], [row[name] for name in names]) for row in _records(likely.head(TEAMS_DRAWN))
    ]
    return {"places": len(names), "rows": rows, "more": len(likely) - len(rows)} if names else None


def _blobs(run: Run) -> dict[str, Any] | None:
    """How often each of the first teams has which rank: dots whose areas are shares of draws."""
    sure = run.ranking.uncertainty
    if sure is None:
        return None
    teams = sure.ranks.shape[1]
    board = run.ranking.leaderboard
    drawn = min(TEAMS_DRAWN, teams)
    bins = (
        np.arange(1, teams + 2) if teams <= LINEAR_UP_TO else np.unique(np.geomspace(1, teams + 1, 60).round())
    )
    rows = []
    for team in range(drawn):
        counts = np.histogram(sure.ranks[:, team], bins)[0] / len(sure.ranks)
        middle = (bins[:-1] + bins[1:] - 1) / 2
        places = _axis(middle, teams)
        dots = [(float(place), math.sqrt(share)) for place, share in zip(places, counts) if share > 0]
        rows.append((board["team"].iloc[team], float(_axis(team + 1, teams)), dots))
    return {"rows": rows, "ticks": _ticks(teams), "logarithmic": teams > LINEAR_UP_TO}


def _ahead(run: Run) -> dict[str, Any] | None:
    """On what share of draws each of the first teams is ahead of each other one: the significance map."""
    sure = run.ranking.uncertainty
    if sure is None or sure.ranks.shape[1] < 2:
        return None
    ranks = sure.ranks[:, :TEAMS_DRAWN]
    share = (ranks[:, :, np.newaxis] < ranks[:, np.newaxis]).mean(axis=0)
    names = run.ranking.leaderboard["team"].head(ranks.shape[1]).tolist()
    return {"names": names, "share": share.tolist()}


def _heat(run: Run) -> dict[str, Any] | None:
    """The first teams' ranks in each variant."""
    ranks = run.ranking.variant_ranks
    if ranks is None or ranks.shape[1] < 4:
        return None
    names = list(ranks.columns[3 : 3 + VARIANTS_DRAWN])
    rows = [
        {
            "team": row["team"],
            "rank": row["rank"],
            "held": row["held"],
            "ranks": [
                (row[name], max(-1.0, min(1.0, math.log2(row[name] / row["rank"]) / 2))) for name in names
            ],
        }
        for row in _records(ranks.head(TEAMS_DRAWN))
    ]
    return {"names": names, "rows": rows}


def _shake(board: pd.DataFrame) -> dict[str, Any] | None:
    """Public and Private ranks, before rewards."""
    if "public_rank" not in board:
        return None
    teams = len(board)
    board = board[board["rank_before"] <= MOST_ROWS]
    public, private = board["public_rank"].astype(float), board["rank_before"].astype(float)
    moved = (public / private).map(math.log).abs()
    named = set(board["team"][private <= 3]) | set(board["team"][moved.nlargest(5).index])
    dots = [
        (x, y, team if team in named else None, int(a), int(b))
        for team, x, y, a, b in zip(board["team"], _axis(public, teams), _axis(private, teams), public, private)
    ]
    return {"dots": dots, "ticks": _ticks(teams), "logarithmic": teams > LINEAR_UP_TO}


def _groups(table: pd.DataFrame | None) -> dict[str, Any] | None:
    """The first teams' scores in each sub-population, and how far each is below the team's best one."""
    if table is None:
        return None
    names = [name for name in map(str, table) if name != "team"]
    rows = []
    for row in _records(table.head(TEAMS_DRAWN)):
        scores = [row[name] for name in names]
        best = max((score for score in scores if score == score), default=math.nan)
        rows.append(
            (row["team"], [(score, min(1.0, (best - score) * 4) if score == score else 0) for score in scores])
        )
    return {"names": names, "rows": rows}


def _break_even(run: Run, place: int | None) -> list[tuple[float, int]]:
    """For each rank above the team's that another runtime would give: up to which runtime."""
    board = run.ranking.leaderboard
    if place is None or not board["eligible"].any():
        return []
    changes = estimate.break_even_runtimes(board, board["team"].iloc[place], **run.rules.of_boost)
    better = changes[changes["rank_below"] < board["rank"].iloc[place]]
    return list(zip(better["runtime"], better["rank_below"]))[::-1]
