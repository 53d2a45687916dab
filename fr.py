import pandas as pd


class ParticipantVisibleError(Exception):
    pass


def higher_is_better() -> bool:
    return True


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """x."""
    return float(-(solution["height"] - submission["height"]).abs().mean())
