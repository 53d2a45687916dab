"""Ids of rows, which are texts to podium.

An id is read, compared, searched and written as it stands in its file: 01 is not 1, and NA is not empty. A
metric gets whole numbers where every id of the solution is written as one, as `pandas.read_csv` does, because
it may sort by them, and among texts 10 comes before 2. Such numbers and their texts map one to one.
"""

import re

import pandas as pd

from podium.errors import HostError, SubmissionRejected

REWRITTEN = re.compile(r"\d([.,]\d+)?[eE]\+\d+")
Column = pd.Series  # of any kind


def texts(ids: Column) -> Column:
    """The ids as texts; a missing id is empty, and a number that pandas made a float is written without .0.

    >>> texts(pd.Series([1.0, 2.0])).tolist(), texts(pd.Series(["01", None, "1e5"])).tolist()
    (['1', '2'], ['01', '', '1e5'])
    """
    if ids.dtype.kind == "f" and ((ids.dropna() % 1 == 0) & (ids.dropna().abs() < 2**53)).all():
        ids = ids.astype("Int64")
    written = [str(value) for value in ids.tolist()]  # pandas' own texts cannot hold half of a character
    return pd.Series(written, index=ids.index, dtype=object).where(ids.notna(), "")


def rewritten(ids: Column) -> str | None:
    """The first id that a spreadsheet seems to have rewritten, as 150000000000 to 1.5E+11.

    >>> rewritten(pd.Series(["7", "1.5E+11"])), rewritten(pd.Series(["1e5"]))
    ('1.5E+11', None)
    """
    found = [text for text in texts(ids).unique() if REWRITTEN.fullmatch(text)]
    return found[0] if found else None


def whole_numbers(ids: Column) -> Column | None:
    """The ids as whole numbers, if every one is written as one: no zero, no plus sign and no exponent.

    >>> whole_numbers(pd.Series(["10", "2"])).tolist(), whole_numbers(pd.Series(["10", "02"]))
    ([10, 2], None)
    """
    for some in (ids.head(100), ids):  # most columns of texts show it at once
        try:
            numbers = some.astype("int64")
        except (ValueError, TypeError, OverflowError):
            return None
        if not (numbers.astype(str) == some).all():
            return None
    return numbers


def of_solution(solution: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Give a solution the ids that a metric gets: whole numbers where all are written as such, else texts."""
    if list(solution.columns).count(row_id) != 1 or solution[row_id].dtype.kind in "iu":
        return solution
    ids = texts(solution[row_id])
    numbers = whole_numbers(ids)
    return solution.assign(**{row_id: ids if numbers is None else numbers})


def as_in(solution: pd.DataFrame, submission: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Give a submission ids of the type that those of the solution have.

    Among whole numbers, 7.0 can only be 7, as pandas writes it where the column had a missing cell. Ids of
    another kind are kept, and match none of the solution's.
    """
    if any(list(table.columns).count(row_id) != 1 for table in (solution, submission)):
        return submission
    wanted, given = solution[row_id].dtype, submission[row_id]
    found = None
    if wanted.kind in "iu" and given.dtype.kind not in "iu":
        found = whole_numbers(texts(given).str.removesuffix(".0"))
    elif wanted.kind == "O" and given.dtype.kind in "iufb":
        found = texts(given)
    return submission if found is None else submission.assign(**{row_id: found})


def in_order(solution: pd.DataFrame, submission: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Put the rows of a submission into the order of the solution, as Kaggle does before it calls a metric.

    The checks and their messages are Kaggle's own. That the solution names each row once is the host's duty, so
    this is looked at first.
    """
    wanted = texts(solution[row_id])
    if not wanted.is_unique:
        raise HostError(
            f"{row_id}: expected one row per id in the solution, as platforms align by it. "
            f"{wanted[wanted.duplicated()].iloc[0]!r} occurs twice: should the metric file say "
            "COMPLETE_SUBMISSION = True?"
        )
    if row_id not in submission:
        raise SubmissionRejected(f"ID column {row_id} not found in submission")
    if len(submission) != len(solution):
        raise SubmissionRejected(f"Submission has {len(submission)} rows but {len(solution)} were expected.")
    given = texts(submission[row_id])
    if sorted(given) != sorted(wanted):
        found = rewritten(submission[row_id])
        hint = f"; a spreadsheet seems to have written {found}: format the ids as text" if found else ""
        raise SubmissionRejected(f"Solution and submission values for {row_id} do not match{hint}")
    if submission.isna().to_numpy().any():
        raise SubmissionRejected("Submission contains null values")
    ordered: pd.DataFrame = submission.iloc[pd.Index(given).get_indexer(wanted)]
    return ordered
