"""How many prices are nearly right, for a board of version 11.0 that every 11.x must verify."""

import pandas as pd


class ParticipantVisibleError(Exception):
    """The submission is wrong."""


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Compute the share of prices that are wrong by less than 1."""
    return float(((solution["price"] - submission["price"]).abs() < 1).mean())


def higher_is_better() -> bool:
    """Tell that a larger share is better."""
    return True
