"""What the files that count say beyond the ranks, from their statistics in the store.

In shapes, t stands for teams, r for draws, n for items, k for the statistics of an item, and m for measures.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.common.arrays import Bools, Floats, Ints
from podium.metric.contract import Measured, Prepared
from podium.ranking import robustness, similarity
from podium.ranking.passes import Scored
from podium.ranking.questions import Pool
from podium.ranking.store import StoreEntry
from podium.ranking.submissions import Submission
from podium.scoring.evaluating import Solution
from podium.statistics import Doubt, Drawn, Scores
from podium.statistics.doubts import Reaction, Units, doubt_of_score, reaction
from podium.statistics.population import (
    Groups,
    columns_of_groups,
    is_made_of_groups,
    mean_of_groups,
    names_of_groups,
)
from podium.statistics.sampling import influences

T = TypeVar("T")

MOST_TEAMS = 10_000  # teams about which chance is examined; they need 2.4 GB
RESAMPLED_AT_ONCE = 16  # submissions for which the weights of a draw are read once
SHARED_BY = 100  # teams that are drawn first, because all teams share the variances that these have
NO_SCORES = Scores(*[np.empty(0)] * 3)


class How(NamedTuple):
    """How the items of a solution are drawn."""

    part: str  # the part that decides
    resamples: int = 0  # the number of draws
    seed: int = 0
    column: str = ""  # items with the same value in it are drawn together; if it is "", each is drawn alone


class Detail(NamedTuple):
    """What the statistics of a team's chosen submission say about the part of the solution that decides."""

    measures: Floats  # the measures of the submission, the score first
    scores: Scores  # draws of the score, (r,) each
    reaction: Reaction  # how the score reacts to the groups
    doubt: Doubt | None  # why the interval of the score cannot be relied on
    influence: npt.NDArray[np.float32]  # how fast the score grows with the weight of each item
    variants: dict[str, float]  # the score under other measures, by the name of the variant
    fingerprint: npt.NDArray[np.uint32]  # a hash of each item's statistics
    sums: Floats | None = None  # of the statistics over each group, (g, k); None of half-samples


class Examined(NamedTuple):
    """What the files that count say, in the order of the board."""

    resamples: int  # the number of draws
    details: Sequence[Detail]  # empty if nothing can be said
    units: Units  # what is drawn
    prepared: Prepared | None = None  # the solution of which these are the statistics; None of half-samples
    silence: str = ""  # why nothing can be said about chance, if that is so


# ---- In a worker ------------------------------------------------------------------------------------------


def groups(how: How, solution: Solution, entries: Sequence[StoreEntry]) -> list[Groups | None]:
    """Find out what some entries of the store say about the groups of items.

    It is None for a score that is not made of groups.
    """
    draws, kept = _resampler(solution, how)
    results: list[Groups | None] = []
    for some, submissions in _read(how, solution, entries):
        drawn = draws.draw(*submissions)
        kept.update(zip([entry.name for entry in some], drawn))
        results += map(draws.groups, drawn)
    return results


def detail(how: How, shared: Groups | None, solution: Solution, entries: Sequence[StoreEntry]) -> list[Detail]:
    """Compute the details of some entries of the store."""
    prepared, together = solution.prepared[how.part], solution.together(how.part, how.column)
    others = robustness.of_measures(solution, how.part)
    results: list[Detail] = []
    for some, submissions in _read(how, solution, entries):
        scores = [NO_SCORES] * len(some)
        if how.resamples:
            draws, kept = _resampler(solution, how)
            model = draws.model(shared)
            scores = [draws.scores_of(each, model) for each in _drawn(draws, kept, some, submissions)]
        results += [_detail(prepared, together, others, *each) for each in zip(submissions, scores)]
    return results


def _detail(
    prepared: Prepared, together: Ints | None, others: Mapping[str, Measured], numbers: Floats, scores: Scores
) -> Detail:
    """Compute the details of a submission from its statistics (n, k) and the draws of its score (r,)."""
    total, units = statistics.sums(numbers, prepared.groups), Units(prepared, together)
    of_groups = reaction(prepared, numbers, total, together)
    return Detail(
        measures=prepared.measures(total),
        scores=scores,
        reaction=of_groups,
        doubt=doubt_of_score(units, of_groups),
        influence=units.sums(influences(prepared, numbers, total)).astype(np.float32),
        variants={name: float(other.measures(total)[0]) for name, other in others.items()},
        fingerprint=similarity.fingerprint(numbers),
        sums=total,
    )


def _read(
    how: How, solution: Solution, entries: Sequence[StoreEntry]
) -> Iterator[tuple[Sequence[StoreEntry], list[Floats]]]:
    """Read the statistics of as many submissions as are resampled at once, behind their entries."""
    for first in range(0, len(entries), RESAMPLED_AT_ONCE):
        some = entries[first : first + RESAMPLED_AT_ONCE]
        yield some, [of_items(entry, solution.items[how.part]) for entry in some]


def of_items(entry: StoreEntry, items: Bools) -> Floats:
    """Read the statistics of some items, shape (n, k), from an entry of the store."""
    assert entry.statistics is not None
    return entry.statistics.T.compress(items, axis=1).T  # column by column, as in the store


def _drawn(
    draws: statistics.Resampler,
    kept: dict[str, Drawn],
    entries: Sequence[StoreEntry],
    submissions: list[Floats],
) -> list[Drawn]:
    """Draw submissions, each (n, k), but for those that are kept since `groups` has drawn them."""
    of_names = [entry.name for entry in entries]
    known = {name: kept.pop(name) for name in {*of_names} & kept.keys()}
    new = {name: numbers for name, numbers in zip(of_names, submissions) if name not in known}
    known |= zip(new, draws.draw(*new.values())) if new else ()
    return [known[name] for name in of_names]


@functools.lru_cache(maxsize=1)
def _resampler(solution: Solution, how: How) -> tuple[statistics.Resampler, dict[str, Drawn]]:
    """Make the draws of the items, once per process, and a place for submissions that are drawn."""
    prepared, together = solution.prepared[how.part], solution.together(how.part, how.column)
    weights = statistics.draw(len(prepared.items), how.resamples, how.seed, together=together)
    return statistics.Resampler(prepared, weights, how.seed), {}


# ---- In the command ---------------------------------------------------------------------------------------


def by_statistics(pool: Pool, how: How, files: Sequence[Submission], chosen: Sequence[Scored]) -> Examined:
    """Examine the statistics of the files that count, in the order of the board."""
    entries = [each.entry for each in chosen]
    # In the order of names, in which the last bit of a mean is the same whoever is ahead.
    some = sorted(shared_by([(file.team, entry) for file, entry in zip(files, entries)]))
    shared = _shared_groups(pool, how, [entry for _, entry in some])
    question = functools.partial(detail, how, shared)
    details = pool.ask(question, entries, "resampling" if how.resamples else "measuring")
    prepared = pool.solution.prepared[how.part]
    units = Units(prepared, pool.solution.together(how.part, how.column))
    return Examined(how.resamples, details, units, prepared)


def shared_by(order: Sequence[T]) -> list[T]:
    """Choose the teams whose variances all teams share: all of them, or 100 that are spread over the board.

    >>> shared_by([5, 3, 4]), len(shared_by(range(2000))), shared_by(range(2000))[-1]
    ([5, 3, 4], 100, 1980)
    """
    step = max(1, len(order) / SHARED_BY)
    return [order[int(number * step)] for number in range(min(len(order), SHARED_BY))]


def _shared_groups(pool: Pool, how: How, entries: Sequence[str]) -> Groups | None:
    """Compute what all teams share about the groups of items, or None without draws or groups that decide."""
    prepared, items = pool.solution.prepared[how.part], pool.solution.items[how.part]
    if not how.resamples or columns_of_groups(prepared) is None:
        return None
    first = pool.load(entries[0])
    numbers = None if first is None else of_items(first, items)
    if numbers is not None and not is_made_of_groups(prepared, statistics.sums(numbers, prepared.groups)):
        return None  # Its groups are only reported, which is the same for all teams.
    results = pool.ask(functools.partial(groups, how), entries, "comparing groups")
    known = [each for each in results if each is not None]
    return mean_of_groups(known) if known else None


def under_other_measures(examined: Examined) -> dict[str, Floats]:
    """Collect the scores of the files that count under other measures of their statistics."""
    return _by_name([each.variants for each in examined.details])


def under_other_statistics(
    pool: Pool, files: Sequence[Submission], leaderboard: pd.DataFrame
) -> dict[str, Floats]:
    """Score the files that count with other statistics. They are read again, and must not have changed."""
    question = functools.partial(robustness.of_statistics, pool.solution.deciding)
    scores = _by_name(pool.read_again(question, files, "variants"))
    names = robustness.names_of_steps(pool.solution, scores, leaderboard)
    return {names.get(name, name): each for name, each in scores.items()}


def _by_name(of_teams: Sequence[dict[str, float]]) -> dict[str, Floats]:
    """Turn the scores of each team by name into the scores of all teams by name."""
    names = of_teams[0] if of_teams else ()
    return {name: np.array([scores[name] for scores in of_teams]) for name in names}


def measures_beside(examined: Examined) -> dict[str, Floats]:
    """Collect the measures that stand beside the score on the board, as on SciFact's own leaderboard.

    There are none of a metric with sub-populations, whose scores have a table of their own.
    """
    if examined.prepared is None or groups_of(examined.prepared):
        return {}
    return dict(zip(examined.prepared.measure_names[1:], _measures(examined).T[1:]))


def subpopulations(teams: "pd.Series[str]", examined: Examined) -> pd.DataFrame | None:
    """Collect the scores in each sub-population, or None if the metric has none."""
    assert examined.prepared is not None
    measures, columns = _measures(examined), examined.prepared.measure_names
    scores = {name: measures[:, columns.index(name)] for name in groups_of(examined.prepared)}
    return pd.DataFrame({"team": teams.to_numpy(), **scores}) if scores else None


def groups_of(prepared: Prepared) -> list[str]:
    """The sub-populations that have a measure."""
    return [name for name in names_of_groups(prepared) if name in prepared.measure_names]


def _measures(examined: Examined) -> Floats:
    """The measures of all teams, (t, m)."""
    return np.stack([each.measures for each in examined.details])
