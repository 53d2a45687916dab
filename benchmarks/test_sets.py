"""How large must a test set be? The numbers and the picture of the page with this title.

    python -m benchmarks.test_sets [--sets 24]

The corpus and the two baselines are made up: 3,000 essays, of which 9% are by learners of English, and 7% by
writers whose status is missing. The second baseline is the first one without 8% of its segments. Test sets
are drawn from the corpus in proportion to the groups, and with groups that are as equal as they can be, with at
most half of each.
"""

import argparse
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import podium
from benchmarks.measure import machine, print_table
from examples.essays import make_competition
from podium import statistics
from podium.common.arrays import Bools, Floats, Ints
from podium.statistics.inference import DETECTABLE
from tests.support import figures

ESSAYS, LOST = 3000, 0.08
SIZES, TEMPERATURES = (200, 300, 400, 600, 800, 1200), (0.0, 10.0, 25.0, 35.0, 50.0, 65.0, 80.0)
COMMON_SIZE = 600  # at which temperatures are compared
COLUMN, DRAWS = "ell_status", 300


class Baselines(NamedTuple):
    """The labeled corpus under a rule, with the statistics of two baselines."""

    prepared: Any
    mine: Floats
    theirs: Floats
    true: float  # the difference of their scores


def baselines(temperature: float) -> Baselines:
    """Score both baselines on the whole corpus."""
    solution, submission = make_competition(ESSAYS, seed=6)
    worse = submission[np.random.default_rng(5).random(len(submission)) > LOST]
    truth = solution.drop(columns="Usage")
    prepared = podium.prepare(truth, subpopulation_column_names=COLUMN, temperature=temperature)
    mine, theirs = (podium.score(prepared, each) for each in (submission, worse))
    assert mine.statistics is not None
    assert theirs.statistics is not None
    return Baselines(mine.prepared, mine.statistics, theirs.statistics, mine.score - theirs.score)


def quotas(sizes: Ints, number: int) -> Ints:
    """Find out how many items of each group are scored, at most half of it."""
    most = sizes // 2
    level = max(each for each in range(number + 1) if np.minimum(most, each).sum() <= number)
    return np.minimum(most, level)


def drawn(groups: Ints, number: int, is_balanced: bool, random: np.random.Generator) -> Bools:
    """Draw a test set, in proportion to the groups or balanced."""
    if not is_balanced:
        chosen = random.choice(len(groups), number, replace=False)
    else:
        sizes = np.bincount(groups)
        quota = quotas(sizes, number)
        of_groups = [
            random.choice(np.flatnonzero(groups == group), size, replace=False)
            for group, size in enumerate(quota.tolist())
        ]
        chosen = np.concatenate(of_groups)
    return np.isin(np.arange(len(groups)), chosen)


def compared(of: Baselines, number: int, is_balanced: bool, sets: int) -> tuple[float, float]:
    """Compute the median of what is detectable, and in how many test sets the true difference is found."""
    random, said = np.random.default_rng(7), []
    for seed in range(sets):
        kept = drawn(of.prepared.groups[0], number, is_balanced, random)
        part = statistics.part(of.prepared, kept)
        score = statistics.difference(part, of.mine[kept], of.theirs[kept], True, DRAWS, seed).score
        # Also where podium does not call it detectable, because small groups decide.
        said.append((DETECTABLE * (score.high - score.low) / 2, score.low > 0))
    of_sets = pd.DataFrame(said, columns=["detectable", "found"])
    return float(of_sets["detectable"].median()), float(of_sets["found"].mean())


def main() -> None:
    """Measure, print both tables, and draw a figure."""
    parser = argparse.ArgumentParser(description="How large must a test set be?")
    parser.add_argument("--sets", type=int, default=24, help="test sets for each number")
    sets = parser.parse_args().sets
    print(machine())
    of_size, of_rule = by_size(sets), by_temperature(sets)
    rows = [
        [f"{number:,}", *(f"{value:.4f}, {found:.0%}" for value, found in pair)]
        for number, pair in of_size.items()
    ]
    header = ["essays", "in proportion: detectable, found", "balanced: detectable, found"]
    print_table(f"a true difference of {baselines(65.0).true:.4f}, at temperature 65", header, rows)
    cells = [
        [f"{temperature:g}", f"{true:.4f}", f"{least:.4f}", f"{number:,.0f}"]
        for temperature, (true, least, number) in of_rule.items()
    ]
    print_table(
        f"with {COMMON_SIZE} essays in proportion",
        ["temperature", "true difference", "detectable", "essays needed"],
        cells,
    )
    draw_temperatures(of_rule)


def by_size(sets: int) -> dict[int, list[tuple[float, float]]]:
    """Measure both ways to draw, for each size."""
    of = baselines(65.0)
    return {
        number: [compared(of, number, is_balanced, sets) for is_balanced in (False, True)] for number in SIZES
    }


def by_temperature(sets: int) -> dict[float, tuple[float, float, float]]:
    """Compute for each temperature the true difference, what is detectable, and the essays that it needs."""
    found = {}
    for temperature in TEMPERATURES:
        of = baselines(temperature)
        least, _ = compared(of, COMMON_SIZE, False, sets)
        found[temperature] = of.true, least, COMMON_SIZE * (least / of.true) ** 2
    return found


def draw_temperatures(of_rule: dict[float, tuple[float, float, float]]) -> None:
    """Draw how many essays the same two baselines need against the temperature."""
    picture, axes = figures.figure()
    axes.plot(list(of_rule), [number for *_, number in of_rule.values()], color=figures.BLUE, marker="o")
    axes.set(xlabel="temperature", ylabel="essays needed", ylim=(0, None))
    figures.save(picture, "essays_needed")


if __name__ == "__main__":
    main()
