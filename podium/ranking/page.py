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

from podium.ranking import estimate, sentences
from podium.ranking.board import Ranking, Run
from podium.ranking.rules import Rules

__all__ = ["anchor_of", "of_board", "of_team"]

TEAMS_DRAWN = 30
MOST_ROWS = 2000  # of the board on the page; the file of the board holds all

# Files and models that are not on the board: so many are listed.
MOST_LISTED = 100
LINEAR_UP_TO = 40  # with more ranks, their axis is logarithmic
TICKS = (1, 3, 10, 30, 100, 300, 1000)  # far enough from each other on a phone
# The plot of Public and Private ranks on a narrow phone, and its letters, in pixels.
PHONE_WIDTH, PHONE_HEIGHT, LETTER, LINE = 250, 350, 7, 13
LABEL_CHARACTERS = 18
BETTER_RANKS = 10  # so many better ranks are listed for a team, the nearest ones and the best one
NEIGHBORS = 3  # teams that are shown above and below a team

Floats = npt.NDArray[np.float64]


def of_board(run: Run) -> str:
    """Make the page of a board."""
    ranking = run.ranking
    board = ranking.leaderboard
    return _page(
        "board.html",
        heading=run.heading,
        facts=run.facts,
        summary=sentences.summary_by_question(run),
        boosted=run.facts["boosted"],
        rows=_rows(run),
        more_rows=max(0, len(board) - MOST_ROWS),
        prizes=run.rules.prizes if len(board) > run.rules.prizes else 0,
        ticks=_ticks(len(board)),
        logarithmic=len(board) > LINEAR_UP_TO,
        prize_places=_prize_places(run),
        variants=_records(ranking.variants),
        shake=_shake(board),
        groups=_groups(ranking, run.facts["higher_is_better"]),
        absent=_absent(run),
        similar=_records(ranking.similar),
        teams_drawn=TEAMS_DRAWN,
        most_listed=MOST_LISTED,
    )


def of_team(run: Run, team: str) -> str:
    """Make the page of a team: its files, its neighbors, its sub-populations, and what would have changed its
    rank.
    """
    ranking = run.ranking
    files = ranking.submissions[ranking.submissions["team"] == team]
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
    told["why"] = sentences.why_not_better(run, row)
    if ranking.variant_ranks is not None and len(ranking.variant_ranks.columns):
        ranks = ranking.variant_ranks.iloc[row]
        told |= {"held": float((ranks == rank).mean()), "others": list(ranks[ranks != rank].items())}
    if ranking.subpopulations is not None:
        scores = ranking.subpopulations.iloc[row].drop("team")
        worst_first = scores.sort_values(kind="stable", ascending=run.facts["higher_is_better"])
        told["groups"] = [(name, score, ranking.group_sizes[str(name)]) for name, score in worst_first.items()]
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
        "number": sentences.number,
        "seconds": sentences.seconds,
        "percent": sentences.percent,
        "in_cases": sentences.in_cases,
        "tens": sentences.tens,
        "anchor_of": anchor_of,
        "items": sentences.items_of(context["facts"]),
        "score_name": sentences.score_name(context["facts"]),
        "direction": sentences.of_direction(context["facts"]),
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
    """Collect rows of the board, each with what is known about chance and whether it is tied."""
    rows, decided = _records(run.ranking.leaderboard[which]), run.facts["ties"]
    for row in rows:
        row["tied"] = bool(decided) and any(decided[max(0, row["rank"] - 2) : row["rank"]])
        row["chance"] = None
    if run.ranking.intervals is not None:
        for row, chance in zip(rows, _records(run.ranking.intervals[which])):
            row["chance"] = chance
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
    """Collect who has each prize, how far it is ahead of the next team, and what speed did to its place."""
    board, facts = run.ranking.leaderboard, run.facts
    intervals, steps = _records(run.ranking.intervals), _records(run.ranking.differences)
    prizes = []
    for row, prize in enumerate(_records(board.head(run.rules.prizes))):
        prize |= {"next_team": None, "chance": None, "step": None, "speed": ""}
        if row + 1 < len(board):
            prize["next_team"] = board["team"].iloc[row + 1]
            prize["difference"] = abs(board["boosted_score"].iloc[row] - board["boosted_score"].iloc[row + 1])
            prize["same"] = facts["ties"][row] if facts["ties"] else ""
        if row < len(intervals):
            prize["chance"] = intervals[row]
        if row < len(steps):
            prize["step"] = _ahead_by(steps[row], facts["higher_is_better"])
        if facts["boosted"] and prize["rank_before"] != prize["rank"]:
            by_score = f"by score alone it would have place {prize['rank_before']}"
            prize["speed"] = f"by its speed: {by_score}" if prize["rank_before"] > prize["rank"] else by_score
        prizes.append(prize)
    return prizes


def _ahead_by(step: dict[str, Any], higher_is_better: bool) -> dict[str, Any]:
    """Turn the step to the next team around where lower scores are better.

    So the difference is above 0 for a team that is ahead, whichever scores are better.
    """
    if higher_is_better:
        return step
    return step | {"low": -step["high"], "high": -step["low"]}


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
    labels = [(sentences.cut(team, LABEL_CHARACTERS), x, y) for team, x, y, *_ in points if team in named]
    shifts = iter(_apart(labels))
    return [
        (x, y, team, sentences.cut(team, LABEL_CHARACTERS), next(shifts), int(a), int(b))
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


def _groups(ranking: Ranking, higher_is_better: bool) -> dict[str, Any] | None:
    """Collect the scores of sub-populations, and how far, from 0 to 1, each is from the team's best one."""
    if ranking.subpopulations is None:
        return None
    scores = ranking.subpopulations.head(TEAMS_DRAWN).set_index("team")
    best = scores.max(axis=1) if higher_is_better else scores.min(axis=1)
    depths = scores.sub(best, axis=0).abs().fillna(0)
    depths = depths / (float(depths.to_numpy().max(initial=0.0)) or 1.0)
    cells = np.stack([scores, depths], axis=-1).tolist()
    names = [(name, ranking.group_sizes[name]) for name in map(str, scores)]
    return {"names": names, "rows": list(zip(scores.index, cells))}


def _absent(run: Run) -> list[tuple[str, str, str]]:
    """List the files and models of teams that are not on the board, with the reasons."""
    ranking = run.ranking
    on_board = set(ranking.leaderboard["team"])
    rejected = ranking.rejected[~ranking.rejected["team"].isin(on_board)]
    failed = ranking.failed[~ranking.failed["team"].isin(on_board)]
    rows = [(row["team"], f"file {row['submission']}", row["reason"]) for row in _records(rejected)]
    rows += [
        (row["team"], f"model {row['model']}".strip(), f"failed: {row['reason']}") for row in _records(failed)
    ]
    return sorted(rows)
