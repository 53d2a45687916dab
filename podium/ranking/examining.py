"""What the files that count say beyond the ranks: their statistics, or their scores on halves of the items."""

import functools
import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.child.workers import Workers
from podium.metric.contract import Measured
from podium.ranking import half_samples, passes, robustness, store, uncertainty
from podium.ranking.decisions import Prizes
from podium.ranking.final import Inputs
from podium.ranking.job import solution_of
from podium.ranking.passes import Scored
from podium.ranking.uncertainty import Certainty, Detail
from podium.statistics import halves, sums
from podium.statistics.doubts import Units
from podium.statistics.population import (
    Groups,
    columns_of_groups,
    is_made_of_groups,
    mean_of_groups,
    names_of_groups,
    sizes_of_groups,
)
from podium.words.arrays import Floats

__all__ = ["MOST_TEAMS", "Examined", "by_halves", "by_statistics"]

MOST_TEAMS = 10_000  # teams about which chance is examined; they need 2.4 GB


@dataclass(frozen=True)
class Examined:
    """What the files that count say, in the order of the board."""

    resamples: int = 0  # the number of draws
    chance: Certainty | None = None  # what chance may have done
    fingerprints: Sequence[npt.NDArray[np.uint32]] = ()  # a hash of what each file says of each item
    silence: str = ""  # why nothing can be said about chance, if that is so
    scores: Mapping[str, Floats] = field(default_factory=dict)  # under other rules of the metric
    measures: Mapping[str, Floats] = field(default_factory=dict)  # that stand beside the score on the board
    groups: pd.DataFrame | None = None  # the score of each team in each sub-population
    group_sizes: dict[str, int] = field(default_factory=dict)  # the number of items of each sub-population


def by_statistics(
    inputs: Inputs, leaderboard: pd.DataFrame, prizes: Prizes, chosen: dict[int, Scored], workers: Workers
) -> Examined:
    """Examine the statistics of the chosen files, which are given by their numbers."""
    rules, job, solution = inputs.options.rules, inputs.job, solution_of(inputs.job)
    prepared = solution.prepared[solution.deciding]
    entries = {number: each.entry for number, each in chosen.items()}
    shared = _shared_groups(inputs, {key: entries[key] for key in uncertainty.shared_by(list(chosen))}, workers)
    how = (rules.resamples, rules.seed, rules.items)
    detail = functools.partial(uncertainty.detail, job, solution.deciding, *how, shared)
    title = "resampling" if rules.resamples else "measuring"
    detail_of = passes.from_store(workers, detail, entries, inputs.store, title)
    details = [detail_of[number] for number in chosen]
    units = Units(prepared, solution.together(solution.deciding, rules.items))
    scores = {name: np.array([each.variants[name] for each in details]) for name in details[0].variants}
    if rules.variants:
        once_more = _under_other_statistics(inputs, chosen, workers)
        names = robustness.names_of_steps(job, once_more, leaderboard)
        scores |= {names.get(name, name): each for name, each in once_more.items()}
    measures = np.stack([each.measures for each in details])
    groups = _subpopulations(leaderboard["team"], measures, prepared)
    return Examined(
        resamples=rules.resamples,
        chance=_of_chance(inputs, leaderboard, prizes, details, units) if rules.resamples else None,
        fingerprints=[each.fingerprint for each in details[:MOST_TEAMS]],
        scores=scores,
        # All measures stand beside the one that decides, as on SciFact's own leaderboard.
        measures=dict(zip(prepared.measure_names[1:], measures.T[1:])) if groups is None else {},
        groups=groups,
        group_sizes=sizes_of_groups(prepared),
    )


def by_halves(
    inputs: Inputs, leaderboard: pd.DataFrame, prizes: Prizes, chosen: dict[int, Scored], workers: Workers
) -> Examined:
    """Score the chosen files of a metric with ``score()`` alone on halves of the items."""
    rules = inputs.options.rules
    if not rules.resamples:
        return Examined()
    question = half_samples.Question(inputs.job, rules.items, rules.seed)
    number = rules.resamples if inputs.options.is_fixed else None
    most = dict(itertools.islice(chosen.items(), MOST_TEAMS))
    drawn = half_samples.of_board(question, inputs.submissions, most, prizes, number, inputs.store, workers)
    if not drawn.number:
        warnings.warn(
            f"{drawn.doubt}, so nothing is said about chance: --resamples {halves.FEWEST_DRAWS} draws them",
            stacklevel=2,
        )
    if not drawn.details:
        return Examined(drawn.number, silence=drawn.doubt if drawn.number else "")
    chance = _of_chance(inputs, leaderboard, prizes, drawn.details, Units(drawn.prepared))
    return Examined(drawn.number, chance, [each.fingerprint for each in drawn.details])


def _of_chance(
    inputs: Inputs, leaderboard: pd.DataFrame, prizes: Prizes, details: Sequence[Detail], units: Units
) -> Certainty:
    """Find out how certain the board is, from draws of its first teams."""
    some, better = details[:MOST_TEAMS], solution_of(inputs.job).higher_is_better
    first = leaderboard.head(MOST_TEAMS)
    return uncertainty.of_teams(first, some, inputs.runtimes, inputs.options.rules, units, better, prizes)


def _shared_groups(inputs: Inputs, entries: dict[int, str], workers: Workers) -> Groups | None:
    """Compute what all teams share about the groups of items, or None without draws or groups that decide."""
    rules, job = inputs.options.rules, inputs.job
    solution = solution_of(job)
    prepared, part = solution.prepared[solution.deciding], solution.deciding
    if not rules.resamples or columns_of_groups(prepared) is None:
        return None
    first = store.load(inputs.store, next(iter(entries.values())))
    numbers = None if first is None else uncertainty.of_items(first, solution.items[part])
    if numbers is not None and not is_made_of_groups(prepared, sums(numbers, prepared.groups)):
        return None  # Its groups are only reported, which is the same for all teams.
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


def _subpopulations(teams: "pd.Series[str]", measures: Floats, prepared: Measured) -> pd.DataFrame | None:
    """Collect the scores in each sub-population, or None if the metric has none."""
    columns = prepared.measure_names
    scores = {name: measures[:, columns.index(name)] for name in names_of_groups(prepared) if name in columns}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None
