"""Score the items of each fold that a table names."""

import functools
from pathlib import Path

import pandas as pd

from podium.child.workers import alone
from podium.common.arrays import Bools
from podium.common.errors import UsageError
from podium.common.wording import listed, natural_order
from podium.contest import pipeline
from podium.scoring import evaluating
from podium.scoring.alignment import names_of_rows
from podium.scoring.evaluating import Evaluation, Solution
from podium.tables.formats import read_texts
from podium.tables.names import of_column

__all__ = ["by_fold"]


def by_fold(evaluation: Evaluation, path: Path) -> pd.DataFrame:
    """Score the items of each fold that a table names: its first column has the ids, and fold their folds."""
    table = read_texts(path, UsageError)
    if "fold" not in table or table.columns[0] == "fold":
        found = listed([*map(of_column, table)])
        raise UsageError(f"{path}: expected ids in the first column, and a column fold, found {found}")
    ids = table.drop_duplicates([table.columns[0], "fold"]).iloc[:, 0]
    if ids.duplicated().any():
        raise UsageError(
            f"{path}: expected one fold of every id, found others of {ids[ids.duplicated()].iloc[0]}"
        )
    solution, of_id = evaluation.solution, dict(zip(table.iloc[:, 0], table["fold"]))
    names = names_of_rows(solution)
    fold = names.map(of_id)
    if fold.isna().any():
        lacking = names[fold.isna()].unique().tolist()
        raise UsageError(f"{path}: expected the fold of every item, found none for {listed(lacking, 3)}")
    rows = []
    score = functools.partial(_score_of_fold, solution, evaluation.submission)
    for name in sorted(fold.unique(), key=natural_order):
        of_fold = (fold == name).to_numpy()
        value = score(of_fold) if solution.metric.is_built_in else alone(score, of_fold)
        rows.append((name, names[of_fold].nunique(), value))
    return pd.DataFrame(rows, columns=["fold", "items", "score"])


def _score_of_fold(solution: Solution, submission: pd.DataFrame, of_fold: Bools) -> float:
    """Score the rows of one fold."""
    return pipeline.unjudged(evaluating.narrowed(solution, of_fold), submission).score
