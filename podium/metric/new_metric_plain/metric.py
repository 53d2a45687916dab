"""Accuracy: the share of rows whose label is right. Replace it by a metric of your own."""

import pandas as pd


class ParticipantVisibleError(Exception):
    """The submission is wrong; participants read the text."""


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Compute the share of rows whose label is right; both tables have the same ids in the same order."""
    if "label" not in submission:
        raise ParticipantVisibleError("expected a column label")
    return float((solution["label"].to_numpy() == submission["label"].to_numpy()).mean())


def higher_is_better() -> bool:
    """Tell whether a higher score is better."""
    return True
