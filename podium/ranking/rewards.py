"""Reward speed: from the files that count to the board."""

import numpy as np
import pandas as pd

from podium.errors import HostError
from podium.ranking import choice, ties
from podium.ranking.rules import Rules
from podium.ranking.submissions import errors_of_boost

__all__ = ["is_boosted", "reward"]

FIRST_COLUMNS = [
    "rank", "team", "submission", "score", "runtime", "eligible", "slowdown", "boost", "boosted_score",
    "rank_before",
]  # fmt: skip
# What only the list of all files says.
OF_FILES = ["sha256", "side_sha256", "rejected", "failed", "chosen", "why", "given_public_score"]


def is_boosted(board: pd.DataFrame, rules: Rules) -> bool:
    """Tell whether speed is rewarded."""
    return bool(rules.boost and board["runtime"].notna().any())


def reward(
    files: pd.DataFrame,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    higher_is_better: bool,
    decides: str = "score",
) -> tuple[pd.DataFrame, list[str]]:
    """Make the board of the files that count, and tell what decided between teams with the same score.

    ``decides`` names the column with the scores that decide.
    """
    board = choice.with_runtimes(files[files["chosen"]], runtimes).drop(columns=OF_FILES, errors="ignore")
    board = board.assign(score=board[decides])
    boosted = is_boosted(board, rules)
    if boosted:
        _check(board, higher_is_better)
    with errors_of_boost() as boost:
        if boosted:
            ranked = boost.boost(board, **rules.of_boost)
        else:
            ranked = boost.boost(board.drop(columns="runtime"), higher_is_better=higher_is_better)
            seconds = dict(zip(board["team"], pd.to_numeric(board["runtime"], errors="coerce")))
            ranked = ranked.assign(runtime=ranked["team"].map(seconds).astype(np.float64), note="")
    if "public_score" in ranked and decides != "public_score":
        public = ranked["public_score"].rank(method="min", ascending=not higher_is_better)
        ranked["public_rank"] = public.astype("Int64")
    decided = ties.decisions(ranked, rules, boosted)
    notes = zip(ranked["note"], ties.notes(ranked["team"].tolist(), decided))
    ranked["note"] = ["; ".join(filter(None, each)) for each in notes]
    others = [name for name in ranked if name not in FIRST_COLUMNS]
    return ranked[[*(name for name in FIRST_COLUMNS if name in ranked), *others]], decided


def _check(board: pd.DataFrame, higher_is_better: bool) -> None:
    """Refuse to reward speed where the formula has no meaning."""
    if not higher_is_better:
        raise HostError(
            "the lower score is better, and only higher scores can be boosted: rank with --no-boost"
        )
    if (board["score"] < 0).any():
        worst = board.sort_values("score").iloc[0]
        raise HostError(
            f"the score of {worst['team']} is {worst['score']:g}, and only scores from 0 can be boosted: "
            "rank with --no-boost"
        )
