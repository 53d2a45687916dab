"""Two metrics as hosts write them for Kaggle, each with a solution and the submissions of three teams.

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
