"""The steps of a final ranking, after the submissions were read and scored: choose, reward, examine.

    files = choice.choose(…)                 which file of each team counts
    leaderboard = rewards.reward(…)          what speed is worth, and the ranks
    examined = examining.by_statistics(…)    what the files that count say beyond the ranks
    chance = uncertainty.of_teams(…)         how certain the order is

Each step is a function of tables. `board_of` calls one after the other, and makes the board at the end.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.errors import HostError
from podium.common.options import as_option
from podium.common.statements import Statement
from podium.common.wording import counted
from podium.contest import reading
from podium.metric import hosted
from podium.ranking import (
    basis,
    choice,
    examining,
    half_samples,
    jury,
    leaving_out,
    review,
    robustness,
    similarity,
    site,
    speed,
    uncertainty,
)
from podium.ranking.cautions import better_groups_that_lower, cautions
from podium.ranking.examining import Examined, How
from podium.ranking.final import FinalBoard
from podium.ranking.jury import Prizes
from podium.ranking.passes import Scored
from podium.ranking.questions import Pool
from podium.ranking.rewards import is_boosted, reward
from podium.ranking.rules import Options, Rules
from podium.ranking.site import SiteBoard
from podium.ranking.submissions import NOTHING_FAILED, Submission
from podium.ranking.uncertainty import Certainty
from podium.scoring.evaluating import Solution
from podium.statistics import group_slopes
from podium.statistics.population import names_of_groups, sizes_of_groups


class Inputs(NamedTuple):
    """The files and tables from which a board is made, read and checked."""

    submissions: list[Submission]
    failed: pd.DataFrame = NOTHING_FAILED  # the models that failed
    teams: pd.DataFrame = jury.NOTHING_DECIDED  # what a jury decided about teams
    runtimes: pd.DataFrame | None = None
    site_board: SiteBoard | None = None  # the board that the competition's site shows
    manifest: str | None = None  # the SHA-256 of the manifest, if there is one
    left_out: pd.DataFrame = leaving_out.NOTHING  # the items that count for nobody


def board_of(
    options: Options, inputs: Inputs, pool: Pool, scored: Sequence[Scored], folder: Path
) -> FinalBoard:
    """Choose a submission for each team, reward speed, rank the teams, and see how certain the order is."""
    everybody, rule, found = _everybody(inputs, options, pool.solution, scored)
    files = jury.competing(everybody, inputs.teams)
    leaderboard, decided, prizes = _ranked(options, inputs, pool.solution, files)
    baselines = _baselines(options, inputs, pool.solution, everybody)
    site_table, of_site = _of_site(inputs, pool.solution, leaderboard, baselines)
    sent, chosen = _that_count(files, leaderboard["team"], inputs.submissions, scored)
    teams_aside, of_aside = _that_do_not_compete(files, everybody, scored)
    examined = _examined(options, pool, sent, chosen, of_aside, prizes)
    chance = _of_chance(examined, leaderboard, inputs.runtimes, options, pool.solution, prizes)
    variants = _under_other_decisions(options, pool, examined, sent, leaderboard)
    entries = similarity.entries(leaderboard, files)
    agreeing = _agreeing(pool, leaderboard, examined, teams_aside, of_aside)
    found += cautions(leaderboard, files, prizes, entries, chance, decided, agreeing)
    found += _of_winners(inputs, examined, leaderboard, prizes, entries, pool.solution.higher_is_better)
    # If the solution or the direction may be wrong, the whole board is.
    of_solution, constant = review.of_solution(inputs.submissions, scored, leaderboard, pool)
    found = [*of_solution, *_with_those_of_speed(found, options, inputs, leaderboard, prizes)]
    shown = files.assign(rejected=_reasons(files)).drop(columns="failed")
    facts = {"rule": rule, "silence": examined.silence, "ties": decided if any(decided) else []}
    return FinalBoard(
        options=options,
        folder=folder,
        leaderboard=leaderboard.assign(**examining.measures_beside(examined)),
        submissions=shown,
        failed=inputs.failed,
        similar=similarity.pairs(files, agreeing),
        facts=facts | of_site | _facts(options, inputs, pool.solution, leaderboard, shown, found, constant),
        prizes=prizes,
        baselines=baselines,
        entries=entries,
        resamples=examined.resamples,
        chance=chance,
        site=site_table,
        **review.of_items(pool, leaderboard, chosen, entries, agreeing),
        mistakes=_mistakes(inputs.submissions, scored),
        **_of_groups(leaderboard["team"], examined),
        **variants,
    )


# ---- Steps ----------------------------------------------------------------------------------------------


def _check_that_any_is_chosen(files: pd.DataFrame) -> None:
    """End the command if no file has a score."""
    if files["chosen"].any():
        return
    first = files[files["rejected"].notna()].iloc[0]  # others may have a score, but were not selected
    raise HostError(
        f"none of {counted(len(files), 'submission')} counts; the first that is rejected, "
        f"{first['submission']}: {first['rejected']}"
    )


def _everybody(
    inputs: Inputs, rules: Rules, solution: Solution, scored: Sequence[Scored]
) -> tuple[pd.DataFrame, str, list[Statement]]:
    """Choose the file of each team that counts, also of teams that do not compete; name the rule."""
    runtimes = inputs.runtimes
    files, found = jury.late(choice.table_of_files(inputs.submissions, scored), runtimes, rules.deadline)
    is_selected = np.array([bool(each.selected) and not rules.choose for each in inputs.submissions])
    chosen, rule = choice.choose(files, is_selected, runtimes, rules, solution)
    _check_that_any_is_chosen(chosen)
    lost = {*files["team"][is_selected]} & {*chosen["team"][chosen["why"] == choice.NOT_SELECTED]}
    if teams := sorted(lost - {*chosen["team"][chosen["chosen"]]}):
        found.append(Statement("selected_without_score", teams=teams))
    return chosen, rule, found


def _that_do_not_compete(
    files: pd.DataFrame, everybody: pd.DataFrame, scored: Sequence[Scored]
) -> tuple["pd.Series[str]", list[Scored]]:
    """The teams that do not compete, with the files that would count otherwise."""
    aside = files[everybody["chosen"] & ~files["chosen"]]
    return aside["team"], [scored[number] for number in aside.index]


def _that_count(
    files: pd.DataFrame, teams: "pd.Series[str]", submissions: Sequence[Submission], scored: Sequence[Scored]
) -> tuple[list[Submission], list[Scored]]:
    """The files that count and what became of them, in the order of the board."""
    counts = files[files["chosen"]]
    number_of = dict(zip(counts["team"], counts.index))
    numbers = [number_of[team] for team in teams]
    sent = [submissions[number]._replace(digests=scored[number].digests) for number in numbers]
    return sent, [scored[number] for number in numbers]


def _ranked(
    options: Options, inputs: Inputs, solution: Solution, files: pd.DataFrame
) -> tuple[pd.DataFrame, list[str], Prizes]:
    """Rank the teams that compete, and tell what decided between equal scores and who may win a prize."""
    if not files["chosen"].any():
        raise HostError(
            f"{as_option('teams', str(options.teams))}: expected a team that competes, found none with a score"
        )
    decides = choice.column_of(solution.deciding)
    leaderboard, decided = reward(files, inputs.runtimes, options, solution.higher_is_better, decides)
    prizes = jury.prizes_of(leaderboard, inputs.teams, options.prizes)
    return jury.with_notes(jury.with_prizes(leaderboard, prizes), inputs.teams), decided, prizes


def _baselines(rules: Rules, inputs: Inputs, solution: Solution, everybody: pd.DataFrame) -> pd.DataFrame:
    """Rank the baselines among the files of all teams, by score alone."""
    files = everybody[everybody["chosen"] & everybody["team"].isin(jury.baselines_in(inputs.teams))]
    if files.empty:
        return pd.DataFrame()
    how = solution.higher_is_better, choice.column_of(solution.deciding)
    baselines, _ = reward(files, inputs.runtimes, replace(rules, boost=False), *how)
    return jury.with_notes(baselines.assign(note=""), inputs.teams)


def _of_site(
    inputs: Inputs, solution: Solution, leaderboard: pd.DataFrame, baselines: pd.DataFrame
) -> tuple[pd.DataFrame | None, dict[str, Any]]:
    """Compare the board with the one that the competition's site shows, if that was given."""
    if inputs.site_board is None:
        return None, {}
    ours = site.of_board(leaderboard, baselines)
    table, facts = site.compare(inputs.site_board, ours, solution.higher_is_better)
    return table, {"site": facts}


def _examined(
    options: Options,
    pool: Pool,
    sent: Sequence[Submission],
    chosen: Sequence[Scored],
    of_aside: Sequence[Scored],
    prizes: Prizes,
) -> Examined:
    """Examine the files that count, in the order of the board; those `of_aside` are compared with them."""
    how = How(pool.solution.deciding, options.resamples, options.seed, options.items)
    if all(each.has_statistics for each in (*chosen, *of_aside)):
        return examining.by_statistics(pool, how, sent, chosen)
    return half_samples.of_board(pool, how, options.is_fixed, sent, chosen, prizes)


def _of_chance(
    examined: Examined,
    leaderboard: pd.DataFrame,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    solution: Solution,
    prizes: Prizes,
) -> Certainty | None:
    """Find out how certain the board is, from draws of its first teams."""
    if not examined.resamples or not examined.details:
        return None
    first, details = leaderboard.head(examining.MOST_TEAMS), examined.details[: examining.MOST_TEAMS]
    better = solution.higher_is_better
    return uncertainty.of_teams(first, details, runtimes, rules, examined.units, better, prizes)


def _under_other_decisions(
    rules: Rules, pool: Pool, examined: Examined, sent: Sequence[Submission], leaderboard: pd.DataFrame
) -> dict[str, Any]:
    """Rank the files that count under other decisions about the metric and the rewards."""
    scores = examining.under_other_measures(examined)
    if rules.variants and examined.prepared is not None:
        scores |= examining.under_other_statistics(pool, sent, leaderboard)
    table, ranks = robustness.of_board(leaderboard, scores, rules, pool.solution.higher_is_better)
    return {"variants": table, "variant_ranks": ranks}


def _of_groups(teams: "pd.Series[str]", examined: Examined) -> dict[str, Any]:
    """Collect the scores in each sub-population and its number of items, if the metric has any."""
    if examined.prepared is None:
        return {}
    return {
        "groups": examining.subpopulations(teams, examined),
        "group_sizes": sizes_of_groups(examined.prepared),
    }


def _agreeing(
    pool: Pool,
    leaderboard: pd.DataFrame,
    examined: Examined,
    teams_aside: "pd.Series[str]",
    of_aside: Sequence[Scored],
) -> pd.DataFrame:
    """List the pairs of teams whose chosen files agree more than by chance, also teams that do not compete."""
    most = examining.MOST_TEAMS
    details, teams = examined.details[:most], leaderboard["team"].head(most).tolist()
    if details and examined.prepared is not None:  # else there is nothing to compare those aside by
        undrawn = functools.partial(examining.detail, How(pool.solution.deciding), None)
        details = [*details, *pool.ask(undrawn, [each.entry for each in of_aside[:most]], "comparing teams")]
        teams += teams_aside.head(most).tolist()
    return similarity.agreements(teams, [each.fingerprint for each in details])


def _reasons(files: pd.DataFrame) -> "pd.Series[Any]":
    """Say why files have no score."""
    failed = files["failed"].map(lambda error: f"{choice.METRIC_FAILED}: {error}", na_action="ignore")
    reasons = files["rejected"].combine_first(failed).astype(object)
    return reasons.where(reasons.notna(), None)


def _of_winners(
    inputs: Inputs,
    examined: Examined,
    leaderboard: pd.DataFrame,
    prizes: Prizes,
    entries: Sequence[int],
    higher_is_better: bool,
) -> list[Statement]:
    """List what a reader must know about how prize winners score in groups, and where a runtime decides."""
    found = []
    if higher_is_better:
        winners = list(prizes.winners)
        slopes = _slopes(examined, winners)
        found += better_groups_that_lower(leaderboard.iloc[winners], slopes, [entries[row] for row in winners])
    noise = speed.noise_of(leaderboard, inputs.runtimes)
    return [*found, *speed.ties(leaderboard, noise, entries, prizes.borders)]


def _with_those_of_speed(
    found: list[Statement], rules: Rules, inputs: Inputs, leaderboard: pd.DataFrame, prizes: Prizes
) -> list[Statement]:
    """Add what is wrong with runtimes; it comes first if speed has moved a prize."""
    if not is_boosted(leaderboard, rules):
        return found
    of_speed = speed.notices(leaderboard, inputs.runtimes)
    is_first = speed.moves_prizes(leaderboard, prizes.may_win, prizes.number)
    return [*of_speed, *found] if is_first else [*found, *of_speed]


def _facts(
    options: Options,
    inputs: Inputs,
    solution: Solution,
    leaderboard: pd.DataFrame,
    files: pd.DataFrame,
    found: Sequence[Statement],
    constant: float | None,
) -> dict[str, Any]:
    """Collect the facts about a board that run.json publishes and sentences are made of."""
    boosted = is_boosted(leaderboard, options)
    return {
        "constant": constant,
        "signature": solution.signature,
        "purpose": hosted.purpose(solution.metric),
        "measured": basis.measured(leaderboard, inputs.runtimes),
        "decided_by": options.part or solution.deciding,
        **_items(solution, options.items),
        "higher_is_better": solution.higher_is_better,
        "higher_is_better_assumed": solution.metric.direction is None,
        "boosted": boosted,
        "noise_known": not boosted or speed.noise_of(leaderboard, inputs.runtimes).is_known,
        "counts": _counts(leaderboard, files, inputs.failed),
        "warnings": [*map(str, found)],
        **({} if inputs.teams.empty else {"decisions": inputs.teams.to_dict("records")}),
        **{name: read for name, read in solution.frame.attrs.items() if name == reading.READ},
        **({"left_out": inputs.left_out.to_dict("records")} if len(inputs.left_out) else {}),
    }


def _mistakes(submissions: Sequence[Submission], scored: Sequence[Scored]) -> dict[tuple[str, str], list[str]]:
    """What the companion takes for mistakes in files, by their teams and names."""
    return {
        file[:2]: [sentence for _, sentence in each.mistakes]
        for file, each in zip(submissions, scored)
        if each.mistakes
    }


def _items(solution: Solution, column: str) -> dict[str, Any]:
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
        return {
            "items": number,
            "item": ("item" if "," in column else column.replace("_", " ")) or "row",
            "halves": prepared is None,
        }
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


def _slopes(examined: Examined, rows: Sequence[int]) -> list[dict[str, float]]:
    """Find out how fast the score of the files in some rows rises with the score of each group."""
    if (prepared := examined.prepared) is None:
        return []
    names, of_rows = names_of_groups(prepared), [examined.details[row].sums for row in rows]
    slopes = [None if sums is None else group_slopes(prepared, sums) for sums in of_rows]
    return [{} if each is None else dict(zip(names, each.tolist())) for each in slopes]
