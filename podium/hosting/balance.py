"""Other shares of the groups in the test set: more items of the rare ones, as far as the corpus permits.

A score that follows the weakest group needs the items of small groups. A draw in proportion takes few of them.
So here the cells of some columns, such as each first language, get as equal shares of the test set as they can.
Of no cell more than half is scored, so that participants have some to learn from.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from podium import statistics
from podium.hosting.columns import require, require_one_value
from podium.hosting.folders import Trial, section
from podium.scoring import evaluating
from podium.words.arrays import Floats, Ints
from podium.words.errors import HostError, UsageError
from podium.words.wording import listed

OPTION = "--balance"
FEWEST = 4  # items of a group; of fewer at most one can be scored
SHOWN = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)  # shares of the test set whose groups the report shows
DIGITS = 3  # of scores that are compared
WEIGH = "Sizes of groups weigh in this metric, so its scores are those of other shares than the corpus has."
IF_WEIGH = "If the metric is a mean over items, its scores are those of other shares than the corpus has."


class Balance(NamedTuple):
    """The groups that are balanced: the cells of some columns."""

    columns: Sequence[str]
    cells: Mapping[str, tuple[str, ...]]  # the cell of each item

    def sizes(self, items: Iterable[str]) -> dict[tuple[str, ...], int]:
        """Count the items of each cell among some items; the largest cell of all comes first."""
        counts = Counter(self.cells.values())
        some = Counter(self.cells[item] for item in items)
        return {cell: some[cell] for cell in sorted(counts, key=lambda cell: (-counts[cell], cell))}


def quotas(sizes: Ints, number: int) -> Ints:
    """Find out how many items of each group are scored, so that the groups are as equal as they can be.

    >>> quotas(np.array([840, 90, 70]), 200).tolist(), quotas(np.array([840, 90, 70]), 90).tolist()
    ([120, 45, 35], [30, 30, 30])
    """
    most = sizes // 2
    odd = np.flatnonzero(sizes % 2)
    if most.sum() < number <= (sizes.sum() + 1) // 2:  # half of all, of which some groups give one item more
        most[odd[: number - most.sum()]] += 1
    if number > most.sum():
        possible = int(1000 * most.sum() / sizes.sum()) / 1000
        raise UsageError(
            f"{OPTION}: expected to score at most half of each group, found a test set of {number:,} of "
            f"{sizes.sum():,} items; give --test {possible:g} or less"
        )
    quota = np.zeros_like(sizes)
    while left := number - int(quota.sum()):
        open_groups = np.flatnonzero(quota < most)
        each = max(left // len(open_groups), 1)
        some = open_groups[:left] if left < len(open_groups) else open_groups
        quota[some] = np.minimum(quota[some] + each, most[some])
    return quota


def shares(cells: Sequence[tuple[str, ...]], test_share: float) -> Floats:
    """Find out which share of its cell is scored, for each item."""
    counts = Counter(cells)
    names = sorted(counts, key=lambda cell: (-counts[cell], cell))
    sizes = np.array([counts[name] for name in names])
    of_cell = dict(zip(names, (quotas(sizes, round(test_share * len(cells))) / sizes).tolist()))
    return np.array([of_cell[cell] for cell in cells])


def report(balance: Balance, solution: evaluating.Solution, tested: Collection[str], trial: Trial) -> list[str]:
    """Say what the balance does to the groups, to the training part and to the score of the sample."""
    sizes, scored = balance.sizes(balance.cells), balance.sizes(tested)
    share = len(tested) / len(balance.cells)
    rows = [
        [
            _name(cell), size, size / len(balance.cells), now / len(tested), round(size * share), now,
            size - round(size * share), size - now,
        ]
        for (cell, size), now in zip(sizes.items(), scored.values())
    ]  # fmt: skip
    header = (
        "group", "items", "share of all", "share of the test set", "scored in proportion", "scored",
        "to learn from in proportion", "to learn from",
    )  # fmt: skip
    few = [_name(cell) for cell, size in sizes.items() if size < FEWEST]
    said = [
        section(f"The groups, balanced by {' '.join(balance.columns)}", header, rows),
        f"Fewer than {FEWEST} items, of which at most one is scored: {listed(few)}." if few else "",
        _reachable(sizes),
        _effect(balance, solution, tested, trial),
    ]
    return [each for each in said if each]


def _reachable(of_cells: Mapping[tuple[str, ...], int]) -> str:
    """Write the section of the shares that other sizes of the test set would reach."""
    sizes, rows = np.array(list(of_cells.values())), []
    for share in SHOWN:
        number = round(share * sizes.sum())
        if 0 < number <= (sizes // 2).sum():
            reached = quotas(sizes, number)
            least = int(np.argmin(reached))
            row = [f"{share:g}", number, _name(list(of_cells)[least]), int(reached[least])]
            rows.append([*row, float(reached[least] / number)])
    header = ("--test", "items", "smallest group", "its items", "its share")
    return section("What other sizes of the test set reach", header, rows) if rows else ""


def _effect(balance: Balance, solution: evaluating.Solution, tested: Collection[str], trial: Trial) -> str:
    """Say what the sample would score if each item counted as often as its group has items in the corpus."""
    if not solution.prepared:
        return f"What the shares do to a score is not known, because the metric has no prepare(). {IF_WEIGH}"
    prepared = solution.prepared[evaluating.ALL]
    sizes, scored = balance.sizes(balance.cells), balance.sizes(tested)
    weight = {
        cell: size * len(tested) / len(balance.cells) / max(scored[cell], 1) for cell, size in sizes.items()
    }
    weights = np.array([weight[balance.cells[item]] for item in prepared.items])
    evaluation = trial.evaluation
    assert evaluation is not None
    assert evaluation.statistics is not None
    weighed = statistics.measures(prepared, evaluation.statistics * weights[:, np.newaxis])["score"]
    now, before = (f"{score:.{DIGITS}f}" for score in (evaluation.score, weighed))
    told = (
        f"The sample scores {now} on the whole test set, and would score {before} with the shares of all items."
    )
    return told if now == before else f"{told} {WEIGH}"


def _name(cell: tuple[str, ...]) -> str:
    """Name a cell by its values."""
    return ", ".join(value or "(missing)" for value in cell)


def of_table(table: pd.DataFrame, items: Sequence[str], names: Sequence[str]) -> Balance:
    """Find the cells of the items of a table, which has the item of each row; an item has one cell."""
    require(table, names, OPTION)
    given = table[[*names]].astype(object)
    cells = given.where(given.notna(), "").astype(str).apply(lambda column: column.str.strip())
    for name in names:
        require_one_value(cells[name], items, f"{OPTION}: expected one {name}")
    balance = Balance(names, dict(zip(items, cells.itertuples(index=False, name=None))))
    sizes = balance.sizes(balance.cells).values()
    if max(sizes) < FEWEST:
        raise HostError(
            f"{OPTION} {' '.join(names)}: expected groups of at least {FEWEST} items, found {len(sizes):,} "
            f"groups in {sum(sizes):,} items: name fewer columns, or others with fewer values"
        )
    return balance
