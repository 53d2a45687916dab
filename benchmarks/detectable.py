"""Is a true difference that podium calls detectable found in four of five test sets?

    python -m benchmarks.coverage --detectable [--sets 200]

For each kind of population, two submissions are made whose true difference is the median of what podium calls
`detectable` for them on such test sets. Then other test sets are drawn, and the program counts in how many of
them the interval of the difference excludes 0. Sets with a doubt are counted apart, because nothing is said
there.
"""

import dataclasses
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import coverage
from benchmarks.measure import print_table
from podium import statistics
from podium.common.arrays import Floats, Ints
from podium.metric import hosted
from podium.metric.contract import Measured
from podium.statistics import halves
from podium.statistics.inference import difference_of_draws

PILOTS, STEPS = 60, 8  # test sets for each step of the search for a difference, and its steps
DRAWS = 300
CLAIMS = 2000
ESSAYS_IN_ONE = 8  # that make a long one
OWN = 0.4  # the share of items in which the second submission makes mistakes of its own


class Said(NamedTuple):
    """What podium says about two submissions on one test set."""

    detectable: float
    found: bool  # whether the interval excludes 0 on the right side
    is_doubted: bool


class Population(NamedTuple):
    """A population with two submissions, of which the second one is worse in a share of the items."""

    true: Callable[[float], float]  # the true difference, from that share
    said: Callable[[float, Ints, int], Said]  # from that share, the items of a test set, and a seed
    size: int


def item_wise(
    prepared: Measured, good: Floats, poor: Floats, error: float, seed: int, own: float = OWN
) -> Population:
    """Make a population of items with statistics; the first submission is poor in some of the items, too.

    In a share of the items, the second one has mistakes of its own. Without it, it is nowhere better.
    """
    random = np.random.default_rng(seed)
    number = len(prepared.items)
    wrong = random.random(number) < error
    other = np.where(random.random(number) < own, random.random(number) < error, wrong)
    order = random.random(number)
    mine = np.where(wrong[:, np.newaxis], poor, good)

    def worse(share: float) -> Floats:
        return np.where((other | (order < share))[:, np.newaxis], poor, good)

    def true(share: float) -> float:
        both = (statistics.measures(prepared, each)["score"] for each in (mine, worse(share)))
        return next(both) - next(both)

    def said(share: float, items: Ints, seed: int) -> Said:
        drawn = coverage.Population(prepared, np.stack([mine, worse(share)]), np.arange(2), np.ones(2))
        board = coverage.board_of_items(drawn, items)
        first, second = board.teams
        found = statistics.difference(board.prepared, first, second, True, DRAWS, seed).score
        return Said(found.detectable, found.low > 0, found.doubt is not None)

    return Population(true, said, number)


def unified(pool: coverage.Pool, shares: tuple[float, ...], harder: tuple[float, ...] = ()) -> Population:
    """Make a population of essays with groups, or with a single one."""
    random = np.random.default_rng(1)
    number = len(pool.prepared.items)
    bounds = np.rint(np.cumsum(shares) / np.sum(shares) * number)
    groups = random.permutation(np.searchsorted(bounds, np.arange(number), side="right"))[np.newaxis]
    labels = [("group", str(each)) for each in range(len(shares))]
    prepared = dataclasses.replace(pool.prepared, labels=labels, groups=groups)
    low = random.random(number) < np.array(harder or [0.0] * len(shares))[groups[0]]
    good = np.where(low[:, np.newaxis], pool.poor, pool.good)
    return item_wise(prepared, good, pool.poor, 0.4, 2)


def long_essays(pool: coverage.Pool) -> Population:
    """Make a population of long essays: each has the segments of several."""
    number = len(pool.prepared.items) // ESSAYS_IN_ONE
    good, poor = (
        each[: number * ESSAYS_IN_ONE].reshape(number, ESSAYS_IN_ONE, -1).sum(axis=1)
        for each in (pool.good, pool.poor)
    )
    groups, labels = np.zeros((1, number), dtype=np.int64), [("(all)", "(all)")]
    prepared = dataclasses.replace(pool.prepared, items=list(range(number)), groups=groups, labels=labels)
    return item_wise(prepared, good, poor, 0.3, 3)


def means(is_right: bool, own: float = OWN) -> Population:
    """Make a population whose score is a mean: of right answers, or of losses that few items dominate."""
    random = np.random.default_rng(4)
    groups = np.zeros((1, coverage.POPULATION), dtype=np.int64)
    items = list(map(str, range(coverage.POPULATION)))
    prepared = coverage.Mean(items, [("(all)", "(all)")], groups)
    ones = np.ones(len(items))
    good, poor = (ones, 0 * ones) if is_right else (-random.gamma(0.5, 1.0, len(items)) for _ in range(2))
    poor = poor if is_right else poor - 0.5
    return item_wise(prepared, np.stack([good, ones], 1), np.stack([poor, ones], 1), 0.2, 5, own)


def scifact() -> Population:
    """Make claims of SciFact, whose evidence a submission finds, in part or not at all."""
    random = np.random.default_rng(6)
    rows: dict[str, list[str]] = {"truth": [], "good": [], "poor": []}
    for number in range(CLAIMS):
        sentences = sorted(random.choice(12, int(random.integers(1, 4)), replace=False).tolist())
        label = str(random.choice(["SUPPORT", "CONTRADICT"]))
        has_evidence, document = random.random() < 0.7, str(number % 50)
        rows["truth"].append(
            json.dumps({document: [{"sentences": sentences, "label": label}]} if has_evidence else {})
        )
        rows["good"].append(
            json.dumps({document: {"sentences": sentences[:3], "label": label}} if has_evidence else {})
        )
        other = str(random.choice(["SUPPORT", "CONTRADICT"]))
        found = sorted({*sentences[:1], *random.choice(12, 2).tolist()})
        rows["poor"].append(json.dumps({document: {"sentences": found, "label": other}}))
    ids = [str(number) for number in range(CLAIMS)]
    truth, good, poor = (pd.DataFrame({"claim_id": ids, "evidence": each}) for each in rows.values())
    prepare = hosted.load("scifact").prepare
    assert prepare is not None
    prepared = prepare(truth, "claim_id")
    return item_wise(prepared, prepared.statistics(good), prepared.statistics(poor), 0.3, 7)


def half_samples(kind: coverage.PlainKind) -> Population:
    """Make a population for a metric with ``score()`` alone."""
    random = np.random.default_rng(8)
    number = coverage.POPULATION
    truth = random.standard_normal(number)
    if not kind.is_number:
        truth = (random.random(number) < kind.rare).astype(float)
    noise, order = random.standard_normal((4, number)), random.random(number)
    groups = np.zeros(number, dtype=np.int64)
    wrong = random.random(number) < 0.2
    again = np.where(random.random(number) < OWN, random.random(number) < 0.2, wrong)
    mine = truth + noise[0] + OWN * noise[3] if kind.is_number else np.where(wrong, 1 - truth, truth)
    same = truth + noise[0] + OWN * noise[2] if kind.is_number else np.where(again, 1 - truth, truth)

    def worse(share: float) -> Floats:
        other = same + 2 * noise[1] if kind.is_number else 1 - truth
        return np.where(order < share, other, same)

    def true(share: float) -> float:
        return kind.score(truth, mine, groups) - kind.score(truth, worse(share), groups)

    def said(share: float, items: Ints, seed: int) -> Said:
        everything = halves.Items(np.arange(len(items)), np.zeros(len(items), dtype=np.int64))
        some = [items[halves.half(everything, seed, draw)] for draw in range(coverage.PLAIN_DRAWS)]
        both = mine, worse(share)
        drawn = [
            np.array([kind.score(truth[rows], each[rows], groups[rows]) for rows in some]) for each in both
        ]
        own = [kind.score(truth[items], each[items], groups[items]) for each in both]
        ours, theirs = (halves.centered(score, draws) for score, draws in zip(own, drawn))
        value = own[0] - own[1]
        doubt = ours.doubt or theirs.doubt or halves.centered(value, ours.draws - theirs.draws).doubt
        found = difference_of_draws(value, ours.draws, theirs.draws, np.ones(len(items)), doubt)
        return Said(found.detectable, found.low > 0, doubt is not None)

    return Population(true, said, number)


def kinds() -> dict[str, tuple[Callable[[], Population], int]]:
    """The kinds of populations, each with the number of items in a test set."""
    pool = coverage.pool_of_answers()
    plain = coverage.PLAIN_KINDS
    return {
        "Unified Metric, no groups": (lambda: unified(pool, (1,)), 400),
        "Unified Metric, 8 equal groups": (lambda: unified(pool, (1,) * 8), 800),
        # With fewer items in the smallest group that decides, nothing is called detectable.
        "Unified Metric, a low group of 9%": (lambda: unified(pool, (0.09, 0.07, 0.84), (0.3, 0, 0)), 3000),
        "Unified Metric, a lower group of 10%": (
            lambda: unified(pool, (0.4, 0.3, 0.2, 0.1), (0, 0, 0, 0.1)), 2400,
        ),
        "Unified Metric, 40 long essays": (lambda: long_essays(pool), 40),
        "SciFact": (scifact, 300),
        "accuracy": (lambda: means(True), 300),
        "accuracy, the second one nowhere better": (lambda: means(True, 0.0), 300),
        "a mean of skewed losses": (lambda: means(False), 300),
        "score(): accuracy": (lambda: half_samples(plain["score(): accuracy"]), 300),
        "score(): root mean square error": (
            lambda: half_samples(plain["score(): root mean square error"]), 300,
        ),
        "score(): area under the curve": (lambda: half_samples(plain["score(): area under the curve"]), 300),
        "score(): macro F1, a class of 5%": (
            lambda: half_samples(plain["score(): macro F1, a class of 5%"]), 400,
        ),
    }  # fmt: skip


def tuned(population: Population, items: int, random: np.random.Generator) -> float:
    """Find the share of worse items whose true difference is the median of what is detectable, by bisection."""
    sets = [random.integers(population.size, size=items) for _ in range(PILOTS)]
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        share = (low + high) / 2
        said = [population.said(share, each, seed).detectable for seed, each in enumerate(sets)]
        known = [each for each in said if not np.isnan(each)]
        is_enough = bool(known) and population.true(share) > np.median(known)
        low, high = (low, share) if is_enough else (share, high)
    return (low + high) / 2


def measured(population: Population, items: int, sets: int) -> list[Any]:
    """Measure in how many test sets the difference is found."""
    random = np.random.default_rng(9)
    share = tuned(population, items, random)
    said = [population.said(share, random.integers(population.size, size=items), seed) for seed in range(sets)]
    known = [each for each in said if not each.is_doubted]
    found = np.mean([each.found for each in known]) if known else np.nan
    median = np.median([each.detectable for each in known]) if known else np.nan
    cells = [f"{population.true(share):.4f}", f"{median:.4f}", f"{found:.0%}"]
    return [f"{items:,}", *cells, f"{1 - len(known) / len(said):.0%}"]


def show(names: list[str], sets: int) -> None:
    """Print in which share of test sets a detectable difference is found."""
    chosen = {name: each for name, each in kinds().items() if not names or name in names}
    rows = [[name, *measured(population(), items, sets)] for name, (population, items) in chosen.items()]
    header = ["kind", "items", "true difference", "detectable (median)", "found in", "in doubt"]
    print_table(f"a true difference that is detectable, on {sets} test sets each", header, rows)
