"""Twelve metrics as hosts write them for Kaggle, each with a solution and the submissions of three teams.

They are plain files: a score(), perhaps an exception, no statistics. The best team is the first, and the worst
is the last.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

TEAMS = ("Ada", "Bo", "Cy")
ERRORS = (0.2, 0.5, 1.5)  # the standard deviation of each team's errors, in units of the truth's

HEAD = '''import numpy as np
import pandas as pd


class ParticipantVisibleError(Exception):
    """Participants read the text."""


'''

RMSE = (
    HEAD
    + '''def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Root mean square error of the column `value`."""
    if "value" not in submission:
        raise ParticipantVisibleError("expected a column value")
    guess = pd.to_numeric(submission["value"], errors="coerce").to_numpy()
    if not np.isfinite(guess).all():
        raise ParticipantVisibleError("value: expected a number in every row")
    return float(np.sqrt(np.mean((solution["value"].to_numpy() - guess) ** 2)))


def higher_is_better() -> bool:
    return False
'''
)

LOG_LOSS = (
    HEAD
    + '''CLASSES = ["cat", "dog", "fox"]


def score(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, epsilon: float = 1e-15
) -> float:
    """Mean over the classes of the log loss within each class."""
    missing = [name for name in CLASSES if name not in submission]
    if missing:
        raise ParticipantVisibleError(f"expected a column {missing[0]}")
    values = submission[CLASSES].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(values).all() or (values < 0).any() or (values.sum(axis=1) <= 0).any():
        raise ParticipantVisibleError("expected probabilities from 0 to 1, not all 0")
    values = np.clip(values / values.sum(axis=1, keepdims=True), epsilon, 1 - epsilon)
    right = values[np.arange(len(values)), solution["label"].map(CLASSES.index).to_numpy()]
    return float((-np.log(pd.Series(right))).groupby(solution["label"].to_numpy()).mean().mean())


def higher_is_better() -> bool:
    return False
'''
)

MAP_AT_5 = (
    HEAD
    + '''def score(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, cutoff: int = 5
) -> float:
    """Mean average precision of the first five predictions, which are separated by spaces."""
    if "items" not in submission:
        raise ParticipantVisibleError("expected a column items")
    total = 0.0
    for true, guessed in zip(solution["items"], submission["items"].astype(str)):
        wanted, hits, sum_of_precisions = set(true.split()), 0, 0.0
        for rank, item in enumerate(dict.fromkeys(guessed.split()[:cutoff]), 1):
            if item in wanted:
                hits += 1
                sum_of_precisions += hits / rank
        total += sum_of_precisions / min(len(wanted), cutoff)
    return total / len(solution)
'''
)

KAPPA = (
    HEAD
    + '''def score(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, grades: int = 5
) -> float:
    """Quadratic weighted kappa of grades from 0 to 4."""
    if "grade" not in submission:
        raise ParticipantVisibleError("expected a column grade")
    guess = pd.to_numeric(submission["grade"], errors="coerce").to_numpy()
    if not np.isin(guess, range(grades)).all():
        raise ParticipantVisibleError(f"grade: expected whole numbers from 0 to {grades - 1}")
    both = np.zeros((grades, grades))
    np.add.at(both, (solution["grade"].to_numpy(), guess.astype(int)), 1)
    weights = np.subtract.outer(np.arange(grades), np.arange(grades)) ** 2
    by_chance = np.outer(both.sum(axis=1), both.sum(axis=0)) / both.sum()
    if not (weights * by_chance).sum():
        return 1.0
    return float(1 - (weights * both).sum() / (weights * by_chance).sum())
'''
)

DICE = (
    HEAD
    + '''def decode(text: str) -> set[int]:
    """The pixels of a run-length encoding: start and length, start and length."""
    numbers = [int(word) for word in text.split()]
    if len(numbers) % 2:
        raise ValueError("an odd number of numbers")
    return {pixel for start, run in zip(numbers[::2], numbers[1::2]) for pixel in range(start, start + run)}


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Mean Dice coefficient of the images."""
    if "rle" not in submission:
        raise ParticipantVisibleError("expected a column rle")
    total = 0.0
    for true, guessed in zip(solution["rle"], submission["rle"].astype(str)):
        try:
            mine = decode(guessed)
        except ValueError:
            raise ParticipantVisibleError("rle: expected pairs of start and length") from None
        truth = decode(true)
        total += 2 * len(mine & truth) / (len(mine) + len(truth)) if mine or truth else 1.0
    return total / len(solution)
'''
)

F_BETA = (
    HEAD
    + '''def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    beta: float = 2.0,
    weights_column_name: str = "weight",
) -> float:
    """F-beta of the positive class, with a weight for each row."""
    if "target" not in submission:
        raise ParticipantVisibleError("expected a column target")
    guess = pd.to_numeric(submission["target"], errors="coerce").to_numpy()
    if not np.isin(guess, [0, 1]).all():
        raise ParticipantVisibleError("target: expected 0 or 1")
    truth, weight = solution["target"].to_numpy(), solution[weights_column_name].to_numpy()
    hits = weight[(truth == 1) & (guess == 1)].sum()
    wrong = beta**2 * weight[(truth == 1) & (guess == 0)].sum() + weight[(truth == 0) & (guess == 1)].sum()
    return float((1 + beta**2) * hits / ((1 + beta**2) * hits + wrong)) if hits + wrong else 0.0
'''
)

C_INDEX = (
    HEAD
    + '''def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Concordance of risks with survival times, of which some are censored."""
    if "risk" not in submission:
        raise ParticipantVisibleError("expected a column risk")
    risk = pd.to_numeric(submission["risk"], errors="coerce").to_numpy()
    if not np.isfinite(risk).all():
        raise ParticipantVisibleError("risk: expected a number in every row")
    time, died = solution["time"].to_numpy(), solution["died"].to_numpy() == 1
    comparable = died[:, None] & (time[:, None] < time)
    right = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    return float(right[comparable].sum() / comparable.sum())
'''
)

CRPS = (
    HEAD
    + '''STEPS = np.arange(10)


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Continuous ranked probability score of cumulative probabilities at ten steps."""
    names = [f"p{step}" for step in STEPS]
    if not set(names) <= set(submission):
        raise ParticipantVisibleError(f"expected the columns {names[0]} to {names[-1]}")
    guess = submission[names].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    if not ((guess >= 0) & (guess <= 1)).all() or (np.diff(guess, axis=1) < 0).any():
        raise ParticipantVisibleError("expected probabilities that do not fall from step to step")
    reached = solution["step"].to_numpy()[:, None] <= STEPS
    return float(((guess - reached) ** 2).mean())


def higher_is_better() -> bool:
    return False
'''
)

BLEU = (
    HEAD
    + '''from collections import Counter


def pairs(words: list) -> Counter:
    return Counter(zip(words, words[1:]))


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Precision of words and of pairs of words over the whole corpus, with a penalty for brevity."""
    if "text" not in submission:
        raise ParticipantVisibleError("expected a column text")
    hits, tries, lengths = np.zeros(2), np.zeros(2), np.zeros(2)
    for true, guessed in zip(solution["text"], submission["text"].astype(str)):
        truth, mine = true.split(), guessed.split()
        lengths += len(mine), len(truth)
        for order, count in enumerate((Counter, pairs)):
            hits[order] += sum((count(mine) & count(truth)).values())
            tries[order] += sum(count(mine).values())
    if not hits.all():
        return 0.0
    brevity = min(1.0, np.exp(1 - lengths[1] / lengths[0]))
    return float(brevity * np.exp(np.log(hits / tries).mean()))
'''
)

JACCARD = (
    HEAD
    + '''def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Mean Jaccard index of sets of product ids, which are separated by spaces; "none" is the empty set."""
    if "products" not in submission:
        raise ParticipantVisibleError("expected a column products")
    values = []
    for true, guessed in zip(solution["products"], submission["products"].astype(str)):
        truth, mine = (set(text.split()) - {"none"} for text in (true, guessed))
        values.append(len(truth & mine) / len(truth | mine) if truth | mine else 1.0)
    return float(np.mean(values))
'''
)

AUC = (
    HEAD
    + '''def score(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, group_column_name: str = "site"
) -> float:
    """Mean of the areas under the ROC curves of the groups."""
    if "p" not in submission:
        raise ParticipantVisibleError("expected a column p")
    guess = pd.to_numeric(submission["p"], errors="coerce")
    if guess.isna().any():
        raise ParticipantVisibleError("p: expected a number in every row")
    table = solution.assign(truth=solution["target"], site=solution[group_column_name], p=guess.to_numpy())
    areas = []
    for _, rows in table.groupby("site"):
        positives = rows["truth"].sum()
        negatives = len(rows) - positives
        if positives and negatives:
            ranks = rows["p"].rank()[rows["truth"] == 1].sum()
            areas.append((ranks - positives * (positives + 1) / 2) / (positives * negatives))
    return float(np.mean(areas))
'''
)

PINBALL = (
    HEAD
    + '''QUANTILES = {"q10": 0.1, "q50": 0.5, "q90": 0.9}


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Mean pinball loss of three quantiles."""
    losses = []
    for name, level in QUANTILES.items():
        if name not in submission:
            raise ParticipantVisibleError(f"expected a column {name}")
        guess = pd.to_numeric(submission[name], errors="coerce").to_numpy()
        if not np.isfinite(guess).all():
            raise ParticipantVisibleError(f"{name}: expected a number in every row")
        error = solution["sales"].to_numpy() - guess
        losses.append(np.maximum(level * error, (level - 1) * error).mean())
    return float(np.mean(losses))


def higher_is_better() -> bool:
    return False
'''
)

Columns = dict[str, object]
Draw = Callable[[np.random.Generator, int], tuple[Columns, Callable[[float], Columns]]]


def _numbers(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw numbers, and guesses that miss them by the error."""
    truth = random.normal(size=rows).round(3)
    return {"value": truth}, lambda error: {"value": (truth + random.normal(0, error, rows)).round(3)}


def _labels(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw labels, and guessed probabilities of each."""
    truth = random.integers(3, size=rows)

    def guess(error: float) -> Columns:
        values = np.exp(2 * np.eye(3)[truth] + random.normal(0, error, (rows, 3)))
        values /= values.sum(axis=1, keepdims=True)
        return dict(zip(("cat", "dog", "fox"), values.round(4).T))

    return {"label": np.array(["cat", "dog", "fox"])[truth]}, guess


def _words(column: str) -> Draw:
    """Make a function that draws sets of words, and guesses of these."""

    def draw(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
        names = np.array([f"w{number}" for number in range(12)])
        truth = [random.choice(names, random.integers(2, 6), replace=False) for _ in range(rows)]

        def guess(error: float) -> Columns:
            guesses = [
                " ".join(np.where(random.random(len(each)) < error / 2, random.choice(names, len(each)), each))
                for each in truth
            ]
            return {column: guesses}

        return {column: [" ".join(each) for each in truth]}, guess

    return draw


def _grades(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw grades from 0 to 4, and guesses of these."""
    truth = random.integers(5, size=rows)
    return {"grade": truth}, lambda error: {
        "grade": np.clip((truth + random.normal(0, 2 * error, rows)).round(), 0, 4).astype(int)
    }


def _masks(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw masks as runs of pixels, and guesses that are shifted."""
    starts, runs = random.integers(1, 50, size=rows), random.integers(10, 30, size=rows)

    def guess(error: float) -> Columns:
        shifted = np.maximum(starts + (10 * random.normal(0, error, rows)).astype(int), 1)
        return {"rle": [f"{start} {run}" for start, run in zip(shifted, runs)]}

    return {"rle": [f"{start} {run}" for start, run in zip(starts, runs)]}, guess


def _weighted(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw yes or no with weights, and guesses of which some are wrong."""
    truth = random.integers(2, size=rows)
    weights = random.integers(1, 4, size=rows)
    return {"target": truth, "weight": weights}, lambda error: {
        "target": np.where(random.random(rows) < error / 3, 1 - truth, truth)
    }


def _survival(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw times until death or the end of the study, and guessed risks."""
    time = random.exponential(size=rows).round(4)
    died = (random.random(rows) < 0.7).astype(int)
    return {"time": time, "died": died}, lambda error: {"risk": (random.normal(0, error, rows) - time).round(4)}


def _steps(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw steps, and guessed probabilities that each step is reached."""
    truth = random.integers(10, size=rows)

    def guess(error: float) -> Columns:
        center = truth + random.normal(0, 3 * error, rows)
        values = 1 / (1 + np.exp(center[:, None] - 0.5 - np.arange(10)))
        return {f"p{step}": values[:, step].round(4) for step in range(10)}

    return {"step": truth}, guess


def _sites(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw yes or no at several sites, and guesses of these."""
    truth = np.arange(rows) // 3 % 2
    sites = np.array(["north", "south", "west"])[np.arange(rows) % 3]
    return {"target": truth, "site": sites}, lambda error: {
        "p": (truth + random.normal(0, error, rows)).round(4)
    }


def _sales(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw sales, and guessed quantiles of these."""
    truth = random.normal(size=rows).round(3)

    def guess(error: float) -> Columns:
        center = truth + random.normal(0, error, rows)
        return {"q10": center - error, "q50": center, "q90": center + error}

    return {"sales": truth}, guess


class HostMetric(NamedTuple):
    """A metric file, and a function that draws the columns of a solution and of guesses at it."""

    source: str
    draw: Draw


METRICS = {
    "rmse": HostMetric(RMSE, _numbers),
    "log_loss": HostMetric(LOG_LOSS, _labels),
    "map_at_5": HostMetric(MAP_AT_5, _words("items")),
    "kappa": HostMetric(KAPPA, _grades),
    "dice": HostMetric(DICE, _masks),
    "f_beta": HostMetric(F_BETA, _weighted),
    "c_index": HostMetric(C_INDEX, _survival),
    "crps": HostMetric(CRPS, _steps),
    "bleu": HostMetric(BLEU, _words("text")),
    "jaccard": HostMetric(JACCARD, _words("products")),
    "auc": HostMetric(AUC, _sites),
    "pinball": HostMetric(PINBALL, _sales),
}


def tables(name: str, rows: int = 60) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The solution of a metric, and the submission of each team, in another order of rows."""
    random = np.random.default_rng(3)
    ids = [f"r{number:03}" for number in range(rows)]
    truth, guess = METRICS[name].draw(random, rows)
    teams = {
        team: pd.DataFrame({"id": ids} | guess(error)).sample(frac=1, random_state=1)
        for team, error in zip(TEAMS, ERRORS)
    }
    return pd.DataFrame({"id": ids} | truth), teams
