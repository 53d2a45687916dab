"""The final ranking: which submission of each team counts, what speed is worth, the order, how sure it is.

`rank` makes it from what the store of a run knows, in steps: files, choice, board, and what the statistics of
the chosen files tell.
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
from podium.ranking.rules import Heading, Rules
from podium.ranking.submissions import Submission, errors_of_boost
from podium.ranking.uncertainty import Uncertainty
from podium.ranking.work import Job, Scored, Workers

__all__ = ["Inputs", "Ranking", "Request", "Run", "rank"]

FIRST_COLUMNS = [
    "rank", "team", "submission", "score", "runtime", "eligible", "slowdown", "boost", "boosted_score",
    "rank_before",
]  # fmt: skip
MOST_TEAMS = 5000  # get intervals: draws of more would not fit the memory

Floats = npt.NDArray[np.float64]


class Ranking(NamedTuple):
    """The result of `rank`.

    Tables have a row per team, in the order of the board, unless said otherwise.

    Attributes
    ----------
    leaderboard : DataFrame
        What boost.py returns, with the file that counts.
    submissions : DataFrame
        A row per file: its hash, its scores, whether it was chosen and why.
    rejected : DataFrame
        A row per rejected file: team, submission, reason.
    failed : DataFrame
        A row per model that failed: team, model, reason.
    facts : dict
        What run.json says of the result: signature, rule, counts, ties, warnings.
    similar : DataFrame
        Pairs of teams with the same file, or that agree where few do: team, other_team, agreement.
    subpopulations : DataFrame or None
        Scores in each sub-population; None where the metric has none.
    intervals, neighbours : DataFrame or None
        See `podium.ranking.uncertainty`; None without resamples or without statistics. ``neighbours`` has a row
        per pair of teams that follow each other.
    variants, variant_ranks : DataFrame or None
        See `podium.ranking.robustness.Variants`; None without statistics.
    path : DataFrame or None
        What each of the memo's steps does; None unless asked for.
    uncertainty : Uncertainty or None
        The draws.
    """

    leaderboard: pd.DataFrame
    submissions: pd.DataFrame
    rejected: pd.DataFrame
    failed: pd.DataFrame
    facts: dict[str, Any]
    similar: pd.DataFrame
    subpopulations: pd.DataFrame | None = None
    intervals: pd.DataFrame | None = None
    neighbours: pd.DataFrame | None = None
    variants: pd.DataFrame | None = None
    variant_ranks: pd.DataFrame | None = None
    path: pd.DataFrame | None = None
    uncertainty: Uncertainty | None = None


class Request(NamedTuple):
    """What is ranked.

    Attributes
    ----------
    metric : str
        A metric's name or the path of its file.
    solution, submissions : str
        Paths or URLs.
    runtimes, selection, failed : str or None
        Paths or URLs of the host's tables: runtimes, the files that teams selected, the models that failed.
    side : str or None
        The folder with the host's file beside each submission; see `podium.ranking.submissions.find`.
    parameters : dict
        Keyword arguments of the metric, where not its defaults.
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
    """What a ranking is made of, read and checked.

    Attributes
    ----------
    request : Request
    rules : Rules
    job : Job
        The metric with its solution.
    submissions : list of Submission
    store : Path
        The folder with what was learned of them.
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
    rules : Rules
    heading : Heading
        What the page is headed with.
    ranking : Ranking
    facts : dict
        The content of run.json.
    """

    request: Request
    rules: Rules
    heading: Heading
    ranking: Ranking
    facts: dict[str, Any]


def rank(inputs: Inputs, scored: Sequence[Scored], workers: Workers) -> Ranking:
    """Choose each team's submission, boost, rank, and say how sure that is.

    Parameters
    ----------
    inputs : Inputs
    scored : sequence of Scored
        What became of each of the submissions, in their order.
    workers : Workers
        Who does the work.

    Returns
    -------
    Ranking

    Raises
    ------
    HostError
        No submission could be scored, rewards are not possible, or a name is nearly that of a submission.
    """
    rules, job = inputs.rules, inputs.job
    solution = work.prepared(job)
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


def _chosen(files: pd.DataFrame) -> pd.DataFrame:
    """The files that count, of which there is at least one."""
    chosen = files[files["chosen"]]
    if chosen.empty:
        first = files.iloc[0]
        raise HostError(
            f"none of {len(files):,} submissions could be scored; the first, {first['submission']}: "
            f"{first['rejected']}"
        )
    return chosen


def _rejected(files: pd.DataFrame) -> pd.DataFrame:
    """The rejected files with the reasons."""
    rejected = files.loc[files["rejected"].notna(), ["team", "submission", "rejected"]]
    return rejected.rename(columns={"rejected": "reason"}).reset_index(drop=True)


def _is_boosted(files: pd.DataFrame, rules: Rules) -> bool:
    """Whether speed is rewarded."""
    return bool(rules.boost and files["runtime"].notna().any())


def _boosted(board: pd.DataFrame, rules: Rules, is_boosted: bool, higher_is_better: bool) -> pd.DataFrame:
    """The board of the chosen files, as boost.py makes it."""
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
    """Pairs of teams with the same file."""
    rows = []
    for _, same in files.groupby("sha256", sort=False)["team"]:
        teams = sorted(set(same))
        rows += [(teams[0], team, 1.0) for team in teams[1:]]
    return pd.DataFrame(rows, columns=["team", "other_team", "agreement"])


def _unique_pairs(similar: pd.DataFrame) -> pd.DataFrame:
    """Each pair once, also if its teams stand the other way round, and with its highest agreement."""
    pairs = pd.DataFrame(np.sort(similar[["team", "other_team"]].to_numpy(dtype=str), axis=1))
    agreement = similar["agreement"].reset_index(drop=True)
    order = agreement.sort_values(ascending=False, kind="stable").index
    kept = order[~pairs.loc[order].duplicated().to_numpy()]
    return similar.reset_index(drop=True).loc[sorted(kept)].reset_index(drop=True)


def _items(solution: scoring.Solution) -> dict[str, Any]:
    """How many items decide, and what they are called."""
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
    """What a reader of the board must know before a prize is given."""
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
    """What statistics tell beyond the board.

    ``tables`` are fields of `Ranking`, ``columns`` more columns of the board, ``agreeing`` pairs of teams that
    are alike, ``runtimes_drawn`` what draws of the runtimes do to the ranks.
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
    """Sub-populations, variants, teams that are alike, and how sure the board is.

    ``order`` are the numbers of the chosen submissions, in the order of the board.
    """
    rules, job = inputs.rules, inputs.job
    solution = work.prepared(job)
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
        # As SciFact's own leaderboard: all measures beside the one that decides.
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
    fingerprints = np.stack([each.fingerprint for each in of_most])
    agreeing = robustness.agreements(leaderboard["team"].tolist(), fingerprints)
    if rules.resamples:
        draws = np.stack([each.scores for each in of_most], axis=1)
        most = leaderboard.head(MOST_TEAMS)
        sure = uncertainty.of_board(most, draws, inputs.runtimes, rules, higher_is_better)
        stored = [scored[number].entry for number in order[:MOST_TEAMS]]
        p = uncertainty.p_values(job, solution.deciding, rules, stored, inputs.store, workers)
        tables["intervals"], tables["neighbours"] = uncertainty.tables(
            most, sure, of_most, p, solution.prepared[solution.deciding], rules.prizes, higher_is_better
        )
        tables["uncertainty"] = sure
        if _is_boosted(most, rules) and not speed.noise_of(most, inputs.runtimes).is_known:
            _as_wide_as_the_score_s(tables["intervals"], sure, 1 if higher_is_better else -1)
    return _Told(tables, columns, agreeing, variants.runtimes)


def _as_wide_as_the_score_s(intervals: pd.DataFrame, sure: Uncertainty, sign: int) -> None:
    """Make no set of ranks narrower than that of the score alone, in place.

    Where nothing is known of the runtimes' noise, draws of them are constant, and rewards would only seem
    certain.
    """
    together, alone = statistics.rank_sets(sign * intervals["score"], sign * sure.scores)
    for prefix, sets in (("rank", alone), ("all_ranks", together)):
        missing = (sets[:, 1] - sets[:, 0]) - (intervals[f"{prefix}_high"] - intervals[f"{prefix}_low"])
        for row in np.flatnonzero(missing > 0).tolist():
            low, high = intervals[f"{prefix}_low"].iloc[row], intervals[f"{prefix}_high"].iloc[row]
            # As many more ranks on either side, as far as there are any.
            low = max(1, low - (missing[row] + 1) // 2)
            high = min(len(intervals), low + sets[row, 1] - sets[row, 0])
            low = high - (sets[row, 1] - sets[row, 0])
            intervals.loc[intervals.index[row], [f"{prefix}_low", f"{prefix}_high"]] = low, high


def _under_other_statistics(
    inputs: Inputs, scored: Sequence[Scored], order: Sequence[int], workers: Workers
) -> dict[str, Floats]:
    """Scores of the chosen files by what else could be counted; the files are read once more, and compared."""
    deciding = work.prepared(inputs.job).deciding
    vary = functools.partial(robustness.of_statistics, inputs.job, deciding)
    chosen = {
        number: inputs.submissions[number]._replace(
            digests=work.digests_of(scored[number].digest, scored[number].side_digest)
        )
        for number in order
    }
    scores = work.once_more(workers, vary, chosen)
    return {name: np.array([scores[number][name] for number in order]) for name in scores[order[0]]}


def _subpopulations(
    teams: "pd.Series[str]", measures: Floats, solution: scoring.Solution
) -> pd.DataFrame | None:
    """The scores in each sub-population; None where the metric has none."""
    prepared = solution.prepared[solution.deciding]
    columns = prepared.measure_names
    groups = [f"{attribute} = {value}" for attribute, value in prepared.labels]
    scores = {name: measures[:, columns.index(name)] for name in groups if name in columns}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None
