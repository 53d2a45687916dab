"""The mean of the ratings that professional translators gave to a translation; 0 is perfect."""

import pandas as pd


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Average the ratings of the solution's segments."""
    rated = solution.merge(submission, on=row_id_column_name, validate="one_to_one")
    return float(rated["rating"].mean())


def higher_is_better() -> bool:
    """A segment without a mistake has the rating 0, and each mistake takes from it."""
    return True
