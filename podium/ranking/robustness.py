"""What else the board could have been: under other decisions, or if two teams are one.

Variants of measures and rewards need no file.  Variants of the statistics need the chosen files, which are read
again.
"""

import functools
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, scoring, statistics
from podium.errors import HostError, UsageError
from podium.ranking import speed
from podium.ranking.job import Job, contents_of, digests_of, frame_of, solution_of
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission

REWARDS = {
    "max_boost": (0.0, 0.025, 0.1),
    "eligibility_ratio": (1.02, 1.1),
    "slowdown_limit": (1.1, 1.5),
}
RUNTIME_DRAWS = 100
# If more teams than this share or this number have the same statistics of an item, the item tells nothing.
FEW_TEAMS, MOST_TEAMS = 0.25, 100
LEAST_AGREEMENT = 0.05
CELLS_AT_ONCE = 2**17
DEVIATIONS = 5  # beyond twice the expected agreement, because strong teams agree more with each other

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@functools.lru_cache(maxsize=2)
def of_measures(job: Job, part: str) -> dict[str, Any]:
    """Prepare the solution for other measures of the same statistics.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    part : str
        The name of the solution's part.

    Returns
    -------
    dict of str to Prepared
        The prepared solutions by the decision that differs, such as "temperature 50".  It is empty if the
        metric has no variants.
    """
    solution = solution_of(job)
    variants = solution.metric.companion.variants
    return {} if variants is None else dict(variants.of_measures(solution.prepared[part]))


def of_statistics(
    job: Job, part: str, submissions: Sequence[tuple[int, Submission]]
) -> list[tuple[int, dict[str, float]]]:
    """Score submissions with other statistics, in a worker.  The files are read again.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    part : str
        The name of the solution's part that is scored.
    submissions : sequence of (int, Submission)
        The numbers of the submissions, and the submissions.  Their ``digests`` say what was scored before.

    Returns
    -------
    list of (int, dict of str to float)
        For each submission its number and its scores by the decision that differs.

    Raises
    ------
    UsageError
        A file is not the one that was scored.
    """
    solution = solution_of(job)
    variants = solution.metric.companion.variants
    if variants is None:
        return [(number, {}) for number, _ in submissions]
    answers = []
    for number, submission in submissions:
        contents = contents_of(submission)
        _check_unchanged(submission, contents)
        frame = frame_of(job, submission, contents)
        scores = {}
        for variant, (prepared, numbers) in variants.of_statistics(
            solution.metric.module, solution.prepared[scoring.ALL], frame
        ).items():
            items = solution.items[part]
            scores[variant] = statistics.measures(statistics.part(prepared, items), numbers[items])["score"]
        answers.append((number, scores))
    return answers


def _check_unchanged(submission: Submission, contents: tuple[bytes, bytes | None]) -> None:
    """Make sure that the file that is read again is the one that was scored."""
    content, side = ("" if of_file is None else hashlib.sha256(of_file).hexdigest() for of_file in contents)
    if (now := digests_of(content, side)) != submission.digests:
        raise UsageError(
            f"{submission.team}/{submission.name} has changed since it was scored: its SHA-256 was "
            f"{submission.digests}, now it is {now}; rank again"
        )


def parsed(leaderboard: pd.DataFrame, rules: Rules, higher_is_better: bool) -> tuple[Any, Any, bool]:
    """Collect what is needed to rank a board again.

    Parameters
    ----------
    leaderboard : DataFrame
        A row per team with ``score``, ``runtime`` and, as far as it is known, ``submitted_at``.
    rules : Rules
        The rules of the board.
    higher_is_better : bool
        Whether a higher score is better.

    Returns
    -------
    boost : module
        The module ``boost.py``.
    board : boost.Board
        The leaderboard as ``boost.py`` parses it.
    is_boosted : bool
        Whether speed is rewarded.
    """
    boost = hosted.module("boost")
    is_boosted = bool(rules.boost and higher_is_better and leaderboard["runtime"].notna().any())
    return boost, boost.parse(leaderboard if is_boosted else leaderboard.drop(columns="runtime")), is_boosted


class Variants(NamedTuple):
    """What other decisions would have done to a board.

    Attributes
    ----------
    table : DataFrame
        A row per decision.  The Notes list the columns.
    ranks : DataFrame
        A row per team, with its rank under each decision.  The Notes list the other columns.
    runtimes : dict of str to float
        What draws of the runtimes do.  It has their number (``draws``), the mean ``kendall_tau`` over them, and
        the share of ranks that stay the same (``same``).  It is empty if there are no draws.

    Notes
    -----
    The columns of ``table``:

    - ``variant``: the decision;
    - ``mean_score``: the mean score of all teams before rewards;
    - ``kendall_tau``: Kendall's τ of the order of teams with that of the board;
    - ``first``: the team of rank 1;
    - ``same``: the share of teams that keep their rank.

    The columns of ``ranks`` beside the decisions:

    - ``rank``, ``team``: as on the board;
    - ``held``: the share of decisions under which the team keeps its rank;
    - ``held_by_runtimes``: the same for draws of the runtimes, if runtimes are rewarded and have noise.
    """

    table: pd.DataFrame
    ranks: pd.DataFrame
    runtimes: dict[str, float]


def of_board(
    leaderboard: pd.DataFrame,
    scores: dict[str, Floats],
    runtimes: pd.DataFrame | None,
    rules: Rules,
    higher_is_better: bool,
) -> Variants:
    """Rank again under other decisions, one at a time.

    Parameters
    ----------
    leaderboard : DataFrame
        The board, in its order.
    scores : dict of str to (ndarray of float, shape (t,))
        The scores of the t teams under other decisions about the metric, by decision.
    runtimes : DataFrame or None
        The runtimes, as `podium.ranking.speed.read` returns them.
    rules : Rules
        The rules of the board.  Other rewards (`REWARDS`) are decisions, too.
    higher_is_better : bool
        Whether a higher score is better.

    Returns
    -------
    Variants
        The other boards.  Draws of the runtimes are reported apart, because they are no decisions.
    """
    boost, board, is_boosted = parsed(leaderboard, rules, higher_is_better)
    seconds = leaderboard["runtime"].to_numpy(dtype=np.float64)
    own = leaderboard["score"].to_numpy(dtype=np.float64)

    def ranks_of(score: Floats, runtime: Floats, **rewards: float) -> Ints:
        if is_boosted:
            score = score * (1 + boost.boost_fractions(score, runtime, **(rules.of_boost | rewards))[2])
        ranks: Ints = boost.ranks(board, score, higher_is_better)
        return ranks

    ranks_under = {name: ranks_of(score, seconds) for name, score in scores.items()}
    mean_scores = {name: float(np.mean(score)) for name, score in scores.items()}
    drawn = np.empty((0, len(leaderboard)), dtype=np.int64)
    if is_boosted:
        for name, values in REWARDS.items():
            for value in values:
                if value != rules.of_boost[name]:
                    label = f"{name.replace('_', ' ')} {value:g}"
                    ranks_under[label] = ranks_of(own, seconds, **{name: value})
                    mean_scores[label] = float(np.mean(own))
        runs = speed.draw(leaderboard, runtimes, RUNTIME_DRAWS, rules.seed)
        if np.nanmax(np.ptp(runs, axis=0), initial=0) > 0:
            drawn = ranks_of(np.tile(own, (len(runs), 1)), runs)
    rank = leaderboard["rank"].to_numpy()
    teams = leaderboard["team"].to_numpy()
    rows = [
        (name, mean_scores[name], _tau(rank, ranks), teams[ranks.argmin()], (ranks == rank).mean())
        for name, ranks in ranks_under.items()
    ]
    table = pd.DataFrame(rows, columns=["variant", "mean_score", "kendall_tau", "first", "same"])
    together = np.array(list(ranks_under.values())).reshape(-1, len(rank))
    held = (together == rank).mean(axis=0) if len(together) else np.full(len(rank), np.nan)
    of_teams: dict[str, Any] = {"rank": rank, "team": teams, "held": held}
    by_runtimes: dict[str, float] = {}
    if len(drawn):
        of_teams["held_by_runtimes"] = (drawn == rank).mean(axis=0)
        by_runtimes = {
            "draws": len(drawn),
            "kendall_tau": float(np.mean([_tau(rank, ranks) for ranks in drawn])),
            "same": float((drawn == rank).mean()),
        }
    return Variants(table, pd.DataFrame(of_teams | ranks_under), by_runtimes)


def _tau(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Compute Kendall's τ of two orders.  It is NaN for a single team."""
    from scipy.stats import kendalltau

    return round(float(kendalltau(one, other).statistic), 12) if np.size(one) > 1 else np.nan


def of_path(
    job: Job, scores: dict[str, Floats], leaderboard: pd.DataFrame
) -> tuple[pd.DataFrame | None, dict[str, Floats]]:
    """Show what each step from an older metric to this one does to scores and ranks, before rewards.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    scores : dict of str to (ndarray of float, shape (t,))
        The scores of the t teams under other statistics, by decision.
    leaderboard : DataFrame
        The board, with which the last step is compared.

    Returns
    -------
    path : DataFrame or None
        A row per ``step``, with the ``mean_score`` of all teams, its ``change``, and the ``first`` team.  The
        column ``kendall_tau`` compares the order with that before the step.  None if the metric has no steps.
    decisions : dict of str to (ndarray of float, shape (t,))
        The scores that belong to no step.

    Raises
    ------
    HostError
        The last step does not give the scores of the board.
    """
    variants = solution_of(job).metric.companion.variants
    steps = [] if variants is None else [name for name in variants.path if name in scores]
    decisions = {name: score for name, score in scores.items() if name not in steps}
    if not steps:
        return None, decisions
    differing = scores[steps[-1]] != leaderboard["score"].to_numpy(dtype=np.float64)
    if differing.any():
        row = int(differing.argmax())
        raise HostError(
            f"the last step of the path, {steps[-1]}, gives {leaderboard['team'].iloc[row]} the score "
            f"{scores[steps[-1]][row]}, and the board {leaderboard['score'].iloc[row]}: the variants do "
            "not fit the metric"
        )
    rows = []
    for before, step in zip([None, *steps], steps):
        score = scores[step]
        change = float(np.mean(score - scores[before])) if before else np.nan
        tau = _tau(score, scores[before]) if before else np.nan
        rows.append((step, float(np.mean(score)), change, tau, leaderboard["team"].iloc[int(np.argmax(score))]))
    return pd.DataFrame(rows, columns=["step", "mean_score", "change", "kendall_tau", "first"]), decisions


def fingerprint(numbers: Floats) -> npt.NDArray[np.uint32]:
    """Hash the statistics of each item.

    Parameters
    ----------
    numbers : ndarray of float, shape (n, k)
        The statistics of a submission: n items with k numbers each.

    Returns
    -------
    ndarray of uint32, shape (n,)
        The hashes.  Equal statistics have equal hashes, and different statistics hardly ever do.
    """
    # Adding 0.0 turns -0.0 into 0.0, which is equal and has other bits.
    columns = (np.ascontiguousarray(numbers.T, dtype=np.float64) + 0.0).view(np.uint64)
    multipliers = np.random.default_rng(0).integers(2**63, size=len(columns), dtype=np.uint64) * 2 + 1
    hashes = np.zeros(len(numbers), dtype=np.uint64)
    for bits, multiplier in zip(columns, multipliers):
        mixed = (bits ^ (bits >> np.uint64(29))) * multiplier
        hashes += mixed ^ (mixed >> np.uint64(32))
    return (hashes >> np.uint64(16)).astype(np.uint32)


def agreements(teams: Sequence[str], fingerprints: Sequence[npt.NDArray[np.uint32]]) -> pd.DataFrame:
    """Find pairs of teams that agree in statistics that few other teams have, more often than by chance.

    Parameters
    ----------
    teams : sequence of str
        The names of the t teams.
    fingerprints : sequence of ndarray of uint32, shape (n,)
        The hashes of each team's n items, as `fingerprint` computes them.

    Returns
    -------
    DataFrame
        A row per pair with ``team``, ``other_team`` and ``agreement``.  The agreement is the share of items for
        which both have the same statistics and few other teams have them.  The highest agreement comes first.

    Notes
    -----
    Two teams agree on an item if they have the same statistics of it.  Few teams may have them: at most a
    quarter, and at most 100.  Let u be the median number of agreements of a team with the others.  Two
    independent teams are expected to agree on e = u₁·u₂ / median(u) items.  A pair is listed if it agrees on at
    least 5% of the items, and on more than 2·e + 5·√e of them.  This rule is our own.
    """
    number = len(fingerprints)
    if number < 3:
        return pd.DataFrame(columns=["team", "other_team", "agreement"])
    counts = _common_items(fingerprints, max(2, min(int(FEW_TEAMS * number), MOST_TEAMS)))
    items = len(fingerprints[0])
    a, b = np.nonzero(counts >= LEAST_AGREEMENT * items)
    usual = np.array([np.median(np.delete(counts[team] + counts[:, team], team)) for team in range(number)])
    count, expected = counts[a, b], usual[a] * usual[b] / max(np.median(usual), 1)
    often = count > 2 * expected + DEVIATIONS * np.sqrt(expected)
    names = np.array(teams, dtype=object)
    table: pd.DataFrame = pd.DataFrame(
        {"team": names[a], "other_team": names[b], "agreement": count / items}
    ).loc[often]
    return table.sort_values(["agreement", "team"], ascending=[False, True], kind="stable", ignore_index=True)


def _common_items(fingerprints: Sequence[npt.NDArray[np.uint32]], most: int) -> npt.NDArray[np.int32]:
    """Count on how many items each pair of teams agrees, shape (t, t), in the upper triangle.

    An item counts only if at most `most` teams have the same statistics of it.
    """
    number, items = len(fingerprints), len(fingerprints[0])
    counts = np.zeros((number, number), dtype=np.int32)
    step = max(1, CELLS_AT_ONCE // number)
    for first in range(0, items, step):
        # Within an item, sorting brings the teams with the same hash together.
        some = np.stack([each[first : first + step] for each in fingerprints], axis=1)
        hashes = some.astype(np.uint64) << np.uint64(32)
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
