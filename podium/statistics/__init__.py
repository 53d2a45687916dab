"""How sure a score is: resampling, intervals, p-values and rank sets, for any metric.

A metric that follows the contract (`podium.contract`) turns a submission into an array with one row of numbers
per item.  An item is an essay, a claim or a document, for example.  These numbers are the *statistics* of the
submission.  Their sums over groups of items decide every measure, and the first measure is the score.
Therefore all methods here are arithmetic on such sums:

- a bootstrap draw is a weighted sum (`draw`, `resample`);
- if two submissions swap some of their answers, their sums change by differences (`swap`);
- a part of the solution, such as the Public part, has the sums over its items (`part`).

The module answers three questions.

How good is a submission?
    `intervals` computes the 95% interval of each measure.  It is an interval for the population from which the
    items were drawn.
Which of two submissions is better?
    `compare` computes the differences with their intervals and p-values, and `verdict` says the result in a
    sentence.  For several submissions, `verdicts` corrects the p-values for their number.
What is a board worth?
    `resampler` draws the scores of many submissions, and `rank_sets` turns these draws into rank sets.

An interval that cannot be relied on has a ``note`` that says why.  If the note begins with "no interval", low
and high are NaN.  If it begins with "beware", there is an interval, but it may hold less often than 95%.
The program ``benchmarks/coverage.py`` measures how often intervals without a note hold, and the page
``docs/explanation/statistics.md`` shows the results.

Notes
-----
Two arguments occur in most functions.  ``prepared`` is what the metric's ``prepare`` made of a solution (see
`podium.contract.Prepared`).  ``statistics`` is the array of one submission, with shape (n, k).

In shapes, these letters stand for numbers:

- n items, with k statistics each;
- g groups in all.  Every attribute, such as the first language, divides the items into groups of its own;
- m measures;
- r bootstrap draws or swaps;
- t teams.
"""

from podium.statistics.inference import (
    BEWARE,
    LEVEL,
    NO_INTERVAL,
    RESAMPLES,
    Certainty,
    certainty,
    compare,
    holm,
    interval,
    intervals,
    note_of_difference,
    note_of_score,
    overview,
    p_values,
    swapper,
    verdict,
    verdicts,
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
    "holm",
    "influences",
    "interval",
    "intervals",
    "measures",
    "note_of_difference",
    "note_of_score",
    "overview",
    "p_values",
    "part",
    "rank_sets",
    "resample",
    "resampler",
    "sums",
    "swap",
    "swapper",
    "verdict",
    "verdicts",
    "widening",
    "widening_of_one",
]
