"""The board as a page to publish, and what one team is told that asks why it has its rank."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.errors import UsageError
from podium.ranking import estimate, uncertainty
from podium.ranking.board import Run
from podium.wording import listed

TEAMS_DRAWN = 30
ROWS_SHOWN = 50
MOST_ROWS = 2000  # the rest stand in the table's file
VARIANTS_DRAWN = 40
LINEAR_UP_TO = 40  # ranks; more are drawn logarithmically
TICKS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000)
NEIGHBOURS = 3  # on either side

Floats = npt.NDArray[np.float64]


def of_board(run: Run) -> str:
    """The page of a board."""
    ranking = run.ranking
    board = ranking.leaderboard
    return _page(
        "board.html",
        facts=run.facts,
        boosted=board["eligible"].any(),
        rows=_rows(run),
        rows_shown=ROWS_SHOWN,
        more_rows=max(0, len(board) - MOST_ROWS),
        logarithmic=len(board) > LINEAR_UP_TO,
        ticks=_ticks(len(board)),
        prizes=_prizes(ranking.intervals),
        blobs=_blobs(run),
        ahead=_ahead(run),
        variants=_records(ranking.variants),
        heat=_heat(ranking.variant_ranks),
        path=_records(ranking.path),
        shake=_shake(board),
        groups=_groups(ranking.subpopulations),
        similar=_records(ranking.similar),
        teams_drawn=TEAMS_DRAWN,
    )


def of_team(run: Run, team: str) -> str:
    """The page of a team."""
    ranking = run.ranking
    files = ranking.submissions[ranking.submissions["team"] == team]
    if files.empty:
        known = sorted(set(ranking.submissions["team"]))
        raise UsageError(f"--team {team}: expected one of the teams, such as {listed(known)}")
    board = ranking.leaderboard
    on_board: dict[str, Any] = {"row": None, "held": None, "groups": [], "break_even": []}
    for place in np.flatnonzero(board["team"] == team).tolist():
        rows = _rows(run, slice(max(0, place - NEIGHBOURS), place + NEIGHBOURS + 1))
        rank = board["rank"].iloc[place]
        on_board |= {"rows": rows, "row": next(row for row in rows if row["team"] == team)}
        if ranking.variant_ranks is not None:
            ranks = ranking.variant_ranks.iloc[place].drop(["rank", "team"])
            on_board |= {"held": ranks.pop("held"), "others": list(ranks[ranks != rank].items())}
        if ranking.subpopulations is not None:
            scores = ranking.subpopulations.iloc[place].drop("team").sort_values(kind="stable")
            on_board["groups"] = list(scores.items())
        if board["eligible"].any():
            changes = estimate.break_even_runtimes(board, team, **run.rules.of_boost)
            better = changes[changes["rank_below"] < rank][["runtime", "rank_below"]]
            on_board["break_even"] = list(better.itertuples(index=False))[::-1]
    return _page("team.html", team=team, facts=run.facts, files=_records(files), **on_board)


def number(value: Any, digits: int = 5) -> str:
    """A number with so many decimals, without a sign at zero; a dash for nothing."""
    if pd.isna(value):
        return "–"
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:z,.{digits}f}"


def percent(share: float) -> str:
    """A share, never 0% or 100% for what is not."""
    if math.isnan(share):
        return "–"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"


def _page(template: str, **context: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("podium.ranking"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals |= {"number": number, "percent": percent}
    return environment.get_template(template).render(context)


def _records(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    if table is None:
        return []
    names = list(map(str, table.columns))
    return [dict(zip(names, row)) for row in table.astype(object).itertuples(index=False, name=None)]


def _rows(run: Run, which: slice = slice(MOST_ROWS)) -> list[dict[str, Any]]:
    """Rows of the board with their intervals, also in percent of a bar's width."""
    rows, intervals = _records(run.ranking.leaderboard[which]), run.ranking.intervals
    if intervals is not None:
        columns = ["boosted_score_low", "boosted_score_high", "boosted_score"]
        bars = intervals[which][columns]
        low, high = bars[columns[0]].head(ROWS_SHOWN).min(), bars[columns[1]].head(ROWS_SHOWN).max()
        bars = ((bars - low) / ((high - low) or 1.0)).clip(0, 1) * 100
        for row, interval, bar in zip(rows, _records(intervals[which]), bars.to_numpy().tolist()):
            row |= {"interval": interval, "bar": bar}
    return rows


def _axis(ranks: npt.ArrayLike, teams: int) -> Floats:
    """Places of ranks on an axis from 0 to 1, logarithmic where there are many."""
    ranks = np.asarray(ranks, dtype=np.float64)
    if teams <= LINEAR_UP_TO:
        return np.asarray((ranks - 1) / max(teams - 1, 1))
    return np.asarray(np.log(ranks) / math.log(teams))


def _ticks(teams: int) -> list[tuple[int, float]]:
    if teams <= LINEAR_UP_TO:
        ranks = [1, *range(5, teams - 1, 5)] if teams > 12 else list(range(1, teams))
    else:
        ranks = [rank for rank in TICKS if 1.4 * rank <= teams]
    return list(zip([*ranks, teams], _axis([*ranks, teams], teams).tolist()))


def _prizes(intervals: pd.DataFrame | None) -> dict[str, Any] | None:
    """The podium plot."""
    names = [] if intervals is None else [name for name in map(str, intervals) if name.startswith("prize_")]
    if intervals is None or not names:
        return None
    likely = _records(intervals[intervals[names].sum(axis=1) > 0])
    rows = [(row["team"], row["rank"], [row[name] for name in names]) for row in likely[:TEAMS_DRAWN]]
    return {"places": len(names), "rows": rows, "more": len(likely) - len(rows)}


def _blobs(run: Run) -> list[Any]:
    """Of each team its ranks on the draws: dots whose areas are shares."""
    sure, board = run.ranking.uncertainty, run.ranking.leaderboard
    if sure is None:
        return []
    teams = len(board)
    bins = np.arange(1, teams + 2)
    if teams > LINEAR_UP_TO:
        bins = np.unique(np.geomspace(1, teams + 1, 60).round())
    places = _axis((bins[:-1] + bins[1:] - 1) / 2, teams).tolist()
    rows = []
    for name, own, ranks in zip(board["team"], _axis(board["rank"], teams), sure.ranks.T[:TEAMS_DRAWN]):
        shares = np.histogram(ranks, bins)[0] / len(ranks)
        rows.append((name, own, [(place, math.sqrt(share)) for place, share in zip(places, shares) if share]))
    return rows


def _ahead(run: Run) -> dict[str, Any] | None:
    """The significance map."""
    sure = run.ranking.uncertainty
    if sure is None or sure.ranks.shape[1] < 2:
        return None
    share = uncertainty.ahead(sure, TEAMS_DRAWN)
    return {"names": run.ranking.leaderboard["team"].head(len(share)).tolist(), "share": share.tolist()}


def _heat(ranks: pd.DataFrame | None) -> dict[str, Any] | None:
    """Ranks in each variant, and how far, from -1 to 1, they are from those on the board."""
    if ranks is None or ranks.shape[1] < 4:
        return None
    names = list(ranks.columns[3 : 3 + VARIANTS_DRAWN])
    shifts = np.log2(ranks[names].div(ranks["rank"], axis=0).to_numpy()) / 2
    rows = [
        row | {"ranks": list(zip([row[name] for name in names], shift))}
        for row, shift in zip(_records(ranks.head(TEAMS_DRAWN)), shifts.clip(-1, 1).tolist())
    ]
    return {"names": names, "rows": rows}


def _shake(board: pd.DataFrame) -> list[Any]:
    """Public and Private ranks, before rewards, with the names of the first and of whom moved most."""
    if "public_rank" not in board:
        return []
    teams = len(board)
    board = board[board["rank_before"] <= MOST_ROWS]
    public, private = board["public_rank"].astype(float), board["rank_before"].astype(float)
    moved = (public / private).map(math.log).abs()
    named = set(board["team"][private <= 3]) | set(board["team"][moved.nlargest(5).index])
    return [
        (x, y, team if team in named else None, int(a), int(b))
        for team, x, y, a, b in zip(board["team"], _axis(public, teams), _axis(private, teams), public, private)
    ]


def _groups(table: pd.DataFrame | None) -> dict[str, Any] | None:
    """Scores of the sub-populations, and how far each is below the team's best one."""
    if table is None:
        return None
    scores = table.head(TEAMS_DRAWN).set_index("team")
    depths = scores.rsub(scores.max(axis=1), axis=0).mul(4).clip(upper=1).fillna(0)
    cells = np.stack([scores, depths], axis=-1).tolist()
    return {"names": list(scores), "rows": list(zip(scores.index, cells))}
