"""Draw what decides a board that was made before again, from its record and its store."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from podium.metric import hosted
from podium.ranking import board, comparing, making, passes, run_json, uncertainty
from podium.ranking.rules import Options
from podium.ranking.submissions import Submission
from podium.scoring.evaluating import Solution
from podium.statistics import Scores
from podium.statistics.doubts import Doubt
from podium.words.arrays import Floats
from podium.words.errors import HostError, UsageError


class Redrawn(NamedTuple):
    """Draws of what decides a board."""

    teams: list[str]  # in the order of the board
    scores: Scores  # with rewards, (r, t) each
    influence: Floats  # how fast the score of each team grows with the weight of each item, (n, t)
    is_of_groups: bool
    items: tuple[str, ...]  # what is drawn
    seed: int
    withheld: Doubt | None  # why nothing is said about winning again


def of_board(folder: Path, facts: dict[str, Any]) -> tuple[Redrawn | None, str]:
    """Draw the scores of a board's teams again; without its store or its inputs, say what is missing."""
    store = folder / facts["store"]
    if not store.is_dir():
        return None, f"{folder} has no store"
    try:
        _, options = run_json.recorded(folder, {}, f"rank {folder} again with --NAME", making.READ_FROM_STORE)
        if changes := run_json.changed(facts, options, making.READ_FROM_STORE):
            return None, f"{folder}: {changes[0]}"
        options = replace(options, site_board=None, before=None, jobs=1)
        return _redrawn(folder, options, run_json.stored(facts), store)
    except (HostError, UsageError) as problem:
        return None, f"{folder}: {problem}"


def _redrawn(
    folder: Path, options: Options, submissions: list[Submission], store: Path
) -> tuple[Redrawn | None, str]:
    """Read the store, and draw."""
    inputs = making.inputs_of(options, submissions)
    comparing.announce(hosted.find(options.metric))
    with making.desk_of(options, store, inputs) as desk:
        scored = passes.stored(desk, [each.digests for each in submissions])
        leaderboard, examined, prizes = board.examined_again(options, inputs, desk, scored)
        solution = desk.solution
    if not examined.resamples or not examined.details:
        return None, f"nothing is said about chance on {folder}" + (
            f": {examined.silence}" if examined.silence else ""
        )
    details = examined.details
    scores, rewards = uncertainty.drawn(leaderboard, details, inputs.runtimes, options)
    drawn = Scores(*(uncertainty.rewarded(each, rewards) for each in scores))
    withheld = uncertainty.withheld(details, prizes, examined.units)
    items = _items(solution, options.items)
    influence = np.stack([each.influence for each in details], axis=1).astype(np.float64)
    is_of_groups = any(each.reaction.is_of_groups for each in details)
    teams: list[str] = leaderboard["team"].tolist()
    return Redrawn(teams, drawn, influence, is_of_groups, items, options.seed, withheld), ""


def _items(solution: Solution, column: str) -> tuple[str, ...]:
    """Name what is drawn: the metric's items, or the rows, with the values of the column that joins them."""
    prepared = solution.prepared.get(solution.deciding)
    of = [] if prepared is None else prepared.items
    rows: Sequence[object] = of if len(of) else solution.frame[solution.rows[solution.deciding]].index.tolist()
    return (column, *map(str, rows))
