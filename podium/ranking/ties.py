"""Equal scores on a board, and what decided between the teams."""

import itertools

import numpy as np
import pandas as pd

from podium.ranking.rules import Rules
from podium.ranking.submissions import errors_of_boost

__all__ = ["BY_NAME", "BY_RUNTIME", "BY_TIME", "decisions", "notes", "without_ties"]

SAME = "same score as"
BY_TIME, BY_RUNTIME, BY_NAME = "the earlier submission", "the shorter runtime", "the order of the names"
# What puts a team behind the other one.
BEHIND = {BY_TIME: "the later submission", BY_RUNTIME: "the longer runtime", BY_NAME: BY_NAME}


def decisions(leaderboard: pd.DataFrame, rules: Rules, is_boosted: bool) -> list[str]:
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
            return BY_TIME
        return BY_NAME if mine[2] == next_one[2] else BY_RUNTIME

    return [decided_by(mine, next_one) for mine, next_one in itertools.pairwise(rows)]


def without_ties(note: str) -> str:
    """Remove what a note of the board says about ties.

    >>> without_ties("no runtime, so not eligible; same score as Blue, ranked after it by the longer runtime")
    'no runtime, so not eligible'
    """
    return "; ".join(part for part in note.split("; ") if not part.startswith(SAME))


def notes(teams: list[str], decided: list[str]) -> list[str]:
    """Write what a board says about ties.

    >>> for note in notes(["Red", "Blue"], [BY_TIME]):
    ...     print(note)
    same score as Blue, ranked before it by the earlier submission
    same score as Red, ranked after it by the later submission
    """
    said: list[list[str]] = [[] for _ in teams]
    for row, reason in enumerate(decided):
        if reason:
            said[row].append(f"{SAME} {teams[row + 1]}, ranked before it by {reason}")
            said[row + 1].append(f"{SAME} {teams[row]}, ranked after it by {BEHIND[reason]}")
    return ["; ".join(each) for each in said]
