"""Do intervals hold what they promise, and p-values?

    python -m benchmarks.coverage [FOLDER] [--repeats 1000] [--jobs 2]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair; without it, made-up
essays of the same number are scored.  All of them are the population; test sets of n essays are drawn from it,
with replacement, and every interval that `podium` prints is asked whether it holds the population's value.
"""

import argparse
import dataclasses
import functools
import math
import multiprocessing
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.measure import machine, print_table
from podium import hosted, scoring, statistics
from tests.support.essays import make_competition

# Number of essays, and which share of the repeats they get: large ones take long.
SIZES = {100: 1.0, 500: 1.0, 2000: 0.5, 5000: 0.25}
P_VALUES = 4  # of each test set, more of those that are fewer
SEEDS = 10
RESAMPLES = 1000
EQUAL_GROUPS = 8
TEAMS = 6
REAL_ESSAYS = 15_594

Floats = npt.NDArray[np.float64]


class Population(NamedTuple):
    """What test sets are drawn from.

    Attributes
    ----------
    name : of the case
    prepared : the solution; its items are the population
    teams : (teams, n, k), statistics; the last is as good as the one before
    """

    name: str
    prepared: Any
    teams: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description="Do intervals hold what they promise?")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--repeats", type=int, default=1000, help="test sets of 100 essays (default: 1000)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(machine())
    tasks = [(case, size, seed) for case in (0, 1) for size in SIZES for seed in range(SEEDS)]
    work = functools.partial(simulate, options.folder, options.repeats / SEEDS)
    # One thread per process: more of them wait for each other. They are counted when numpy is imported.
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as executor:
        answers = pd.concat(executor.map(work, tasks[::-1]))
    show(answers)


@functools.cache
def populations(folder: Path | None) -> list[Population]:
    """The two cases: the given sub-populations, one of which is far below the others, and equal groups."""
    warnings.simplefilter("ignore")
    metric = hosted.load("unified")
    if folder is None:
        solution, submission = make_competition(REAL_ESSAYS)
    else:
        solution = scoring.read_solution(metric, folder / "solution.csv.gz", {})
        submission = scoring.read_submission(metric, folder / "submission.csv.gz", {})
    prepared = scoring.prepare(metric, solution.drop(columns="Usage", errors="ignore"), {}).prepared[
        scoring.ALL
    ]
    random = np.random.default_rng(0)
    teams = [
        prepared.statistics(submission[random.random(len(submission)) > 0.01 * team])
        for team in range(TEAMS - 1)
    ]
    number = np.arange(len(prepared.items))
    equal = dataclasses.replace(
        prepared,
        labels=[("group", str(group)) for group in range(EQUAL_GROUPS)],
        groups=random.permutation(number % EQUAL_GROUPS)[np.newaxis],
    )
    return [
        Population(name, case, np.stack([*teams, _as_good(case, teams[-1], random)]))
        for name, case in (("one low group", prepared), ("equal groups", equal))
    ]


def _as_good(prepared: Any, statistics_of_one: Floats, random: np.random.Generator) -> Floats:
    """A competitor with the same sums in every group, who is right on other items."""
    cell = np.unique(prepared.groups, axis=1, return_inverse=True)[1].ravel()
    order, shuffled = np.lexsort((np.arange(len(cell)), cell)), np.lexsort((random.random(len(cell)), cell))
    other = np.empty_like(statistics_of_one)
    other[order] = statistics_of_one[shuffled]
    return other


def simulate(folder: Path | None, repeats: float, task: tuple[int, int, int]) -> pd.DataFrame:
    """Test sets of one size from one population: a row per interval, whether it holds the truth, its width."""
    case, size, seed = task
    population = populations(folder)[case]
    random = np.random.default_rng([case, size, seed])
    truth = [
        np.array(list(statistics.measures(population.prepared, team).values())) for team in population.teams
    ]
    rows = [
        row
        for _ in range(math.ceil(repeats * SIZES[size]))
        for row in _of_test_set(population, truth, size, random)
    ]
    table = pd.DataFrame(rows, columns=["what", "held", "width"])
    return table.assign(case=population.name, size=size)


def _of_test_set(
    population: Population, truth: list[Floats], size: int, random: np.random.Generator
) -> list[tuple[str, float, float]]:
    drawn = np.sort(random.integers(len(population.prepared.items), size=size))
    occurring, groups = np.unique(population.prepared.groups[:, drawn], return_inverse=True)
    prepared = dataclasses.replace(
        population.prepared,
        items=[population.prepared.items[item] for item in drawn],
        labels=[population.prepared.labels[group] for group in occurring],
        groups=groups.reshape(len(population.prepared.groups), -1),
    )
    teams = population.teams[:, drawn]
    weights = statistics.draw(size, RESAMPLES, int(random.integers(2**31)))
    of_draws = statistics.resampler(prepared, weights)
    values = np.array([prepared.measures(statistics.sums(team, prepared.groups)) for team in teams])
    answers = of_draws(*teams)
    plausible = np.stack([scores for *_, scores in answers], axis=1)  # draws, teams
    samples = np.stack([samples for _, samples, _ in answers], axis=1)  # draws, teams, measures

    def row(what: str, interval: tuple[Any, Any], true: float) -> tuple[str, float, float]:
        low, high = map(float, interval)
        return what, float(low <= true <= high), high - low

    def difference(what: str, other: int) -> tuple[str, float, float]:
        (*_, mine), (*_, theirs) = of_draws(teams[0], teams[other], compared=True)
        gains = [
            statistics.gains_by_item(prepared, *pair)[:, 0]
            for pair in ((teams[0], teams[other]), (teams[other], teams[0]))
        ]
        wider = statistics.widening(gains[0] - gains[1])
        return row(what, statistics.interval(mine - theirs, wider), score - truth[other][0])

    def on_a_board(what: str, other: int) -> tuple[str, float, float]:
        wider = statistics.widening(influences[0] - influences[other])
        drawn = plausible[:, 0] - plausible[:, other]
        return row(what, statistics.interval(drawn, wider), score - truth[other][0])

    influences = [statistics.influences(prepared, team, each.sums) for team, each in zip(teams, answers)]
    score = truth[0][0]
    by_three = score - truth[3][0]
    rows = [
        ("bias", values[0, 0] - score, math.nan),
        row("score", statistics.interval(plausible[:, 0]), score),
        row("score, percentile", statistics.interval(samples[:, 0, 0]), score),
        row("score, reflected", reflected(values[0, 0], samples[:, 0, 0]), score),
        row("score, BCa", bca(prepared, teams[0], samples[:, 0, 0]), score),
        row("score, m out of n", m_out_of_n(prepared, teams[0], values[0, 0], random), score),
        difference("difference", 3),
        on_a_board("difference on a board", 3),
        on_a_board("difference on a board, in 1% of rows", 1),
        row(
            "difference on a board, not widened",
            statistics.interval(plausible[:, 0] - plausible[:, 3]),
            by_three,
        ),
        row("difference, percentile", statistics.interval(samples[:, 0, 0] - samples[:, 3, 0]), by_three),
        difference("difference in 1% of rows", 1),
        difference("difference in all rows", TEAMS - 1),
    ]
    sizes = np.bincount(prepared.groups.ravel())
    names = dict(zip(population.prepared.measure_names, truth[0]))
    low, high = statistics.interval(samples[:, 0])
    of_groups = {
        f"{attribute} = {value}" for (attribute, value), size in zip(prepared.labels, sizes) if size >= 10
    }
    for place, name in enumerate(prepared.measure_names):
        if name in of_groups:
            rows.append(row("group", (low[place], high[place]), names[name]))

    true_scores = np.array([each[0] for each in truth])
    better = (true_scores > true_scores[:, np.newaxis] + 1e-9).sum(axis=1)
    tied = (np.abs(true_scores - true_scores[:, np.newaxis]) <= 1e-9).sum(axis=1)
    for what, sets in zip(("ranks at once", "rank"), statistics.rank_sets(values[:, 0], plausible)):
        held = (sets[:, 0] <= better + 1) & (sets[:, 1] >= better + tied)
        width = float(np.diff(sets, axis=1).mean() + 1)
        rows.append((what, float(held.all() if what == "ranks at once" else held.mean()), width))
    # Whoever swaps answers at random makes two submissions that are equally good, as often as he likes.
    for _ in range(round(P_VALUES / SIZES[size])):
        swapped = random.random(size)[:, np.newaxis] < 0.5
        one, other = (np.where(swapped, *pair) for pair in ((teams[0], teams[-1]), (teams[-1], teams[0])))
        p = statistics.compare(prepared, one, other, 200, int(random.integers(2**31)))["p"].iloc[0]
        rows.append(("p below 5%", float(p < 0.05), math.nan))
    return rows


# ---- Other methods -----------------------------------------------------------------------------------------


def reflected(value: float, samples: Floats) -> tuple[Any, Any]:
    """The basic interval: as far as draws are from the value, the value is from the truth."""
    low, high = statistics.interval(samples)
    return 2 * value - high, 2 * value - low


def bca(prepared: Any, of_items: Floats, samples: Floats) -> tuple[Any, Any]:
    """B. Efron's bias-corrected and accelerated interval of the score (1987)."""
    from scipy.special import ndtr, ndtri

    total = statistics.sums(of_items, prepared.groups)
    without = np.repeat(total[np.newaxis], len(of_items), axis=0)
    for members in prepared.groups:
        without[np.arange(len(of_items)), members] -= of_items
    left_out = prepared.measures(without)[:, 0]
    value = prepared.measures(total)[0]
    influence = left_out.mean() - left_out
    acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    below = ((samples < value).mean() + (samples <= value).mean()) / 2
    shift = ndtri(below)
    tail = (1 - statistics.LEVEL) / 2
    moved = [shift + ndtri(share) for share in (tail, 1 - tail)]
    low, high = np.quantile(samples, [ndtr(shift + z / (1 - acceleration * z)) for z in moved])
    return low, high


def m_out_of_n(prepared: Any, of_items: Floats, value: float, random: np.random.Generator) -> tuple[Any, Any]:
    """Draws of m = n^(3/4) items, their errors scaled to n and reflected."""
    number = len(of_items)
    fewer = round(number**0.75)
    weights = np.stack(
        [np.bincount(random.integers(number, size=fewer), minlength=number) for _ in range(RESAMPLES // 2)]
    )
    samples = statistics.resample(prepared, of_items, weights.astype(np.uint16))[:, 0]
    return reflected(value, value + (samples - value) * math.sqrt(fewer / number))


def show(answers: pd.DataFrame) -> None:
    """Print a table per case."""
    for case, of_case in answers.groupby("case", sort=False):
        mean = of_case.groupby(["what", "size"], sort=False)[["held", "width"]].mean().unstack()
        rows = []
        for what in mean.index:
            cells = [f"{mean.loc[what, ('held', size)]:.1%}" for size in SIZES]
            widths = mean["width"].loc[what, list(SIZES)].tolist()
            if what == "bias":
                cells = [f"{mean.loc[what, ('held', size)]:+.4f}" for size in SIZES]
            cells = [
                cell if math.isnan(width) else f"{cell} ({width:.3g})" for cell, width in zip(cells, widths)
            ]
            rows.append([str(what), *cells])
        title = f"{case}: share of 95% intervals that hold the truth (mean width), by number of essays"
        print_table(title, ["", *(f"{size:,}" for size in SIZES)], rows)


if __name__ == "__main__":
    main()
