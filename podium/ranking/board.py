"""The final ranking: which submission of each team counts, what speed is worth, and the order.

`rank` does all of it from files, `again` from what an earlier run stored, and `write` saves the result.
"""

import functools
import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, scoring
from podium.errors import HostError
from podium.files import write_atomically
from podium.ranking import robustness, speed, uncertainty, work
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission, read_named
from podium.ranking.uncertainty import Uncertainty
from podium.ranking.work import Job, Scored, Workers
from podium.wording import listed

__all__ = [
    "RUN",
    "STORE",
    "TABLES",
    "Ranking",
    "digests",
    "files",
    "rank",
    "read_selection",
    "write",
]

STORE = "store"
RUN = "run.json"
TABLES = {
    "leaderboard": "final_leaderboard.csv",
    "submissions": "all_submissions.csv",
    "rejected": "rejected.csv",
    "subpopulations": "subpopulations.csv",
    "intervals": "intervals.csv",
    "neighbours": "neighbours.csv",
    "variants": "robustness.csv",
    "variant_ranks": "variant_ranks.csv",
    "path": "path.csv",
    "similar": "similar.csv",
}
PUBLIC, PRIVATE = scoring.PARTS
MOST_TEAMS = 5000  # get intervals: draws of more would not fit the memory

Floats = npt.NDArray[np.float64]


class Ranking(NamedTuple):
    """The result of `rank`.

    Attributes
    ----------
    leaderboard : DataFrame, one row per team, sorted by rank
    submissions : DataFrame, one row per file: hash, scores, whether it was chosen and why
    rejected : DataFrame, one row per file that was rejected, with the reason
    facts : dict: signature, rule, counts
    similar : DataFrame, pairs of teams with the same file or that, by their statistics, agree where few do
    subpopulations : DataFrame, one row per team, a column per sub-population; None if the metric has none
    intervals : DataFrame, one row per team; None without resamples
    neighbours : DataFrame, one row per pair of neighbours on the board; None without resamples
    variants, variant_ranks : DataFrames, see `podium.ranking.robustness.of_board`; None without statistics
    path : DataFrame, what each of the memo's steps does; None unless asked for
    uncertainty : what the intervals are made of; None without resamples
    """

    leaderboard: pd.DataFrame
    submissions: pd.DataFrame
    rejected: pd.DataFrame
    facts: dict[str, Any]
    similar: pd.DataFrame
    subpopulations: pd.DataFrame | None = None
    intervals: pd.DataFrame | None = None
    neighbours: pd.DataFrame | None = None
    variants: pd.DataFrame | None = None
    variant_ranks: pd.DataFrame | None = None
    path: pd.DataFrame | None = None
    uncertainty: Uncertainty | None = None


def rank(
    job: Job,
    submissions: Sequence[Submission],
    scored: Sequence[Scored],
    runtimes: pd.DataFrame | None,
    selection: pd.DataFrame | None,
    rules: Rules,
    folder: Path,
    place: Workers,
) -> Ranking:
    """Choose each team's submission, boost, rank, and say how sure that is.

    Parameters
    ----------
    job, submissions, scored : what was scored against what, (n,)
    runtimes : as `podium.ranking.speed.read` returns them
    selection : as `read_selection` returns it; of the teams that it names only these files count
    rules : Rules
    folder : the store
    place : where to work

    Raises
    ------
    HostError
        Runtimes or rules do not fit the scores, or no submission was scored.
    """
    solution = work.prepared(job)
    higher_is_better = hosted.higher_is_better(solution.metric, dict(job.parameters))
    speed.check(runtimes, submissions)
    files = _files(submissions, scored)
    files, rule = _choose(files, selection, runtimes, rules, solution, higher_is_better)
    chosen = files[files["chosen"]]
    rejected = files.loc[files["rejected"].notna(), ["team", "submission", "rejected"]]
    rejected = rejected.rename(columns={"rejected": "reason"}).reset_index(drop=True)
    if chosen.empty:
        first = rejected.iloc[0]
        raise HostError(
            f"none of {len(files):,} submissions could be scored; the first, {first['submission']}: "
            f"{first['reason']}"
        )
    leaderboard = _boosted(_with_runtimes(chosen, runtimes), rules, higher_is_better)
    if "public_score" in leaderboard and solution.deciding != PUBLIC:
        public = leaderboard["public_score"].rank(method="min", ascending=not higher_is_better)
        leaderboard["public_rank"] = public.astype("Int64")
    of_team = dict(zip(chosen["team"], chosen.index))
    order = [of_team[team] for team in leaderboard["team"]]

    similar = _same_files(files)
    more: dict[str, Any] = {}
    if all(scored[number].has_statistics for number in order):
        names = {number: scored[number].entry for number in order}
        detail = functools.partial(uncertainty.detail, job, solution.deciding, rules.resamples, rules.seed)
        title = "resampling" if rules.resamples else "measuring"
        found = work.from_store(place, detail, names, folder, title)
        details = [found[number] for number in order]
        teams = leaderboard["team"].tolist()
        measures = np.stack([each.measures for each in details])
        more["subpopulations"] = _subpopulations(leaderboard["team"], measures, solution)
        if more["subpopulations"] is None:
            # As SciFact's own leaderboard: all measures beside the one that decides.
            names_of_measures = solution.prepared[solution.deciding].measure_names
            leaderboard = leaderboard.assign(**dict(zip(names_of_measures[1:], measures.T[1:])))
        other = {name: np.array([each.variants[name] for each in details]) for name in details[0].variants}
        if rules.variants:
            once_more = _under_other_statistics(job, submissions, order, place)
            more["path"] = robustness.of_path(job, once_more, teams)
            other |= once_more
        more["variants"], more["variant_ranks"] = robustness.of_board(
            leaderboard, other, runtimes, rules, higher_is_better
        )
        of_most = details[:MOST_TEAMS]
        agreeing = robustness.agreements(teams, np.stack([each.fingerprint for each in of_most]))
        similar = pd.concat(
            [table for table in (similar, agreeing) if len(table)] or [agreeing], ignore_index=True
        )
        if rules.resamples:
            draws = np.stack([each.scores for each in of_most], axis=1)
            most = leaderboard.head(MOST_TEAMS)
            sure = uncertainty.of_board(most, draws, runtimes, rules, higher_is_better)
            influences = [each.influence for each in of_most]
            more["intervals"], more["neighbours"] = uncertainty.tables(
                most, sure, influences, rules.prizes, higher_is_better
            )
            more["uncertainty"] = sure
    facts = {
        "signature": solution.signature,
        "decided_by": solution.deciding,
        "higher_is_better": higher_is_better,
        "rule": rule,
        "counts": {
            "submissions": len(files),
            "rejected": len(rejected),
            "teams": len(leaderboard),
            "teams_without_score": len(set(files["team"]) - set(leaderboard["team"])),
            "eligible": int(leaderboard["eligible"].sum()),
        },
    }
    return Ranking(_ordered_columns(leaderboard), files, rejected, facts, similar, **more)


def _under_other_statistics(
    job: Job, submissions: Sequence[Submission], order: Sequence[int], place: Workers
) -> dict[str, Floats]:
    """Scores of the chosen files, (t,), by what else could be counted."""
    deciding = work.prepared(job).deciding
    vary = functools.partial(robustness.of_statistics, job, deciding)
    scores = work.once_more(place, vary, {number: submissions[number] for number in order})
    return {name: np.array([scores[number][name] for number in order]) for name in scores[order[0]]}


def _same_files(files: pd.DataFrame) -> pd.DataFrame:
    """Pairs of teams that uploaded the same file."""
    rows = []
    for _, same in files.groupby("sha256", sort=False)["team"]:
        teams = sorted(set(same))
        rows += [(teams[0], team, 1.0) for team in teams[1:]]
    return pd.DataFrame(rows, columns=["team", "other_team", "agreement"])


def files(ranking: Ranking) -> dict[str, bytes]:
    """The tables as CSV, by the names of their files."""
    return {
        file: table.to_csv(index=False, lineterminator="\n").encode()
        for name, file in TABLES.items()
        if (table := getattr(ranking, name)) is not None
    }


def digests(files: dict[str, bytes]) -> dict[str, str]:
    """SHA-256 of each file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def write(files: dict[str, bytes], folder: Path, run: dict[str, Any]) -> None:
    """Save the tables and, as JSON, the run, each file complete or not at all."""
    for name in TABLES.values():
        if name in files:
            write_atomically(folder / name, functools.partial(Path.write_bytes, data=files[name]))
        else:
            (folder / name).unlink(missing_ok=True)  # of an earlier run with other options
    text = json.dumps(run, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / RUN, lambda path: path.write_text(text, encoding="utf-8"))


# ---- Inputs --------------------------------------------------------------------------------------------


def read_selection(path: str, submissions: Sequence[Submission]) -> pd.DataFrame:
    """The files that count: team and submission, both of files that are there.

    Raises
    ------
    HostError
    """
    table = read_named(path, ["team", "submission"], {"team", "submission"})[["team", "submission"]]
    known = {(each.team, each.name) for each in submissions}
    absent = [f"{team}/{name}" for team, name in table.itertuples(index=False) if (team, name) not in known]
    if absent:
        raise HostError(f"selected but not among the submissions: {listed(sorted(absent))}")
    return table


# ---- Which submission counts ---------------------------------------------------------------------------


def _files(submissions: Sequence[Submission], scored: Sequence[Scored]) -> pd.DataFrame:
    """One row per file: team, submission, the hashes, submitted_at, the scores, the reason if rejected."""
    parts = list(next((each.scores for each in scored if each.scores is not None), {}))
    table: dict[str, Any] = {
        "team": [each.team for each in submissions],
        "submission": [each.name for each in submissions],
        "sha256": [each.digest for each in scored],
    }
    if any(each.side_digest for each in scored):
        table["side_sha256"] = [each.side_digest or None for each in scored]
    if any(each.submitted_at for each in submissions):
        table["submitted_at"] = [each.submitted_at or None for each in submissions]
    if any(each.public_score for each in submissions):
        table["given_public_score"] = [each.public_score or None for each in submissions]
    for part in parts:
        name = "score" if part == scoring.ALL else f"{part.lower()}_score"
        table[name] = [math.nan if each.scores is None else each.scores[part] for each in scored]
    table["rejected"] = [each.rejected for each in scored]
    return pd.DataFrame(table)


def _choose(
    files: pd.DataFrame,
    selection: pd.DataFrame | None,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    solution: scoring.Solution,
    higher_is_better: bool,
) -> tuple[pd.DataFrame, str]:
    """Mark each team's file that counts, with the reason; and the rule in words.

    Of equal scores the earlier file counts, then the faster, then the first by name.
    """
    deciding = "score" if solution.deciding == scoring.ALL else f"{solution.deciding.lower()}_score"
    public = "public_score" if PUBLIC in solution.rows else "given_public_score"
    rule = rules.choose or ("public:2" if public in files else "private")
    name_of_score = "score" if solution.deciding == scoring.ALL else f"{solution.deciding} score"
    files = files.assign(chosen=False, why="")
    files.loc[files["rejected"].notna(), "why"] = "rejected"
    scored = files[files["rejected"].isna()].copy()
    if scored.empty:
        return files, rule
    order = pd.DataFrame(index=scored.index)
    order["deciding"] = scored[deciding] * (-1 if higher_is_better else 1)
    ties = _with_runtimes(scored, runtimes)
    boost = hosted.module("boost")
    times = boost.parse(
        pd.DataFrame({"team": range(len(ties)), "score": None, "submitted_at": ties.get("submitted_at")})
    )
    order["time"] = times.submitted_at
    order["runtime"] = pd.to_numeric(ties["runtime"], errors="coerce").to_numpy()
    order["name"] = scored["submission"]
    order["team"] = scored["team"]

    def places(column: str, of: pd.DataFrame) -> "pd.Series[int]":
        """From 0, each file's place among its team's."""
        ranked = of.sort_values(["team", column, "time", "runtime", "name"])
        return ranked.groupby("team").cumcount()

    left, words = order, f"of each team's files the best by {name_of_score}"
    if rule != "private":
        if public not in files:
            raise HostError(f"--choose {rule}: the solution has no Public part, and no public_score is given")
        number = int(rule.removeprefix("public:"))
        scores = pd.to_numeric(scored[public], errors="coerce")
        order["public"] = scores * (-1 if higher_is_better else 1)
        left = order[places("public", order).reindex(order.index) < number]
        words = f"of each team's {number} best files by Public score, the better by {name_of_score}"
    files.loc[scored.index, "why"] = "not among the best by Public score"
    if selection is not None:
        wanted = pd.MultiIndex.from_frame(selection)
        named = order["team"].isin(selection["team"])
        is_selected = pd.Series(
            pd.MultiIndex.from_frame(files.loc[order.index, ["team", "submission"]]).isin(wanted), order.index
        )
        files.loc[order.index[named], "why"] = "not selected"
        left = pd.concat([order[named & is_selected], left[~left["team"].isin(selection["team"])]])
        words = f"of teams that selected files, the better by {name_of_score}; else {words}"
    files.loc[left.index, "why"] = f"another one is better by {name_of_score}"
    place = places("deciding", left)
    best = place.index[place == 0]
    files.loc[best, "chosen"] = True
    files.loc[best, "why"] = f"best by {name_of_score}"
    return files, words


# ---- The board -----------------------------------------------------------------------------------------


def _with_runtimes(files: pd.DataFrame, runtimes: pd.DataFrame | None) -> pd.DataFrame:
    """The files with runtime and submitted_at, in their order; what the files know themselves goes before."""
    if runtimes is None:
        return files.assign(runtime=None)
    keys = [name for name in ("team", "submission") if name in runtimes]
    known = runtimes[[name for name in (*keys, "runtime", "submitted_at") if name in runtimes]]
    both = files.merge(known, on=keys, how="left", suffixes=("", "_of_runtimes"))
    if "submitted_at_of_runtimes" in both:
        both["submitted_at"] = both["submitted_at"].combine_first(both.pop("submitted_at_of_runtimes"))
    return both.set_index(files.index)


def _boosted(board: pd.DataFrame, rules: Rules, higher_is_better: bool) -> pd.DataFrame:
    """The board with its rewards, sorted by rank."""
    boost = hosted.module("boost")
    deciding = "private_score" if "private_score" in board else "score"
    board = board.drop(
        columns=["sha256", "side_sha256", "rejected", "chosen", "why", "given_public_score"], errors="ignore"
    )
    if deciding != "score":
        board = board.drop(columns="score").assign(score=board[deciding])
    rewarded = rules.boost and board["runtime"].notna().any()
    if rewarded and not higher_is_better:
        raise HostError(
            "the lower score is better, and only higher scores can be boosted: rank with --no-boost"
        )
    if rewarded and (board["score"] < 0).any():
        worst = board.sort_values("score").iloc[0]
        raise HostError(
            f"the score of {worst['team']} is {worst['score']:g}, and only scores from 0 can be boosted: "
            "rank with --no-boost"
        )
    try:
        if rewarded:
            rewarded_board: pd.DataFrame = boost.boost(board.reset_index(drop=True), **rules.of_boost)
            return rewarded_board
        ranked: pd.DataFrame = boost.boost(
            board.drop(columns="runtime").reset_index(drop=True), higher_is_better=higher_is_better
        )
    except boost.LeaderboardError as problem:
        raise HostError(str(problem)) from None
    seconds = dict(zip(board["team"], pd.to_numeric(board["runtime"], errors="coerce")))
    return ranked.assign(runtime=ranked["team"].map(seconds), note="")


def _ordered_columns(leaderboard: pd.DataFrame) -> pd.DataFrame:
    first = [
        "rank", "team", "submission", "score", "runtime", "eligible", "slowdown", "boost", "boosted_score",
        "rank_before",
    ]  # fmt: skip
    return leaderboard[first + [name for name in leaderboard if name not in first]]


def _subpopulations(
    teams: "pd.Series[str]", measures: Floats, solution: scoring.Solution
) -> pd.DataFrame | None:
    """Scores of the sub-populations, one row per team."""
    prepared = solution.prepared[solution.deciding]
    names = [f"{attribute} = {value}" for attribute, value in prepared.labels]
    places = [(name, prepared.measure_names.index(name)) for name in names if name in prepared.measure_names]
    if not places:
        return None
    return pd.DataFrame({"team": teams.to_numpy(), **{name: measures[:, place] for name, place in places}})
