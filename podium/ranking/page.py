"""The page of a board, which can be published, and the page that shows one team why it has its rank.

Each page is a single file that needs no network.  Its only script searches and sorts the board, and the
Content-Security-Policy allows it by its hash.  Without the script, the page shows everything.
"""

import base64
import hashlib
import math
from collections.abc import Sequence
from importlib import resources
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.errors import UsageError
from podium.ranking import estimate, uncertainty, wording
from podium.ranking.board import Run
from podium.ranking.rules import Rules
from podium.wording import listed

__all__ = ["anchor_of", "of_board", "of_team"]

TEAMS_DRAWN = 30
# The page shows so many rows of the board at first, and holds so many; the file of the board holds all.
ROWS_SHOWN = 50
MOST_ROWS = 2000

# Files and models that are not on the board: so many are listed.
MOST_LISTED = 100
TEAMS_IN_VARIANTS = 12
LEAST_PRIZE = 0.01  # teams below this share of the draws are left out of the table of prizes
LINEAR_UP_TO = 40  # with more ranks, their axis is logarithmic
TICKS = (1, 3, 10, 30, 100, 300, 1000)  # far enough from each other on a phone
# The plot of Public and Private ranks on a narrow phone, and its letters, in pixels.
PHONE_WIDTH, PHONE_HEIGHT, LETTER, LINE = 250, 350, 7, 13
LABEL_CHARACTERS = 18
BETTER_RANKS = 10  # so many better ranks are listed for a team, the nearest ones and the best one
NEIGHBORS = 3  # teams that are shown above and below a team

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def of_board(run: Run) -> str:
    """Make the page of a board.

    Parameters
    ----------
    run : Run
        A finished ranking with its facts.

    Returns
    -------
    str
        The page in HTML.
    """
    ranking = run.ranking
    board = ranking.leaderboard
    return _page(
        "board.html",
        heading=run.heading,
        facts=run.facts,
        summary=wording.summary(run),
        boosted=run.facts["boosted"],
        rows=_rows(run),
        pairs_with_p=uncertainty.pairs_with_p(len(board), run.rules.prizes),
        more_rows=max(0, len(board) - MOST_ROWS),
        prizes=run.rules.prizes if len(board) > run.rules.prizes else 0,
        logarithmic=len(board) > LINEAR_UP_TO,
        ticks=_ticks(len(board)),
        prize_places=_prize_places(run),
        podium=_podium(ranking.intervals),
        blobs=_blobs(run),
        ahead=_ahead(run),
        variants=_variants(run),
        path=_records(ranking.path),
        shake=_shake(board),
        groups=_groups(ranking.subpopulations, run.facts["higher_is_better"]),
        absent=_absent(run),
        similar=_records(ranking.similar),
        teams_drawn=TEAMS_DRAWN,
        most_listed=MOST_LISTED,
    )


def of_team(run: Run, team: str) -> str:
    """Make the page of a team.

    It shows the team's files, its neighbors on the board, its sub-populations, and what would have changed its
    rank.

    Parameters
    ----------
    run : Run
        A finished ranking with its facts.
    team : str
        The name of a team that is on the board, or whose files were rejected.

    Returns
    -------
    str
        The page in HTML.

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
    on_board: dict[str, Any] = {"row": None, "held": None, "groups": [], "why": [], "break_even": []}
    for row in np.flatnonzero(board["team"] == team).tolist():
        on_board |= _of_row(run, team, row)
    return _page(
        "team.html",
        heading=run.heading,
        team=team,
        facts=run.facts,
        boosted=run.facts["boosted"],
        files=_records(files),
        better_ranks=BETTER_RANKS,
        **on_board,
    )


def _of_row(run: Run, team: str, row: int) -> dict[str, Any]:
    """Collect what the page of a team says about its row on the board."""
    ranking = run.ranking
    rank = ranking.leaderboard["rank"].iloc[row]
    rows = _rows(run, slice(max(0, row - NEIGHBORS), row + NEIGHBORS + 1))
    told: dict[str, Any] = {"rows": rows, "row": next(each for each in rows if each["team"] == team)}
    told["why"] = wording.why_not_better(run, row)
    if ranking.variant_ranks is not None:
        ranks = ranking.variant_ranks.iloc[row].drop(["rank", "team", "held_by_runtimes"], errors="ignore")
        told |= {"held": ranks.pop("held"), "others": list(ranks[ranks != rank].items())}
    if ranking.subpopulations is not None:
        scores = ranking.subpopulations.iloc[row].drop("team")
        worst_first = scores.sort_values(kind="stable", ascending=run.facts["higher_is_better"])
        told["groups"] = list(worst_first.items())
    if run.facts["boosted"]:
        told["break_even"] = _better_ranks(ranking.leaderboard, team, rank, run.rules)
    return told


def _better_ranks(board: pd.DataFrame, team: str, rank: int, rules: Rules) -> list[Any]:
    """List the better ranks of a team, each with the longest runtime that gives it, the nearest rank first."""
    changes = estimate.break_even_runtimes(board, team, **rules.of_boost)
    better = changes[changes["rank_below"] < rank][["runtime", "rank_below"]]
    return list(better.itertuples(index=False, name=None))[::-1]


def anchor_of(team: object) -> str:
    """Name the anchor of a team's row, so that ``board.html#team-NAME`` leads to it.

    Parameters
    ----------
    team : object
        The name of the team.

    Returns
    -------
    str
        The anchor, with characters escaped as in an address.

    Examples
    --------
    >>> anchor_of("Red Pen")
    'team-Red%20Pen'
    """
    return f"team-{quote(str(team), safe='')}"


def _page(template: str, **context: Any) -> str:
    """Fill a template."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    script = (resources.files("podium.ranking") / "templates" / "board.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = Environment(
        loader=PackageLoader("podium.ranking"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals |= {
        "number": wording.number,
        "seconds": wording.seconds,
        "percent": wording.percent,
        "of_hundred": wording.of_hundred,
        "anchor_of": anchor_of,
        "items": wording.items_of(context["facts"]),
        "score_name": wording.score_name(context["facts"]),
        "direction": wording.of_direction(context["facts"]),
        "script": Markup(script),
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'",
    }
    return environment.get_template(template).render(context)


def _records(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Turn the rows of a table into dicts.  Without a table there are none."""
    if table is None:
        return []
    columns = list(map(str, table.columns))
    return [dict(zip(columns, row)) for row in table.astype(object).itertuples(index=False, name=None)]


def _rows(run: Run, which: slice = slice(MOST_ROWS)) -> list[dict[str, Any]]:
    """Collect rows of the board, each with its interval, the bar that shows it, and the step to the next team.

    A bar has the low end, the high end and the score in percent of its width.
    """
    rows, intervals = _records(run.ranking.leaderboard[which]), run.ranking.intervals
    decided = run.facts["ties"]
    for row in rows:
        row["next"] = None
        row["tied"] = bool(decided) and any(decided[max(0, row["rank"] - 2) : row["rank"]])
    if intervals is not None:
        columns = ["boosted_score_low", "boosted_score_high", "boosted_score"]
        bars = intervals[which][columns]
        low, high = bars[columns[0]].head(ROWS_SHOWN).min(), bars[columns[1]].head(ROWS_SHOWN).max()
        bars = ((bars - low) / ((high - low) or 1.0)).clip(0, 1) * 100
        for row, interval, bar in zip(rows, _records(intervals[which]), bars.to_numpy().tolist()):
            row |= {"interval": interval, "bar": bar}
    for row, step in zip(rows, _records(run.ranking.neighbors)[which]):
        row["next"] = step
    return rows


def _axis(ranks: npt.ArrayLike, teams: int) -> Floats:
    """Place ranks on an axis from 0 to 1, which is logarithmic if there are many teams."""
    ranks = np.asarray(ranks, dtype=np.float64)
    if teams <= LINEAR_UP_TO:
        return np.asarray((ranks - 1) / max(teams - 1, 1))
    return np.asarray(np.log(ranks) / math.log(teams))


def _ticks(teams: int) -> list[tuple[int, float]]:
    """List the ranks at the ticks of an axis, with their positions."""
    if teams <= LINEAR_UP_TO:
        ranks = [1, *range(5, teams - 2, 5)] if teams > 12 else list(range(1, teams))
    else:
        ranks = [rank for rank in TICKS if 3 * rank <= teams]
    return list(zip([*ranks, teams], _axis([*ranks, teams], teams).tolist()))


def _prize_places(run: Run) -> list[dict[str, Any]]:
    """Collect who has each prize, how far it is ahead of the next team, and whether speed decides it."""
    board = run.ranking.leaderboard
    intervals, steps = _records(run.ranking.intervals), _records(run.ranking.neighbors)
    before = dict(zip(board["rank_before"], board["team"]))
    prizes = []
    for row in range(min(run.rules.prizes, len(board))):
        prize = {"place": row + 1, "team": board["team"].iloc[row], "next": None, "eligible_share": None}
        prize["by_speed"] = bool(run.facts["boosted"]) and before.get(row + 1) != prize["team"]
        prize["else"] = before.get(row + 1)
        if row < len(steps):
            prize["next"] = _ahead_by(steps[row], run.facts["higher_is_better"])
        if prize["by_speed"] and row < len(intervals):
            prize["eligible_share"] = intervals[row].get("eligible_share")
        prizes.append(prize)
    return prizes


def _ahead_by(step: dict[str, Any], higher_is_better: bool) -> dict[str, Any]:
    """Turn the step to the next team around where lower scores are better.

    So the difference is above 0 for a team that is ahead, whichever scores are better.
    """
    if higher_is_better:
        return step
    return step | {"difference": -step["difference"], "low": -step["high"], "high": -step["low"]}


def _podium(intervals: pd.DataFrame | None) -> dict[str, Any] | None:
    """Collect how often each team wins each prize, for teams that win one on at least 1% of the draws."""
    columns = [] if intervals is None else [name for name in map(str, intervals) if name.startswith("prize_")]
    if intervals is None or not columns:
        return None
    likely = _records(intervals[intervals[columns].sum(axis=1) >= LEAST_PRIZE])
    rows = [(row["team"], row["rank"], [row[name] for name in columns]) for row in likely[:TEAMS_DRAWN]]
    return {"places": len(columns), "rows": rows, "more": len(likely) - len(rows)}


def _blobs(run: Run) -> list[Any]:
    """Collect the ranks of each team on the draws: dots whose areas are shares of the draws, and words."""
    sure, board = run.ranking.uncertainty, run.ranking.leaderboard
    if sure is None:
        return []
    teams = len(board)
    bins = np.arange(1, teams + 2)
    if teams > LINEAR_UP_TO:
        bins = np.unique(np.geomspace(1, teams + 1, 60).round())
    positions = _axis((bins[:-1] + bins[1:] - 1) / 2, teams).tolist()
    rows = []
    drawn = zip(sure.ranks.T[:TEAMS_DRAWN], sure.last_ranks.T[:TEAMS_DRAWN])
    owns = _axis(board["rank"], teams)
    for name, rank, own, (ranks, last_ranks) in zip(board["team"], board["rank"], owns, drawn):
        of_ranks = _shares_of_ranks(ranks, last_ranks, teams)
        cumulated = np.concatenate([[0.0], np.cumsum(of_ranks)])
        shares = np.diff(cumulated[np.minimum(bins - 1, len(of_ranks)).astype(int)])
        dots = [(x, math.sqrt(share)) for x, share in zip(positions, shares.tolist()) if share > 1e-9]
        first, last = np.searchsorted(cumulated[1:], [0.025 + 1e-9, 0.975 - 1e-9]).tolist()
        words = f"rank {rank} on the board, ranks {first + 1} to {last + 1} on 95% of the draws"
        rows.append((name, own, dots, words))
    return rows


def _shares_of_ranks(ranks: Ints, last_ranks: Ints, teams: int) -> Floats:
    """Compute how often a team has each rank, shape (t,).

    On each draw it shares the ranks from a first to a last one, and each of them gets an equal part of it.
    """
    weight = 1 / (last_ranks - ranks + 1) / len(ranks)
    steps = np.bincount(ranks - 1, weight, teams + 1) - np.bincount(last_ranks, weight, teams + 1)
    shares: Floats = np.cumsum(steps)[:-1]
    return shares


def _ahead(run: Run) -> dict[str, Any] | None:
    """Collect who is ahead of whom on which share of the draws, and which teams the rank sets separate."""
    sure, intervals = run.ranking.uncertainty, run.ranking.intervals
    if sure is None or intervals is None or len(intervals) < 2:
        return None
    share = uncertainty.ahead(sure, TEAMS_DRAWN)
    sets = intervals.head(len(share))
    first, last = sets["all_ranks_low"].to_numpy(), sets["all_ranks_high"].to_numpy()
    separated = last[:, np.newaxis] < first
    cells = [list(zip(*row)) for row in zip(share.tolist(), (separated | separated.T).tolist())]
    return {"names": sets["team"].tolist(), "cells": cells}


def _variants(run: Run) -> dict[str, Any] | None:
    """Collect the boards under other decisions, each with the ranks of the first teams."""
    table, ranks = run.ranking.variants, run.ranking.variant_ranks
    if table is None or ranks is None or table.empty:
        return None
    first = ranks.head(TEAMS_IN_VARIANTS)
    shifts = np.log2(first[table["variant"]].div(first["rank"], axis=0).to_numpy(dtype=np.float64)) / 2
    rows = [
        row | {"ranks": list(zip(first[row["variant"]].tolist(), shift))}
        for row, shift in zip(_records(table), shifts.clip(-1, 1).T.tolist())
    ]
    drawn = first["held_by_runtimes"].tolist() if "held_by_runtimes" in first else []
    return {"teams": first["team"].tolist(), "held": first["held"].tolist(), "drawn": drawn, "rows": rows}


def _shake(board: pd.DataFrame) -> list[Any]:
    """Collect Public and Private ranks before rewards, and name the first teams and those that moved most."""
    if "public_rank" not in board:
        return []
    teams = len(board)
    board = board[board["rank_before"] <= MOST_ROWS]
    public, private = board["public_rank"].astype(float), board["rank_before"].astype(float)
    moved = (public / private).map(math.log).abs()
    named = set(board["team"][private <= 3]) | set(board["team"][moved.nlargest(5).index])
    points = list(
        zip(board["team"], _axis(public, teams).tolist(), _axis(private, teams).tolist(), public, private)
    )
    labels = [(wording.cut(team, LABEL_CHARACTERS), x, y) for team, x, y, *_ in points if team in named]
    shifts = iter(_apart(labels))
    return [
        (x, y, team, wording.cut(team, LABEL_CHARACTERS), next(shifts), int(a), int(b))
        if team in named
        else (x, y, None, "", 0, int(a), int(b))
        for team, x, y, a, b in points
    ]


def _apart(labels: Sequence[tuple[str, float, float]]) -> list[int]:
    """Shift labels beside dots up or down, in pixels, so that none is written over another one on a phone.

    Each label has a position from 0 to 1 in both directions.  It is left of its dot on the right half of the
    plot, and right of it on the left half.
    """
    taken: list[tuple[float, float, float]] = []
    shifts = []
    for text, x, y in labels:
        width = LETTER * len(text)
        left = x * PHONE_WIDTH - (width + 8 if x > 0.5 else -8)
        for shift in (0, *(sign * step * LINE for step in range(1, len(labels) + 1) for sign in (-1, 1))):
            middle = y * PHONE_HEIGHT + shift
            if all(
                abs(middle - other) >= LINE or left > right_end or left + width < left_end
                for other, left_end, right_end in taken
            ):
                break
        taken.append((middle, left, left + width))
        shifts.append(shift)
    return shifts


def _groups(table: pd.DataFrame | None, higher_is_better: bool) -> dict[str, Any] | None:
    """Collect the scores of sub-populations, and how far, from 0 to 1, each is from the team's best one."""
    if table is None:
        return None
    scores = table.head(TEAMS_DRAWN).set_index("team")
    best = scores.max(axis=1) if higher_is_better else scores.min(axis=1)
    depths = scores.sub(best, axis=0).abs().fillna(0)
    depths = depths / (float(depths.to_numpy().max(initial=0.0)) or 1.0)
    cells = np.stack([scores, depths], axis=-1).tolist()
    return {"names": list(scores), "rows": list(zip(scores.index, cells))}


def _absent(run: Run) -> list[tuple[str, str, str]]:
    """List the files and models of teams that are not on the board, with the reasons."""
    ranking = run.ranking
    on_board = set(ranking.leaderboard["team"])
    rejected = ranking.rejected[~ranking.rejected["team"].isin(on_board)]
    failed = ranking.failed[~ranking.failed["team"].isin(on_board)]
    rows = [
        (row["team"], f"file {row['submission']}", f"rejected: {row['reason']}") for row in _records(rejected)
    ]
    rows += [
        (row["team"], f"model {row['model']}".strip(), f"failed: {row['reason']}") for row in _records(failed)
    ]
    return sorted(rows)
