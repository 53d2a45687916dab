"""The page of a board, which can be published, and the page that shows one team why it has its rank.

Each page is a single file that needs no network. Its only script searches and sorts the board, and the
Content-Security-Policy allows it by its hash. Without the script, the page shows everything.
"""

import itertools
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from podium.common import pages
from podium.common.wording import ordinal, together
from podium.ranking import basis, drawing, estimate, jury, sentences, similarity
from podium.ranking.final import FinalBoard
from podium.ranking.rules import Rules

TEMPLATES = Path(__file__).with_name("templates")
TEAMS_DRAWN = 30
MOST_ROWS = 2000  # of the board on the page; the file of the board holds all

# Files and models that are not on the board: so many are listed.
MOST_LISTED = 100
BETTER_RANKS = 10  # so many better ranks are listed for a team, the nearest ones and the best one
NEIGHBORS = 3  # teams that are shown above and below a team


def of_board(final: FinalBoard) -> str:
    """Make the page of a board."""
    board, higher = final.leaderboard, final.facts["higher_is_better"]
    prize_places = _prize_places(final)
    of_borders = drawing.borders([place["step"] for place in prize_places if place["step"]])
    rows, same_files = _rows(final, final.published[:MOST_ROWS]), similarity.senders(final.submissions)
    return _page(
        "board.html",
        final,
        confident=sentences.confident(final.facts),
        summary=final.summary_by_question,
        rests_on=basis.lines(final.facts, final.options.organizer),
        decisive=None if final.chance is None else final.chance.decisive,
        rows=rows,
        scale=drawing.intervals(rows, higher),
        more_rows=max(0, len(board) - MOST_ROWS),
        last_prize=_last_prize(final),
        ticks=drawing.rank_ticks(len(board)),
        logarithmic=len(board) > drawing.LINEAR_UP_TO,
        prize_places=prize_places,
        of_borders=of_borders,
        zero=dict(of_borders)[0],
        decisions=final.facts.get("decisions", []),
        variants=drawing.records(final.variants),
        shake=drawing.shake_up(board, MOST_ROWS),
        speed=drawing.score_and_runtime(board, final.options) if final.facts["boosted"] else None,
        groups=_groups(final, higher),
        absent=_absent(final),
        same_files=same_files,
        similar=_similar(final, same_files),
        teams_drawn=TEAMS_DRAWN,
        most_listed=MOST_LISTED,
    )


def of_team(final: FinalBoard, team: str) -> str:
    """Make the page of a team: its files, its neighbors, its sub-populations, and what would have changed its
    rank.
    """
    decisions = [each for each in final.facts.get("decisions", []) if each["team"] == team]
    rows = np.flatnonzero(final.leaderboard["team"] == team).tolist()
    on_board = _of_row(final, team, rows[0]) if rows else dict.fromkeys(OF_ROW)
    return _page(
        "team.html",
        final,
        team=team,
        files=drawing.records(final.submissions[final.submissions["team"] == team]),
        mistakes=final.mistakes,
        decision=decisions[0] if decisions else None,
        failed=drawing.records(final.failed[final.failed["team"] == team]),
        better_ranks=BETTER_RANKS,
        **on_board,
    )


OF_ROW = "rows", "scale", "row", "why", "held", "others", "groups", "break_even"


def _of_row(final: FinalBoard, team: str, row: int) -> dict[str, Any]:
    """Collect what the page of a team says about its row on the board."""
    rank, higher = final.leaderboard["rank"].iloc[row], final.facts["higher_is_better"]
    rows = _rows(final, final.leaderboard[max(0, row - NEIGHBORS) : row + NEIGHBORS + 1])
    told = dict.fromkeys(OF_ROW) | {
        "rows": rows,
        "scale": drawing.intervals(rows, higher),
        "row": next(each for each in rows if each["team"] == team),
        "why": final.sentences.why_not_better(row),
    }
    if final.variant_ranks is not None and len(final.variant_ranks.columns):
        ranks = final.variant_ranks.iloc[row]
        told |= {"held": float((ranks == rank).mean()), "others": list(ranks[ranks != rank].items())}
    if final.groups is not None:
        worst_first = final.groups.iloc[row].drop("team").sort_values(kind="stable", ascending=higher)
        told["groups"] = [(name, score, final.group_sizes[str(name)]) for name, score in worst_first.items()]
    if final.facts["boosted"]:
        told["break_even"] = _better_ranks(final.leaderboard, team, rank, final.options)
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


def _page(template: str, final: FinalBoard, **context: Any) -> str:
    from markupsafe import Markup

    script, facts = (TEMPLATES / "board.js").read_text(encoding="utf-8"), final.facts
    words = sentences.FOR_PAGES | {"together": together, "anchor_of": anchor_of}
    return pages.template(TEMPLATES, template, words).render(
        options=final.options,
        facts=facts,
        boosted=facts["boosted"],
        items=sentences.items_of(facts),
        score_name=sentences.score_name(facts),
        direction=sentences.of_direction(facts),
        is_withheld=final.chance is not None and final.chance.withheld is not None,
        script=Markup(script),
        policy=pages.policy(script, "base-uri 'none'", "form-action 'none'"),
        **context,
    )


def _rows(final: FinalBoard, board: pd.DataFrame) -> list[dict[str, Any]]:
    """Collect rows of the board, each with what is known about chance and whether it is tied."""
    decided = final.facts["ties"]
    chance_of = {each["rank"]: each for each in drawing.records(final.certainty)}
    rows = drawing.records(board)
    for row in rows:
        row |= {name: None for name in jury.RANKS if name in row and pd.isna(row[name])}
        rank = row["rank"]
        row["tied"] = bool(decided) and rank is not None and any(decided[max(0, rank - 2) : rank])
        row["chance"] = chance_of.get(rank)
    return rows


def _last_prize(final: FinalBoard) -> int:
    """The rank of the last prize if a team follows that could have won it, or 0."""
    prizes = final.prizes
    follows = 0 < prizes.number < len(prizes.may_win)
    return int(final.leaderboard["rank"].iloc[prizes.winners[-1]]) if follows else 0


def _prize_places(final: FinalBoard) -> list[dict[str, Any]]:
    """Collect who has each prize, how far it is ahead of the next team, and what speed did to its place."""
    board, facts = final.leaderboard, final.facts
    intervals, steps = drawing.records(final.certainty), drawing.records(final.differences)
    prizes, next_of = [], dict(final.prizes.borders)
    winners = list(final.prizes.winners)
    for number, (row, prize) in enumerate(zip(winners, drawing.records(board.iloc[winners]))):
        prize |= {"next_team": None, "chance": None, "step": None, "speed": ""}
        if (other := next_of.get(row)) is not None:
            prize["next_team"] = board["team"].iloc[other]
            prize["difference"] = abs(board["boosted_score"].iloc[row] - board["boosted_score"].iloc[other])
            prize["same"] = final.sentences.decided(row, other)
        if row < len(intervals):
            prize["chance"] = intervals[row]
        if number < len(steps):
            prize["step"] = _ahead_by(steps[number], facts["higher_is_better"])
        if facts["boosted"] and prize["rank_before"] != prize["rank"]:
            by_score = f"by score alone it would come {ordinal(prize['rank_before'])}"
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


def _groups(final: FinalBoard, higher_is_better: bool) -> list[dict[str, Any]]:
    """Collect the scores of sub-populations by attribute, and how far, from 0 to 1, each is from the team's
    best one.
    """
    if final.groups is None:
        return []
    scores = final.groups.head(TEAMS_DRAWN).set_index("team")
    best = scores.max(axis=1) if higher_is_better else scores.min(axis=1)
    depths = scores.sub(best, axis=0).abs().fillna(0)
    depths = depths / (float(depths.to_numpy().max(initial=0.0)) or 1.0)
    tables: dict[str, list[str]] = {}
    for name in map(str, scores):
        tables.setdefault(name.partition(" = ")[0], []).append(name)
    return [
        {
            "attribute": attribute,
            "told": final.options.descriptions.get(attribute, ""),
            "names": [(name.partition(" = ")[2], final.group_sizes[name]) for name in names],
            "rows": list(zip(scores.index, np.stack([scores[names], depths[names]], axis=-1).tolist())),
        }
        for attribute, names in tables.items()
    ]


def _similar(final: FinalBoard, same_files: list[list[str]]) -> list[dict[str, Any]]:
    """List the pairs of similar teams, without those that are told as senders of one file."""
    told = {frozenset(pair) for teams in same_files for pair in itertools.combinations(teams, 2)}
    return [row for row in drawing.records(final.similar) if {row["team"], row["other_team"]} not in told]


def _absent(final: FinalBoard) -> list[tuple[str, str, str]]:
    """List the files and models of teams that are not on the board, with the reasons."""
    on_board = set(final.published["team"])
    rejected = final.rejected[~final.rejected["team"].isin(on_board)]
    failed = final.failed[~final.failed["team"].isin(on_board)]
    rows = [(row["team"], f"file {row['submission']}", row["reason"]) for row in drawing.records(rejected)]
    rows += [
        (row["team"], f"model {row['model']}".strip(), f"failed: {row['reason']}")
        for row in drawing.records(failed)
    ]
    return sorted(rows)
