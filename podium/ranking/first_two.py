"""Which true difference between the board's first two teams its test set would show, under each rule.

A rule is the metric itself or one of its variants.  So a host sees what a temperature or an attribute costs.
Only plain scores count, and only two teams are drawn, because draws of all teams under all rules take long.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from podium import statistics
from podium.ranking import robustness, uncertainty
from podium.ranking.job import Job, solution_of
from podium.ranking.submissions import Submission
from podium.statistics.doubts import FEWEST_ON_A_BOARD, Units, doubt_of_difference, reaction
from podium.statistics.inference import difference_of_draws
from podium.statistics.sampling import influences
from podium.words.arrays import Floats, Ints

__all__ = ["under_measures", "under_statistics"]

How = tuple[int, int, str]  # the number of draws, the seed, and the column of what is drawn together


def under_measures(
    job: Job, part: str, how: How, pairs: Sequence[tuple[int, Sequence[bytes]]]
) -> list[tuple[int, dict[str, float]]]:
    """Find out for the metric and its other measures what two entries of the store show, in a worker."""
    solution = solution_of(job)
    rules = {robustness.OWN: solution.prepared[part], **robustness.of_measures(job, part)}
    return [
        (
            number,
            _detectable(
                job, part, how, rules, [uncertainty.of_items(entry, solution.items[part]) for entry in entries]
            ),
        )
        for number, entries in pairs
    ]


def under_statistics(
    job: Job, part: str, how: How, pairs: Sequence[tuple[int, Sequence[Submission]]]
) -> list[tuple[int, dict[str, float]]]:
    """Find out for other statistics what two submissions show, in a worker.  The files are read again."""
    answers = []
    for number, submissions in pairs:
        mine, theirs = (robustness.varied(job, part, each) for each in submissions)
        found: dict[str, float] = {}
        for name, (prepared, numbers) in mine.items():
            found |= _detectable(job, part, how, {name: prepared}, [numbers, theirs[name][1]])
        answers.append((number, found))
    return answers


def _detectable(
    job: Job, part: str, how: How, rules: Mapping[str, Any], both: Sequence[Floats]
) -> dict[str, float]:
    """Compute the true difference that four of five test sets would show, by the name of a prepared solution.

    ``both`` has the statistics of the two teams, each (n, k), which are the same under all these rules.
    """
    resamples, seed, column = how
    together = solution_of(job).together(part, column)
    draws, _ = uncertainty.resampler(job, part, resamples, seed, column)
    drawn = None
    found = {}
    for name, prepared in rules.items():
        if not np.array_equal(prepared.groups, draws.prepared.groups):
            weights = statistics.draw(len(both[0]), resamples, seed, together=together)
            draws, drawn = statistics.Resampler(prepared, weights, seed), None
        if drawn is None:
            drawn = draws.draw(*both)
        found[name] = _of_two(draws.measuring(prepared), drawn, both, together)
    return found


def _of_two(
    draws: statistics.Resampler,
    drawn: Sequence[statistics.Drawn],
    both: Sequence[Floats],
    together: Ints | None,
) -> float:
    """Compute it for two submissions from their statistics, each (n, k), and their draws; NaN with a doubt."""
    prepared, model = draws.prepared, draws.model(draws.groups(*drawn))
    mine, theirs = (draws.population(each, model) for each in drawn)
    own, other = (prepared.measures(each.sums)[0] for each in drawn)
    units = Units(prepared, together)
    gains, others = (units.sums(influences(prepared, numbers, each.sums)) for numbers, each in zip(both, drawn))
    reactions = [reaction(prepared, numbers, each.sums, together) for numbers, each in zip(both, drawn)]
    differing = (both[0] != both[1]).any(axis=1)
    doubt = doubt_of_difference(units, differing, reactions[0], reactions[1], FEWEST_ON_A_BOARD)
    return difference_of_draws(float(own - other), mine, theirs, gains - others, doubt).detectable
