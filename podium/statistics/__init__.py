"""How sure a score is, and what a board says about chance, for any metric.

How good is a submission?
    `intervals` computes the 95% interval of each measure, for the population from which the items were drawn.
Which of two submissions is better?
    `compare` computes the differences with their intervals, and how often the first one is ahead.
What is a board worth?
    `Resampler` draws the scores of many submissions. `first_again` says who would be first again on new items,
    and `may_be_best` who cannot be excluded as the best.

What does a metric need for all this?
    `item_wise` makes it of two functions: one gives each row some numbers, the other one makes the score of
    their sums.

`intervals` and `compare` take what `podium.score` returned. All other functions take arrays: a metric that
follows the contract (`podium.metric.contract`) turns a submission into an array with one row of numbers per
item, such
as an essay, a claim or a document. These numbers are the *statistics* of the submission. Their sums over
groups of items decide every measure, and the first measure is the score. So a bootstrap draw is a weighted sum
(`draw`, `resample`), and a part of the solution, such as the Public part, has the sums over its items (`part`).

The page ``docs/explanation/statistics.md`` describes the models with their constants, and shows how often these
statements came true.

Notes
-----
Two arguments occur in most functions. ``prepared`` is what the metric's ``prepare`` made of a solution (see
`podium.metric.contract.Prepared`). ``statistics`` is the array of one submission, with shape (n, k).

In shapes, these letters stand for numbers:

- n items, with k statistics each;
- g groups in all. Every attribute, such as the first language, divides the items into groups of its own;
- m measures;
- r bootstrap draws;
- t teams.
"""

from podium.statistics.compared import RESAMPLES, Comparison, Difference
from podium.statistics.doubts import Doubt, Reason
from podium.statistics.inference import (
    compare,
    difference,
    intervals,
    intervals_of,
)
from podium.statistics.itemwise import item_wise
from podium.statistics.places import LEVEL, Rewards, first_again, may_be_best
from podium.statistics.population import Drawn, Groups, PopulationModel, Resampler, Scores, group_slopes
from podium.statistics.sampling import draw, gains_by_item, measures, part, resample, sums

__all__ = [
    "LEVEL",
    "RESAMPLES",
    "Comparison",
    "Difference",
    "Doubt",
    "Drawn",
    "Groups",
    "PopulationModel",
    "Reason",
    "Resampler",
    "Rewards",
    "Scores",
    "compare",
    "difference",
    "draw",
    "first_again",
    "gains_by_item",
    "group_slopes",
    "intervals",
    "intervals_of",
    "item_wise",
    "may_be_best",
    "measures",
    "part",
    "resample",
    "sums",
]
