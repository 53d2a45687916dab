"""The pipeline of a final ranking, after the submissions were read and scored: choose, reward, examine.

    files = choice.choose(…)                 which file of each team counts
    leaderboard = rewards.reward(…)          what speed is worth, and the ranks
    known = examining.by_statistics(…)       what the files that count say beyond the ranks
    chance = uncertainty.of_teams(…)         how certain the order is

Each step is a function of tables. `board_of` calls one after the other, and makes the board at the end.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.child.workers import Workers
from podium.contest import reading
from podium.metric.contract import Measured
from podium.ranking import (
    choice,
    decisions,
    examining,
    passes,
    robustness,
    similarity,
    site,
    speed,
    store,
    uncertainty,
)
from podium.ranking.cautions import better_groups_that_lower, cautions
from podium.ranking.decisions import Prizes
from podium.ranking.final import FinalBoard, Inputs
from podium.ranking.job import solution_of
from podium.ranking.passes import Scored
from podium.ranking.rewards import is_boosted, reward
from podium.scoring import evaluating
from podium.statistics import group_slopes, sums
from podium.statistics.population import names_of_groups
from podium.words.arrays import Bools, Floats
from podium.words.errors import HostError
from podium.words.wording import counted

__all__ = ["board_of"]


def board_of(inputs: Inputs, scored: Sequence[Scored], workers: Workers) -> FinalBoard:
    """Choose a submission for each team, reward speed, rank the teams, and see how certain the order is."""
    rules, solution = inputs.options.rules, solution_of(inputs.job)
    everybody, rule, told = _everybody(inputs, scored)
    files = decisions.competing(everybody, inputs.teams)
    leaderboard, decided, prizes = _ranked(inputs, files)
    baselines, of_jury = _of_jury(inputs, everybody, leaderboard)
    chosen = _in_order(scored, files[files["chosen"]], leaderboard["team"])
    others = {number: scored[number] for number in files.index[everybody["chosen"] & ~files["chosen"]].tolist()}
    examine = examining.by_statistics
    if not all(each.has_statistics for each in [*chosen.values(), *others.values()]):
        examine, others = examining.by_halves, {}  # there is nothing to compare them by
    known = examine(inputs, leaderboard, prizes, chosen, workers)
    variants, variant_ranks = robustness.of_board(leaderboard, known.scores, rules, solution.higher_is_better)
    site_table, of_site = _of_site(inputs, leaderboard, baselines)
    entries = similarity.entries(leaderboard, files)
    doubts = [] if known.chance is None else known.chance.doubts
    told += cautions(leaderboard, files, prizes, entries, doubts, decided)
    told += _of_winners(inputs, leaderboard, prizes, entries, list(chosen.values()))
    shown = files.assign(rejected=_reasons(files)).drop(columns="failed")
    return FinalBoard(
        inputs=inputs,
        leaderboard=leaderboard.assign(**known.measures),
        submissions=shown,
        rejected=_rejected(shown),
        failed=inputs.failed,
        similar=_similar(inputs, files, leaderboard, known.fingerprints, others, workers),
        facts=of_jury | of_site | _facts(inputs, leaderboard, shown, rule, known.silence, decided, told),
        prizes=prizes,
        baselines=baselines,
        entries=entries,
        resamples=known.resamples,
        chance=known.chance,
        site=site_table,
        groups=known.groups,
        group_sizes=known.group_sizes,
        variants=variants,
        variant_ranks=variant_ranks,
    )


# ---- Steps ----------------------------------------------------------------------------------------------

# A team's folder of documents may be meant as one submission.
ONE_TABLE = (
    ". Each file in a team's folder counts as a submission. If they are the documents of one submission, make "
    "one table of them: see “Files in and out” in the README.md of the metric"
)


def _check_that_any_is_chosen(files: pd.DataFrame) -> None:
    """End the command if no file has a score."""
    if files["chosen"].any():
        return
    first = files.iloc[0]
    is_document = first["submission"].removesuffix(".gz").endswith(".json")
    hint = ONE_TABLE if is_document and files["team"].duplicated().any() else ""
    raise HostError(
        f"none of {counted(len(files), 'submission')} could be scored; the first, {first['submission']}: "
        f"{first['rejected']}{hint}"
    )


def _everybody(inputs: Inputs, scored: Sequence[Scored]) -> tuple[pd.DataFrame, str, list[str]]:
    """Choose the file of each team that counts, also of those that do not compete; with the rule in words."""
    rules, runtimes = inputs.options.rules, inputs.runtimes
    files, told = decisions.late(choice.table_of_files(inputs.submissions, scored), runtimes, rules.deadline)
    chosen, rule = choice.choose(files, inputs.selection, runtimes, rules, solution_of(inputs.job))
    _check_that_any_is_chosen(chosen)
    return chosen, rule, told


def _in_order(scored: Sequence[Scored], files: pd.DataFrame, teams: "pd.Series[str]") -> dict[int, Scored]:
    """Put what became of the files that count in the order of the board, by their numbers."""
    number_of = dict(zip(files["team"], files.index))
    return {number: scored[number] for number in teams.map(number_of).tolist()}


def _ranked(inputs: Inputs, files: pd.DataFrame) -> tuple[pd.DataFrame, list[str], Prizes]:
    """Rank the teams that compete, and tell what decided between equal scores and who may win a prize."""
    options, solution, teams = inputs.options, solution_of(inputs.job), inputs.teams
    if not files["chosen"].any():
        raise HostError(f"--teams {options.teams}: expected a team that competes, found none with a score")
    decides = choice.column_of(solution.deciding)
    leaderboard, decided = reward(files, inputs.runtimes, options.rules, solution.higher_is_better, decides)
    prizes = decisions.prizes_of(leaderboard, teams, options.rules.prizes)
    return decisions.with_notes(decisions.with_prizes(leaderboard, prizes), teams), decided, prizes


def _of_jury(
    inputs: Inputs, everybody: pd.DataFrame, leaderboard: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rank the baselines, and find out what the jury's decisions changed, as facts.

    ``everybody`` has the files of all teams, also of those that do not compete.
    """
    rules, solution, teams = inputs.options.rules, solution_of(inputs.job), inputs.teams
    if teams.empty:
        return pd.DataFrame(), {}
    how = solution.higher_is_better, choice.column_of(solution.deciding)
    baselines = everybody[everybody["chosen"] & everybody["team"].isin(decisions.baselines_in(teams))]
    if len(baselines):
        by_score, _ = reward(baselines, inputs.runtimes, rules._replace(boost=False), *how)
        baselines = decisions.with_notes(by_score.assign(note=""), teams)
    facts = {"decisions": teams.to_dict("records")}
    try:
        without, _ = reward(everybody, inputs.runtimes, rules, *how)
    except HostError:  # such as a baseline with a negative score, which cannot be boosted
        return baselines, facts
    return baselines, facts | {"changes": decisions.changes(without, leaderboard, rules.prizes)}


def _of_site(
    inputs: Inputs, leaderboard: pd.DataFrame, baselines: pd.DataFrame
) -> tuple[pd.DataFrame | None, dict[str, Any]]:
    """Compare the board with the one that the competition's site shows, if that was given."""
    if inputs.site_board is None:
        return None, {}
    ours = site.of_board(leaderboard, baselines)
    table, facts = site.compare(inputs.site_board, ours, solution_of(inputs.job).higher_is_better)
    return table, {"site": facts}


def _similar(
    inputs: Inputs,
    files: pd.DataFrame,
    leaderboard: pd.DataFrame,
    fingerprints: Sequence[npt.NDArray[np.uint32]],
    others: dict[int, Scored],
    workers: Workers,
) -> pd.DataFrame:
    """List teams that sent the same file or agree more than by chance; ``others`` do not compete."""
    if not fingerprints:
        return similarity.pairs(files)
    most = {number: each.entry for number, each in itertools.islice(others.items(), examining.MOST_TEAMS)}
    undrawn = functools.partial(
        uncertainty.detail, inputs.job, solution_of(inputs.job).deciding, 0, 0, "", None
    )
    of_others = passes.from_store(workers, undrawn, most, inputs.store, "comparing teams")
    teams = [*leaderboard["team"].head(len(fingerprints)), *files.loc[list(of_others), "team"]]
    all_fingerprints = [*fingerprints, *(each.fingerprint for each in of_others.values())]
    return similarity.pairs(files, similarity.agreements(teams, all_fingerprints))


def _rejected(files: pd.DataFrame) -> pd.DataFrame:
    """List the files without a score, with the reasons."""
    rejected = files.loc[files["rejected"].notna(), ["team", "submission", "rejected"]]
    return rejected.reset_index(drop=True).rename(columns={"rejected": "reason"})


def _reasons(files: pd.DataFrame) -> "pd.Series[Any]":
    """Say why files have no score."""
    failed = files["failed"].map(lambda error: f"{choice.METRIC_FAILED}: {error}", na_action="ignore")
    reasons = files["rejected"].combine_first(failed).astype(object)
    return reasons.where(reasons.notna(), None)


def _of_winners(
    inputs: Inputs,
    leaderboard: pd.DataFrame,
    prizes: Prizes,
    entries: Sequence[int],
    in_order: Sequence[Scored],
) -> list[str]:
    """List what a reader must know about how prize winners score in groups, and about runtimes."""
    told = []
    if solution_of(inputs.job).higher_is_better:
        winners = list(prizes.winners)
        slopes = _slopes(inputs, [in_order[row] for row in winners])
        told += better_groups_that_lower(leaderboard.iloc[winners], slopes, [entries[row] for row in winners])
    noise = speed.noise_of(leaderboard, inputs.runtimes)
    told += speed.ties(leaderboard, noise, entries, prizes.borders)
    if is_boosted(leaderboard, inputs.options.rules):
        told += speed.notices(leaderboard, inputs.runtimes)
    return told


def _facts(
    inputs: Inputs,
    leaderboard: pd.DataFrame,
    files: pd.DataFrame,
    rule: str,
    silence: str,
    decided: list[str],
    told: list[str],
) -> dict[str, Any]:
    """Collect the facts about a board that run.json publishes and sentences are made of."""
    rules, solution = inputs.options.rules, solution_of(inputs.job)
    boosted = is_boosted(leaderboard, rules)
    return {
        "signature": solution.signature,
        "decided_by": inputs.options.part or solution.deciding,
        **_items(solution, rules.items),
        "higher_is_better": solution.higher_is_better,
        "higher_is_better_assumed": solution.metric.direction is None,
        "boosted": boosted,
        "noise_known": not boosted or speed.noise_of(leaderboard, inputs.runtimes).is_known,
        "rule": rule,
        "silence": silence,
        "counts": _counts(leaderboard, files, inputs.failed),
        "ties": decided if any(decided) else [],
        "warnings": told,
        **{name: read for name, read in solution.frame.attrs.items() if name == reading.READ},
    }


def _items(solution: evaluating.Solution, column: str) -> dict[str, Any]:
    """Find out how many items decide and what they are called."""
    prepared = solution.prepared.get(solution.deciding)
    identifiers = [
        str(value)
        for name, value in solution.arguments.items()
        if name.endswith("_id_column_name") and name != "row_id_column_name"
    ]
    noun = identifiers[0].removesuffix("_id").replace("_", " ") if identifiers else "item"
    if prepared is None or column:
        number = len(solution.items_of(solution.deciding, column).stratum)
        return {"items": number, "item": column.replace("_", " ") or "row", "halves": prepared is None}
    return {"items": len(prepared.items), "item": noun, "halves": False}


def _counts(leaderboard: pd.DataFrame, files: pd.DataFrame, failed: pd.DataFrame) -> dict[str, int]:
    """Count submissions, teams and models for the facts of a board."""
    teams, has_score = set(files["team"]), files["rejected"].isna()
    return {
        "submissions": len(files),
        "rejected": int((~has_score).sum()),
        "teams": len(leaderboard),
        "teams_without_score": len(teams - set(files.loc[has_score, "team"])),
        "eligible": int(leaderboard["eligible"].sum()),
        "failed": len(set(failed["team"]) - teams),
    }


def _slopes(inputs: Inputs, winners: Sequence[Scored]) -> list[dict[str, float]]:
    """Find out how fast the score of each of some files rises with the score of each group."""
    solution = solution_of(inputs.job)
    # Without prizes nobody wins, and of nobody everything is true: what the metric has is asked first.
    if solution.deciding not in solution.prepared or not all(each.has_statistics for each in winners):
        return []
    prepared, items = solution.prepared[solution.deciding], solution.items[solution.deciding]
    entries = [store.load(inputs.store, each.entry) for each in winners]
    return [_slopes_of(prepared, store.decode(entry), items) for entry in entries if entry is not None]


def _slopes_of(prepared: Measured, numbers: Floats | None, items: Bools) -> dict[str, float]:
    """Find out how fast a score rises with the score of each group, from the statistics of a file."""
    assert numbers is not None
    slopes = group_slopes(prepared, sums(numbers[items], prepared.groups))
    return {} if slopes is None else dict(zip(names_of_groups(prepared), slopes.tolist()))
