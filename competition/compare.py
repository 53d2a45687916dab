"""How sure a score is, and whether a submission is better than another one or lucky.

Intervals come from the bootstrap over the items (essays, claims, documents); the submissions of a pair are
compared on the same draws.  The p-value is that of approximate randomisation, as sacrebleu computes it for
BLEU (M. Post, "A Call for Clarity in Reporting BLEU Scores", 2018; E. Noreen, "Computer-Intensive Methods for
Testing Hypotheses", 1989): were the two submissions equally good, then to swap their answers to any items
would change nothing but luck; p is the share of random swaps that make them differ as much as they do.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from competition import bootstrap

__all__ = ["RESAMPLES", "compare", "intervals"]

RESAMPLES = 1000
# Sums in another order differ by so much; where no swap changes anything, all of them count.
ROUNDING = 1e-12

Floats = npt.NDArray[np.float64]


def intervals(evaluation: Any, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """The 95% intervals of all measures of an evaluation that offers ``measures``, ``items``, ``resample``.

    Returns
    -------
    DataFrame
        measure, value, low, high; NaN where the measure is undefined.
    """
    samples = bootstrap.measures(evaluation, bootstrap.draw(len(evaluation.items), resamples, seed))
    low, high = bootstrap.interval(samples)
    return pd.DataFrame(
        {
            "measure": list(evaluation.measures),
            "value": list(evaluation.measures.values()),
            "low": low,
            "high": high,
        }
    )


def compare(evaluation: Any, other: Any, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """The differences between two submissions to the same solution, in all measures.

    Parameters
    ----------
    evaluation, other : evaluations that offer ``measures``, ``items``, ``resample`` and, for p, ``mix``
    resamples : number of bootstrap draws, and of random swaps
    seed : of both

    Returns
    -------
    DataFrame
        measure; value and other, of the two; difference, value - other; low and high, its 95% interval;
        p, two-sided: (c + 1) / (n + 1) where c of n random swaps make the absolute difference as large;
        NaN where the measure is undefined or the evaluations offer no ``mix``.
    """
    weights = bootstrap.draw(len(evaluation.items), resamples, seed)
    low, high = bootstrap.interval(bootstrap.measures(evaluation, weights) - bootstrap.measures(other, weights))
    value, of_other = (np.array(list(each.measures.values())) for each in (evaluation, other))
    return pd.DataFrame(
        {
            "measure": list(evaluation.measures),
            "value": value,
            "other": of_other,
            "difference": value - of_other,
            "low": low,
            "high": high,
            "p": _p_values(np.abs(value - of_other), evaluation, other, resamples, seed),
        }
    )


def _p_values(observed: Floats, evaluation: Any, other: Any, resamples: int, seed: int) -> Floats:
    if not hasattr(evaluation, "mix"):
        return np.full(len(observed), np.nan)
    random = np.random.default_rng([seed, 1])  # not the stream of the draws
    rows = bootstrap.rows_at_once(len(evaluation.items))
    as_large = np.zeros(len(observed))
    least = observed * (1 - ROUNDING) - ROUNDING
    for start in range(0, resamples, rows):
        size = (min(rows, resamples - start), len(evaluation.items))
        mine, theirs = evaluation.mix(other, random.integers(0, 2, size, dtype=np.uint8))
        as_large += (np.abs(mine - theirs) >= least).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (as_large + 1) / (resamples + 1))
