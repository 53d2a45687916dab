"""The final ranking: score every submission once, apply the runtime rewards, say how sure the order is.

`rank` does all of it and `write` saves the result.  Scoring is spread over processes by joblib (or over the
workers of a Dask cluster); each worker reads and prepares the solution once.  What was scored is kept in a
folder under a key made of the contents of submission, solution and metric file and of the parameters, so that
an interrupted run goes on where it stopped and a second run scores only what changed.
"""

import functools
import hashlib
import json
import math
import platform
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import numpy.typing as npt
import pandas as pd

import boost
from competition import bootstrap, metric_file, scoring
from competition.errors import HostError, ToolError, UsageError
from competition.files import write_atomically
from competition.progress import track

__all__ = ["Job", "Ranking", "Submission", "find_submissions", "make_job", "rank", "shortened", "write"]

CACHE = "cache"
LEADERBOARD, REJECTED, SUBPOPULATIONS = "final_leaderboard.csv", "rejected.csv", "subpopulations.csv"
INTERVALS, NEIGHBOURS, RUN = "intervals.csv", "neighbours.csv", "run.json"

RUNTIME_COLUMNS = ("team", "submission", "runtime", "submitted_at")
NAMES_SHOWN = 5

Floats = npt.NDArray[np.float64]


class Submission(NamedTuple):
    """A file to score.

    Attributes
    ----------
    team : name of the team
    name : name of the file within the team's folder, or the file itself
    path : where it is
    """

    team: str
    name: str
    path: Path


class Job(NamedTuple):
    """What submissions are scored against; small, so that it travels to other processes.

    Attributes
    ----------
    metric, solution : paths
    parameters : names and values of the metric's keyword arguments
    key : hash of the contents of both files and of the parameters
    """

    metric: Path
    solution: Path
    parameters: tuple[tuple[str, Any], ...]
    key: str


class Ranking(NamedTuple):
    """The result of `rank`.

    Attributes
    ----------
    leaderboard : DataFrame, one row per team, sorted by rank
    rejected : DataFrame, one row per submission that was not scored, with the reason
    subpopulations : DataFrame, one row per team, a column per sub-population; None if the metric has none
    intervals : DataFrame, one row per team; None without resamples
    neighbours : DataFrame, one row per pair of neighbours on the board; None without resamples
    run : dict: signature, versions, file hashes, counts
    """

    leaderboard: pd.DataFrame
    rejected: pd.DataFrame
    subpopulations: pd.DataFrame | None
    intervals: pd.DataFrame | None
    neighbours: pd.DataFrame | None
    run: dict[str, Any]


def make_job(metric: Path, solution: Path, parameters: dict[str, Any]) -> Job:
    """A job, with its key."""
    items = tuple(sorted(parameters.items()))
    content = (_hash_of_file(path) for path in (metric, solution))
    return Job(metric, solution, items, _hash(*map(str, content), repr(items)))


def find_submissions(folder: Path, selected: pd.DataFrame | None = None) -> list[Submission]:
    """The submissions in a folder: a file per team, or a folder per team with several files.

    Parameters
    ----------
    folder : Path
        Hidden files are left out.
    selected : DataFrame with columns team and submission (the file's name), optional
        Of the teams it names, only these count.

    Raises
    ------
    UsageError
        There is no such folder or nothing in it.
    HostError
        A team occurs as file and folder, or a selected submission is not there.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    submissions = []
    for entry in _visible(folder):
        if entry.is_dir():
            files = _visible(entry)
            if not files:
                warnings.warn(f"the folder of team {entry.name} is empty", stacklevel=2)
            submissions += [Submission(entry.name, path.name, path) for path in files]
        else:
            submissions.append(Submission(_team_of(entry.name), entry.name, entry))
    if not submissions:
        raise UsageError(f"there are no submissions in {folder}")
    homes: dict[str, Path] = {}
    for team, _, path in submissions:
        home = path if path.parent == folder else path.parent
        if homes.setdefault(team, home) != home:
            raise HostError(f"team {team} has two places: {homes[team].name} and {home.name}")
    if selected is None:
        return submissions
    wanted = set(zip(selected["team"], selected["submission"]))
    absent = sorted(wanted - {(team, name) for team, name, _ in submissions})
    if absent:
        raise HostError(f"selected but not in {folder}: {shortened(list(map('/'.join, absent)))}")
    chosen = set(selected["team"])
    return [s for s in submissions if s.team not in chosen or (s.team, s.name) in wanted]


def rank(
    job: Job,
    submissions: list[Submission],
    runtimes: pd.DataFrame,
    cache: Path | None = None,
    jobs: int = -1,
    resamples: int = 1000,
    prizes: int = 3,
    seed: int = 0,
) -> Ranking:
    """Score, choose each team's best submission, boost and rank.

    The board is decided by the Private score where the solution has ``Usage``, else by the whole.

    Parameters
    ----------
    job : Job
    submissions : list of Submission
    runtimes : DataFrame
        Columns ``team`` and ``runtime`` (seconds); ``submission`` if runtimes are per file; ``submitted_at``
        if ties are to be broken by it.
    cache : folder for what was scored, or None
    jobs : number of processes; -1 for one per core
    resamples : number of bootstrap draws; 0 for no intervals
    prizes : number of places for which to give the probability
    seed : of the bootstrap

    Raises
    ------
    HostError
        Solution, metric, parameters or runtimes are wrong, or no submission could be scored.
    """
    _, prepared = _prepared(job)  # a wrong solution is reported before any work begins
    parts = list(prepared.solutions)
    deciding = scoring.PARTS[1] if scoring.PARTS[1] in parts else scoring.ALL
    runtimes = _checked_runtimes(runtimes, submissions)

    score = functools.partial(_score, job, deciding)
    results = dict(zip(submissions, _all(score, submissions, cache, job.key, jobs, "scoring")))
    rejected = pd.DataFrame(
        [(s.team, s.name, result["rejected"]) for s, result in results.items() if "rejected" in result],
        columns=["team", "submission", "reason"],
    )
    board = _board(results, runtimes, deciding)
    if board.empty:
        raise HostError(f"none of {len(submissions):,} submissions could be scored; {_first_reason(rejected)}")
    try:
        leaderboard = boost.boost(board)
    except boost.LeaderboardError as problem:
        raise HostError(str(problem)) from None
    best = {s.team: s for s in results if (s.team, s.name) in set(zip(board["team"], board["submission"]))}
    order = [best[team] for team in leaderboard["team"]]

    intervals = neighbours = None
    if resamples and all(results[submission]["resamples"] for submission in order):
        resample = functools.partial(_resample, job, deciding, resamples, seed)
        key = _hash(job.key, deciding, str(resamples), str(seed))
        scores = np.array(_all(resample, order, cache, key, jobs, "resampling"), dtype=np.float64).T
        intervals, neighbours = _uncertainty(leaderboard, scores, prizes)
    return Ranking(
        _ordered_columns(leaderboard),
        rejected,
        _subpopulations(order, results),
        intervals,
        neighbours,
        _run(job, results, rejected, leaderboard, deciding, resamples, seed),
    )


def write(ranking: Ranking, folder: Path) -> None:
    """Save the tables as CSV and the run as JSON, each file complete or not at all."""
    tables = {
        LEADERBOARD: ranking.leaderboard,
        REJECTED: ranking.rejected,
        SUBPOPULATIONS: ranking.subpopulations,
        INTERVALS: ranking.intervals,
        NEIGHBOURS: ranking.neighbours,
    }
    for name, table in tables.items():
        if table is None:
            (folder / name).unlink(missing_ok=True)  # of an earlier run with other options
        else:
            write_atomically(folder / name, functools.partial(table.to_csv, index=False, lineterminator="\n"))
    text = json.dumps(ranking.run, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / RUN, lambda path: path.write_text(text, encoding="utf-8"))


# ---------------------------------------------------------------------------------------------
# Finding files
# ---------------------------------------------------------------------------------------------


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _team_of(name: str) -> str:
    return Path(name.removesuffix(".gz")).stem


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _hash_of_file(path: Path) -> str | None:
    """Of a file's content; None for what cannot be read, which is reported where it is used."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _cached(cache: Path | None, key: str, path: Path) -> Path | None:
    """Where the result for a file is kept, if it is."""
    content = None if cache is None else _hash_of_file(path)
    return None if cache is None or content is None else cache / f"{_hash(key, content)}.json"


def _known(file: Path | None) -> Any:
    """A result from before, or None; what is not whole does not count."""
    try:
        return None if file is None else json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


# ---------------------------------------------------------------------------------------------
# Scoring, in this or another process
# ---------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=2)
def _prepared(job: Job) -> tuple[metric_file.Metric, scoring.Prepared]:
    """The metric and the prepared solution, once per process."""
    metric = metric_file.load(job.metric)
    parameters = dict(job.parameters)
    solution = scoring.read_solution(metric, job.solution, parameters)
    return metric, scoring.prepare(metric, solution, parameters)


def _evaluate(job: Job, submission: Submission) -> scoring.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the main process has shown what there is to warn of
        metric, prepared = _prepared(job)
        frame = scoring.read_submission(metric, submission.path, dict(job.parameters))
        return scoring.evaluate(prepared, frame)


def _score(job: Job, deciding: str, submission: Submission) -> dict[str, Any]:
    """Score one submission; a fault of it is a result, not an error."""
    try:
        result = _evaluate(job, submission)
    except ToolError as problem:
        # The result is kept for any file of this content, wherever it is.
        return {"rejected": str(problem).replace(str(submission.path), "the file")}
    if not all(map(math.isfinite, result.scores.values())):
        return {"rejected": f"the score is not a finite number: {result.scores}"}
    evaluation = result.evaluations.get(deciding)
    table = getattr(evaluation, "subpopulations", None)
    return {
        "scores": {part: float(score) for part, score in result.scores.items()},
        "signature": getattr(evaluation, "signature", None),
        "resamples": hasattr(evaluation, "resample"),
        "subpopulations": None
        if table is None
        else [[f"{row.attribute} = {row.value}", row.score] for row in table.itertuples()],
    }


def _resample(job: Job, deciding: str, resamples: int, seed: int, submission: Submission) -> list[float]:
    """The deciding score on every bootstrap draw."""
    evaluation = _evaluate(job, submission).evaluations[deciding]
    samples = bootstrap.measures(evaluation, _weights(len(evaluation.items), resamples, seed))
    scores: list[float] = samples[:, 0].tolist()
    return scores


_weights = functools.lru_cache(maxsize=1)(bootstrap.draw)


def _all(
    work: Callable[[Submission], Any],
    submissions: list[Submission],
    cache: Path | None,
    key: str,
    jobs: int,
    title: str,
) -> list[Any]:
    """The work's results for all submissions, in their order; known ones from the cache."""
    files = [_cached(cache, key, submission.path) for submission in submissions]
    results = {number: known for number, file in enumerate(files) if (known := _known(file)) is not None}
    todo = [number for number in range(len(submissions)) if number not in results]
    if results:
        print(f"{title}: {len(results):,} of {len(submissions):,} known from before", file=sys.stderr)
    if todo:
        tasks = (joblib.delayed(_numbered)(work, number, submissions[number]) for number in todo)
        answers = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
        for number, result in track(answers, title, len(todo)):
            results[number] = result
            file = files[number]
            if file is not None:
                text = json.dumps(result)
                write_atomically(file, functools.partial(Path.write_text, data=text, encoding="utf-8"))
    return [results[number] for number in range(len(submissions))]


def _numbered(work: Callable[[Submission], Any], number: int, submission: Submission) -> tuple[int, Any]:
    return number, work(submission)


# ---------------------------------------------------------------------------------------------
# The board
# ---------------------------------------------------------------------------------------------


def _checked_runtimes(runtimes: pd.DataFrame, submissions: list[Submission]) -> pd.DataFrame:
    """The runtimes' known columns, after everything that can be wrong with them is reported."""
    for column in ("team", "runtime"):
        if column not in runtimes:
            raise HostError(f"the runtimes lack the column {column}; they have {', '.join(runtimes.columns)}")
    runtimes = runtimes[[name for name in RUNTIME_COLUMNS if name in runtimes]]
    keys = [name for name in ("team", "submission") if name in runtimes]
    for key in keys:
        if runtimes[key].isna().any():
            row = int(runtimes[key].isna().to_numpy().argmax())
            raise HostError(f"the runtimes have no {key} in row number {row + 1}")
    names = ["/".join(values) for values in zip(*(runtimes[key] for key in keys))]
    repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    if repeated:
        raise HostError(f"the runtimes have several rows for {shortened(sorted(repeated))}")
    try:
        boost.boost(runtimes.assign(team=names, score=1.0))
    except boost.LeaderboardError as problem:
        raise HostError(str(problem).replace("the leaderboard", "the runtimes")) from None
    unknown = sorted(set(names) - {"/".join((s.team, s.name)[: len(keys)]) for s in submissions})
    if unknown:
        warnings.warn(f"runtimes without a submission: {shortened(unknown)}", stacklevel=2)
    return runtimes


def shortened(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _board(results: dict[Submission, dict[str, Any]], runtimes: pd.DataFrame, deciding: str) -> pd.DataFrame:
    """Each team's best submission with its runtime, ready for `boost`."""
    rows = [
        {
            "team": s.team,
            "submission": s.name,
            "score": result["scores"][deciding],
            **{
                f"{part.lower()}_score": score
                for part, score in result["scores"].items()
                if part != scoring.ALL
            },
        }
        for s, result in results.items()
        if "scores" in result
    ]
    board = pd.DataFrame(rows, columns=None if rows else ["team", "submission", "score"])
    keys = [name for name in ("team", "submission") if name in runtimes]
    board = board.merge(runtimes, on=keys, how="left")
    # Of a team's equal scores the earlier submission counts, then the faster, then the name.
    order = pd.DataFrame({"score": -board["score"], "name": board["submission"]})
    order.insert(1, "runtime", pd.to_numeric(board["runtime"], errors="coerce"))
    order.insert(1, "time", _times(board))
    board = board.loc[order.sort_values(["score", "time", "runtime", "name"]).index]
    return board.drop_duplicates("team").sort_values("team").reset_index(drop=True)


def _times(board: pd.DataFrame) -> "pd.Series[Any]":
    """Times of submission; missing ones are NaT, which sorts last."""
    if "submitted_at" not in board:
        return pd.Series(pd.NaT, index=board.index)
    return pd.to_datetime(board["submitted_at"], utc=True, format="ISO8601", errors="coerce")


def _first_reason(rejected: pd.DataFrame) -> str:
    first = rejected.iloc[0]
    return f"the first, {first['submission']}: {first['reason']}"


def _ordered_columns(leaderboard: pd.DataFrame) -> pd.DataFrame:
    first = [
        "rank", "team", "submission", "score", "runtime", "eligible", "slowdown", "boost", "boosted_score",
        "rank_before",
    ]  # fmt: skip
    return leaderboard[first + [name for name in leaderboard if name not in first]]


def _subpopulations(order: list[Submission], results: dict[Submission, dict[str, Any]]) -> pd.DataFrame | None:
    """Scores of the sub-populations, one row per team in the order of the board."""
    tables = [results[submission]["subpopulations"] for submission in order]
    if any(table is None for table in tables):
        return None
    return pd.DataFrame([{"team": s.team, **dict(table)} for s, table in zip(order, tables)])


def _uncertainty(leaderboard: pd.DataFrame, scores: Floats, prizes: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Intervals of scores and ranks, and of the differences between neighbours.

    Parameters
    ----------
    leaderboard : DataFrame, (teams,) rows, sorted by rank
    scores : (resamples, teams) float
        On each draw the whole pipeline runs again: eligibility, boost, rank.
    prizes : number of places
    """
    boosted = scores * (1 + boost.boost_fractions(scores, leaderboard["runtime"].to_numpy())[2])
    ranks = _ranks(leaderboard, boosted)
    intervals = leaderboard[["rank", "team", "score", "boosted_score"]].copy()
    for name, samples in (("score", scores), ("boosted_score", boosted), ("rank", ranks)):
        intervals[f"{name}_low"], intervals[f"{name}_high"] = bootstrap.interval(samples)
    for name, whole in (("rank_low", np.floor), ("rank_high", np.ceil)):
        intervals[name] = whole(intervals[name]).astype(int)
    for place in range(1, prizes + 1):
        intervals[f"prize_{place}"] = (ranks == place).mean(axis=0)

    difference = boosted[:, :-1] - boosted[:, 1:]
    low, high = bootstrap.interval(difference)
    neighbours = pd.DataFrame(
        {
            "rank": leaderboard["rank"][:-1],
            "team": leaderboard["team"][:-1],
            "next_team": leaderboard["team"][1:].to_numpy(),
            "difference": -np.diff(leaderboard["boosted_score"]),
            "low": low,
            "high": high,
            "probability_ahead": (ranks[:, :-1] < ranks[:, 1:]).mean(axis=0),
        }
    )
    return intervals, neighbours


def _ranks(leaderboard: pd.DataFrame, boosted: Floats) -> npt.NDArray[np.int64]:
    """Ranks on each draw, (resamples, teams), with the ties of `boost`: earlier, then faster, then the name."""
    ties = pd.DataFrame(
        {"time": _times(leaderboard), "runtime": leaderboard["runtime"], "team": leaderboard["team"]}
    )
    order = ties.reset_index(drop=True).sort_values(["time", "runtime", "team"]).index.to_numpy()
    sorted_teams = order[np.argsort(-boosted[:, order], axis=1, kind="stable")]
    ranks = np.empty(boosted.shape, dtype=np.int64)
    np.put_along_axis(ranks, sorted_teams, np.arange(1, len(order) + 1)[np.newaxis, :], axis=1)
    return ranks


def _run(
    job: Job,
    results: dict[Submission, dict[str, Any]],
    rejected: pd.DataFrame,
    leaderboard: pd.DataFrame,
    deciding: str,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """What produced the ranking, to publish with it."""
    signatures = {result["signature"] for result in results.values() if "signature" in result}
    return {
        "signature": next(iter(signatures)),
        "decided_by": deciding,
        "parameters": {name: str(value) for name, value in job.parameters},
        "resamples": resamples,
        "seed": seed,
        "versions": {
            "boost": boost.__version__,
            "python": platform.python_version(),
            "pandas": pd.__version__,
            "numpy": np.__version__,
        },
        "sha256": {"metric": _hash_of_file(job.metric), "solution": _hash_of_file(job.solution)}
        | {f"{s.team}/{s.name}": _hash_of_file(s.path) for s in results},
        "counts": {
            "submissions": len(results),
            "rejected": len(rejected),
            "teams": len(leaderboard),
            "teams_without_score": len({s.team for s in results} - set(leaderboard["team"])),
            "eligible": int(leaderboard["eligible"].sum()),
        },
    }
