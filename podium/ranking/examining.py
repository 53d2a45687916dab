"""What the files that count say beyond the ranks: their statistics, or their scores on halves of the items."""

import functools
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from podium.metric.contract import Prepared
from podium.ranking import half_samples, robustness, uncertainty
from podium.ranking.asking import Desk
from podium.ranking.jury import Prizes
from podium.ranking.passes import Scored
from podium.ranking.submissions import Submission
from podium.ranking.uncertainty import Examined, How
from podium.statistics import halves, sums
from podium.statistics.doubts import Units
from podium.statistics.population import (
    Groups,
    columns_of_groups,
    is_made_of_groups,
    mean_of_groups,
    names_of_groups,
)
from podium.words.arrays import Floats

MOST_TEAMS = 10_000  # teams about which chance is examined; they need 2.4 GB


def by_statistics(desk: Desk, how: How, files: Sequence[Submission], chosen: Sequence[Scored]) -> Examined:
    """Examine the statistics of the files that count, in the order of the board."""
    entries = [each.entry for each in chosen]
    # In the order of names, in which the last bit of a mean is the same whoever is ahead.
    some = sorted(uncertainty.shared_by([(file.team, entry) for file, entry in zip(files, entries)]))
    shared = _shared_groups(desk, how, [entry for _, entry in some])
    question = functools.partial(uncertainty.detail, how, shared)
    details = desk.ask(question, entries, "resampling" if how.resamples else "measuring")
    prepared = desk.solution.prepared[how.part]
    units = Units(prepared, desk.solution.together(how.part, how.column))
    return Examined(how.resamples, details, units, prepared)


def by_halves(
    desk: Desk,
    how: How,
    is_fixed: bool,
    files: Sequence[Submission],
    chosen: Sequence[Scored],
    prizes: Prizes,
) -> Examined:
    """Score the files that count of a metric with ``score()`` alone on halves of the items."""
    if not how.resamples:
        return Examined(0, [], Units(half_samples.Rows(range(0))))
    scores = [(each.scores or {})[how.part] for each in chosen[:MOST_TEAMS]]
    examined = half_samples.of_board(desk, how, is_fixed, files[:MOST_TEAMS], scores, prizes)
    if not examined.resamples:
        cure = f"--resamples {halves.FEWEST_DRAWS} draws them"
        warnings.warn(f"{examined.silence}, so nothing is said about chance: {cure}", stacklevel=2)
        return examined._replace(silence="")
    return examined


def _shared_groups(desk: Desk, how: How, entries: Sequence[str]) -> Groups | None:
    """Compute what all teams share about the groups of items, or None without draws or groups that decide."""
    prepared, items = desk.solution.prepared[how.part], desk.solution.items[how.part]
    if not how.resamples or columns_of_groups(prepared) is None:
        return None
    first = desk.load(entries[0])
    numbers = None if first is None else uncertainty.of_items(first, items)
    if numbers is not None and not is_made_of_groups(prepared, sums(numbers, prepared.groups)):
        return None  # Its groups are only reported, which is the same for all teams.
    answers = desk.ask(functools.partial(uncertainty.groups, how), entries, "comparing groups")
    known = [each for each in answers if each is not None]
    return mean_of_groups(known) if known else None


def under_other_measures(examined: Examined) -> dict[str, Floats]:
    """Collect the scores of the files that count under other measures of their statistics."""
    return _by_name([each.variants for each in examined.details])


def under_other_statistics(
    desk: Desk, files: Sequence[Submission], leaderboard: pd.DataFrame
) -> dict[str, Floats]:
    """Score the files that count with other statistics.  They are read again, and must not have changed."""
    question = functools.partial(robustness.of_statistics, desk.solution.deciding)
    scores = _by_name(desk.read_again(question, files, "variants"))
    names = robustness.names_of_steps(desk.solution, scores, leaderboard)
    return {names.get(name, name): each for name, each in scores.items()}


def _by_name(of_teams: Sequence[dict[str, float]]) -> dict[str, Floats]:
    """Turn the scores of each team by name into the scores of all teams by name."""
    names = of_teams[0] if of_teams else ()
    return {name: np.array([scores[name] for scores in of_teams]) for name in names}


def measures_beside(examined: Examined) -> dict[str, Floats]:
    """Collect the measures that stand beside the score on the board, as on SciFact's own leaderboard.

    There are none of a metric with sub-populations, whose scores have a table of their own.
    """
    if examined.prepared is None or _groups(examined.prepared):
        return {}
    return dict(zip(examined.prepared.measure_names[1:], _measures(examined).T[1:]))


def subpopulations(teams: "pd.Series[str]", examined: Examined) -> pd.DataFrame | None:
    """Collect the scores in each sub-population, or None if the metric has none."""
    if examined.prepared is None:
        return None
    measures, columns = _measures(examined), examined.prepared.measure_names
    scores = {name: measures[:, columns.index(name)] for name in _groups(examined.prepared)}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None


def _groups(prepared: Prepared) -> list[str]:
    """The sub-populations that have a measure."""
    return [name for name in names_of_groups(prepared) if name in prepared.measure_names]


def _measures(examined: Examined) -> Floats:
    """The measures of all teams, (t, m)."""
    return np.stack([each.measures for each in examined.details])
