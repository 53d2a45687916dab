"""How sure a score is: resampling, intervals, p-values and sets of ranks, for any metric.

A metric that follows the contract of `podium.hosted` turns a submission into one array of numbers per item (an
essay, a claim, a document).  Sums of that array over the groups of items decide every measure.  So all of
statistics is arithmetic on such sums:

- a bootstrap draw is a weighted sum (`draw`, `resample`);
- a submission that swaps some of its answers with another is a sum of differences (`swap`);
- a part of the solution, such as the Public one, is the sum over its items (`part`).

Three questions are answered with it.

How good is a submission?
    `intervals` gives the 95% interval of each measure, for the population that the items stand for.
Which of two is better?
    `compare` gives the intervals of the differences and their p-values, `verdict` says it in a sentence.
What is a board worth?
    `resampler` draws the scores of many submissions, `rank_sets` turns draws into sets of ranks.

An interval that cannot be relied on has a ``note`` that says why.  Notes that begin with "no interval" stand
where low and high are NaN; notes that begin with "beware" stand beside an interval that promises too much.  How
often intervals without a note hold was measured (``benchmarks/coverage.py``, docs/explanation/statistics.md).

In every function ``prepared`` is what the metric's ``prepare`` made of a solution, and ``statistics`` is the
array of a submission, (n, k) floats: n items, k numbers each.  In shapes, g stands for groups, m for measures,
r for draws and t for teams.
"""

from podium.statistics.inference import (
    BEWARE,
    LEVEL,
    NO_INTERVAL,
    RESAMPLES,
    Certainty,
    certainty,
    compare,
    interval,
    intervals,
    note_of_difference,
    note_of_score,
    p_values,
    swapper,
    verdict,
    widening,
    widening_of_one,
)
from podium.statistics.population import Resampled, resampler
from podium.statistics.ranks import rank_sets
from podium.statistics.sampling import (
    draw,
    gains_by_item,
    influences,
    measures,
    part,
    resample,
    sums,
    swap,
)

__all__ = [
    "BEWARE",
    "LEVEL",
    "NO_INTERVAL",
    "RESAMPLES",
    "Certainty",
    "Resampled",
    "certainty",
    "compare",
    "draw",
    "gains_by_item",
    "influences",
    "interval",
    "intervals",
    "measures",
    "note_of_difference",
    "note_of_score",
    "p_values",
    "part",
    "rank_sets",
    "resample",
    "resampler",
    "sums",
    "swap",
    "swapper",
    "verdict",
    "widening",
    "widening_of_one",
]
