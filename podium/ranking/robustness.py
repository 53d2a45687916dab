"""What else the board could have been under other decisions about the metric and the rewards.

Variants of measures and rewards need no file. Variants of the statistics need the chosen files, which are read
again.
"""

import bisect
import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from podium import statistics
from podium.common.arrays import Floats, Ints
from podium.common.errors import HostError
from podium.metric import hosted
from podium.metric.contract import Measured
from podium.ranking.job import frame_of
from podium.ranking.rewards import is_boosted
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission
from podium.scoring import evaluating
from podium.scoring.alignment import answers_for
from podium.scoring.evaluating import Solution

# The values that are tried, and what each is called, by the value and by what it is above 1.
REWARDS = {
    "max_boost": ((0.0, 0.025, 0.1), "largest reward {0:.1%}"),
    "eligibility_ratio": ((1.02, 1.1), "eligible if the best score is at most {1:.0%} higher"),
    "slowdown_limit": ((1.1, 1.5), "no reward for runtimes of {0:g} times the fastest or more"),
}


@functools.lru_cache(maxsize=2)
def of_measures(solution: Solution, part: str) -> dict[str, Measured]:
    """Prepare the solution for other measures of the same statistics."""
    variants = solution.metric.companion.variants
    return {} if variants is None else dict(variants.of_measures(solution.prepared[part]))


def of_statistics(part: str, solution: Solution, submissions: Sequence[Submission]) -> list[dict[str, float]]:
    """Score submissions with other statistics, in a worker. The files are read again."""
    if (variants := solution.metric.companion.variants) is None:
        return [{} for _ in submissions]
    items, whole = solution.items[part], solution.prepared[evaluating.ALL]
    results = []
    for submission in submissions:
        answers, _ = answers_for(solution, frame_of(solution, submission))
        others = variants.of_statistics(solution.metric.module, whole, answers)
        results.append(
            {
                name: statistics.measures(statistics.part(prepared, items), numbers[items])["score"]
                for name, (prepared, numbers) in others.items()
            }
        )
    return results


def of_board(
    leaderboard: pd.DataFrame,
    scores: Mapping[str, Floats],
    rules: Rules,
    higher_is_better: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rank again under other decisions, one at a time: with other scores, then with other rewards.

    The first table has a row per decision, with how many teams keep their rank, Kendall's τ of the order of
    teams with that of the board, and the score of the board's first team before rewards. The second table has
    a row per team, with its rank under each decision.
    """
    boost, with_rewards = hosted.module("boost"), is_boosted(leaderboard, rules)
    board = boost.parse(leaderboard if with_rewards else leaderboard.drop(columns="runtime"))
    seconds = leaderboard["runtime"].to_numpy(dtype=np.float64)
    own = leaderboard["score"].to_numpy(dtype=np.float64)

    def ranks_of(score: Floats, **rewards: float) -> Ints:
        if with_rewards:
            score = score * (1 + boost.boost_fractions(score, seconds, **(rules.of_boost | rewards))[2])
        ranks: Ints = boost.ranks(board, score, higher_is_better)
        return ranks

    ranks_under = {name: ranks_of(score) for name, score in scores.items()}
    rank = leaderboard["rank"].to_numpy()
    winner = int(rank.argmin())
    if with_rewards:
        for name, (values, label) in REWARDS.items():
            for value in values:
                if value != rules.of_boost[name]:
                    ranks_under[label.format(value, value - 1)] = ranks_of(own, **{name: value})
    table = pd.DataFrame(
        {
            "decision": list(ranks_under),
            "first_team": [leaderboard["team"].iloc[int(ranks.argmin())] for ranks in ranks_under.values()],
            "same_rank": [int((ranks == rank).sum()) for ranks in ranks_under.values()],
            "kendall_tau": [tau(rank, ranks) for ranks in ranks_under.values()],
            "winner_score": [float(scores.get(name, own)[winner]) for name in ranks_under],
        }
    )
    return table, pd.DataFrame(ranks_under)


def tau(ranks: Ints, others: Ints) -> float:
    """Compute Kendall's τ of two orders without ties. It is NaN for a single team.

    (To import scipy.stats takes longer than the rest of a small board.)
    """
    pairs, swapped = len(ranks) * (len(ranks) - 1) / 2, 0
    ahead: list[int] = []  # the other ranks of the teams so far, sorted
    for other in others[np.argsort(ranks)].tolist():
        swapped += len(ahead) - bisect.bisect(ahead, other)
        bisect.insort(ahead, other)
    return round(1 - 2 * swapped / pairs, 12) if pairs else np.nan


def names_of_steps(
    solution: Solution, scores: Mapping[str, Floats], leaderboard: pd.DataFrame
) -> dict[str, str]:
    """Name the steps from an older metric to this one as what they are.

    The last step is this metric, so its scores must be those of the board.
    """
    variants = solution.metric.companion.variants
    steps = [] if variants is None else [name for name in variants.path if name in scores]
    if not steps:
        return {}
    differing = scores[steps[-1]] != leaderboard["score"].to_numpy(dtype=np.float64)
    if differing.any():
        row = int(differing.argmax())
        raise HostError(
            f"the last step of the path, {steps[-1]}, gives {leaderboard['team'].iloc[row]} the score "
            f"{scores[steps[-1]][row]}, and the board {leaderboard['score'].iloc[row]}: the variants do "
            "not fit the metric"
        )
    return {name: f"step {number} to this metric: {name}" for number, name in enumerate(steps, 1)}
