"""A stand-in for Kaggle's module of this name, which metric files may import.

`podium.metric.hosted` offers it to every metric file, and `podium.hosting.kaggle.kernel` loads it where
podium cannot be imported. So it imports nothing from podium.
"""

from typing import Any

import numpy as np
import pandas as pd


class ParticipantVisibleError(Exception):
    """What is wrong with a submission, in words that participants may read."""


class HostVisibleError(Exception):
    """What is wrong with a solution, in words for the host."""


def treat_as_participant_error(error_message: str, solution: Any) -> bool:
    """Whether a message cannot reveal anything: the solution has only numbers, and the message has none."""
    kinds = list(pd.DataFrame(solution).dtypes)
    if not all(map(pd.api.types.is_numeric_dtype, kinds)) or any(map(str.isnumeric, error_message)):
        return False
    has_booleans = any(map(pd.api.types.is_bool_dtype, kinds))
    return not (has_booleans and any(word in error_message.lower() for word in ("true", "false")))


def safe_call_score(metric_function: Any, solution: Any, submission: Any, **parameters: Any) -> float:
    """Call a function of a library, whose errors participants see if they cannot reveal anything."""
    named = {kind.__name__: kind for kind in (ParticipantVisibleError, HostVisibleError)}
    try:
        return float(metric_function(solution, submission, **parameters))
    except Exception as problem:
        text = str(problem)
        if type(problem).__name__ in named:
            raise named[type(problem).__name__](text) from problem
        if treat_as_participant_error(text, solution):
            raise ParticipantVisibleError(text) from problem
        raise


def verify_valid_probabilities(frame: pd.DataFrame, name: str) -> None:
    """Refuse rows that are no probabilities whose sum is 1."""
    numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes)
    if not (numeric and (frame >= 0).all(axis=None) and np.allclose(frame.sum(axis=1), 1)):
        raise ParticipantVisibleError(f"{name}: expected numbers from 0 to 1 whose sum is 1 in each row")
