"""How many wrong labels stand among the first items of `items.csv`?

    python -m benchmarks.answer_key [--boards 40]

Everything is made up: a key, teams that make mistakes, of which models may share some, and twelve labels of
the key that are wrong. The page about the answer key has these numbers.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import machine, print_table
from examples import board
from examples.board import submission_of, teams
from examples.essays import TYPES, make_competition
from podium.metric import hosted
from podium.metric.contract import Metric
from podium.ranking import answer_key, store
from podium.scoring import evaluating
from podium.scoring.answers import given_by, pack
from tests.support import trec_is_data
from tests.support.markups import solution_of
from tests.support.markups import submission_of as markups_of

ITEMS, TEAMS, WRONG, SEEDS = 800, 15, 12, 5
ERRORS = np.linspace(0.06, 0.19, TEAMS)[:, np.newaxis]  # of the teams; some items are hard
HARD = 0.12
STATISTICS = """
def numbers(solution, submission):
    return np.stack([values(solution, submission), np.ones(len(solution))], axis=1)

def mean(sums):
    return sums[..., 0] / sums[..., 1]

def prepare(solution, row_id_column_name):
    from podium.statistics import item_wise

    return item_wise(solution, row_id_column_name, numbers, mean)
"""
# What a row is worth, from its truth and what is given there, and whether more is better.
VALUES = {
    "label": ("(truth == given).astype(float)", True),
    "order": ("np.where(truth == 1, 1, -1) * given.argsort().argsort()", True),
    "number": ("(truth - given) ** 2", False),
    "ranking": (
        "np.array([(t in g) / (1 + [*g, t].index(t)) for t, g in zip(truth, map(str.split, given))])",
        True,
    ),
}

Board = tuple[pd.DataFrame, list[pd.DataFrame], set[str]]  # a solution, files, and the items that are wrong


def metric_of(folder: Path, name: str) -> Metric:
    """A custom metric."""
    values, better = VALUES[name]
    text = (
        "import numpy as np\n\ndef values(solution, submission):\n"
        "    truth, given = solution['truth'].to_numpy(), submission['given'].to_numpy()\n"
        f"    return {values}\n\ndef higher_is_better():\n    return {better}\n\n"
        "def score(solution, submission, row_id_column_name):\n"
        "    return float(values(solution, submission).mean())\n"
    )
    (folder / f"{name}.py").write_text(text + (STATISTICS if name in ("number", "ranking") else ""))
    return hosted.load(folder / f"{name}.py")


def listed(metric: Metric, solution: pd.DataFrame, files: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The table of items of a board."""
    prepared = evaluating.prepare(metric, solution, {})
    scored = [evaluating.evaluate(prepared, each) for each in files]
    sign = -1 if prepared.higher_is_better else 1
    entries = []
    for each in sorted(scored, key=lambda each: sign * each.scores[prepared.deciding])[:10]:
        given = given_by(each)
        header = {} if given is None else {"answered": given.columns}
        entries.append(store.encode(header, each.statistics, b"" if given is None else pack(given)))
    told = answer_key.of_best(prepared, entries)
    assert told is not None
    return told[0]


def row_of(name: str, metric: Metric, boards: int, make: Callable[[int, int], Board]) -> list[str]:
    """Count how many wrong items stand among the first ones, as many as are wrong and twice as many."""
    first, twice = [], []
    for seed in range(boards):
        solution, files, wrong = make(seed, WRONG)
        items = listed(metric, solution, files)["item"]
        first.append(len({*items.head(len(wrong))} & wrong))
        twice.append(len({*items.head(2 * len(wrong))} & wrong))
    counts = [f"{np.mean(each):.1f} ({min(each)} to {max(each)})" for each in (first, twice)]
    return [name, f"{boards}", f"{len(wrong)}", *counts]


# ---- Rows that are right or wrong ---------------------------------------------------------------------------


def mistakes(random: np.random.Generator, hard_error: float, shared: float) -> tuple[Any, Any]:
    """Which rows each team gets wrong, and a number that says how: models share so many of their mistakes."""
    is_hard = random.random(ITEMS) < HARD
    easy = np.maximum(ERRORS - HARD * hard_error, 0) / (1 - HARD)
    is_shared = random.random((TEAMS, ITEMS)) < shared
    luck, how = (np.where(is_shared, random.random(ITEMS), random.random((TEAMS, ITEMS))) for _ in range(2))
    return luck < np.where(is_hard, hard_error, easy), how


def tables(truth: Any, given: Any, wrong: Any) -> Board:
    """A solution and files, with the items whose truth is wrong."""
    names = np.arange(ITEMS)
    solution = pd.DataFrame({"id": names, "truth": truth})
    return solution, [pd.DataFrame({"id": names, "given": each}) for each in given], {*map(str, names[wrong])}


def classes(number: int, hard_error: float, shared: float) -> Callable[[int, int], Board]:
    """Teams name one of some classes."""

    def make(seed: int, wrong: int) -> Board:
        random = np.random.default_rng([seed, wrong, number])
        truth = random.integers(number, size=ITEMS)
        is_mistake, how = mistakes(random, hard_error, shared)
        given = (truth + is_mistake * (1 + (how * (number - 1)).astype(int))) % number
        flipped = np.isin(np.arange(ITEMS), random.choice(ITEMS, wrong, replace=False))
        key = (truth + flipped * random.integers(1, number, size=ITEMS)) % number
        return tables(key, given, flipped)

    return make


def orders(seed: int, wrong: int) -> Board:
    """Teams give numbers that order two classes."""
    random = np.random.default_rng([seed, wrong])
    truth, is_hard = random.integers(2, size=ITEMS), random.random(ITEMS) < HARD
    given = np.where(is_hard, 0.3, 2.5) * (truth - 0.5) + random.normal(size=(TEAMS, ITEMS)) * (
        0.7 + 2 * ERRORS
    )
    flipped = np.isin(np.arange(ITEMS), random.choice(ITEMS, wrong, replace=False))
    return tables(np.where(flipped, 1 - truth, truth), given, flipped)


def numbers(slip: bool) -> Callable[[int, int], Board]:
    """Teams predict a number; those of twelve rows are exchanged, or have a slipped decimal point."""

    def make(seed: int, wrong: int) -> Board:
        random = np.random.default_rng([seed, wrong])
        truth, difficulty = np.exp(random.normal(3, 0.5, ITEMS)), np.exp(random.normal(0, 0.5, ITEMS))
        given = truth + 25 * ERRORS * difficulty * random.normal(size=(TEAMS, ITEMS))
        rows = random.choice(ITEMS, wrong, replace=False)
        key = truth.copy()
        key[rows] = truth[rows] / 10 if slip else truth[np.roll(rows, 1)]
        return tables(key, given, rows)

    return make


def rankings(seed: int, wrong: int) -> Board:
    """Teams list ten of a hundred ids, and one is right; in twelve rows another one is taken for it."""
    random = np.random.default_rng([seed, wrong])
    truth = random.integers(100, size=ITEMS)
    is_mistake, _ = mistakes(random, 0.35, 0)
    given = []
    for of_team in is_mistake:
        lists = [random.permutation(100)[:10] for _ in range(ITEMS)]
        for ids, right, is_missed in zip(lists, truth, of_team):
            if not is_missed:
                ids[min(random.geometric(0.5), 10) - 1] = right
        given.append([" ".join(f"d{each}" for each in ids) for ids in lists])
    rows = random.choice(ITEMS, wrong, replace=False)
    key = truth.copy()
    key[rows] = (truth[rows] + random.integers(1, 100, size=wrong)) % 100
    return tables([f"d{each}" for each in key], given, rows)


# ---- Items of several things --------------------------------------------------------------------------------


def essays(column: str, single: bool) -> Callable[[int, int], Board]:
    """The competition of the example; twelve essays have other types or effectiveness, or one other type."""

    def make(seed: int, wrong: int) -> Board:
        solution, model = make_competition(board.ESSAYS, seed + 7)
        files = [submission_of(model, *team[1:3], number) for number, team in enumerate(teams())]
        names = sorted(solution.loc[solution["Usage"] == "Private", "essay_id"].unique())
        chosen = {*np.random.default_rng(seed).choice(names, wrong, replace=False).tolist()}
        rows = solution["essay_id"].isin(chosen)
        if single:
            rows &= ~solution["essay_id"].duplicated()
        others = dict(zip(TYPES, np.roll(TYPES, -1))) if column == "discourse_type" else {0: 1, 1: 0}
        solution.loc[rows, column] = solution.loc[rows, column].map(others)
        return solution, files, chosen

    return make


def tweets(how: str) -> Callable[[int, int], Board]:
    """Runs of TREC-IS; the priorities of three of forty events are reversed or slipped, or some of them are."""
    numbers = {"Low": 0.25, "Medium": 0.5, "High": 0.75, "Critical": 1.0}

    def make(seed: int, wrong: int) -> Board:
        solution, run = trec_is_data.competition(4000, 40, seed)
        random, files = np.random.default_rng([seed, wrong]), []
        labels = solution.set_index("tweet_id")["priority"].map(numbers).reindex(run["tweet_id"]).fillna(0.25)
        for error in ERRORS[:, 0]:
            given = labels.to_numpy() + random.normal(0, 2 * error, len(run))
            files.append(run.assign(priority=given.clip(0, 1).round(3)))
        events = random.choice(solution["event_id"].unique(), wrong // 4, replace=False).tolist()
        rows = solution["event_id"].isin(events)
        if how == "some":
            rows &= solution.groupby("event_id").cumcount() % 25 == 1
        right = solution.loc[rows, "priority"]
        slipped = np.roll(right, 1) if how == "slipped" else right.map(dict(zip(numbers, [*numbers][::-1])))
        solution.loc[rows, "priority"] = slipped
        return solution, files, {*events}

    return make


def markups(seed: int, wrong: int) -> Board:
    """Two experts mark documents, and twelve documents have the experts' markups of the next of the twelve."""
    random = np.random.default_rng([seed, wrong])

    def marked(spans: Any, error: float) -> dict[str, Any]:
        kept = [span + random.integers(-5, 6, 2) for span in spans if random.random() > 2 * error]
        fragments = [[{"start": int(a), "end": int(max(a + 1, b)), "tags": ["x"]}] for a, b in kept]
        return {"elements": [{"tags": ["x"], "fragments": each} for each in fragments]}

    true = [np.sort(random.choice(np.arange(10, 3000), 8, replace=False)).reshape(4, 2) for _ in range(200)]
    solution = solution_of(*([marked(spans, 0.05) for _ in range(2)] for spans in true))
    files = [markups_of(*(marked(spans, error) for spans in true)) for error in ERRORS[:, 0]]
    rows = random.choice(200, wrong, replace=False)
    cells = solution["markups"].to_numpy(dtype=object)
    cells[rows] = cells[np.roll(rows, 1)]
    return solution.assign(markups=cells), files, {*solution["document_id"].to_numpy()[rows]}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=40, help="of each kind that is quick")
    boards = parser.parse_args().boards
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = {each: metric_of(folder, each) for each in VALUES}
        kinds: list[tuple[str, Metric, int, Callable[[int, int], Board]]] = [
            (f"{k} classes, hard items {h}, shared {s}", own["label"], boards, classes(k, h, s))
            for s in (0, 0.5)
            for k in (4, 2)
            for h in (0.35, 0.5)
        ]
        kinds += [("numbers order two classes", own["order"], boards, orders)]
        kinds += [
            ("numbers exchanged", own["number"], boards // 4, numbers(False)),
            ("decimal points slipped", own["number"], boards // 4, numbers(True)),
            ("rankings", own["ranking"], boards // 4, rankings),
        ]
        unified = hosted.load("unified")
        kinds += [
            ("essays, types", unified, SEEDS, essays("discourse_type", False)),
            ("essays, effectiveness", unified, SEEDS, essays("discourse_effectiveness", False)),
            ("essays, one type", unified, SEEDS, essays("discourse_type", True)),
            *(
                (f"TREC-IS, {how}", hosted.load("trec_is"), SEEDS, tweets(how))
                for how in ("reversed", "slipped", "some")
            ),
            ("markups, experts exchanged", hosted.load("markup_consistency"), SEEDS, markups),
        ]
        print(machine())
        header = ["key and mistakes", "boards", "wrong", "among the first", "among twice as many"]
        print_table("Wrong items among the first", header, [row_of(*kind) for kind in kinds])


if __name__ == "__main__":
    main()
