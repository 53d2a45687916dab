"""What else the board could have been: under other decisions, or with teams that are one.

Variants of the statistics, unlike those of measures and rewards, read the chosen files once more.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, scoring, statistics
from podium.ranking import speed, work
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission
from podium.ranking.work import Job

REWARDS = {
    "max_boost": (0.0, 0.025, 0.1),
    "eligibility_ratio": (1.02, 1.1),
    "slowdown_limit": (1.1, 1.5),
}
RUNTIME_DRAWS = 100
FEW_TEAMS, MOST_TEAMS = 0.25, 100  # a share and a number: what more have in common says nothing
LEAST_AGREEMENT = 0.05
CELLS_AT_ONCE = 2**17
DEVIATIONS = 5  # above twice what is expected: strong teams agree more with each other

Floats = npt.NDArray[np.float64]


@functools.lru_cache(maxsize=2)
def of_measures(job: Job, part: str) -> dict[str, Any]:
    """Prepared solutions of a part whose measures are others, by what is other."""
    solution = work.prepared(job)
    variants = solution.metric.companion.variants
    return {} if variants is None else dict(variants.of_measures(solution.prepared[part]))


def of_statistics(
    job: Job, part: str, submissions: Sequence[tuple[int, Submission]]
) -> list[tuple[int, dict[str, float]]]:
    """In a worker: of each submission the scores of a part under other statistics."""
    solution = work.prepared(job)
    variants = solution.metric.companion.variants
    if variants is None:
        return [(number, {}) for number, _ in submissions]
    answers = []
    for number, submission in submissions:
        frame = work.frame_of(job, submission, work.contents_of(submission))
        scores = {}
        for variant, (prepared, numbers) in variants.of_statistics(
            solution.metric.module, solution.prepared[scoring.ALL], frame
        ).items():
            items = solution.items[part]
            scores[variant] = statistics.measures(statistics.part(prepared, items), numbers[items])["score"]
        answers.append((number, scores))
    return answers


def parsed(leaderboard: pd.DataFrame, rules: Rules, higher_is_better: bool) -> tuple[Any, Any, bool]:
    """boost.py, the board as it parses it, and whether there are rewards."""
    boost = hosted.module("boost")
    is_boosted = bool(rules.boost and higher_is_better and leaderboard["runtime"].notna().any())
    return boost, boost.parse(leaderboard if is_boosted else leaderboard.drop(columns="runtime")), is_boosted


def of_board(
    leaderboard: pd.DataFrame,
    scores: dict[str, Floats],
    runtimes: pd.DataFrame | None,
    rules: Rules,
    higher_is_better: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The board under each variant of the score, (t,) each, and of the rewards; the ranks of each team.

    ``same`` is the share of teams with the board's rank, ``held`` that of variants.
    """
    boost, board, is_boosted = parsed(leaderboard, rules, higher_is_better)
    seconds = leaderboard["runtime"].to_numpy(dtype=np.float64)
    own = leaderboard["score"].to_numpy(dtype=np.float64)

    def ranks_of(score: Floats, runtime: Floats, **rewards: float) -> npt.NDArray[np.int64]:
        if is_boosted:
            score = score * (1 + boost.boost_fractions(score, runtime, **(rules.of_boost | rewards))[2])
        found: npt.NDArray[np.int64] = boost.ranks(board, score, higher_is_better)
        return found

    found = {name: ranks_of(score, seconds) for name, score in scores.items()}
    drawn = np.empty((0, len(leaderboard)), dtype=np.int64)
    if is_boosted:
        for name, values in REWARDS.items():
            for value in values:
                if value != rules.of_boost[name]:
                    label = f"{name.replace('_', ' ')} {value:g}"
                    found[label] = ranks_of(own, seconds, **{name: value})
        runs = speed.draw(leaderboard, runtimes, RUNTIME_DRAWS, rules.seed)
        if np.nanmax(np.ptp(runs, axis=0), initial=0) > 0:
            drawn = ranks_of(np.tile(own, (len(runs), 1)), runs)
    rank = leaderboard["rank"].to_numpy()
    teams = leaderboard["team"].to_numpy()
    rows = [
        (name, _tau(rank, ranks), teams[ranks.argmin()], (ranks == rank).mean())
        for name, ranks in found.items()
    ]
    if len(drawn):
        tau = float(np.mean([_tau(rank, ranks) for ranks in drawn]))
        winner = teams[np.bincount(drawn.argmin(axis=1)).argmax()]
        rows.append((f"runtimes drawn, {len(drawn)} times", tau, winner, (drawn == rank).mean()))
    together = np.concatenate([np.array(list(found.values())).reshape(-1, len(rank)), drawn])
    held = (together == rank).mean(axis=0) if len(together) else np.ones(len(rank))
    variants = pd.DataFrame(rows, columns=["variant", "kendall_tau", "first", "same"])
    return variants, pd.DataFrame({"rank": rank, "team": teams, "held": held, **found})


def _tau(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    from scipy.stats import kendalltau

    return round(float(kendalltau(one, other).statistic), 12) if np.size(one) > 1 else np.nan


def of_path(job: Job, scores: dict[str, Floats], teams: Sequence[str]) -> pd.DataFrame | None:
    """What each of the memo's steps does to scores and ranks, before rewards."""
    variants = work.prepared(job).metric.companion.variants
    steps = [] if variants is None else [name for name in variants.path if name in scores]
    if not steps:
        return None
    rows = []
    for before, step in zip([None, *steps], steps):
        score = scores[step]
        change = float(np.mean(score - scores[before])) if before else np.nan
        tau = _tau(score, scores[before]) if before else np.nan
        rows.append((step, float(np.mean(score)), change, tau, teams[int(np.argmax(score))]))
    return pd.DataFrame(rows, columns=["step", "mean_score", "change", "kendall_tau", "first"])


def fingerprint(numbers: Floats) -> npt.NDArray[np.uint32]:
    """A hash of each item's statistics, (n,)."""
    columns = (np.ascontiguousarray(numbers.T, dtype=np.float64) + 0.0).view(np.uint64)  # no -0.0
    multipliers = np.random.default_rng(0).integers(2**63, size=len(columns), dtype=np.uint64) * 2 + 1
    hashes = np.zeros(len(numbers), dtype=np.uint64)
    for bits, multiplier in zip(columns, multipliers):
        mixed = (bits ^ (bits >> np.uint64(29))) * multiplier
        hashes += mixed ^ (mixed >> np.uint64(32))
    return (hashes >> np.uint64(16)).astype(np.uint32)


def agreements(teams: Sequence[str], fingerprints: npt.NDArray[np.uint32]) -> pd.DataFrame:
    """Pairs of teams that have the same statistics where few others have them, more often than by chance.

    Independent teams are expected to agree as often as each does with others, by the median: the product of
    both divided by all teams' median, ± its root.  Shown is who agrees more than twice as often.
    """
    number, items = fingerprints.shape
    if number < 3:
        return pd.DataFrame(columns=["team", "other_team", "agreement"])
    counts = _common_items(fingerprints, max(2, min(int(FEW_TEAMS * number), MOST_TEAMS)))
    a, b = np.nonzero(counts >= LEAST_AGREEMENT * items)
    usual = np.array([np.median(np.delete(counts[team] + counts[:, team], team)) for team in range(number)])
    count, expected = counts[a, b], usual[a] * usual[b] / max(np.median(usual), 1)
    often = count > 2 * expected + DEVIATIONS * np.sqrt(expected)
    names = np.array(teams, dtype=object)
    table: pd.DataFrame = pd.DataFrame(
        {"team": names[a], "other_team": names[b], "agreement": count / items}
    ).loc[often]
    return table.sort_values(["agreement", "team"], ascending=[False, True], kind="stable", ignore_index=True)


def _common_items(fingerprints: npt.NDArray[np.uint32], most: int) -> npt.NDArray[np.int32]:
    """On how many items two teams agree, the first before the second, and at most `most` in all, (t, t)."""
    number, items = fingerprints.shape
    counts = np.zeros((number, number), dtype=np.int32)
    step = max(1, CELLS_AT_ONCE // number)
    for first in range(0, items, step):
        # Sorted item by item, teams of one hash are neighbours.
        hashes = fingerprints[:, first : first + step].T.astype(np.uint64) << np.uint64(32)
        cells = np.sort(hashes | np.arange(number, dtype=np.uint64), axis=1).ravel()
        team = (cells & np.uint64(2**32 - 1)).astype(np.int64)
        is_first = np.append(True, np.diff(cells >> np.uint64(32)) != 0)
        is_first[::number] = True
        starts = np.flatnonzero(is_first)
        sizes = np.diff(starts, append=len(cells))
        for size in np.unique(sizes[(sizes > 1) & (sizes <= most)]).tolist():
            together = team[starts[sizes == size] + np.arange(size)[:, np.newaxis]]
            one, other = np.triu_indices(size, 1)
            np.add.at(counts, (together[one], together[other]), 1)
    return counts
