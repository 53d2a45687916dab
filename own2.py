import numpy as np
import pandas as pd


class ParticipantVisibleError(Exception):
    pass


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Accuracy."""
    return float(share(right(solution, submission).sum(axis=0)))


def higher_is_better() -> bool:
    return True


def right(solution, submission):
    return np.column_stack([solution["label"] == submission["label"], np.ones(len(solution))])


def share(sums):
    return sums[..., 0] / sums[..., 1]


def prepare(solution: pd.DataFrame, row_id_column_name: str) -> object:
    from podium.statistics import item_wise

    return item_wise(solution, row_id_column_name, right, share, groups=[])
