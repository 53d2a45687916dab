"""Metric files in the style of public ones on Kaggle, with the checks that note something.

Each is tried with `SOLUTION` and a submission that its `score` accepts.
"""

SOLUTION = "id,target,Usage\n1,1,Public\n2,0,Public\n3,1,Private\n4,0,Private\n"
SUBMISSION = "id,target\n1,0.9\n2,0.2\n3,0.7\n4,0.4\n"

# Kaggle's template, which hosts fill in. It changes the tables that it gets.
TEMPLATE = '''
import pandas as pd
import pandas.api.types


class ParticipantVisibleError(Exception):
    """Shown to participants."""


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """The mean absolute error.

    >>> row_id_column_name = "id"
    >>> y = pd.DataFrame({"id": range(4), "y": [1, 0, 1, 1]})
    >>> score(y.copy(), y.copy(), row_id_column_name)
    0.0
    """
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    if not pandas.api.types.is_numeric_dtype(submission.iloc[:, 0]):
        raise ParticipantVisibleError("Predictions must be numbers")
    return float((solution.iloc[:, 0] - submission.iloc[:, 0]).abs().mean())
'''
# It calls scikit-learn through Kaggle's helper.
HELPED = '''
"""Area under the curve, by way of the helper."""
import pandas as pd
import sklearn.metrics

import kaggle_metric_utilities


def score(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, labels: str = "target"
) -> float:
    """Area under the ROC curve of the column `labels`."""
    if labels not in submission:
        raise kaggle_metric_utilities.ParticipantVisibleError(f"no column {labels}")
    return kaggle_metric_utilities.safe_call_score(
        sklearn.metrics.roc_auc_score, solution[labels].to_numpy(), submission[labels].to_numpy()
    )
'''
# Each with the keys of the checks that it passes with a note; none fails.
FATES = {
    "template": (TEMPLATE, {"frames", "participant"}),
    # The helper passes on what scikit-learn says about texts in place of numbers, whatever its length.
    "helped": (HELPED, {"messages"}),
}
