"""Do intervals hold the true value as often as they promise, and are p-values right?

    python -m benchmarks.coverage [FOLDER] [--half judging] [--rounds 15] [--test-sets 20] [--essays 500]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair.  Without it, made-up
essays are scored.  A population is made from these essays, with several submissions to it.  Test sets are drawn
from the population with replacement.  For every interval that podium prints on a test set, the program looks
whether it holds the value that the population has.

There are two halves, with different essays, populations and pairs of submissions.  The constants of
`podium.statistics` were chosen by the *choosing* half alone.  The *judging* half shows how good they are, and
only its results are published.  In each round, everything is drawn again: the essays of the population, its
groups, and the mistakes of the submissions.
"""

import argparse
import dataclasses
import math
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.measure import machine, print_table
from podium import hosted, scoring, statistics
from tests.support.essays import make_competition

POPULATION = 5000  # essays
RESAMPLES = 400
SWAPS = 200

# On every twelfth test set there is a crowd of equally good teams, of which the first ten are looked at.
CROWD, CROWD_EVERY = 100, 12
FIRST = 10
OF_ONE = ("score", "score of a group", "F1 of a type")
PRINTED = (*OF_ONE, "difference", "difference on a board")  # the kinds of intervals that podium prints
DROPPED_IN_LOW_GROUPS = 0.3

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Change = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]


class Population(NamedTuple):
    """A population from which test sets are drawn.

    Attributes
    ----------
    name : str
        The name of its kind.
    prepared : Prepared
        The prepared solution, whose n items are the population.
    teams : dict of str to (ndarray of float, shape (n, k))
        The statistics of submissions, by what is changed in them.  The unchanged one comes first.
    """

    name: str
    prepared: Any
    teams: dict[str, Floats]


def main() -> None:
    """Simulate, and print all tables."""
    parser = argparse.ArgumentParser(description="Do intervals hold what they promise?")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--half", choices=HALVES, default="judging")
    parser.add_argument("--rounds", type=int, default=15, help="populations of each kind")
    parser.add_argument("--test-sets", type=int, default=20, help="drawn from each population")
    parser.add_argument("--essays", type=int, default=500, help="in a test set")
    parser.add_argument("--save", type=Path, metavar="CSV", help="write a row per interval")
    parser.add_argument("--summary", type=Path, metavar="CSV", help="write a row per population and interval")
    options = parser.parse_args()
    print(machine())
    start = time.process_time()
    rows = simulate(options.folder, options.half, options.rounds, options.test_sets, options.essays)
    if options.save:
        rows.to_csv(options.save, index=False)
    if options.summary:
        summary(rows, options.rounds * options.test_sets).to_csv(options.summary, index=False)
    show(rows, options.half)
    print(
        f"\n{options.rounds * options.test_sets} test sets of {options.essays} essays from each of "
        f"{rows['population'].nunique()} kinds of populations, {time.process_time() - start:.0f} CPU seconds"
    )


def simulate(
    folder: Path | None, half: str, rounds: int, test_sets: int, essays: int, most: int | None = None
) -> pd.DataFrame:
    """Draw test sets from populations, and look for every interval whether it holds the true value.

    Parameters
    ----------
    folder : Path or None
        The folder with the full pair of files, or None for made-up essays.
    half : str
        "choosing" or "judging".
    rounds : int
        How often a population of each kind is made.
    test_sets : int
        The number of test sets that are drawn from each population.
    essays : int
        The number of essays in each test set.
    most : int, optional
        The number of kinds of populations, if not all of them.

    Returns
    -------
    DataFrame
        A row per interval.  The Notes list the columns.

    Notes
    -----
    - ``population``: the kind of population;
    - ``what``: the value whose interval it is;
    - ``pair``: the pair of submissions whose difference it is, or "";
    - ``held``: 1 if it holds the value of the population, else 0;
    - ``width``, ``note``: its width and its note.
    """
    frames = _read(folder, half)
    rows = [row for number in range(rounds) for row in of_round(half, *frames, number, test_sets, essays, most)]
    return pd.DataFrame(rows)


def of_round(
    half: str,
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    number: int,
    test_sets: int,
    essays: int,
    most: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Make a population of each kind, and yield the rows of its test sets.

    Parameters
    ----------
    half : str
        "choosing" or "judging".
    solution, submission : DataFrame
        The pair from which populations are made.
    number : int
        The number of the round, which decides the random numbers.
    test_sets : int
        The number of test sets that are drawn from each population.
    essays : int
        The number of essays in each test set.
    most : int, optional
        The number of kinds of populations, if not all of them.

    Yields
    ------
    dict of str to object
        A row as `simulate` describes it.
    """
    random = np.random.default_rng([list(HALVES).index(half), essays, number])
    for population in _populations(half, solution, submission, random, most):
        truth = {
            name: statistics.measures(population.prepared, team) for name, team in population.teams.items()
        }
        for test in range(test_sets):
            test_set = _test_set(population, truth, essays, int(random.integers(2**31)))
            is_crowded = (number * test_sets + test) % CROWD_EVERY == 0
            for row in _of_test_set(population, test_set, is_crowded):
                yield {"population": population.name, **row}


def _read(folder: Path | None, half: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the pair from which populations are made.  The choosing half always has made-up essays."""
    if folder is None or half == "choosing":
        solution, submission = make_competition(3 * POPULATION, seed=list(HALVES).index(half) + 20)
    else:
        metric = hosted.load("unified")
        solution = scoring.read_solution(metric, folder / "solution.csv.gz", {})
        submission = scoring.read_submission(metric, folder / "submission.csv.gz", {})
    return solution.drop(columns="Usage", errors="ignore"), submission


# ---- Populations -------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """A kind of population.

    Attributes
    ----------
    shares : tuple of float
        The relative sizes of its groups, to which essays belong at random.  Without shares, the groups are
        those of the given demographics.
    dropped : tuple of float
        The share of rows that are missing in each group.
    errors : float or None
        If given, submissions are the truth with this share of rows missing.
    """

    shares: tuple[float, ...] = ()
    dropped: tuple[float, ...] = ()
    errors: float | None = None


HALVES = {
    "choosing": {
        "5 equal groups": Kind((1,) * 5),
        "one low group of 10%": Kind((0.1, 0.3, 0.3, 0.3), (0.2, 0, 0, 0)),
        "one low group of 35%": Kind((0.35, 0.35, 0.3), (0.25, 0, 0)),
        "groups of 25% and 75%": Kind((0.25, 0.75)),
        "two low groups": Kind((0.15, 0.15, 0.35, 0.35), (0.25, 0.2, 0, 0)),
        "a group of six essays": Kind((0.012, 0.494, 0.494)),
        "3% of errors": Kind((1,) * 6, errors=0.03),
        "demographics of made-up essays": Kind(),
    },
    "judging": {
        "8 equal groups": Kind((1,) * 8),
        "one low group of 5%": Kind((0.05, 0.25, 0.3, 0.4), (DROPPED_IN_LOW_GROUPS, 0, 0, 0)),
        "one low group of 20%": Kind((0.2, 0.2, 0.25, 0.35), (DROPPED_IN_LOW_GROUPS, 0, 0, 0)),
        "groups of 10% and 90%": Kind((0.1, 0.9)),
        "a ramp of 6 groups": Kind((1,) * 6, (0, 0.04, 0.08, 0.12, 0.16, 0.2)),
        "a group of three essays": Kind((0.006, 0.494, 0.5)),
        "near perfect, 1% of errors": Kind((1,) * 4, errors=0.01),
        "the given demographics": Kind(),
    },
}


def _populations(
    half: str, solution: pd.DataFrame, submission: pd.DataFrame, random: np.random.Generator, most: int | None
) -> Iterator[Population]:
    """Make a population of each kind from some of the essays."""
    metric = hosted.load("unified")
    ids = random.permutation(solution["essay_id"].unique())[:POPULATION]
    solution = solution[solution["essay_id"].isin(ids)].copy()
    solution["row_id"] = np.arange(len(solution))
    submission = submission[submission["essay_id"].isin(ids)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = scoring.prepare(metric, solution, {}).prepared[scoring.ALL]
    order = {item: number for number, item in enumerate(given.items)}
    for name, kind in list(HALVES[half].items())[:most]:
        prepared = _grouped(given, kind, random)
        frame = submission if kind.errors is None else _truth(solution, submission)
        essay = frame["essay_id"].map(order).to_numpy()
        dropped = np.zeros(len(frame)) if kind.errors is None else np.full(len(frame), kind.errors)
        if kind.dropped:
            dropped += np.array(kind.dropped)[prepared.groups[0][essay]]
        frame = frame[random.random(len(frame)) >= dropped]
        teams = {"": given.statistics(frame)}
        for change_name, change in PAIRS[half].items():
            teams[change_name] = given.statistics(change(frame, random))
        yield Population(name, prepared, teams)


def _grouped(given: Any, kind: Kind, random: np.random.Generator) -> Any:
    """Divide the items of a prepared solution into groups of these shares."""
    if not kind.shares:
        return given
    shares = np.array(kind.shares) / np.sum(kind.shares)
    bounds = np.rint(np.cumsum(shares) * len(given.items)).astype(int)
    group = np.searchsorted(bounds, np.arange(len(given.items)), side="right")
    return dataclasses.replace(
        given,
        labels=[("group", str(number)) for number in range(len(shares))],
        groups=random.permutation(group)[np.newaxis],
    )


def _truth(solution: pd.DataFrame, submission: pd.DataFrame) -> pd.DataFrame:
    """Make the perfect submission."""
    effective = solution["discourse_effectiveness"].astype(float)
    columns = ["row_id", "essay_id", "discourse_type", "predictionstring"]
    perfect = solution[columns].assign(
        score_discourse_effectiveness_0=1 - effective, score_discourse_effectiveness_1=effective
    )
    return perfect[list(submission.columns.intersection(perfect.columns))]


# ---- Pairs -------------------------------------------------------------------------------------------------


def _rows_dropped(share: float) -> Change:
    """Drop this share of the rows."""
    return lambda frame, random: frame[random.random(len(frame)) >= share]


def _essays_silent(share: float) -> Change:
    """Leave this share of the essays without an answer."""

    def change(frame: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
        ids = frame["essay_id"].unique()
        return frame[~frame["essay_id"].isin(ids[random.random(len(ids)) < share])]

    return change


def _noisy(deviation: float) -> Change:
    """Add normal noise to the probabilities of effective."""

    def change(frame: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
        probability = frame["score_discourse_effectiveness_1"].astype(float)
        noisy = (probability + random.normal(0, deviation, len(frame))).clip(0, 1)
        return frame.assign(score_discourse_effectiveness_0=1 - noisy, score_discourse_effectiveness_1=noisy)

    return change


def _types_changed(share: float) -> Change:
    """Exchange the discourse types of this share of the rows with those of other rows."""

    def change(frame: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
        types = frame["discourse_type"].to_numpy()
        changed = np.where(random.random(len(frame)) < share, random.permutation(types), types)
        return frame.assign(discourse_type=changed)

    return change


PAIRS: dict[str, dict[str, Change]] = {
    "choosing": {
        "1.5% of rows dropped": _rows_dropped(0.015),
        "4% of rows dropped": _rows_dropped(0.04),
        "7% of rows dropped": _rows_dropped(0.07),
        "0.5% of essays silent": _essays_silent(0.005),
        "2% of essays silent": _essays_silent(0.02),
        "8% of essays silent": _essays_silent(0.08),
        "probabilities with noise of 0.1": _noisy(0.1),
        "1% of types changed": _types_changed(0.01),
        "6% of types changed": _types_changed(0.06),
    },
    "judging": {
        "1% of rows dropped": _rows_dropped(0.01),
        "2% of rows dropped": _rows_dropped(0.02),
        "3% of rows dropped": _rows_dropped(0.03),
        "10% of rows dropped": _rows_dropped(0.1),
        "1% of essays silent": _essays_silent(0.01),
        "5% of essays silent": _essays_silent(0.05),
        "probabilities with noise of 0.05": _noisy(0.05),
        "probabilities with noise of 0.2": _noisy(0.2),
        "3% of types changed": _types_changed(0.03),
    },
}


# ---- One test set ------------------------------------------------------------------------------------------


class TestSet(NamedTuple):
    """A test set, and what is known about the submissions to it.

    Attributes
    ----------
    prepared : Prepared
        The prepared solution of n items.
    drawn : ndarray of int, shape (n,)
        The items of the population that were drawn.
    teams : dict of str to (ndarray of float, shape (n, k))
        The statistics of the submissions by name.  The unchanged one comes first.
    truth : dict of str to (dict of str to float)
        The measures of the submissions on the population.
    of_draws : function
        The function that `podium.statistics.resampler` made.
    resampled : dict of str to Resampled
        What the draws say about each submission.
    certainty : dict of str to Certainty
        How many items decide the score of each submission.
    influence : dict of str to (ndarray of float, shape (n,))
        How fast the score of each submission grows with the weight of each item.
    random : numpy.random.Generator
        The source of all further random numbers.
    seed : int
        The seed of the draws.
    """

    prepared: Any
    drawn: Ints
    teams: dict[str, Floats]
    truth: dict[str, dict[str, float]]
    of_draws: Any
    resampled: dict[str, statistics.Resampled]
    certainty: dict[str, statistics.Certainty]
    influence: dict[str, Floats]
    random: np.random.Generator
    seed: int

    def score(self, name: str) -> float:
        """Compute the score of a submission on the test set.

        Parameters
        ----------
        name : str
            The name of the submission.

        Returns
        -------
        float
            The score.
        """
        return float(self.prepared.measures(self.resampled[name].sums)[0])


def _test_set(population: Population, truth: dict[str, dict[str, float]], essays: int, seed: int) -> TestSet:
    """Draw a test set from a population."""
    random = np.random.default_rng(seed)
    whole = population.prepared
    drawn = np.sort(random.integers(len(whole.items), size=essays))
    occurring, groups = np.unique(whole.groups[:, drawn], return_inverse=True)
    prepared = dataclasses.replace(
        whole,
        items=[whole.items[item] for item in drawn],
        labels=[whole.labels[group] for group in occurring],
        groups=groups.reshape(len(whole.groups), -1),
    )
    teams = {name: team[drawn] for name, team in population.teams.items()}
    of_draws = statistics.resampler(prepared, statistics.draw(essays, RESAMPLES, seed), seed)
    resampled = dict(zip(teams, of_draws(*teams.values())))
    sums = {name: each.sums for name, each in resampled.items()}
    certainty = {name: statistics.certainty(prepared, teams[name], sums[name]) for name in teams}
    influence = {name: statistics.influences(prepared, teams[name], sums[name]) for name in teams}
    return TestSet(prepared, drawn, teams, truth, of_draws, resampled, certainty, influence, random, seed)


def _row(
    what: str, ends: tuple[Any, Any], true: float, note: str = "", pair: str = "", **more: Any
) -> dict[str, Any]:
    """Make a row that says whether an interval holds the true value."""
    low, high = map(float, ends)
    held = float(low <= true <= high)
    return {"what": what, "pair": pair, "held": held, "width": high - low, "note": note, **more}


def _of_test_set(population: Population, test_set: TestSet, is_crowded: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of one test set."""
    yield from _of_one(test_set)
    for name in list(test_set.teams)[1:]:
        yield _compared(test_set, name)
        yield _on_a_board(test_set, "", name, name)
        draws = [test_set.resampled[each].samples[:, 0] for each in ("", name)]
        true = test_set.truth[""]["score"] - test_set.truth[name]["score"]
        yield _row("difference, percentile", statistics.interval(draws[0] - draws[1]), true, "", name)
    board = sorted(test_set.teams, key=test_set.score, reverse=True)
    upper = int(test_set.random.integers(len(board) - 1))
    yield _on_a_board(test_set, board[upper], board[upper + 1], "neighbors on a board")
    yield from _ranks(test_set)
    yield from _of_p(test_set)
    if is_crowded:
        yield from _of_crowd(population, test_set)


def _of_one(test_set: TestSet) -> Iterator[dict[str, Any]]:
    """Yield rows for all measures of a submission, as they are printed, and for its score by other methods."""
    prepared, mine, truth = test_set.prepared, test_set.teams[""], test_set.truth[""]
    certainty = test_set.certainty[""]
    table = statistics.intervals(prepared, mine, RESAMPLES, test_set.seed)
    groups = {f"{attribute} = {value}" for attribute, value in prepared.labels}
    for measure in table.itertuples():
        name = str(measure.measure)
        what = OF_ONE[0 if name == "score" else 1 if name in groups else 2]
        counts = _counts(prepared, certainty, certainty) if name == "score" else {}
        yield _row(what, (measure.low, measure.high), truth[name], str(measure.note), **counts)
    draws = test_set.resampled[""].samples[:, 0]
    yield _row("score, percentile", statistics.interval(draws), truth["score"])
    yield _row("score, BCa", bca(prepared, mine, draws), truth["score"])
    bias = test_set.score("") - truth["score"]
    yield {"what": "bias", "pair": "", "held": bias, "width": math.nan, "note": ""}


def _compared(test_set: TestSet, name: str) -> dict[str, Any]:
    """Compare the first submission with another one, as `podium.statistics.compare` does."""
    mine, theirs = test_set.teams[""], test_set.teams[name]
    (*_, ours), (*_, others) = test_set.of_draws(mine, theirs, compared=True)
    gains = statistics.gains_by_item(test_set.prepared, mine, theirs)[:, 0]
    gains -= statistics.gains_by_item(test_set.prepared, theirs, mine)[:, 0]
    ends = statistics.interval(ours - others, statistics.widening(gains))
    return _difference(test_set, "difference", ends, "", name, name)


def _on_a_board(test_set: TestSet, one: str, other: str, pair: str) -> dict[str, Any]:
    """Compare two submissions as boards do for neighbors, from the draws of each alone."""
    draws = [test_set.resampled[name].scores for name in (one, other)]
    wider = statistics.widening(test_set.influence[one] - test_set.influence[other])
    ends = statistics.interval(draws[0] - draws[1], wider)
    return _difference(test_set, "difference on a board", ends, one, other, pair)


def _difference(
    test_set: TestSet, what: str, ends: tuple[Any, Any], one: str, other: str, pair: str
) -> dict[str, Any]:
    """Make the row of a difference, with its note."""
    differing = (test_set.teams[one] != test_set.teams[other]).any(axis=1)
    certainty = test_set.certainty[one], test_set.certainty[other]
    note = statistics.note_of_difference(test_set.prepared, differing, *certainty)
    counts = _counts(test_set.prepared, *certainty, differing)
    true = test_set.truth[one]["score"] - test_set.truth[other]["score"]
    return _row(what, ends, true, note, pair, **counts)


def _counts(prepared: Any, mine: Any, theirs: Any, differing: Any = None) -> dict[str, Any]:
    """Count what decides about notes, so that their thresholds can be chosen."""
    reaction = (mine.reaction + theirs.reaction) / 2
    sizes = np.bincount(prepared.groups.ravel(), minlength=len(prepared.labels))
    counts = {
        "size": float(reaction @ sizes),
        "deciding": float(mine.reaction @ mine.deciding),
        "small": float(reaction[sizes < 10].sum()),
    }
    if differing is not None:
        of_groups: Any = sum(
            np.bincount(members[differing], minlength=len(sizes)) for members in prepared.groups
        )
        counts |= {"differing": float(reaction @ of_groups), "differing_in_all": float(differing.sum())}
    return counts


def _ranks(test_set: TestSet) -> Iterator[dict[str, Any]]:
    """Yield rows for the rank sets of all submissions."""
    true = np.array([each["score"] for each in test_set.truth.values()])
    better = (true > true[:, np.newaxis] + 1e-9).sum(axis=1)
    tied = (np.abs(true - true[:, np.newaxis]) <= 1e-9).sum(axis=1)
    draws = np.stack([each.scores for each in test_set.resampled.values()], axis=1)
    scores = np.array([test_set.score(name) for name in test_set.teams])
    for what, sets in zip(("ranks at once", "rank"), statistics.rank_sets(scores, draws)):
        held = (sets[:, 0] <= better + 1) & (sets[:, 1] >= better + tied)
        share = float(held.all() if what == "ranks at once" else held.mean())
        width = float(np.diff(sets, axis=1).mean() + 1)
        yield {"what": what, "pair": "", "held": share, "width": width, "note": ""}


def _of_p(test_set: TestSet) -> Iterator[dict[str, Any]]:
    """Yield a row that says whether two equally good submissions differ significantly.

    Two submissions become equally good if they swap their answers at random.
    """
    mine = test_set.teams[""]
    theirs = _as_good(test_set.prepared, mine, test_set.random)
    swapped = test_set.random.random(len(mine))[:, np.newaxis] < 0.5
    one, other = (np.where(swapped, *pair) for pair in ((mine, theirs), (theirs, mine)))
    p = statistics.p_values(test_set.prepared, one, other, SWAPS, test_set.seed)[0]
    yield {"what": "p up to 0.05", "pair": "", "held": float(p <= 0.05), "width": math.nan, "note": ""}


def _as_good(prepared: Any, statistics_of_one: Floats, random: np.random.Generator) -> Floats:
    """Make a competitor that has the same sums in every group and is right on other items."""
    cell = np.unique(prepared.groups, axis=1, return_inverse=True)[1].ravel()
    order, shuffled = np.lexsort((np.arange(len(cell)), cell)), np.lexsort((random.random(len(cell)), cell))
    other = np.empty_like(statistics_of_one)
    other[order] = statistics_of_one[shuffled]
    return other


def _of_crowd(population: Population, test_set: TestSet) -> Iterator[dict[str, Any]]:
    """Yield rows for teams that are named in advance, and for those that turn out to be the first of many."""
    prepared, true = test_set.prepared, test_set.truth[""]["score"]
    # A team is right on other items of the same groups: its answer to an item is drawn from the population.
    cell = np.unique(population.prepared.groups, axis=1, return_inverse=True)[1].ravel()
    order = np.argsort(cell, kind="stable")
    bounds = np.searchsorted(cell[order], np.arange(cell.max() + 2))
    first_of, number = (ends[cell[test_set.drawn]] for ends in (bounds[:-1], np.diff(bounds)))
    crowd = [
        population.teams[""][order[first_of + (test_set.random.random(len(number)) * number).astype(int)]]
        for _ in range(CROWD)
    ]
    sums = [statistics.sums(team, prepared.groups) for team in crowd]
    first = np.argsort([-prepared.measures(total)[0] for total in sums])[:FIRST].tolist()
    for what, chosen in (("named", list(range(FIRST))), ("first", first)):
        drawn = test_set.of_draws(*(crowd[team] for team in chosen))
        for team, each in zip(chosen, drawn):
            influence = statistics.influences(prepared, crowd[team], sums[team])
            ends = statistics.interval(each.scores, statistics.widening_of_one(prepared, influence))
            note = statistics.note_of_score(prepared, statistics.certainty(prepared, crowd[team], sums[team]))
            yield _row(f"{FIRST} of {CROWD} teams, {what}", ends, true, note)


# ---- Another method ----------------------------------------------------------------------------------------


def bca(prepared: Any, of_items: Floats, samples: Floats) -> tuple[Any, Any]:
    """Compute the bias-corrected and accelerated interval of the score.

    The method is that of B. Efron ("Better Bootstrap Confidence Intervals", Journal of the American Statistical
    Association 82, 1987).

    Parameters
    ----------
    prepared : Prepared
        A prepared solution of n items.
    of_items : ndarray of float, shape (n, k)
        The statistics of a submission.
    samples : ndarray of float, shape (r,)
        The scores on r bootstrap draws.

    Returns
    -------
    low, high : float
        The ends of the 95% interval.
    """
    from scipy.special import ndtr, ndtri

    total = statistics.sums(of_items, prepared.groups)
    without = np.repeat(total[np.newaxis], len(of_items), axis=0)
    for members in prepared.groups:
        without[np.arange(len(of_items)), members] -= of_items
    left_out = prepared.measures(without)[:, 0]
    value = prepared.measures(total)[0]
    influence = left_out.mean() - left_out
    acceleration = (influence**3).sum() / (6 * max((influence**2).sum(), 1e-300) ** 1.5)
    below = ((samples < value).mean() + (samples <= value).mean()) / 2
    shift = ndtri(np.clip(below, 1 / len(samples), 1 - 1 / len(samples)))
    tail = (1 - statistics.LEVEL) / 2
    moved = [shift + ndtri(share) for share in (tail, 1 - tail)]
    low, high = np.quantile(samples, [ndtr(shift + z / (1 - acceleration * z)) for z in moved])
    return low, high


def summary(rows: pd.DataFrame, test_sets: int) -> pd.DataFrame:
    """Summarize how often the intervals without a note hold in each kind of population.

    Parameters
    ----------
    rows : DataFrame
        What `simulate` returns.
    test_sets : int
        The number of test sets that were drawn from each kind of population.

    Returns
    -------
    DataFrame
        A row for each population and kind of interval that `podium` prints: ``intervals``, the number of those
        without a note; ``held``, their share that holds the truth; and ``low`` and ``high``, the ends of the
        95% interval of that share, by E. B. Wilson (1927).

    Notes
    -----
    Intervals from the same test set fail together.  So the Wilson interval counts each test set once, however
    many intervals there are in it.  This makes it wider than it needs to be, and never too narrow.
    """
    z = 1.96
    lines = []
    trusted = rows[rows["what"].isin(PRINTED) & (rows["note"].fillna("") == "")]
    for population in rows["population"].unique():
        for what in PRINTED:
            held = trusted.loc[(trusted["population"] == population) & (trusted["what"] == what), "held"]
            share, number = held.mean(), min(len(held), test_sets)
            middle = (share + z**2 / (2 * number)) / (1 + z**2 / number)
            half = z * math.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2) / (1 + z**2 / number)
            lines.append((population, what, len(held), share, middle - half, middle + half))
    columns = ["population", "what", "intervals", "held", "low", "high"]
    return pd.DataFrame(lines, columns=columns).round(6)


# ---- Tables ------------------------------------------------------------------------------------------------


def show(rows: pd.DataFrame, half: str) -> None:
    """Print which share of the intervals without a note hold, by population and by pair.

    Parameters
    ----------
    rows : DataFrame
        The rows that `simulate` returned.
    half : str
        "choosing" or "judging", for the titles.
    """
    of_one = [*OF_ONE, "score, percentile", "score, BCa"]
    _print(rows[rows["pair"] == ""], "population", of_one, f"{half}: intervals of one submission")
    of_two = ["difference", "difference on a board", "difference, percentile"]
    _print(rows[rows["pair"] != ""], "pair", of_two, f"{half}: intervals of differences, by pair")
    _print(rows[rows["pair"] != ""], "population", of_two, f"{half}: intervals of differences, by population")
    rest = rows[~rows["what"].isin([*of_one, *of_two])]
    _print(rest, "population", list(rest["what"].unique()), f"{half}: the rest")


def _print(rows: pd.DataFrame, by: str, what: list[str], title: str) -> None:
    """Print a row for each value of a column.

    A row has the share of intervals that hold, their mean width, and the share of those with a note.
    """
    lines = []
    for name, some in [*rows.groupby(by, sort=False), ("all", rows)]:
        cells = []
        for kind in what:
            of_kind = some[some["what"] == kind]
            trusted = of_kind[of_kind["note"] == ""]
            held, width = trusted["held"].mean(), trusted["width"].mean()
            noted = 1 - len(trusted) / max(len(of_kind), 1)
            if kind == "bias":
                cells.append(f"{held:+.4f}")
            elif not len(trusted):
                cells.append("all have a note" if len(of_kind) else "")
            else:
                cells.append(f"{held:.1%}" + (f" ({width:.3g})" if width == width else ""))
                cells[-1] += f", {noted:.1%} noted" if noted > 0 else ""
        lines.append([str(name), *cells])
    print_table(f"{title}: share that holds (mean width), share with a note", [by, *what], lines)


if __name__ == "__main__":
    main()
