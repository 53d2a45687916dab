"""The final ranking: which submission of each team counts, what speed is worth, the order, how sure it is."""

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
from podium.ranking.submissions import Submission, errors_of_boost
from podium.ranking.uncertainty import Uncertainty
from podium.ranking.work import Job, Scored, Workers

__all__ = ["RUN", "STORE", "TABLES", "Ranking", "Request", "Run", "digests", "files", "rank", "write"]

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
FIRST_COLUMNS = [
    "rank", "team", "submission", "score", "runtime", "eligible", "slowdown", "boost", "boosted_score",
    "rank_before",
]  # fmt: skip
PUBLIC = scoring.PARTS[0]
MOST_TEAMS = 5000  # get intervals: draws of more would not fit the memory

Floats = npt.NDArray[np.float64]


class Ranking(NamedTuple):
    """The result of `rank`: tables, a row per team in the order of the board unless said otherwise."""

    leaderboard: pd.DataFrame
    submissions: pd.DataFrame  # a row per file: hash, scores, whether it was chosen and why
    rejected: pd.DataFrame  # a row per rejected file, with the reason
    facts: dict[str, Any]  # signature, rule, counts
    similar: pd.DataFrame  # pairs of teams with the same file, or that agree where few do
    subpopulations: pd.DataFrame | None = None  # None where the metric has none
    intervals: pd.DataFrame | None = None  # None without resamples, and so are
    neighbours: pd.DataFrame | None = None  # the pairs of neighbours
    variants: pd.DataFrame | None = None  # see `robustness.of_board`; None without statistics
    variant_ranks: pd.DataFrame | None = None
    path: pd.DataFrame | None = None  # what each of the memo's steps does; None unless asked for
    uncertainty: Uncertainty | None = None


class Request(NamedTuple):
    """What is ranked: paths or URLs, a metric's name or path and its keyword arguments."""

    metric: str
    solution: str
    submissions: str
    runtimes: str | None = None
    selection: str | None = None
    parameters: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class Run(NamedTuple):
    """A finished run."""

    request: Request
    rules: Rules
    ranking: Ranking
    facts: dict[str, Any]


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
    """Choose each team's submission, boost, rank, and say how sure that is, from the store in a folder."""
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
            stored = [scored[number].entry for number in order[:MOST_TEAMS]]
            p = uncertainty.p_values(job, solution.deciding, rules, stored, folder, place)
            prepared = solution.prepared[solution.deciding]
            more["intervals"], more["neighbours"] = uncertainty.tables(
                most, sure, of_most, p, prepared, rules.prizes, higher_is_better
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
    leaderboard = leaderboard[FIRST_COLUMNS + [name for name in leaderboard if name not in FIRST_COLUMNS]]
    return Ranking(leaderboard, files, rejected, facts, similar, **more)


def _under_other_statistics(
    job: Job, submissions: Sequence[Submission], order: Sequence[int], place: Workers
) -> dict[str, Floats]:
    """Scores of the chosen files by what else could be counted."""
    deciding = work.prepared(job).deciding
    vary = functools.partial(robustness.of_statistics, job, deciding)
    scores = work.once_more(place, vary, {number: submissions[number] for number in order})
    return {name: np.array([scores[number][name] for number in order]) for name in scores[order[0]]}


def _same_files(files: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for _, same in files.groupby("sha256", sort=False)["team"]:
        teams = sorted(set(same))
        rows += [(teams[0], team, 1.0) for team in teams[1:]]
    return pd.DataFrame(rows, columns=["team", "other_team", "agreement"])


def files(ranking: Ranking) -> dict[str, bytes]:
    """The tables as CSV."""
    return {
        file: table.to_csv(index=False, lineterminator="\n").encode()
        for name, file in TABLES.items()
        if (table := getattr(ranking, name)) is not None
    }


def digests(files: dict[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def write(files: dict[str, bytes], folder: Path, run: dict[str, Any]) -> None:
    """Save the tables and the run, each file complete or not at all."""
    for name in TABLES.values():
        if name in files:
            write_atomically(folder / name, functools.partial(Path.write_bytes, data=files[name]))
        else:
            (folder / name).unlink(missing_ok=True)  # of an earlier run with other options
    text = json.dumps(run, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / RUN, lambda path: path.write_text(text, encoding="utf-8"))


# ---- Which submission counts ---------------------------------------------------------------------------


def _column(part: str) -> str:
    return "score" if part == scoring.ALL else f"{part.lower()}_score"


def _files(submissions: Sequence[Submission], scored: Sequence[Scored]) -> pd.DataFrame:
    """A row per file."""
    table: dict[str, Any] = {
        "team": [each.team for each in submissions],
        "submission": [each.name for each in submissions],
        "sha256": [each.digest for each in scored],
    }
    for column, texts in {
        "side_sha256": [each.side_digest for each in scored],
        "submitted_at": [each.submitted_at for each in submissions],
        "given_public_score": [each.public_score for each in submissions],
    }.items():
        if any(texts):
            table[column] = [text or None for text in texts]
    for part in next((each.scores for each in scored if each.scores is not None), {}):
        table[_column(part)] = [math.nan if each.scores is None else each.scores[part] for each in scored]
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
    public = _column(PUBLIC) if PUBLIC in solution.rows else "given_public_score"
    rule = rules.choose or ("public:2" if public in files else "private")
    files = files.assign(chosen=False, why="rejected")
    scored = files[files["rejected"].isna()]
    if scored.empty:
        return files, rule
    ties = _with_runtimes(scored, runtimes)
    with errors_of_boost() as boost:
        times = {"team": range(len(ties)), "score": None, "submitted_at": ties.get("submitted_at")}
        when = boost.parse(pd.DataFrame(times)).submitted_at
    order = scored[["team", "submission"]].assign(
        time=when, runtime=pd.to_numeric(ties["runtime"], errors="coerce")
    )

    def best(left: "pd.Index[int]", column: str, number: int) -> "pd.Index[int]":
        """Of the files that are left each team's best ones."""
        score = pd.to_numeric(scored[column], errors="coerce") * (-1 if higher_is_better else 1)
        ranked = order.assign(score=score).loc[left]
        ranked = ranked.sort_values(["team", "score", "time", "runtime", "submission"])
        return ranked.index[ranked.groupby("team").cumcount() < number]

    by = "score" if solution.deciding == scoring.ALL else f"{solution.deciding} score"
    left, words = scored.index, f"of each team's files the best by {by}"
    if rule != "private":
        if public not in files:
            raise HostError(f"--choose {rule}: the solution has no Public part, and no public_score is given")
        number = int(rule.removeprefix("public:"))
        left = best(left, public, number)
        words = f"of each team's {number} best files by Public score, the better by {by}"
    files.loc[scored.index, "why"] = "not among the best by Public score"
    if selection is not None:
        named = scored["team"].isin(selection["team"]).to_numpy()
        wanted = pd.MultiIndex.from_frame(selection)
        is_selected = pd.MultiIndex.from_frame(scored[["team", "submission"]]).isin(wanted)
        files.loc[scored.index[named], "why"] = "not selected"
        left = scored.index[np.where(named, is_selected, scored.index.isin(left))]
        words = f"of teams that selected files, the better by {by}; else {words}"
    files.loc[left, "why"] = f"another one is better by {by}"
    files.loc[best(left, _column(solution.deciding), 1), ["chosen", "why"]] = True, f"best by {by}"
    return files, words


# ---- The board -----------------------------------------------------------------------------------------


def _with_runtimes(files: pd.DataFrame, runtimes: pd.DataFrame | None) -> pd.DataFrame:
    """The files with runtime and submitted_at, unless they know that themselves."""
    if runtimes is None:
        return files.assign(runtime=None)
    keys = [name for name in ("team", "submission") if name in runtimes]
    known = runtimes[[name for name in (*keys, "runtime", "submitted_at") if name in runtimes]]
    both = files.merge(known, on=keys, how="left", suffixes=("", "_of_runtimes"))
    if "submitted_at_of_runtimes" in both:
        both["submitted_at"] = both["submitted_at"].combine_first(both.pop("submitted_at_of_runtimes"))
    return both.set_index(files.index)


def _boosted(board: pd.DataFrame, rules: Rules, higher_is_better: bool) -> pd.DataFrame:
    board = board.drop(
        columns=["sha256", "side_sha256", "rejected", "chosen", "why", "given_public_score"], errors="ignore"
    )
    if "private_score" in board:
        board = board.drop(columns="score").assign(score=board["private_score"])
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
    ranked: pd.DataFrame
    with errors_of_boost() as boost:
        if rewarded:
            ranked = boost.boost(board, **rules.of_boost)
            return ranked
        ranked = boost.boost(board.drop(columns="runtime"), higher_is_better=higher_is_better)
    seconds = dict(zip(board["team"], pd.to_numeric(board["runtime"], errors="coerce")))
    return ranked.assign(runtime=ranked["team"].map(seconds), note="")


def _subpopulations(
    teams: "pd.Series[str]", measures: Floats, solution: scoring.Solution
) -> pd.DataFrame | None:
    prepared = solution.prepared[solution.deciding]
    names = prepared.measure_names
    groups = [f"{attribute} = {value}" for attribute, value in prepared.labels]
    scores = {name: measures[:, names.index(name)] for name in groups if name in names}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None
