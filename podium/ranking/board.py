"""The pipeline of a final ranking, after the submissions were read and scored: choose, reward, resample.

    files = choice.choose(…)                 which file of each team counts
    leaderboard = rewards.reward(…)          what speed is worth, and the ranks
    final = _with_statistics(…)              what the statistics of the chosen files say beyond the ranks

Each step is a function of tables. `board_of` calls one after the other.
"""

import functools
import html
import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium import reading, scoring
from podium.arrays import Bools, Floats
from podium.contract import Grouped, Measured
from podium.errors import HostError
from podium.ranking import (
    choice,
    decisions,
    first_two,
    half_samples,
    passes,
    picture,
    robustness,
    sentences,
    similarity,
    site,
    speed,
    store,
    uncertainty,
)
from podium.ranking.cautions import better_groups_that_lower, cautions
from podium.ranking.decisions import Prizes
from podium.ranking.job import Job, solution_of
from podium.ranking.passes import Scored
from podium.ranking.picture import Picture
from podium.ranking.rewards import is_boosted, reward
from podium.ranking.rules import Options
from podium.ranking.site import SiteBoard
from podium.ranking.submissions import Submission
from podium.ranking.uncertainty import Certainty, Detail
from podium.statistics import group_slopes, halves, sums
from podium.statistics.population import (
    Groups,
    columns_of_groups,
    mean_of_groups,
    names_of_groups,
    sizes_of_groups,
)
from podium.wording import counted
from podium.workers import Workers

__all__ = ["FinalBoard", "Inputs", "board_of"]

MOST_TEAMS = 10_000  # teams about which chance is examined; they need 2.4 GB
ROWS_SHOWN = 10  # of the board, where it is printed or shown in a notebook
COLUMNS_SHOWN = ["rank", "team", "boosted_score", "score", "boost", "runtime"]


class Inputs(NamedTuple):
    """What a ranking is made from, read and checked."""

    options: Options  # what was asked for
    job: Job  # the metric with its solution
    submissions: list[Submission]
    store: Path  # the folder that keeps what is found out about them
    folder: Path  # the folder for the results
    runtimes: pd.DataFrame | None = None  # the host's tables
    selection: pd.DataFrame | None = None
    failed: pd.DataFrame | None = None
    teams: pd.DataFrame | None = None  # what a jury decided about teams
    site_board: SiteBoard | None = None  # the board that the competition's site shows
    manifest: str | None = None  # the SHA-256 of the manifest, if there is one


@dataclass(frozen=True, eq=False, repr=False)
class FinalBoard:
    """A final board, as `podium.rank` returns it.

    When it is printed or shown in a notebook, it shows the sentences for the jury, the first teams, and what to
    look at before a prize is given. Tables have a row per team, in the order of the board, unless their
    description says otherwise.

    Attributes
    ----------
    inputs : Inputs
        What the board is made from.
    leaderboard : DataFrame
        The board: rank, team, file, score, prize, and with rewards runtime, boost and more.
    baselines : DataFrame
        The baselines with their scores, in the columns of the board. No calculation sees them.
    submissions : DataFrame
        Every file with its hash, its scores, whether it was chosen, and why.
    rejected : DataFrame
        The files that were not scored, with the reasons.
    failed : DataFrame
        The models that failed, with the reasons.
    similar : DataFrame
        Pairs of teams that sent the same file, or agree where few others do.
    facts : dict
        The content of ``run.json``.
    site : DataFrame or None
        Each team with its score and its rank here and on the site's board, if that was given.
    groups : DataFrame or None
        The score of each team in each sub-population; None if the metric has none.
    variants : DataFrame or None
        The first team and the order of teams under each other decision about the metric and the rewards.
    """

    inputs: Inputs
    leaderboard: pd.DataFrame
    submissions: pd.DataFrame
    rejected: pd.DataFrame
    failed: pd.DataFrame
    similar: pd.DataFrame
    facts: dict[str, Any]
    prizes: Prizes  # who may win one
    baselines: pd.DataFrame = field(default_factory=pd.DataFrame)
    # The number of each team's file: teams that sent the same one have the same number. Without it, all differ.
    entries: tuple[int, ...] = ()
    resamples: int = 0  # the number of draws
    chance: Certainty | None = None  # what chance may have done; None without draws or statistics
    site: pd.DataFrame | None = None
    groups: pd.DataFrame | None = None
    group_sizes: dict[str, int] = field(default_factory=dict)  # the number of items of each sub-population
    variants: pd.DataFrame | None = None
    variant_ranks: pd.DataFrame | None = None  # see `podium.ranking.robustness.Variants`
    silence: str = ""  # why nothing can be said about chance, if that is so

    @property
    def folder(self) -> Path:
        """The folder with the published files: the page ``board.html``, the tables, and ``run.json``."""
        return self.inputs.folder

    @property
    def published(self) -> pd.DataFrame:
        """The board with the baselines where their plain score would stand, as it is published."""
        return decisions.with_baselines(self.leaderboard, self.baselines, self.facts["higher_is_better"])

    @property
    def certainty(self) -> pd.DataFrame | None:
        """How certain each team's place is, in a row per team; None if the metric has no statistics.

        ``first_again`` and ``prize_again`` are the shares of new competitions, with other items of the same
        kind, in which the team would be first and would win a prize. They are NaN if too few items decide the
        score of a prize winner. ``may_be_best`` says whether it cannot be excluded, with 95% confidence, that
        the team is the best. The other columns are 95% intervals.
        """
        return None if self.chance is None else self.chance.intervals

    @property
    def differences(self) -> pd.DataFrame | None:
        """The difference at each border between prizes, with its 95% interval."""
        return None if self.chance is None else self.chance.differences

    @property
    def summary(self) -> list[str]:
        """The sentences for the jury with which the page begins."""
        return sentences.summary(self)

    @property
    def warnings(self) -> list[str]:
        """What to look at before a prize is given."""
        return list(self.facts["warnings"])

    def plot(self) -> Picture:
        """Draw the scores and the runtimes of the first teams, with what speed adds, or their scores alone.

        Returns
        -------
        podium.ranking.picture.Picture
            The picture that the page has, which a notebook shows and ``save(path)`` writes as SVG.
        """
        return picture.of_board(self.leaderboard, self.certainty, self.inputs.options.rules, self.facts)

    @property
    def _top(self) -> pd.DataFrame:
        """The first teams, with the columns that decide."""
        columns = COLUMNS_SHOWN if self.facts["boosted"] else ["rank", "team", "score"]
        return self.leaderboard[columns].head(ROWS_SHOWN)

    def __repr__(self) -> str:
        warned = [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([" ".join(self.summary), "", self._top.to_string(index=False), *warned])

    def _repr_html_(self) -> str:
        warned = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        box = f"<p><strong>Look at this before a prize is given</strong></p><ul>{warned}</ul>" if warned else ""
        table = self._top.to_html(index=False, border=0)
        return f"<p>{html.escape(' '.join(self.summary))}</p>{table}{box}"


def board_of(inputs: Inputs, scored: Sequence[Scored], workers: Workers) -> FinalBoard:
    """Choose a submission for each team, reward speed, rank the teams, and see how certain the order is."""
    rules, solution = inputs.options.rules, solution_of(inputs.job)
    files, told = decisions.late(
        choice.table_of_files(inputs.submissions, scored), inputs.runtimes, rules.deadline
    )
    everybody, rule = choice.choose(files, inputs.selection, inputs.runtimes, rules, solution)
    _check_that_any_is_chosen(everybody)
    final, decided = _ranked(inputs, everybody)
    files = final.submissions
    number_of = dict(zip(files.loc[files["chosen"], "team"], files.index[files["chosen"]]))
    chosen = {number: scored[number] for number in final.leaderboard["team"].map(number_of).tolist()}
    others = {number: scored[number] for number in files.index[everybody["chosen"] & ~files["chosen"]].tolist()}
    if all(each.has_statistics for each in [*chosen.values(), *others.values()]):
        final = _with_statistics(final, chosen, others, workers)
    else:
        final = _with_halves(final, chosen, workers)
    final = _with_site(final)
    told += _cautions(final, decided, chosen, everybody.loc[everybody["failed"].notna(), "team"].tolist())
    return replace(final, facts=final.facts | _facts(final, rule, decided, told))


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


def _ranked(inputs: Inputs, everybody: pd.DataFrame) -> tuple[FinalBoard, list[str]]:
    """Rank the teams that compete, and tell what decided between teams with the same score.

    ``everybody`` has the files of all teams, also of those that do not compete.
    """
    rules, solution, teams = inputs.options.rules, solution_of(inputs.job), inputs.teams
    runtimes, higher_is_better = inputs.runtimes, solution.higher_is_better
    decides = choice.column_of(solution.deciding)
    files = decisions.competing(everybody, teams)
    if not files["chosen"].any():
        raise HostError(
            f"--teams {inputs.options.teams}: expected a team that competes, found none with a score"
        )
    leaderboard, decided = reward(files, runtimes, rules, higher_is_better, decides)
    prizes = decisions.prizes_of(leaderboard, teams, rules.prizes)
    leaderboard = decisions.with_notes(decisions.with_prizes(leaderboard, prizes), teams)
    final = _without_statistics(inputs, files, leaderboard, prizes)
    if teams is None or teams.empty:
        return final, decided
    of_baselines = everybody[everybody["chosen"] & everybody["team"].isin(decisions.baselines_in(teams))]
    if len(of_baselines):
        baselines, _ = reward(of_baselines, runtimes, rules._replace(boost=False), higher_is_better, decides)
        final = replace(final, baselines=decisions.with_notes(baselines.assign(note=""), teams))
    facts = {"decisions": teams.to_dict("records")}
    try:
        without, _ = reward(everybody, runtimes, rules, higher_is_better, decides)
    except HostError:  # such as a baseline with a negative score, which cannot be boosted
        return replace(final, facts=facts), decided
    return replace(
        final, facts=facts | {"changes": decisions.changes(without, leaderboard, rules.prizes)}
    ), decided


def _with_site(final: FinalBoard) -> FinalBoard:
    """Compare the board with the one that the competition's site shows, if that was given."""
    if final.inputs.site_board is None:
        return final
    ours = site.of_board(final.leaderboard, final.baselines)
    table, facts = site.compare(final.inputs.site_board, ours, solution_of(final.inputs.job).higher_is_better)
    return replace(final, site=table, facts=final.facts | {"site": facts})


def _without_statistics(
    inputs: Inputs, files: pd.DataFrame, leaderboard: pd.DataFrame, prizes: Prizes
) -> FinalBoard:
    """Collect what is known about the ranks alone."""
    failed = pd.DataFrame(columns=["team", "model", "reason"]) if inputs.failed is None else inputs.failed
    told = files.assign(rejected=_reasons(files)).drop(columns="failed")
    rejected = told.loc[told["rejected"].notna(), ["team", "submission", "rejected"]].reset_index(drop=True)
    rejected = rejected.rename(columns={"rejected": "reason"})
    entries, similar = similarity.entries(leaderboard, files), similarity.pairs(files)
    return FinalBoard(
        inputs, leaderboard, told, rejected, failed, similar, facts={}, prizes=prizes, entries=entries
    )


def _reasons(files: pd.DataFrame) -> "pd.Series[Any]":
    """Say why files have no score."""
    failed = files["failed"].map(lambda error: f"{choice.METRIC_FAILED}: {error}", na_action="ignore")
    reasons = files["rejected"].combine_first(failed).astype(object)
    return reasons.where(reasons.notna(), None)


def _cautions(
    final: FinalBoard, decided: Sequence[str], chosen: dict[int, Scored], failures: Sequence[str]
) -> list[str]:
    """List what a reader must look at before a prize is given."""
    inputs, leaderboard, entries = final.inputs, final.leaderboard, final.entries
    rules = inputs.options.rules
    told = cautions(final, decided, failures)
    if solution_of(inputs.job).higher_is_better:
        in_order, winners = list(chosen.values()), list(final.prizes.winners)
        slopes = _slopes(inputs, [in_order[row] for row in winners])
        told += better_groups_that_lower(leaderboard.iloc[winners], slopes, [entries[row] for row in winners])
    noise = speed.noise_of(leaderboard, inputs.runtimes)
    told += speed.ties(leaderboard, noise, entries, final.prizes.borders)
    if is_boosted(leaderboard, rules):
        told += speed.notices(leaderboard, inputs.runtimes)
    return told


def _facts(final: FinalBoard, rule: str, decided: list[str], told: list[str]) -> dict[str, Any]:
    """Collect the facts about a board that run.json publishes and sentences are made of."""
    inputs, leaderboard = final.inputs, final.leaderboard
    rules, solution = inputs.options.rules, solution_of(inputs.job)
    boosted = is_boosted(leaderboard, rules)
    return {
        "signature": solution.signature,
        "decided_by": solution.deciding,
        **_items(solution, rules.items),
        "higher_is_better": solution.higher_is_better,
        "higher_is_better_assumed": solution.metric.direction is None,
        "boosted": boosted,
        "noise_known": not boosted or speed.noise_of(leaderboard, inputs.runtimes).is_known,
        "rule": rule,
        "silence": final.silence,
        "counts": _counts(final),
        "ties": decided if any(decided) else [],
        "warnings": told,
        **{name: read for name, read in solution.frame.attrs.items() if name == reading.READ},
    }


def _items(solution: scoring.Solution, column: str) -> dict[str, Any]:
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


def _counts(final: FinalBoard) -> dict[str, int]:
    """Count submissions, teams and models for the facts of a board."""
    files, leaderboard = final.submissions, final.leaderboard
    has_score = files["rejected"].isna()
    return {
        "submissions": len(files),
        "rejected": len(final.rejected),
        "teams": len(leaderboard),
        "teams_without_score": len(set(files["team"]) - set(files.loc[has_score, "team"])),
        "eligible": int(leaderboard["eligible"].sum()),
        "failed": len(set(final.failed["team"]) - set(files["team"])),
    }


# ---- What the statistics of the chosen files tell --------------------------------------------------------


def _with_statistics(
    final: FinalBoard, chosen: dict[int, Scored], others: dict[int, Scored], workers: Workers
) -> FinalBoard:
    """Add sub-populations, variants, similar teams, and how certain the board is.

    ``chosen`` has what became of the chosen files by their numbers, in the order of the board, and ``others``
    that of teams that do not compete, with which competing ones may agree.
    """
    inputs, leaderboard = final.inputs, final.leaderboard
    rules, job, solution = inputs.options.rules, inputs.job, solution_of(inputs.job)
    prepared = solution.prepared[solution.deciding]
    entries = {number: each.entry for number, each in chosen.items()}
    shared = _shared_groups(inputs, {key: entries[key] for key in uncertainty.shared_by(list(chosen))}, workers)
    how = (rules.resamples, rules.seed, rules.items)
    detail = functools.partial(uncertainty.detail, job, solution.deciding, *how, shared)
    title = "resampling" if rules.resamples else "measuring"
    detail_of = passes.from_store(workers, detail, entries, inputs.store, title)
    details = [detail_of[number] for number in chosen]
    measures = np.stack([each.measures for each in details])
    subpopulations = _subpopulations(leaderboard["team"], measures, prepared)
    # All measures stand beside the one that decides, as on SciFact's own leaderboard.
    columns = dict(zip(prepared.measure_names[1:], measures.T[1:])) if subpopulations is None else {}
    other = {name: np.array([each.variants[name] for each in details]) for name in details[0].variants}
    detectable = _of_first_two(inputs, chosen, workers)
    if rules.variants:
        once_more = _under_other_statistics(inputs, chosen, workers)
        names = robustness.names_of_steps(job, once_more, leaderboard)
        other |= {names.get(name, name): scores for name, scores in once_more.items()}
        detectable = {names.get(name, name): each for name, each in detectable.items()}
    final = replace(
        final, groups=subpopulations, group_sizes=sizes_of_groups(prepared), resamples=rules.resamples
    )
    final = _with_chance(_with_variants(final, other, detectable), details[:MOST_TEAMS], prepared)
    if others:
        final = _with_others(final, details[:MOST_TEAMS], others, workers)
    return replace(final, leaderboard=leaderboard.assign(**columns))


def _with_halves(final: FinalBoard, chosen: dict[int, Scored], workers: Workers) -> FinalBoard:
    """Add variants, and how certain the board of a metric with ``score()`` alone is, or why nobody knows."""
    inputs, rules = final.inputs, final.inputs.options.rules
    if not rules.resamples:
        return _with_variants(final, {}, {})
    question = half_samples.Question(inputs.job, rules.items, rules.seed)
    number = rules.resamples if inputs.options.is_fixed else None
    most = dict(itertools.islice(chosen.items(), MOST_TEAMS))
    drawn = half_samples.of_board(
        question, inputs.submissions, most, final.prizes, number, inputs.store, workers
    )
    if not drawn.number:
        warnings.warn(
            f"{drawn.doubt}, so nothing is said about chance: --resamples {halves.FEWEST_DRAWS} draws them",
            stacklevel=2,
        )
        return _with_variants(final, {}, {})
    final = replace(final, resamples=drawn.number, silence="" if drawn.details else drawn.doubt)
    if not drawn.details:
        return _with_variants(final, {}, {})
    plain = final.leaderboard.head(2).assign(boosted_score=final.leaderboard["score"])
    higher_is_better = solution_of(inputs.job).higher_is_better
    population = np.stack([each.scores.population for each in drawn.details[:2]], axis=1)
    between = Prizes(1, (0, 1))
    steps = uncertainty.differences(
        plain, population, drawn.details[:2], between, drawn.prepared, higher_is_better, None
    )
    detectable = dict(zip([robustness.OWN], steps["detectable"]))
    return _with_chance(_with_variants(final, {}, detectable), drawn.details, drawn.prepared)


def _with_variants(
    final: FinalBoard, scores: Mapping[str, Floats], detectable: Mapping[str, float]
) -> FinalBoard:
    """Add what other decisions would have done to the board, from the scores under other measures."""
    inputs = final.inputs
    higher_is_better = solution_of(inputs.job).higher_is_better
    variants = robustness.of_board(
        final.leaderboard, scores, detectable, inputs.options.rules, higher_is_better
    )
    return replace(final, variants=variants.table, variant_ranks=variants.ranks)


def _with_chance(final: FinalBoard, details: Sequence[Detail], prepared: Grouped) -> FinalBoard:
    """Add which teams agree more than by chance and, if there are draws, how certain the board is."""
    inputs, most = final.inputs, final.leaderboard.head(len(details))
    agreeing = similarity.agreements(most["team"].tolist(), [each.fingerprint for each in details])
    final = replace(final, similar=similarity.pairs(final.submissions, agreeing))
    if not final.resamples:
        return final
    solution, rules = solution_of(inputs.job), inputs.options.rules
    higher_is_better, together = solution.higher_is_better, solution.together(solution.deciding, rules.items)
    chance = uncertainty.of_teams(
        most, details, inputs.runtimes, rules, prepared, higher_is_better, final.prizes, together
    )
    return replace(final, chance=chance)


def _with_others(
    final: FinalBoard, details: Sequence[Detail], others: dict[int, Scored], workers: Workers
) -> FinalBoard:
    """Add which teams agree more than by chance with teams that do not compete, such as a baseline."""
    inputs, files = final.inputs, final.submissions
    most = {number: each.entry for number, each in itertools.islice(others.items(), MOST_TEAMS)}
    undrawn = functools.partial(
        uncertainty.detail, inputs.job, solution_of(inputs.job).deciding, 0, 0, "", None
    )
    of_others = passes.from_store(workers, undrawn, most, inputs.store, "comparing teams")
    teams = [*final.leaderboard["team"].head(len(details)), *files.loc[list(of_others), "team"]]
    fingerprints = [each.fingerprint for each in [*details, *of_others.values()]]
    return replace(final, similar=similarity.pairs(files, similarity.agreements(teams, fingerprints)))


def _shared_groups(inputs: Inputs, entries: dict[int, str], workers: Workers) -> Groups | None:
    """Compute what all teams share about the groups of items, or None without draws or groups that decide."""
    rules, job = inputs.options.rules, inputs.job
    solution = solution_of(job)
    prepared, part = solution.prepared[solution.deciding], solution.deciding
    if not rules.resamples or columns_of_groups(prepared) is None:
        return None
    ask = functools.partial(uncertainty.groups, job, part, rules.resamples, rules.seed, rules.items)
    answers = passes.from_store(workers, ask, entries, inputs.store, "comparing groups")
    known = [each for each in answers.values() if each is not None]
    return mean_of_groups(known) if known else None


def _under_other_statistics(inputs: Inputs, chosen: dict[int, Scored], workers: Workers) -> dict[str, Floats]:
    """Score the chosen files with other statistics.  They are read again, and must not have changed."""
    vary = functools.partial(robustness.of_statistics, inputs.job, solution_of(inputs.job).deciding)
    found = passes.once_more(workers, vary, passes.as_scored(inputs.submissions, chosen))
    of_teams = [found[number] for number in chosen]
    return {name: np.array([scores[name] for scores in of_teams]) for name in of_teams[0]}


def _of_first_two(inputs: Inputs, chosen: dict[int, Scored], workers: Workers) -> dict[str, float]:
    """Find out under each rule which true difference between the first two teams would show."""
    rules, job, part = inputs.options.rules, inputs.job, solution_of(inputs.job).deciding
    two = dict(itertools.islice(chosen.items(), 2))
    if not rules.resamples or len(two) < 2:
        return {}
    how = (rules.resamples, rules.seed, rules.items)
    entries = [store.load(inputs.store, each.entry) for each in two.values()]
    ask = functools.partial(first_two.under_measures, job, part, how)
    ((_, found),) = passes.finished(workers, ask, [[(0, entries)]])
    if rules.variants:
        ask = functools.partial(first_two.under_statistics, job, part, how)
        files = list(passes.as_scored(inputs.submissions, two).values())
        ((_, others),) = passes.finished(workers, ask, [[(0, files)]])
        found |= others
    return found


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


def _subpopulations(teams: "pd.Series[str]", measures: Floats, prepared: Measured) -> pd.DataFrame | None:
    """Collect the scores in each sub-population, or None if the metric has none."""
    columns = prepared.measure_names
    scores = {name: measures[:, columns.index(name)] for name in names_of_groups(prepared) if name in columns}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None
