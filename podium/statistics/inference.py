"""Intervals, differences and p-values, each with a note where it cannot be relied on."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.statistics import sampling
from podium.statistics.population import columns_of_groups, resampler
from podium.statistics.sampling import (
    contributions,
    draw,
    gains_by_item,
    measures,
    slopes,
    sums,
    swap_by,
    weighted_sums,
)

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
RESAMPLES = 1000
SIGNIFICANT = 0.05
NO_INTERVAL, BEWARE = "no interval", "beware"

# Degrees of freedom for each item that counts, if all that count do so equally.
FREEDOM = 2.0

# Where groups are compared, intervals of one submission are wider by this factor.
MARGIN = 1.1

# With fewer items than these there is a note.  They are items in all or in a group, on the rarer side of a
# score, and between two submissions.
FEWEST_ITEMS = 10
FEWEST_DECIDING = 5.0
FEWEST_DIFFERING = 2.0

# The share of the score's reaction from which small groups carry weight.
HEAVY = 0.1

# The stream of random numbers; draws, runtimes and the population have others.
STREAM = 1

# How much sums in another order differ, relative to the values.
SAME = 1e-12

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def interval(samples: npt.ArrayLike, wider: npt.ArrayLike = 1.0) -> tuple[Floats, Floats]:
    """Compute the interval that holds the middle 95% of samples, and move its ends away from the median.

    Parameters
    ----------
    samples : array-like of float, shape (r, ...)
        The samples along the first axis.  NaN is left out.
    wider : array-like of float, shape (...)
        Factors by which the distance of both ends from the median is multiplied, see `widening`.

    Returns
    -------
    low, high : ndarray of float, shape (...)
        The ends: the quantiles 0.025 and 0.975, moved by the factors.  They are NaN where there is no sample.

    Examples
    --------
    >>> low, high = interval([[1.0], [2.0], [float("nan")], [3.0]])
    >>> low.tolist(), high.tolist()
    ([1.05], [2.95])
    """
    samples = np.asarray(samples, dtype=np.float64)
    if not samples.size:
        return np.full(samples.shape[1:], np.nan), np.full(samples.shape[1:], np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        low, median, high = np.nanquantile(samples, [TAIL, 0.5, 1 - TAIL], axis=0)
    more = np.asarray(wider) - 1
    return low - more * (median - low), high + more * (high - median)


def widening(gains: npt.ArrayLike) -> Floats:
    """Compute the factor by which an interval is widened because few items decide it.

    Parameters
    ----------
    gains : array-like of float, shape (n, ...)
        How much each item changes the value whose interval is widened.

    Returns
    -------
    ndarray of float, shape (...)
        Factors of at least 1.

    Notes
    -----
    The quantiles of bootstrap draws lie too close together if the sample is small.  T. Hesterberg therefore
    expands percentile intervals ("What Teachers Should Know About the Bootstrap", The American Statistician 69,
    2015).  Then the interval of a mean becomes that of Student's t with n - 1 degrees of freedom.

    The factor here is t(0.975, f) / z(0.975), the ratio of the quantiles of Student's t and of the normal
    distribution.  The degrees of freedom are f = 2·(Σg²)²/Σg⁴ for gains g, because many of the n items may
    count for nothing.  If the items that count do so equally, f is twice their number.  This formula is our
    own, and its factor 2 was chosen by measured coverage.

    Examples
    --------
    All of 1,000 items count, or only four of them:

    >>> float(widening(np.ones(1000)).round(3))
    1.001
    >>> float(widening(np.arange(1000) < 4).round(2))
    1.18
    """
    from scipy import special  # takes long to import

    gains = np.asarray(gains, dtype=np.float64)
    largest = np.abs(gains).max(axis=0, initial=0)
    squares = (gains / np.where(largest > 0, largest, 1)) ** 2
    # The square of a square takes much less time than a fourth power.
    second, fourth = squares.sum(axis=0), (squares * squares).sum(axis=0)
    freedom = np.divide(FREEDOM * second**2, fourth, out=np.full_like(fourth, np.inf), where=fourth > 0)
    factors: Floats = special.stdtrit(freedom, TAIL) / special.ndtri(TAIL)
    return factors


def widening_of_one(prepared: Any, influence: npt.ArrayLike) -> Floats:
    """Compute the factor by which intervals of one submission's measures are widened.

    It is the `widening`.  If the metric compares groups, it is multiplied by 1.1, because the draws and the
    model of the population miss some of the noise.  This margin was chosen by measured coverage.  Intervals of
    differences have no margin, because much of what is missed is the same for both submissions.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    influence : array-like of float, shape (n, ...)
        How fast measures grow with the weight of each item, see `podium.statistics.influences`.

    Returns
    -------
    ndarray of float, shape (...)
        Factors of at least 1.
    """
    factors: Floats = (1 if columns_of_groups(prepared) is None else MARGIN) * widening(influence)
    return factors


# ---- How many items decide ---------------------------------------------------------------------------------


class Certainty(NamedTuple):
    """How many items decide a score.

    Attributes
    ----------
    reaction : ndarray of float, shape (g,)
        How strongly the score reacts to each group, as shares that add up to 1.
    deciding : ndarray of int, shape (g,)
        The number of items on the rarer side of each group.  Some items raise the score of their group, and the
        others lower it.  In a nearly perfect submission only a few lower it, and these few decide.
    """

    reaction: Floats
    deciding: npt.NDArray[np.int64]


def certainty(prepared: Any, statistics: Floats, total: Floats) -> Certainty:
    """Count the items that decide a score, group by group.

    An item changes the score through its group by the item's influence minus the mean influence in the group.
    Items for which this change is positive are on one side, and items for which it is negative on the other.
    The reaction of the score to a group is the sum of the absolute changes, divided by the sum over all groups.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    statistics : ndarray of float, shape (n, k)
        The statistics of a submission.
    total : ndarray of float, shape (g, k)
        Its sums over each group.

    Returns
    -------
    Certainty
        The reaction to each group, and the number of items on its rarer side.
    """
    return _certainty(prepared.groups, contributions(prepared.groups, statistics, slopes(prepared, total)[0]))


def _certainty(groups: npt.NDArray[np.int64], split: Floats) -> Certainty:
    """Count as `certainty` does, from the influence of each item by attribute, shape (attributes, n)."""
    number = int(groups.max()) + 1
    of_group, members = split.ravel(), groups.ravel()
    sizes = np.bincount(members, minlength=number)
    # The size of a group may count in a score, too.  It is part of the mean, which is no item's merit.
    own = of_group - (np.bincount(members, of_group, minlength=number) / np.maximum(sizes, 1))[members]
    own[sampling.is_close_to_none(own)] = 0
    reaction = np.bincount(members, np.abs(own), minlength=number)
    deciding = np.minimum(*(np.bincount(members[way], minlength=number) for way in (own > 0, own < 0)))
    total = reaction.sum()
    return Certainty(reaction / total if total > 0 else sizes / sizes.sum(), deciding)


def note_of_score(prepared: Any, known: Certainty) -> str:
    """Say why the interval of a score cannot be relied on.

    The number of deciding items is the mean over the groups of the items on the rarer side.  In the mean, each
    group has the weight of the score's reaction to it.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    known : Certainty
        How many items decide the score of the submission, see `certainty`.

    Returns
    -------
    str
        The note, or an empty text if the interval can be relied on.

    Notes
    -----
    There is a note in these cases.  The first one that applies is named.

    1. There are fewer than 10 items in all.  With only one, there is no interval.
    2. Groups of fewer than 10 items have a tenth or more of the score's reaction.
    3. Fewer than 5 items decide the score.  With fewer than one, there is no interval.

    If groups have no scores of their own, the second case does not occur.  The third one then adds up the items
    on the rarer side.
    """
    items = len(prepared.items)
    if items < FEWEST_ITEMS:
        return _few_items(items)
    if columns_of_groups(prepared) is None:
        return _few_deciding(float(known.deciding.sum()))
    sizes = np.bincount(prepared.groups.ravel(), minlength=len(prepared.labels))
    small = float(known.reaction[sizes < FEWEST_ITEMS].sum())
    if small >= HEAVY:
        return f"{BEWARE}: groups of fewer than {FEWEST_ITEMS} items decide {small:.0%} of this value"
    return _few_deciding(float(known.reaction @ known.deciding))


def note_of_difference(prepared: Any, differing: Bools, mine: Certainty, theirs: Certainty) -> str:
    """Say why the interval of a difference between two scores cannot be relied on.

    The number of items that decide is the mean over the groups of the items in which the submissions differ.
    In the mean, each group has the weight of the scores' reaction to it.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    differing : ndarray of bool, shape (n,)
        The items for which the statistics of the two submissions differ.
    mine, theirs : Certainty
        How many items decide the score of each submission, see `certainty`.

    Returns
    -------
    str
        The note, or an empty text if the interval can be relied on.

    Notes
    -----
    There is a note if there are fewer than 10 items in all, or if fewer than 2 items decide the difference.
    With only one item, or if fewer than one decides, there is no interval.
    """
    items = len(prepared.items)
    if items < FEWEST_ITEMS:
        return _few_items(items)
    if columns_of_groups(prepared) is None:
        return _few_differing(float(differing.sum()))
    counts = sum(np.bincount(members[differing], minlength=len(prepared.labels)) for members in prepared.groups)
    return _few_differing(float((mine.reaction + theirs.reaction) / 2 @ counts))


def _few_items(number: int) -> str:
    """Write the note on a solution with few items."""
    return f"{NO_INTERVAL}: only one item" if number < 2 else f"{BEWARE}: fewer than {FEWEST_ITEMS} items"


def _few_deciding(number: float) -> str:
    """Write the note on a value that few items decide, or none if there are enough."""
    if number >= FEWEST_DECIDING:
        return ""
    if number < 1:
        return f"{NO_INTERVAL}: hardly any item decides this value"
    return f"{BEWARE}: only about {_counted(number)} this value"


def _few_differing(number: float) -> str:
    """Write the note on a difference that few items decide, or none if there are enough."""
    if number >= FEWEST_DIFFERING:
        return ""
    if number < 1:
        return f"{NO_INTERVAL}: hardly any item decides this difference"
    return f"{BEWARE}: only about {_counted(number)} this difference"


def _counted(number: float) -> str:
    """Begin a sentence about how many items decide something."""
    whole = max(round(number), 1)
    return "1 item decides" if whole == 1 else f"{whole} items decide"


# ---- Of one submission -------------------------------------------------------------------------------------


def intervals(prepared: Any, statistics: Floats, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """Compute the 95% intervals of all measures, for the population from which the items were drawn.

    The interval of the score may lie above the score.  If the worst of several groups counts most, a small
    sample usually scores lower than the population.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    statistics : ndarray of float, shape (n, k)
        The statistics of a submission.
    resamples : int
        The number of draws.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        A row per measure with its name (``measure``), its ``value``, the ends ``low`` and ``high`` of its
        interval, and a ``note``.  The note is empty if the interval can be relied on.  If it begins with "no
        interval", low and high are NaN.

    Notes
    -----
    The interval of the score is made of draws of the score on the population, see `resampler`.  The intervals
    of all other measures are made of their bootstrap draws.  Both are widened, see `widening_of_one`.

    The note of the score is that of `note_of_score`.  There is no interval for a measure that is undefined, nor
    for a group of fewer than 10 items.  Any other measure has a note if fewer than 5 items raise it, or if
    fewer than 5 items lower it.
    """
    ((total, samples, scores),) = resampler(prepared, draw(len(statistics), resamples, seed), seed)(statistics)
    values = prepared.measures(total)
    # The shape is (m, attributes, n); that of the influence is (n, m).
    splits = np.stack(
        [contributions(prepared.groups, statistics, of_measure) for of_measure in slopes(prepared, total)]
    )
    influence = splits.sum(axis=1).T
    wider = widening_of_one(prepared, influence)
    low, high = interval(samples, wider)
    low[0], high[0] = interval(scores, wider[0])
    notes = _notes_of_measures(prepared, values, influence)
    if not notes[0]:
        notes[0] = note_of_score(prepared, _certainty(prepared.groups, splits[0]))
    table = pd.DataFrame(
        {"measure": prepared.measure_names, "value": values, "low": low, "high": high, "note": notes}
    )
    return _without_intervals(table)


def _notes_of_measures(prepared: Any, values: Floats, influence: Floats) -> list[str]:
    """Write the notes of all measures, from the influence of each item on each measure, shape (n, m).

    The note of the score is not complete yet, because its groups are not looked at here.
    """
    number = len(influence)
    sizes = _sizes_of_measures(prepared)
    notes = []
    for measure, value in enumerate(values.tolist()):
        of_measure = np.where(sampling.is_close_to_none(influence[:, measure]), 0, influence[:, measure])
        rarer = min((of_measure > 0).sum(), (of_measure < 0).sum())
        notes.append(_note(number, sizes[measure], value) or ("" if measure == 0 else _few_deciding(rarer)))
    return notes


def _sizes_of_measures(prepared: Any) -> list[int]:
    """Count the items behind each measure: those of a group for its score, and all items otherwise."""
    names = [f"{attribute} = {value}" for attribute, value in prepared.labels]
    sizes = np.bincount(prepared.groups.ravel(), minlength=len(names)).tolist()
    size_of = dict(zip(names, sizes))
    return [size_of.get(name, len(prepared.items)) for name in prepared.measure_names]


def _note(items: int, of_measure: int, value: float) -> str:
    """Write the note that follows from the value and the number of items alone, or none."""
    if np.isnan(value):
        return f"{NO_INTERVAL}: undefined"
    if items < FEWEST_ITEMS:
        return _few_items(items)
    return f"{NO_INTERVAL}: fewer than {FEWEST_ITEMS} items" if of_measure < FEWEST_ITEMS else ""


def _without_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Replace the ends of intervals by NaN where the note says that there is no interval."""
    none = table["note"].str.startswith(NO_INTERVAL)
    table.loc[none, ["low", "high"]] = np.nan
    return table


# ---- Of two ------------------------------------------------------------------------------------------------


def compare(
    prepared: Any, mine: Floats, theirs: Floats, resamples: int = RESAMPLES, seed: int = 0
) -> pd.DataFrame:
    """Compute the differences between two submissions to the same solution, in all measures.

    Both submissions get the same draws.  The interval says how large the difference may be on the population.
    The p-value says how often so large a difference would arise if both submissions were equally good, see
    `p_values`.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    mine, theirs : ndarray of float, shape (n, k)
        The statistics of the two submissions.
    resamples : int
        The number of draws, and the number of swaps.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        A row per measure, with its name in ``measure``.  The value of the first submission is ``value``, that
        of the second one is ``other``.  Their ``difference`` has an interval from ``low`` to ``high``, a
        p-value ``p``, and a ``note`` as in `intervals`.

    Notes
    -----
    The interval is made of the differences between the draws of the two submissions, see `resampler` with
    ``compared=True``.  For the score these are draws for the population, and for all other measures they are
    bootstrap draws.

    The interval is widened by the `widening` of the items' gains (see `gains_by_item`).  An item's gain is the
    change if the second submission takes the first one's answer, minus the change the other way round.

    The note of the score is that of `note_of_difference`.  Any other measure has a note if fewer than 2 items
    change it.  It has no interval if it is undefined or belongs to a group of fewer than 10 items.
    """
    of_draws = resampler(prepared, draw(len(mine), resamples, seed), seed)
    (total, ours, score), (other_total, others, other_score) = of_draws(mine, theirs, compared=True)
    # Taken from both sides, gains only change their sign if the submissions change places.
    gains = gains_by_item(prepared, mine, theirs) - gains_by_item(prepared, theirs, mine)
    wider = widening(gains)
    low, high = interval(ours - others, wider)
    low[0], high[0] = interval(score - other_score, wider[0])
    value, other = (np.array(list(measures(prepared, each).values())) for each in (mine, theirs))
    differing = (mine != theirs).any(axis=1)
    of_score = note_of_difference(
        prepared, differing, certainty(prepared, mine, total), certainty(prepared, theirs, other_total)
    )
    table = pd.DataFrame(
        {
            "measure": prepared.measure_names,
            "value": value,
            "other": other,
            "difference": value - other,
            "low": low,
            "high": high,
            "p": p_values(prepared, mine, theirs, resamples, seed),
            "note": [of_score, *_notes_of_differences(prepared, gains, value - other)[1:]],
        }
    )
    if not differing.any():
        table["note"] = ""  # equal submissions differ by exactly 0 on the population, too
    return _without_intervals(table)


def _notes_of_differences(prepared: Any, gains: Floats, differences: Floats) -> list[str]:
    """Write the notes of the differences in each measure, from the gain by each item, shape (n, m)."""
    sizes = _sizes_of_measures(prepared)
    counts = [(~sampling.is_close_to_none(of_measure)).sum() for of_measure in gains.T]
    return [
        _note(len(gains), size, difference) or _few_differing(count)
        for size, difference, count in zip(sizes, differences.tolist(), counts)
    ]


def p_values(prepared: Any, mine: Floats, theirs: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """Compute the p-values of the differences between two submissions, in all measures.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    mine, theirs : ndarray of float, shape (n, k)
        The statistics of the two submissions.
    resamples : int
        The number r of random swaps.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    ndarray of float, shape (m,)
        The two-sided p-value of each measure, NaN where a measure is undefined.

    Notes
    -----
    The method is approximate randomization (E. Noreen, *Computer-Intensive Methods for Testing Hypotheses*,
    1989).  If both submissions are equally good, it does not matter which of them gave which answer to an item.
    So in each of r trials, the two answers to every item are swapped with probability one half.  If c trials
    give an absolute difference at least as large as the observed one, the p-value is (c + 1) / (r + 1).
    """
    return swapper(prepared, len(mine), resamples, seed)(mine, theirs)


def swapper(
    prepared: Any, items: int, resamples: int = RESAMPLES, seed: int = 0
) -> Callable[[Floats, Floats], Floats]:
    """Make a function that computes the `p_values` of many pairs with the same random swaps.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    items : int
        The number of its items.
    resamples : int
        The number of random swaps.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    function
        It takes the statistics of two submissions, each an ndarray of float with shape (n, k).  It returns
        their p-values, an ndarray of float with shape (m,).
    """
    rows = max(1, sampling.CELLS_AT_ONCE // items)

    def blocks() -> Iterator[Callable[..., Floats]]:
        random = np.random.default_rng([seed, STREAM])
        for start in range(0, resamples, rows):
            size = (min(rows, resamples - start), items)
            yield weighted_sums(random.integers(0, 2, size, dtype=np.uint8), prepared.groups)

    # The swaps of very many items would not fit into memory, so they are drawn again for each pair.
    kept = list(blocks()) if resamples <= rows else None

    def of_pair(mine: Floats, theirs: Floats) -> Floats:
        values = [prepared.measures(sums(each, prepared.groups)) for each in (mine, theirs)]
        observed = np.abs(values[0] - values[1])
        least = observed - SAME * np.maximum(np.abs(values).max(axis=0), 1)
        as_large = np.zeros(len(observed))
        for sums_of_swaps in kept or blocks():
            ours, others = swap_by(sums_of_swaps, prepared, mine, theirs)
            as_large += (np.abs(ours - others) >= least).sum(axis=0)
        return np.where(np.isnan(observed), np.nan, (as_large + 1) / (resamples + 1))

    return of_pair


def holm(p: npt.ArrayLike) -> Floats:
    """Correct p-values for their number, so that they can all be judged at once.

    Every corrected p-value up to 0.05 is then taken for a difference.  The probability that any of these
    differences is due to chance is at most 5%, however the comparisons depend on each other.

    Parameters
    ----------
    p : array-like of float, shape (k,)
        The p-values of k comparisons.  NaN stands for a comparison that cannot be made, and does not count.

    Returns
    -------
    ndarray of float, shape (k,)
        The corrected p-values, in the same order.  None is smaller than before.

    Notes
    -----
    The smallest p-value is multiplied by k, the next one by k - 1, and so on.  A corrected p-value is never
    smaller than one before it, nor larger than 1.

    References
    ----------
    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6,
    1979.

    Examples
    --------
    >>> holm([0.5, 0.01, 0.03]).tolist()
    [0.5, 0.03, 0.06]
    """
    corrected = np.array(p, dtype=np.float64)
    order = np.argsort(corrected, kind="stable")  # NaN comes last
    order = order[: int((~np.isnan(corrected)).sum())]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(corrected[order] * factors), 1)
    return corrected


def verdict(
    comparison: pd.DataFrame,
    higher_is_better: bool = True,
    names: tuple[str, str] = ("the first submission", "the other one"),
) -> str:
    """Say in words which of two submissions is better and how sure that is.

    The p-value decides whether there is a difference, because it is exact.  At most 5% of equally good pairs
    have a p-value up to 0.05, whatever the metric and however few items decide.  The interval says how large
    the difference may be, and it is an approximation.  If the two disagree, the sentence says so.

    Parameters
    ----------
    comparison : DataFrame
        What `compare` returned.  Its first row, the score, decides.
    higher_is_better : bool
        Whether a higher score is better.
    names : tuple of (str, str)
        The names of the two submissions, as they stand inside a sentence.

    Returns
    -------
    str
        One sentence.
    """
    return _verdict(comparison.iloc[0], higher_is_better, names, None)


def verdicts(
    comparisons: Mapping[str, pd.DataFrame], higher_is_better: bool = True, name: str = "the first submission"
) -> list[str]:
    """Say in words how one submission compares with each of several others, and how sure that is.

    The p-values are corrected for the number of comparisons, see `holm`.  Without the correction, a submission
    that is compared with twenty equally good ones would on average differ from one of them by chance.

    Parameters
    ----------
    comparisons : mapping of str to DataFrame
        What `compare` returned for each other submission, by its name.
    higher_is_better : bool
        Whether a higher score is better.
    name : str
        The name of the submission that is compared with all others.

    Returns
    -------
    list of str
        One sentence for each other submission.  If there are several, another one says that the p-values are
        corrected.
    """
    if len(comparisons) == 1:
        return [verdict(table, higher_is_better, (name, other)) for other, table in comparisons.items()]
    corrected = holm([table["p"].iloc[0] for table in comparisons.values()])
    sentences = [
        _verdict(table.iloc[0], higher_is_better, (name, other), p)
        for (other, table), p in zip(comparisons.items(), corrected.tolist())
    ]
    return [
        *sentences,
        f"The p-values of these sentences are corrected for {len(corrected)} comparisons (Holm): with a "
        f"probability of {1 - SIGNIFICANT:.0%} or more, none of them takes luck for a difference.",
    ]


def overview(comparisons: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tabulate how the score of one submission compares with those of several others.

    Parameters
    ----------
    comparisons : mapping of str to DataFrame
        What `compare` returned for each other submission, by its name.

    Returns
    -------
    DataFrame
        One row per other submission.  It has the name (``submission``), the ``score`` of that submission, and
        the ``difference`` with its interval from ``low`` to ``high``.  The p-value is ``p``, and corrected for
        the number of comparisons (see `holm`) it is ``p_corrected``.  The ``note`` is as in `intervals`.
    """
    rows = pd.concat([table.head(1) for table in comparisons.values()], ignore_index=True)
    rows = rows.assign(submission=list(comparisons), score=rows["other"], p_corrected=holm(rows["p"]))
    return rows[["submission", "score", "difference", "low", "high", "p", "p_corrected", "note"]]


def _verdict(
    row: "pd.Series[Any]", higher_is_better: bool, names: tuple[str, str], corrected: float | None
) -> str:
    """Write the sentence of `verdict`; `corrected` is the p-value if several submissions are compared."""
    difference, note = float(row["difference"]), str(row["note"])
    p = float(row["p"]) if corrected is None else corrected
    if np.isnan(difference):
        return f"The scores of {names[0]} and {names[1]} cannot be compared, because one of them is undefined."
    if difference == 0:
        return f"The scores of {names[0]} and {names[1]} are the same."
    better, worse = names if (difference > 0) == higher_is_better else names[::-1]
    sure = p <= SIGNIFICANT
    told = "which is hardly due to chance" if sure else "which may well be due to chance"
    shown = f"{'p' if corrected is None else 'corrected p'} = {p:.3f}"
    lead = f"The score of {better} is better than that of {worse} by {abs(difference):.6f} ({shown}), {told}"
    if np.isnan(row["low"]):
        return f"{lead}; the p-value alone says so, as there is no interval to rely on."
    excludes_none = bool(row["low"] > 0 or row["high"] < 0)
    if sure == excludes_none:
        return f"{lead}; {'but ' if note and sure else ''}{_of_interval(note)}."
    if corrected is not None and excludes_none:
        return f"{lead}; the interval excludes 0, but it is not corrected for the number of comparisons."
    includes = "excludes" if excludes_none else "includes"
    return f"{lead}; the interval {includes} 0, but it is only an approximation, and the p-value is exact."


def _of_interval(note: str) -> str:
    """Say what an interval adds to a p-value with which it agrees."""
    if note:
        return f"the interval may be too narrow ({note.removeprefix(f'{BEWARE}: ')})"
    return "the interval says the same"
