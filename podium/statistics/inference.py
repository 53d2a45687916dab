"""Intervals, differences and p-values, each with a note where it cannot be relied on."""

import warnings
from collections.abc import Callable, Iterator
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
FREEDOM = 2.0  # degrees of freedom for each item of those that count alike
MARGIN = 1.1  # by which intervals of one submission are wider still, where groups are compared
FEWEST_ITEMS = 10  # in all or in a group
FEWEST_DECIDING = 5.0  # items on the rarer side of a score
FEWEST_DIFFERING = 2.0  # items in which two submissions differ
HEAVY = 0.1  # share of the score's reaction from which a group carries weight
STREAM = 1  # of random numbers, beside those of draws, runtimes and the population
SAME = 1e-12  # by which sums in another order differ
NO_INTERVAL, BEWARE = "no interval", "beware"

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def interval(samples: npt.ArrayLike, wider: npt.ArrayLike = 1.0) -> tuple[Floats, Floats]:
    """Take the interval of the middle 95% of samples.

    Parameters
    ----------
    samples : (r, ...) floats; NaN does not count
    wider : (...) floats, factors by which both ends are moved away from the median, see `widening`

    Returns
    -------
    low, high : (...) floats each, NaN where there is no sample

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
    """Compute by how much an interval is to be wider because few items decide it.

    Quantiles of draws lie too close together where few numbers are drawn from.  T. Hesterberg ("What Teachers
    Should Know About the Bootstrap", The American Statistician 69, 2015) therefore expands percentile
    intervals, so that the interval of a mean is that of Student's t with n - 1 degrees of freedom.  Here many
    of the n items count for nothing, so the degrees of freedom are those of the items that count: 2·(Σg²)²/Σg⁴
    for gains g, which is twice their number where they count alike.  This formula is our own, its factor was
    chosen by coverage.

    Parameters
    ----------
    gains : (n, ...) floats, by how much each item changes what the interval is of

    Returns
    -------
    (...) floats, factors from 1

    Examples
    --------
    >>> float(widening(np.ones(1000)).round(3))  # all items count
    1.001
    >>> float(widening(np.arange(1000) < 4).round(2))  # four of them do
    1.18
    """
    from scipy import special  # takes long to import

    gains = np.asarray(gains, dtype=np.float64)
    largest = np.abs(gains).max(axis=0, initial=0)
    squares = (gains / np.where(largest > 0, largest, 1)) ** 2
    second, fourth = squares.sum(axis=0), (squares * squares).sum(axis=0)  # a fourth power takes much longer
    freedom = np.divide(FREEDOM * second**2, fourth, out=np.full_like(fourth, np.inf), where=fourth > 0)
    factors: Floats = special.stdtrit(freedom, TAIL) / special.ndtri(TAIL)
    return factors


def widening_of_one(prepared: Any, influence: npt.ArrayLike) -> Floats:
    """Compute by how much the interval of one submission's measures is to be wider.

    Where the metric compares groups, a margin comes to the `widening`, for what draws and the model of the
    population miss.  It was chosen by coverage.  Intervals of differences do without, since much of what is
    missed is the same for both submissions.

    Parameters
    ----------
    prepared : a prepared solution
    influence : (n, ...) floats, how fast measures grow with each item's weight, see
        `podium.statistics.influences`

    Returns
    -------
    (...) floats, factors from 1
    """
    factors: Floats = (1 if columns_of_groups(prepared) is None else MARGIN) * widening(influence)
    return factors


# ---- How many items decide ---------------------------------------------------------------------------------


class Certainty(NamedTuple):
    """How many items decide a score.

    Attributes
    ----------
    reaction : (g,) floats that add up to 1, how strongly the score reacts to each group
    deciding : (g,) integers, of each group the items on its rarer side.  Some items raise the group's score,
        the others lower it; of a nearly perfect submission few lower it, and these decide.
    """

    reaction: Floats
    deciding: npt.NDArray[np.int64]


def certainty(prepared: Any, statistics: Floats, total: Floats) -> Certainty:
    """Count the items that decide a score, group by group.

    A score reacts to a group as much as the absolute changes add up that its items make.

    Parameters
    ----------
    prepared : a prepared solution
    statistics : (n, k) floats of a submission
    total : (g, k) floats, its sums
    """
    return _certainty(prepared.groups, contributions(prepared.groups, statistics, slopes(prepared, total)[0]))


def _certainty(groups: npt.NDArray[np.int64], split: Floats) -> Certainty:
    """`certainty` of what the items contribute, (attributes, n)."""
    number = int(groups.max()) + 1
    of_group, members = split.ravel(), groups.ravel()
    sizes = np.bincount(members, minlength=number)
    # A group's size may count in a score, too; that is no item's doing.
    own = of_group - (np.bincount(members, of_group, minlength=number) / np.maximum(sizes, 1))[members]
    own[sampling.is_close_to_none(own)] = 0
    reaction = np.bincount(members, np.abs(own), minlength=number)
    deciding = np.minimum(*(np.bincount(members[way], minlength=number) for way in (own > 0, own < 0)))
    total = reaction.sum()
    return Certainty(reaction / total if total > 0 else sizes / sizes.sum(), deciding)


def note_of_score(prepared: Any, known: Certainty) -> str:
    """Say why the interval of a score cannot be relied on.

    Parameters
    ----------
    prepared : a prepared solution
    known : of the submission, see `certainty`

    Returns
    -------
    text, empty where the interval can be relied on
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

    Parameters
    ----------
    prepared : a prepared solution
    differing : (n,) booleans, the items to which the submissions' statistics differ
    mine, theirs : of the two submissions, see `certainty`

    Returns
    -------
    text, empty where the interval can be relied on, or where the submissions do not differ at all
    """
    items = len(prepared.items)
    if items < FEWEST_ITEMS:
        return _few_items(items)
    if columns_of_groups(prepared) is None:
        return _few_differing(float(differing.sum()))
    counts = sum(np.bincount(members[differing], minlength=len(prepared.labels)) for members in prepared.groups)
    return _few_differing(float((mine.reaction + theirs.reaction) / 2 @ counts))


def _few_items(number: int) -> str:
    return f"{NO_INTERVAL}: only one item" if number < 2 else f"{BEWARE}: fewer than {FEWEST_ITEMS} items"


def _few_deciding(number: float) -> str:
    if number >= FEWEST_DECIDING:
        return ""
    if number < 1:
        return f"{NO_INTERVAL}: hardly any item decides this value"
    return f"{BEWARE}: only about {_counted(number)} this value"


def _few_differing(number: float) -> str:
    if number >= FEWEST_DIFFERING:
        return ""
    if number < 1:
        return f"{NO_INTERVAL}: hardly any item decides this difference"
    return f"{BEWARE}: only about {_counted(number)} this difference"


def _counted(number: float) -> str:
    whole = max(round(number), 1)
    return "1 item decides" if whole == 1 else f"{whole} items decide"


# ---- Of one submission -------------------------------------------------------------------------------------


def intervals(prepared: Any, statistics: Floats, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """Compute the 95% intervals of all measures, for the population from which the items were drawn.

    The score's interval may lie above the score.  Where the worst of several groups counts most, a small sample
    scores lower than the population.

    Parameters
    ----------
    prepared : a prepared solution
    statistics : (n, k) floats of a submission
    resamples : number of draws
    seed : of the random numbers

    Returns
    -------
    DataFrame with a row per measure: ``measure``, ``value``, ``low``, ``high`` and ``note``, which is empty
    where the interval can be relied on; low and high are NaN where it says "no interval"
    """
    ((total, samples, scores),) = resampler(prepared, draw(len(statistics), resamples, seed), seed)(statistics)
    values = prepared.measures(total)
    # (m, attributes, n), then (n, m)
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
    """Notes of all measures, by the items that raise and that lower them, (n, m); of the score a first one."""
    number = len(influence)
    sizes = _sizes_of_measures(prepared)
    notes = []
    for measure, value in enumerate(values.tolist()):
        of_measure = np.where(sampling.is_close_to_none(influence[:, measure]), 0, influence[:, measure])
        rarer = min((of_measure > 0).sum(), (of_measure < 0).sum())
        notes.append(_note(number, sizes[measure], value) or ("" if measure == 0 else _few_deciding(rarer)))
    return notes


def _sizes_of_measures(prepared: Any) -> list[int]:
    """Of each measure the number of items that it is of: those of its group, or all."""
    names = [f"{attribute} = {value}" for attribute, value in prepared.labels]
    sizes = np.bincount(prepared.groups.ravel(), minlength=len(names)).tolist()
    size_of = dict(zip(names, sizes))
    return [size_of.get(name, len(prepared.items)) for name in prepared.measure_names]


def _note(items: int, of_measure: int, value: float) -> str:
    """What can be said of a measure before its items are counted."""
    if np.isnan(value):
        return f"{NO_INTERVAL}: undefined"
    if items < FEWEST_ITEMS:
        return _few_items(items)
    return f"{NO_INTERVAL}: fewer than {FEWEST_ITEMS} items" if of_measure < FEWEST_ITEMS else ""


def _without_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """The table with NaN for the intervals that are not to be had."""
    none = table["note"].str.startswith(NO_INTERVAL)
    table.loc[none, ["low", "high"]] = np.nan
    return table


# ---- Of two ------------------------------------------------------------------------------------------------


def compare(
    prepared: Any, mine: Floats, theirs: Floats, resamples: int = RESAMPLES, seed: int = 0
) -> pd.DataFrame:
    """Compute the differences between two submissions to the same solution, in all measures.

    Both submissions get the same draws.  The interval says how large the difference may be on the population;
    the p-value says how likely so large a difference is if both are equally good, see `p_values`.

    Parameters
    ----------
    prepared : a prepared solution
    mine, theirs : (n, k) floats of the two submissions
    resamples : number of draws, and of swaps
    seed : of the random numbers

    Returns
    -------
    DataFrame with a row per measure: ``measure``, ``value`` (mine), ``other`` (theirs), ``difference``,
    ``low``, ``high``, ``p`` and ``note``, as in `intervals`
    """
    of_draws = resampler(prepared, draw(len(mine), resamples, seed), seed)
    (total, ours, score), (other_total, others, other_score) = of_draws(mine, theirs, compared=True)
    # The same from either side.
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
        table["note"] = ""  # any difference but 0 would be wrong
    return _without_intervals(table)


def _notes_of_differences(prepared: Any, gains: Floats, differences: Floats) -> list[str]:
    """Notes of the differences in each measure, by the items that change it, (n, m)."""
    sizes = _sizes_of_measures(prepared)
    counts = [(~sampling.is_close_to_none(of_measure)).sum() for of_measure in gains.T]
    return [
        _note(len(gains), size, difference) or _few_differing(count)
        for size, difference, count in zip(sizes, differences.tolist(), counts)
    ]


def p_values(prepared: Any, mine: Floats, theirs: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """Compute the p-values of the differences between two submissions, in all measures.

    Approximate randomization (E. Noreen, *Computer-Intensive Methods for Testing Hypotheses*, 1989): if both
    submissions are equally good, it does not matter which one gave which of two answers to an item.  So
    answers are swapped at random.  The two-sided p-value is (c + 1) / (r + 1), where c of r such swaps make
    the absolute difference at least as large as it is.

    Parameters
    ----------
    prepared : a prepared solution
    mine, theirs : (n, k) floats of the two submissions
    resamples : number of swaps
    seed : of the random numbers

    Returns
    -------
    (m,) floats, NaN where a measure is undefined
    """
    return swapper(prepared, len(mine), resamples, seed)(mine, theirs)


def swapper(
    prepared: Any, items: int, resamples: int = RESAMPLES, seed: int = 0
) -> Callable[[Floats, Floats], Floats]:
    """Make the function that computes `p_values` of many pairs, which share the swaps.

    Parameters
    ----------
    prepared : a prepared solution
    items : their number
    resamples : number of swaps
    seed : of the random numbers

    Returns
    -------
    function of two submissions' statistics, (n, k) floats each, giving (m,) p-values
    """
    rows = max(1, sampling.CELLS_AT_ONCE // items)

    def blocks() -> Iterator[Callable[..., Floats]]:
        random = np.random.default_rng([seed, STREAM])
        for start in range(0, resamples, rows):
            size = (min(rows, resamples - start), items)
            yield weighted_sums(random.integers(0, 2, size, dtype=np.uint8), prepared.groups)

    # Swaps of very many items would not fit the memory: they are drawn again for each pair.
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


def verdict(
    comparison: pd.DataFrame,
    higher_is_better: bool = True,
    names: tuple[str, str] = ("the first submission", "the other one"),
) -> str:
    """Say in words which of two submissions is better and how sure that is.

    The p-value decides whether there is a difference, since it is exact: whatever the metric and however few
    items decide, at most 5% of equally good pairs have a p-value up to 0.05.  The interval tells how large the
    difference may be, and it is an approximation.  Where the two disagree, the sentence says so.

    Parameters
    ----------
    comparison : from `compare`; its first row decides
    higher_is_better : whether a higher score is better
    names : of the two submissions, as they stand inside a sentence

    Returns
    -------
    one sentence
    """
    row = comparison.iloc[0]
    difference, p, note = float(row["difference"]), float(row["p"]), str(row["note"])
    if np.isnan(difference):
        return "The two submissions cannot be compared, because the score of one of them is undefined."
    if difference == 0:
        return "The two submissions have the same score."
    better, worse = names if (difference > 0) == higher_is_better else names[::-1]
    sure = p <= SIGNIFICANT
    told = "which is hardly chance" if sure else "which may well be chance"
    lead = (
        f"The score of {better} is better than that of {worse} by {abs(difference):.6f} (p = {p:.3f}), {told}"
    )
    if np.isnan(row["low"]):
        return f"{lead}; the p-value alone says so, as there is no interval to rely on."
    excludes_none = bool(row["low"] > 0 or row["high"] < 0)
    if sure == excludes_none:
        return f"{lead}; {'but ' if note and sure else ''}{_of_interval(note)}."
    includes = "excludes" if excludes_none else "includes"
    return (
        f"{lead}; although the interval {includes} 0, believe the p-value, which is exact where the interval "
        "is an approximation."
    )


def _of_interval(note: str) -> str:
    if note:
        return f"the interval promises too much ({note.removeprefix(f'{BEWARE}: ')})"
    return "the interval says the same"
