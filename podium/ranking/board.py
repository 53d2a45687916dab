"""The pipeline of a final ranking, after the submissions were read and scored: choose, reward, resample.

    files = choice.choose(…)                 which file of each team counts
    leaderboard = rewards.reward(…)          what speed is worth, and the ranks
    told = _told_by_statistics(…)            what the statistics of the chosen files say beyond the ranks

Each step is a function of tables. `board_of` calls one after the other.
"""

import functools
import html
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, scoring
from podium.errors import HostError, UsageError, missing_extra
from podium.ranking import (
    choice,
    half_samples,
    passes,
    robustness,
    sentences,
    similarity,
    speed,
    store,
    uncertainty,
)
from podium.ranking.cautions import better_groups_that_lower, cautions
from podium.ranking.job import Job, digests_of, solution_of
from podium.ranking.passes import Scored
from podium.ranking.rewards import is_boosted, reward
from podium.ranking.rules import Request
from podium.ranking.submissions import Submission
from podium.ranking.uncertainty import Certainty
from podium.statistics import group_slopes, halves, sums
from podium.statistics.population import Groups, has_scores_of_groups, mean_of_groups
from podium.wording import counted
from podium.workers import Workers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FinalBoard", "Inputs", "board_of"]

MOST_TEAMS = 10_000  # teams about which chance is examined; they need 2.4 GB
ROWS_SHOWN = 10  # of the board, where it is printed or shown in a notebook
COLUMNS_SHOWN = ["rank", "team", "boosted_score", "score", "boost", "runtime"]

Floats = npt.NDArray[np.float64]


class Inputs(NamedTuple):
    """What a ranking is made from, read and checked."""

    request: Request  # what was asked for
    job: Job  # the metric with its solution
    submissions: list[Submission]
    store: Path  # the folder that keeps what is found out about them
    folder: Path  # the folder for the results
    runtimes: pd.DataFrame | None = None  # the host's tables
    selection: pd.DataFrame | None = None
    failed: pd.DataFrame | None = None


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
        The board: rank, team, file, score, and with rewards runtime, boost and more.
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
    # The number of each team's file: teams that sent the same one have the same number. Without it, all differ.
    entries: tuple[int, ...] = ()
    resamples: int = 0  # the number of draws
    chance: Certainty | None = None  # what chance may have done; None without draws or statistics
    groups: pd.DataFrame | None = None
    group_sizes: dict[str, int] = field(default_factory=dict)  # the number of items of each sub-population
    variants: pd.DataFrame | None = None
    variant_ranks: pd.DataFrame | None = None  # see `podium.ranking.robustness.Variants`

    @property
    def folder(self) -> Path:
        """The folder with the published files: the page ``board.html``, the tables, and ``run.json``."""
        return self.inputs.folder

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

    def plot(self) -> "Figure":
        """Draw the scores and the runtimes of the first teams, with what speed adds."""
        try:
            from podium.ranking import plots
        except ImportError:
            raise missing_extra("a picture", "matplotlib", "plots") from None

        if not self.facts["boosted"]:
            return plots.scores(self.leaderboard)
        of_boost = self.inputs.request.rules.of_boost
        return plots.score_and_runtime(
            self.leaderboard,
            eligibility_ratio=of_boost["eligibility_ratio"],
            slowdown_limit=of_boost["slowdown_limit"],
        )

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
    rules, job = inputs.request.rules, inputs.job
    solution = solution_of(job)
    higher_is_better = hosted.higher_is_better(solution.metric, dict(job.parameters))
    files = choice.table_of_files(inputs.submissions, scored)
    files, rule = choice.choose(files, inputs.selection, inputs.runtimes, rules, solution, higher_is_better)
    _check_that_any_is_chosen(files)
    decides = choice.column_of(solution.deciding)
    leaderboard, decided = reward(files, inputs.runtimes, rules, higher_is_better, decides)
    number_of = dict(zip(files.loc[files["chosen"], "team"], files.index[files["chosen"]]))
    order = [number_of[team] for team in leaderboard["team"]]
    failed = pd.DataFrame(columns=["team", "model", "reason"]) if inputs.failed is None else inputs.failed
    told = files.assign(rejected=_reasons(files)).drop(columns="failed")
    rejected = told.loc[told["rejected"].notna(), ["team", "submission", "rejected"]].reset_index(drop=True)
    rejected = rejected.rename(columns={"rejected": "reason"})
    entries = similarity.entries(leaderboard, files)
    similar = similarity.pairs(files)
    final = FinalBoard(inputs, leaderboard, told, rejected, failed, similar, facts={}, entries=entries)
    silence = ""
    if all(scored[number].has_statistics for number in order):
        if rules.items:
            raise UsageError(f"--items {rules.items}: expected a metric with score() alone, found {job.metric}")
        final = _with_statistics(final, files, scored, order, workers, higher_is_better)
    else:
        final, silence = _with_halves(final, files, scored, order, workers, higher_is_better)
    boosted = is_boosted(leaderboard, rules)
    doubts = [] if final.chance is None else final.chance.doubts
    told_first = cautions(leaderboard, files, decided, doubts, entries, rules)
    slopes = _slopes(inputs, scored, order[: rules.prizes]) if higher_is_better else []
    told_first += better_groups_that_lower(leaderboard.head(rules.prizes), slopes, entries)
    noise = speed.noise_of(leaderboard, inputs.runtimes)
    told_first += speed.ties(leaderboard, noise, entries, rules.prizes)
    if boosted:
        told_first += speed.notices(leaderboard, inputs.runtimes, rules.prizes)
    facts = {
        "signature": solution.signature,
        "decided_by": solution.deciding,
        **_items(solution, rules.items),
        "higher_is_better": higher_is_better,
        "higher_is_better_assumed": solution.metric.direction is None,
        "boosted": boosted,
        "noise_known": not boosted or noise.is_known,
        "rule": rule,
        "silence": silence,
        "counts": _counts(final),
        "ties": decided if any(decided) else [],
        "warnings": told_first,
    }
    return replace(final, facts=facts)


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


def _reasons(files: pd.DataFrame) -> "pd.Series[Any]":
    """Say why files have no score."""
    failed = files["failed"].map(lambda error: f"{choice.METRIC_FAILED}: {error}", na_action="ignore")
    reasons = files["rejected"].combine_first(failed).astype(object)
    return reasons.where(reasons.notna(), None)


def _items(solution: scoring.Solution, column: str) -> dict[str, Any]:
    """Find out how many items decide and what they are called."""
    prepared = solution.prepared.get(solution.deciding)
    identifiers = [
        str(value)
        for name, value in hosted.settings(solution.metric, solution.arguments).items()
        if name.endswith("_id_column_name") and name != "row_id_column_name"
    ]
    noun = identifiers[0].removesuffix("_id").replace("_", " ") if identifiers else "item"
    if prepared is None:
        number = len(solution.items_of(solution.deciding, column).stratum)
        return {"items": number, "item": column.replace("_", " ") or "row", "halves": True}
    return {"items": len(prepared.items), "item": noun, "halves": False}


def _counts(final: FinalBoard) -> dict[str, int]:
    """Count submissions, teams and models for the facts of a board."""
    files, leaderboard = final.submissions, final.leaderboard
    return {
        "submissions": len(files),
        "rejected": len(final.rejected),
        "teams": len(leaderboard),
        "teams_without_score": len(set(files["team"]) - set(leaderboard["team"])),
        "eligible": int(leaderboard["eligible"].sum()),
        "failed": len(set(final.failed["team"]) - set(files["team"])),
    }


# ---- What the statistics of the chosen files tell --------------------------------------------------------


def _with_statistics(
    final: FinalBoard,
    files: pd.DataFrame,
    scored: Sequence[Scored],
    order: Sequence[int],
    workers: Workers,
    higher_is_better: bool,
) -> FinalBoard:
    """Add sub-populations, variants, similar teams, and how certain the board is.

    ``order`` has the numbers of the chosen submissions, in the order of the board.
    """
    inputs, leaderboard = final.inputs, final.leaderboard
    rules, job = inputs.request.rules, inputs.job
    solution = solution_of(job)
    prepared = solution.prepared[solution.deciding]
    entries = {number: scored[number].entry for number in order}
    shared = _shared_groups(inputs, {key: entries[key] for key in uncertainty.shared_by(order)}, workers)
    detail = functools.partial(uncertainty.detail, job, solution.deciding, rules.resamples, rules.seed, shared)
    title = "resampling" if rules.resamples else "measuring"
    detail_of = passes.from_store(workers, detail, entries, inputs.store, title)
    details = [detail_of[number] for number in order]
    measures = np.stack([each.measures for each in details])
    subpopulations = _subpopulations(leaderboard["team"], measures, prepared)
    # All measures stand beside the one that decides, as on SciFact's own leaderboard.
    columns = dict(zip(prepared.measure_names[1:], measures.T[1:])) if subpopulations is None else {}
    other = {name: np.array([each.variants[name] for each in details]) for name in details[0].variants}
    if rules.variants:
        once_more = _under_other_statistics(inputs, scored, order, workers)
        other |= robustness.with_steps_named(job, once_more, leaderboard)
    variants = robustness.of_board(leaderboard, other, rules, higher_is_better)
    of_most, most = details[:MOST_TEAMS], leaderboard.head(MOST_TEAMS)
    agreeing = similarity.agreements(most["team"].tolist(), [each.fingerprint for each in of_most])
    certainty = None
    if rules.resamples:
        certainty = uncertainty.of_teams(most, of_most, inputs.runtimes, rules, prepared, higher_is_better)
    return replace(
        final,
        leaderboard=leaderboard.assign(**columns),
        similar=similarity.pairs(files, agreeing),
        groups=subpopulations,
        group_sizes=_group_sizes(prepared),
        chance=certainty,
        resamples=rules.resamples,
        variants=variants.table,
        variant_ranks=variants.ranks,
    )


def _with_halves(
    final: FinalBoard,
    files: pd.DataFrame,
    scored: Sequence[Scored],
    order: Sequence[int],
    workers: Workers,
    higher_is_better: bool,
) -> tuple[FinalBoard, str]:
    """Add variants, and how certain the board of a metric with ``score()`` alone is, or why nobody knows."""
    inputs, leaderboard = final.inputs, final.leaderboard
    rules = inputs.request.rules
    variants = robustness.of_board(leaderboard, {}, rules, higher_is_better)
    final = replace(final, variants=variants.table, variant_ranks=variants.ranks)
    if not rules.resamples:
        return final, ""
    question = half_samples.Question(inputs.job, rules.items, rules.seed)
    number = rules.resamples if inputs.request.is_fixed else None
    most, order = leaderboard.head(MOST_TEAMS), order[:MOST_TEAMS]
    drawn = half_samples.of_board(
        question, inputs.submissions, scored, order, rules.prizes, number, inputs.store, workers
    )
    if not drawn.number:
        warnings.warn(
            f"{drawn.doubt}, so nothing is said about chance: --resamples {halves.FEWEST_DRAWS} draws them",
            stacklevel=2,
        )
        return final, ""
    final = replace(final, resamples=drawn.number)
    if not drawn.details:
        return final, drawn.doubt
    prints = [each.fingerprint for each in drawn.details]
    certainty = uncertainty.of_teams(
        most, drawn.details, inputs.runtimes, rules, drawn.prepared, higher_is_better
    )
    similar = similarity.pairs(files, similarity.agreements(most["team"].tolist(), prints))
    return replace(final, similar=similar, chance=certainty), ""


def _shared_groups(inputs: Inputs, entries: dict[int, str], workers: Workers) -> Groups | None:
    """Compute what all teams share about the groups of items, or None without draws or scores of groups."""
    rules, job = inputs.request.rules, inputs.job
    solution = solution_of(job)
    prepared, part = solution.prepared[solution.deciding], solution.deciding
    if not rules.resamples or not has_scores_of_groups(prepared):
        return None
    ask = functools.partial(uncertainty.groups, job, part, rules.resamples, rules.seed)
    answers = passes.from_store(workers, ask, entries, inputs.store, "comparing groups")
    return mean_of_groups(list(answers.values()))


def _under_other_statistics(
    inputs: Inputs, scored: Sequence[Scored], order: Sequence[int], workers: Workers
) -> dict[str, Floats]:
    """Score the chosen files with other statistics.  They are read again, and must not have changed."""
    vary = functools.partial(robustness.of_statistics, inputs.job, solution_of(inputs.job).deciding)
    chosen = {
        number: inputs.submissions[number]._replace(
            digests=digests_of(scored[number].digest, scored[number].side_digest)
        )
        for number in order
    }
    scores = passes.once_more(workers, vary, chosen)
    return {name: np.array([scores[number][name] for number in order]) for name in scores[order[0]]}


def _names_of_groups(prepared: Any) -> list[str]:
    """Name the groups of items as the measures of their scores are named."""
    return [f"{attribute} = {value}" for attribute, value in prepared.labels]


def _slopes(inputs: Inputs, scored: Sequence[Scored], order: Sequence[int]) -> list[dict[str, float]]:
    """Find out how fast the score of each of some files rises with the score of each group."""
    solution = solution_of(inputs.job)
    if not all(scored[number].has_statistics for number in order):
        return []
    prepared, items = solution.prepared[solution.deciding], solution.items[solution.deciding]
    entries = [store.load(inputs.store, scored[number].entry) for number in order]
    return [_slopes_of(prepared, store.decode(entry), items) for entry in entries if entry is not None]


def _slopes_of(prepared: Any, numbers: Floats | None, items: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Find out how fast a score rises with the score of each group, from the statistics of a file."""
    assert numbers is not None
    slopes = group_slopes(prepared, sums(numbers[items], prepared.groups))
    return {} if slopes is None else dict(zip(_names_of_groups(prepared), slopes.tolist()))


def _subpopulations(teams: "pd.Series[str]", measures: Floats, prepared: Any) -> pd.DataFrame | None:
    """Collect the scores in each sub-population, or None if the metric has none."""
    columns = prepared.measure_names
    scores = {name: measures[:, columns.index(name)] for name in _names_of_groups(prepared) if name in columns}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None


def _group_sizes(prepared: Any) -> dict[str, int]:
    """Count the items of each group."""
    sizes = np.bincount(np.ravel(prepared.groups), minlength=len(prepared.labels))
    return dict(zip(_names_of_groups(prepared), sizes.tolist()))
