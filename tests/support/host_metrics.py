"""Four metrics as hosts write them for Kaggle, each with a solution and the submissions of three teams.

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


def higher_is_better() -> bool:
    return True
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


def higher_is_better() -> bool:
    return True
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


def higher_is_better() -> bool:
    return True
'''
)

Columns = dict[str, object]
Draw = Callable[[np.random.Generator, int], tuple[Columns, Callable[[float], Columns]]]


def _numbers(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw numbers, and guesses that miss them by the error."""
    truth = random.normal(size=rows).round(3)
    return {"value": truth}, lambda error: {"value": (truth + random.normal(0, error, rows)).round(3)}


def _words(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw sets of words, and guesses of these."""
    names = np.array([f"w{number}" for number in range(12)])
    truth = [random.choice(names, random.integers(2, 6), replace=False) for _ in range(rows)]

    def guess(error: float) -> Columns:
        guesses = [
            " ".join(np.where(random.random(len(each)) < error / 2, random.choice(names, len(each)), each))
            for each in truth
        ]
        return {"text": guesses}

    return {"text": [" ".join(each) for each in truth]}, guess


def _weighted(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw yes or no with weights, and guesses of which some are wrong."""
    truth = random.integers(2, size=rows)
    weights = random.integers(1, 4, size=rows)
    return {"target": truth, "weight": weights}, lambda error: {
        "target": np.where(random.random(rows) < error / 3, 1 - truth, truth)
    }


def _sites(random: np.random.Generator, rows: int) -> tuple[Columns, Callable[[float], Columns]]:
    """Draw yes or no at several sites, and guesses of these."""
    truth = np.arange(rows) // 3 % 2
    sites = np.array(["north", "south", "west"])[np.arange(rows) % 3]
    return {"target": truth, "site": sites}, lambda error: {
        "p": (truth + random.normal(0, error, rows)).round(4)
    }


class HostMetric(NamedTuple):
    """A metric file, and a function that draws the columns of a solution and of guesses at it."""

    source: str
    draw: Draw


METRICS = {
    "rmse": HostMetric(RMSE, _numbers),
    "f_beta": HostMetric(F_BETA, _weighted),
    "bleu": HostMetric(BLEU, _words),
    "auc": HostMetric(AUC, _sites),
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
