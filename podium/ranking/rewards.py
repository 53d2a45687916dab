"""Reward speed: from the files that count to the board, with a note where scores are equal."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from podium.common.errors import HostError
from podium.common.options import as_option
from podium.ranking import choice
from podium.ranking.rules import Rules
from podium.ranking.submissions import errors_of_boost

FIRST_COLUMNS = [
    "rank", "team", "submission", "score", "runtime", "eligible", "slowdown", "boost", "boosted_score",
    "rank_before",
]  # fmt: skip
# What only the list of all files says.
OF_FILES = ["sha256", "fingerprint", "side_sha256", "rejected", "failed", "chosen", "why", "given_public_score"]
SAME = "same score as"
BY_TIME, BY_RUNTIME, BY_NAME = "the earlier submission", "the shorter runtime", "the order of the names"
# What puts a team behind the other one.
BY_KNOWN_TIME = "the known time of submission"
BEHIND = {
    BY_TIME: "the later submission", BY_KNOWN_TIME: "no time of submission", BY_RUNTIME: "the longer runtime",
    BY_NAME: BY_NAME,
}  # fmt: skip


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
    if "public_score" in ranked and decides == choice.column_of(choice.PRIVATE):
        public = ranked["public_score"].rank(method="min", ascending=not higher_is_better)
        ranked["public_rank"] = public.astype("Int64")
    decided = decided_between(ranked, rules, boosted)
    both = zip(ranked["note"], notes(ranked["team"].tolist(), decided))
    ranked["note"] = ["; ".join(filter(None, each)) for each in both]
    others = [name for name in ranked if name not in FIRST_COLUMNS]
    return ranked[[*(name for name in FIRST_COLUMNS if name in ranked), *others]], decided


def _check(board: pd.DataFrame, higher_is_better: bool) -> None:
    """Refuse to reward speed where the formula has no meaning."""
    if not higher_is_better:
        raise HostError(
            "the lower score is better, and only higher scores can be boosted: "
            f"rank with {as_option('boost', False)}"
        )
    if (board["score"] < 0).any():
        worst = board.sort_values("score").iloc[0]
        raise HostError(
            f"the score of {worst['team']} is {worst['score']:g}, and only scores from 0 can be boosted: "
            f"rank with {as_option('boost', False)}"
        )


# ---- Equal scores -----------------------------------------------------------------------------------------


def decided_between(leaderboard: pd.DataFrame, rules: Rules, is_boosted: bool) -> list[str]:
    """Find out what decided between each team and the next one."""
    boosted = leaderboard["boosted_score"].to_numpy(dtype=np.float64)
    if not (boosted[1:] == boosted[:-1]).any():
        return [""] * max(len(boosted) - 1, 0)
    with errors_of_boost() as boost:
        board = boost.parse(leaderboard if is_boosted else leaderboard.drop(columns="runtime"))
        exact = board.scores
        if is_boosted:
            exact = exact * (1 + boost.boost_fractions(board.scores, board.runtimes, **rules.of_boost)[2])
    runtimes = np.where(pd.isna(board.runtimes), np.inf, board.runtimes)
    rows = list(zip(exact.tolist(), board.submitted_at.tolist(), runtimes.tolist()))

    def decided_by(mine: tuple[object, ...], next_one: tuple[object, ...]) -> str:
        """The first of score, time and runtime that differs, in the words of the note."""
        if mine[0] != next_one[0]:
            return ""
        if mine[1] != next_one[1]:
            return BY_KNOWN_TIME if next_one[1] == boost.LATEST else BY_TIME
        return BY_NAME if mine[2] == next_one[2] else BY_RUNTIME

    return [decided_by(mine, next_one) for mine, next_one in itertools.pairwise(rows)]


def what_decided(decided: Sequence[str]) -> str:
    """Tell what decided between a team and a later one, from what decided between each two neighbors.

    >>> what_decided([BY_NAME, BY_TIME]), what_decided([BY_NAME, ""])
    ('the earlier submission', '')
    """
    return min(decided, key=["", *BEHIND].index)


def by_name_alone(decided: Sequence[str]) -> list[range]:
    """Find the rows whose order is that of their names alone, from what decided between each two neighbors.

    >>> by_name_alone(["", BY_NAME, BY_NAME, BY_TIME, BY_NAME])
    [range(1, 4), range(4, 6)]
    """
    runs, start = [], 0
    for reason, steps in itertools.groupby(decided):
        end = start + len([*steps])
        if reason == BY_NAME:
            runs.append(range(start, end + 1))
        start = end
    return runs


def without_ties(note: str) -> str:
    """Remove what a note of the board says about ties.

    >>> without_ties("no runtime, so not eligible; same score as Blue, ranked after it by the longer runtime")
    'no runtime, so not eligible'
    """
    return "; ".join(part for part in note.split("; ") if not part.startswith(SAME))


def notes(teams: list[str], decided: list[str]) -> list[str]:
    """Write what a board says about ties: which team is just ahead, or of the first of them, which one follows.

    >>> for note in notes(["Red", "Blue"], [BY_TIME]):
    ...     print(note)
    same score as Blue, ranked before it by the earlier submission
    same score as Red, ranked after it by the later submission
    """
    said = [""] * len(teams)
    for row, reason in enumerate(decided):
        if reason:
            said[row] = said[row] or f"{SAME} {teams[row + 1]}, ranked before it by {reason}"
            said[row + 1] = f"{SAME} {teams[row]}, ranked after it by {BEHIND[reason]}"
    return said
