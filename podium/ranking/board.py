"""The final ranking: which submission of each team counts, what speed is worth, and how sure the order is.

`rank` makes it from what the store of a run knows.  It lists the files, chooses one for each team, and ranks
the teams.  Then it adds what the statistics of the chosen files say.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, scoring, statistics
from podium.errors import HostError
from podium.ranking import choice, robustness, speed, ties, uncertainty, work
from podium.ranking.job import Job, digests_of, solution_of
from podium.ranking.rules import Heading, Rules
from podium.ranking.submissions import Submission, errors_of_boost
from podium.ranking.uncertainty import Uncertainty
from podium.ranking.work import Scored
from podium.ranking.workers import Workers
from podium.wording import counted

__all__ = ["Inputs", "Ranking", "Request", "Run", "rank"]

FIRST_COLUMNS = [
    "rank", "team", "submission", "score", "runtime", "eligible", "slowdown", "boost", "boosted_score",
    "rank_before",
]  # fmt: skip
MOST_IN_PAIRS = 50  # teams with the same file; more of them have only pairs with the first one
MOST_TEAMS = 10_000  # teams that get intervals; they need 2.4 GB, which grows with the square of their number

Floats = npt.NDArray[np.float64]


class Ranking(NamedTuple):
    """The result of `rank`.

    Tables have a row per team, in the order of the board, unless their description says otherwise.

    Attributes
    ----------
    leaderboard : DataFrame
        The board as ``boost.py`` returns it, with the file of each team that counts.
    submissions : DataFrame
        A row per file with its hash, its scores, whether it was chosen, and why.
    rejected : DataFrame
        A row per rejected file, with the columns ``team``, ``submission`` and ``reason``.
    failed : DataFrame
        A row per model that failed, with the columns ``team``, ``model`` and ``reason``.
    facts : dict of str to object
        What ``run.json`` says about the result: signature, rule, counts, ties, warnings and others.
    similar : DataFrame
        A row per pair of teams that sent the same file, or that agree where few other teams do.  The columns
        are ``team``, ``other_team`` and ``agreement``.
    subpopulations : DataFrame or None
        The scores in each sub-population.  None if the metric has no sub-populations.
    intervals : DataFrame or None
        See `podium.ranking.uncertainty.tables`.  None without resamples or without statistics.
    neighbors : DataFrame or None
        The differences between neighbors: a row per team and the next one, see
        `podium.ranking.uncertainty.tables`.  None without resamples or without statistics.
    variants, variant_ranks : DataFrame or None
        See `podium.ranking.robustness.Variants`.  None without statistics.
    path : DataFrame or None
        What each step from an older metric to this one does, see `podium.ranking.robustness.of_path`.  None if
        `Rules.variants` is false or the metric has no steps.
    uncertainty : Uncertainty or None
        The board on all draws.
    """

    leaderboard: pd.DataFrame
    submissions: pd.DataFrame
    rejected: pd.DataFrame
    failed: pd.DataFrame
    facts: dict[str, Any]
    similar: pd.DataFrame
    subpopulations: pd.DataFrame | None = None
    intervals: pd.DataFrame | None = None
    neighbors: pd.DataFrame | None = None
    variants: pd.DataFrame | None = None
    variant_ranks: pd.DataFrame | None = None
    path: pd.DataFrame | None = None
    uncertainty: Uncertainty | None = None


class Request(NamedTuple):
    """What is ranked.

    Attributes
    ----------
    metric : str
        The name of a metric, or the path of its file.
    solution, submissions : str
        The paths or URLs of the solution and of the submissions.
    runtimes, selection, failed : str or None
        The paths or URLs of the host's tables: the runtimes, the files that teams selected, and the models that
        failed.
    side : str or None
        The folder with the host's file beside each submission, see `podium.ranking.submissions.find`.
    parameters : dict of str to object
        The parameters of the metric's ``score`` that differ from their defaults.
    """

    metric: str
    solution: str
    submissions: str
    runtimes: str | None = None
    selection: str | None = None
    failed: str | None = None
    side: str | None = None
    parameters: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class Inputs(NamedTuple):
    """What a ranking is made from, read and checked.

    Attributes
    ----------
    request : Request
        What is ranked.
    rules : Rules
        How it is ranked.
    job : Job
        The metric with its solution.
    submissions : list of Submission
        The submissions.
    store : Path
        The folder that keeps what is found out about them.
    runtimes, selection, failed : DataFrame or None
        The host's tables.
    """

    request: Request
    rules: Rules
    job: Job
    submissions: list[Submission]
    store: Path
    runtimes: pd.DataFrame | None = None
    selection: pd.DataFrame | None = None
    failed: pd.DataFrame | None = None


class Run(NamedTuple):
    """A finished run.

    Attributes
    ----------
    request : Request
        What was ranked.
    rules : Rules
        How it was ranked.
    heading : Heading
        What stands at the top of the page.
    ranking : Ranking
        The result.
    facts : dict of str to object
        The content of ``run.json``.
    """

    request: Request
    rules: Rules
    heading: Heading
    ranking: Ranking
    facts: dict[str, Any]


def rank(inputs: Inputs, scored: Sequence[Scored], workers: Workers) -> Ranking:
    """Choose a submission for each team, reward speed, rank the teams, and compute how sure the order is.

    Parameters
    ----------
    inputs : Inputs
        What the ranking is made from.
    scored : sequence of Scored
        What became of each submission, in the order of ``inputs.submissions``.
    workers : Workers
        Where the work is done.

    Returns
    -------
    Ranking
        The board and everything that is computed about it.

    Raises
    ------
    HostError
        No submission could be scored, or speed cannot be rewarded with these scores.
    """
    rules, job = inputs.rules, inputs.job
    solution = solution_of(job)
    higher_is_better = hosted.higher_is_better(solution.metric, dict(job.parameters))
    files = choice.table_of_files(inputs.submissions, scored)
    files, rule = choice.choose(files, inputs.selection, inputs.runtimes, rules, solution, higher_is_better)
    chosen, rejected = _chosen(files), _rejected(files)
    is_boosted = _is_boosted(choice.with_runtimes(chosen, inputs.runtimes), rules)
    leaderboard = _boosted(choice.with_runtimes(chosen, inputs.runtimes), rules, is_boosted, higher_is_better)
    if "public_score" in leaderboard and solution.deciding != choice.PUBLIC:
        public = leaderboard["public_score"].rank(method="min", ascending=not higher_is_better)
        leaderboard["public_rank"] = public.astype("Int64")
    decided = ties.decisions(leaderboard, rules, is_boosted)
    leaderboard["note"] = [
        "; ".join(filter(None, each))
        for each in zip(leaderboard["note"], ties.notes(leaderboard["team"].tolist(), decided))
    ]
    of_team = dict(zip(chosen["team"], chosen.index))
    order = [of_team[team] for team in leaderboard["team"]]

    similar, told = _same_files(files), _Told()
    if all(scored[number].has_statistics for number in order):
        told = _told_by_statistics(inputs, scored, order, leaderboard, workers, higher_is_better)
        similar = pd.concat(
            [table for table in (similar, told.agreeing) if len(table)] or [told.agreeing], ignore_index=True
        )
        leaderboard = leaderboard.assign(**told.columns)
    failed = inputs.failed
    if failed is None:
        failed = pd.DataFrame(columns=["team", "model", "reason"])
    ahead = [name for name in FIRST_COLUMNS if name in leaderboard]
    leaderboard = leaderboard[ahead + [name for name in leaderboard if name not in ahead]]
    facts = {
        "signature": solution.signature,
        "decided_by": solution.deciding,
        **_items(solution),
        "higher_is_better": higher_is_better,
        "higher_is_better_assumed": solution.metric.direction is None,
        "boosted": is_boosted,
        "rule": rule,
        "counts": _counts(files, rejected, leaderboard, failed),
        "ties": decided if any(decided) else [],
        "runtimes_drawn": told.runtimes_drawn,
        "warnings": _warnings(leaderboard, decided, inputs),
    }
    return Ranking(leaderboard, files, rejected, failed, facts, _unique_pairs(similar), **told.tables)


# ---- Steps ----------------------------------------------------------------------------------------------

# A team's folder of documents may be meant as one submission.
ONE_TABLE = (
    ". Each file in a team's folder counts as a submission. If they are the documents of one submission, make "
    "one table of them: see “Files in and out” in the README.md of the metric"
)


def _chosen(files: pd.DataFrame) -> pd.DataFrame:
    """Keep the files that count, of which there must be at least one."""
    chosen = files[files["chosen"]]
    if chosen.empty:
        first = files.iloc[0]
        is_document = first["submission"].removesuffix(".gz").endswith(".json")
        hint = ONE_TABLE if is_document and files["team"].duplicated().any() else ""
        raise HostError(
            f"none of {counted(len(files), 'submission')} could be scored; the first, {first['submission']}: "
            f"{first['rejected']}{hint}"
        )
    return chosen


def _rejected(files: pd.DataFrame) -> pd.DataFrame:
    """List the rejected files with the reasons."""
    rejected = files.loc[files["rejected"].notna(), ["team", "submission", "rejected"]]
    return rejected.rename(columns={"rejected": "reason"}).reset_index(drop=True)


def _is_boosted(files: pd.DataFrame, rules: Rules) -> bool:
    """Tell whether speed is rewarded."""
    return bool(rules.boost and files["runtime"].notna().any())


def _boosted(board: pd.DataFrame, rules: Rules, is_boosted: bool, higher_is_better: bool) -> pd.DataFrame:
    """Make the board of the chosen files with boost.py."""
    board = board.drop(
        columns=["sha256", "side_sha256", "rejected", "chosen", "why", "given_public_score"], errors="ignore"
    )
    if "private_score" in board:
        board = board.drop(columns="score").assign(score=board["private_score"])
    if is_boosted and not higher_is_better:
        raise HostError(
            "the lower score is better, and only higher scores can be boosted: rank with --no-boost"
        )
    if is_boosted and (board["score"] < 0).any():
        worst = board.sort_values("score").iloc[0]
        raise HostError(
            f"the score of {worst['team']} is {worst['score']:g}, and only scores from 0 can be boosted: "
            "rank with --no-boost"
        )
    ranked: pd.DataFrame
    with errors_of_boost() as boost:
        if is_boosted:
            ranked = boost.boost(board, **rules.of_boost)
            return ranked
        ranked = boost.boost(board.drop(columns="runtime"), higher_is_better=higher_is_better)
    seconds = dict(zip(board["team"], pd.to_numeric(board["runtime"], errors="coerce")))
    return ranked.assign(runtime=ranked["team"].map(seconds).astype(np.float64), note="")


def _same_files(files: pd.DataFrame) -> pd.DataFrame:
    """List pairs of teams with the same file; in a large group, only those with its first team."""
    rows = []
    for _, same in files.groupby("sha256", sort=False)["team"]:
        teams = sorted(set(same))
        firsts = teams if len(teams) <= MOST_IN_PAIRS else teams[:1]
        rows += [(one, two, 1.0) for at, one in enumerate(firsts) for two in teams[at + 1 :]]
    return pd.DataFrame(rows, columns=["team", "other_team", "agreement"])


def _unique_pairs(similar: pd.DataFrame) -> pd.DataFrame:
    """Keep each pair of teams once, in whichever order they are named, with its highest agreement."""
    pairs = pd.DataFrame(np.sort(similar[["team", "other_team"]].to_numpy(dtype=str), axis=1))
    agreement = similar["agreement"].reset_index(drop=True)
    order = agreement.sort_values(ascending=False, kind="stable").index
    kept = order[~pairs.loc[order].duplicated().to_numpy()]
    return similar.reset_index(drop=True).loc[sorted(kept)].reset_index(drop=True)


def _items(solution: scoring.Solution) -> dict[str, Any]:
    """Find out how many items decide and what they are called."""
    prepared = solution.prepared.get(solution.deciding)
    identifiers = [
        str(value)
        for name, value in hosted.settings(solution.metric, solution.arguments).items()
        if name.endswith("_id_column_name") and name != "row_id_column_name"
    ]
    noun = identifiers[0].removesuffix("_id").replace("_", " ") if identifiers else "item"
    number = int(solution.rows[solution.deciding].sum()) if prepared is None else len(prepared.items)
    return {"items": number, "item": "row" if prepared is None else noun}


def _counts(
    files: pd.DataFrame, rejected: pd.DataFrame, leaderboard: pd.DataFrame, failed: pd.DataFrame
) -> dict[str, int]:
    """Count submissions, teams and models for the facts of a board."""
    on_board = set(leaderboard["team"])
    return {
        "submissions": len(files),
        "rejected": len(rejected),
        "teams": len(leaderboard),
        "teams_without_score": len(set(files["team"]) - on_board),
        "eligible": int(leaderboard["eligible"].sum()),
        "failed": len(set(failed["team"]) - set(files["team"])),
    }


def _warnings(leaderboard: pd.DataFrame, decided: Sequence[str], inputs: Inputs) -> list[str]:
    """Say what a reader of the board must know before a prize is given."""
    teams = leaderboard["team"].tolist()
    sentences = [
        f"place {rank} was decided by {ties.BY_NAME}: {teams[rank - 1]} and {teams[rank]} have the same score"
        for rank, reason in enumerate(decided[: inputs.rules.prizes], 1)
        if reason == ties.BY_NAME
    ]
    if _is_boosted(leaderboard, inputs.rules):
        sentences += speed.notices(leaderboard, inputs.runtimes)
    return sentences


# ---- What the statistics of the chosen files tell --------------------------------------------------------


class _Told(NamedTuple):
    """What statistics say beyond the board.

    Attributes
    ----------
    tables : dict of str to object
        Fields of `Ranking`.
    columns : dict of str to object
        More columns of the board.
    agreeing : DataFrame
        Pairs of teams that are similar.
    runtimes_drawn : dict of str to float
        What draws of the runtimes do to the ranks.
    """

    tables: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    columns: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    agreeing: pd.DataFrame = pd.DataFrame(columns=["team", "other_team", "agreement"])
    runtimes_drawn: dict[str, float] = {}  # noqa: RUF012  (never changed)


def _told_by_statistics(
    inputs: Inputs,
    scored: Sequence[Scored],
    order: Sequence[int],
    leaderboard: pd.DataFrame,
    workers: Workers,
    higher_is_better: bool,
) -> _Told:
    """Compute sub-populations, variants, similar teams, and how sure the board is.

    ``order`` has the numbers of the chosen submissions, in the order of the board.
    """
    rules, job = inputs.rules, inputs.job
    solution = solution_of(job)
    entries = {number: scored[number].entry for number in order}
    detail = functools.partial(uncertainty.detail, job, solution.deciding, rules.resamples, rules.seed)
    title = "resampling" if rules.resamples else "measuring"
    detail_of = work.from_store(workers, detail, entries, inputs.store, title)
    details = [detail_of[number] for number in order]
    tables: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    measures = np.stack([each.measures for each in details])
    tables["subpopulations"] = _subpopulations(leaderboard["team"], measures, solution)
    if tables["subpopulations"] is None:
        # All measures stand beside the one that decides, as on SciFact's own leaderboard.
        names_of_measures = solution.prepared[solution.deciding].measure_names
        columns = dict(zip(names_of_measures[1:], measures.T[1:]))
    other = {name: np.array([each.variants[name] for each in details]) for name in details[0].variants}
    if rules.variants:
        once_more = _under_other_statistics(inputs, scored, order, workers)
        tables["path"], decisions = robustness.of_path(job, once_more, leaderboard)
        other |= decisions
    variants = robustness.of_board(leaderboard, other, inputs.runtimes, rules, higher_is_better)
    tables |= {"variants": variants.table, "variant_ranks": variants.ranks}
    of_most = details[:MOST_TEAMS]
    fingerprints = [each.fingerprint for each in of_most]
    agreeing = robustness.agreements(leaderboard["team"].tolist(), fingerprints)
    if rules.resamples:
        draws = np.stack([each.scores for each in of_most], axis=1)
        most = leaderboard.head(MOST_TEAMS)
        sure = uncertainty.of_board(most, draws, inputs.runtimes, rules, higher_is_better)
        stored = [scored[number].entry for number in order[:MOST_TEAMS]]
        p = uncertainty.p_values(job, solution.deciding, rules, stored, inputs.store, workers)
        tables["intervals"], tables["neighbors"] = uncertainty.tables(
            most, sure, of_most, p, solution.prepared[solution.deciding], rules.prizes, higher_is_better
        )
        tables["uncertainty"] = sure
        if _is_boosted(most, rules) and not speed.noise_of(most, inputs.runtimes).is_known:
            _as_wide_as_the_score_s(tables["intervals"], sure, 1 if higher_is_better else -1)
    return _Told(tables, columns, agreeing, variants.runtimes)


def _as_wide_as_the_score_s(intervals: pd.DataFrame, sure: Uncertainty, sign: int) -> None:
    """Widen the rank sets that are narrower than those of the scores before rewards, in place.

    If nothing is known about the noise of the runtimes, they are the same on all draws.  Then rewards would
    seem certain without being so.
    """
    together, alone = statistics.rank_sets(sign * intervals["score"], sign * sure.scores)
    for prefix, sets in (("rank", alone), ("all_ranks", together)):
        missing = (sets[:, 1] - sets[:, 0]) - (intervals[f"{prefix}_high"] - intervals[f"{prefix}_low"])
        for row in np.flatnonzero(missing > 0).tolist():
            low, high = intervals[f"{prefix}_low"].iloc[row], intervals[f"{prefix}_high"].iloc[row]
            # The missing ranks are added on both sides, half each, as far as the board has ranks there.
            low = max(1, low - (missing[row] + 1) // 2)
            high = min(len(intervals), low + sets[row, 1] - sets[row, 0])
            low = high - (sets[row, 1] - sets[row, 0])
            intervals.loc[intervals.index[row], [f"{prefix}_low", f"{prefix}_high"]] = low, high


def _under_other_statistics(
    inputs: Inputs, scored: Sequence[Scored], order: Sequence[int], workers: Workers
) -> dict[str, Floats]:
    """Score the chosen files with other statistics.  They are read again, and must not have changed."""
    deciding = solution_of(inputs.job).deciding
    vary = functools.partial(robustness.of_statistics, inputs.job, deciding)
    chosen = {
        number: inputs.submissions[number]._replace(
            digests=digests_of(scored[number].digest, scored[number].side_digest)
        )
        for number in order
    }
    scores = work.once_more(workers, vary, chosen)
    return {name: np.array([scores[number][name] for number in order]) for name in scores[order[0]]}


def _subpopulations(
    teams: "pd.Series[str]", measures: Floats, solution: scoring.Solution
) -> pd.DataFrame | None:
    """Collect the scores in each sub-population, or None if the metric has none."""
    prepared = solution.prepared[solution.deciding]
    columns = prepared.measure_names
    groups = [f"{attribute} = {value}" for attribute, value in prepared.labels]
    scores = {name: measures[:, columns.index(name)] for name in groups if name in columns}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None
