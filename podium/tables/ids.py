"""Ids of rows and of items, which are texts to podium.

An id is read, compared, searched and written as it stands in its file, and NA is not empty. But where every id
of a column of the solution is a whole number, and no two are the same number, platforms read numbers there. So
a submission's 1.0, 001, +1 and " 1" are then the id that the solution writes as 1. Elsewhere 01 is not 1.

A custom metric gets the ids in the type that `pandas.read_csv` gives here: whole numbers in such a
column, because it may sort by them, and among texts 10 comes before 2.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium.common.arrays import Ints
from podium.common.errors import HostError, SubmissionRejected
from podium.common.options import as_option, as_parameter, is_command

REWRITTEN = re.compile(r"\d([.,]\d+)?[eE]\+\d+")
WHOLE = re.compile(r"\s*([+-]?\d{1,19})(\.0*)?\s*")
DECIMAL = re.compile(r"-?\d*\.(?:(?![1-9])\d)*[1-9]\d*")
USAGE = "Usage"  # the column that names the part of a row
LARGEST_EXACT = 2**53  # up to which every whole number has a float of its own
LARGEST = 2**63 - 1
TEXT = pd.Series([""]).dtype  # of a column of texts that pandas reads


def texts(ids: pd.Series) -> pd.Series:
    """The ids as texts; a missing id is empty, and a number that pandas made a float is written without .0.

    >>> texts(pd.Series([1.0, 2.0])).tolist(), texts(pd.Series(["01", None, "1e5"])).tolist()
    (['1', '2'], ['01', '', '1e5'])
    """
    if isinstance(ids.dtype, pd.StringDtype):
        return ids.astype(object).where(ids.notna(), "")
    if ids.dtype.kind == "f" and ((ids.dropna() % 1 == 0) & (ids.dropna().abs() < 2**53)).all():
        ids = ids.astype("Int64")
    written = [str(value) for value in ids.tolist()]  # pandas' own texts cannot hold half of a character
    return pd.Series(written, index=ids.index, dtype=object).where(ids.notna(), "")


def named(columns: str, table: pd.DataFrame) -> list[str]:
    """The columns that a text names, with commas between them; a column may have a comma in its name.

    >>> named("patient, site", pd.DataFrame(columns=["patient", "site"])), named("", pd.DataFrame())
    (['patient', 'site'], [])
    """
    if columns in table:
        return [columns]
    return list(dict.fromkeys(filter(None, map(str.strip, columns.split(",")))))


def together(table: pd.DataFrame, columns: Sequence[str]) -> Ints:
    """Number what rows belong to, (rows,): rows that share a value in one of the columns stay together.

    >>> together(pd.DataFrame({"patient": [1, 1, 2, 3], "site": ["a", "b", "b", "c"]}), ["patient", "site"])
    array([0, 0, 0, 1])
    """
    codes: list[Ints] = [pd.factorize(table[name], use_na_sentinel=False)[0] for name in columns]
    if len(codes) == 1:
        return codes[0]
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Each row is linked to its values, which are numbered behind the rows.
    rows = np.arange(len(table))
    sizes = [code.max(initial=-1) + 1 for code in codes]
    starts = len(table) + np.cumsum([0, *sizes[:-1]])
    links = np.concatenate([code + start for code, start in zip(codes, starts)])
    shape = (len(table) + sum(sizes),) * 2
    graph = coo_array((np.ones(len(links), dtype=bool), (np.tile(rows, len(codes)), links)), shape=shape)
    parts = connected_components(graph, directed=False)[1][: len(table)]
    numbers: Ints = pd.factorize(parts)[0]
    return numbers


def rewritten(ids: pd.Series) -> str | None:
    """The first id that a spreadsheet seems to have rewritten, as 150000000000 to 1.5E+11.

    >>> rewritten(pd.Series(["7", "1.5E+11"])), rewritten(pd.Series(["1e5"]))
    ('1.5E+11', None)
    """
    found = [text for text in texts(ids).unique() if REWRITTEN.fullmatch(text)]
    return found[0] if found else None


def number_of(text: str) -> int | None:
    """The whole number that a platform's reader sees in an id; None if it sees a text or another number.

    >>> [number_of(text) for text in ("7", "007", "+7", " 7", "7.0", "7.5", "7a", "9007199254740993.0")]
    [7, 7, 7, 7, 7, None, None, None]
    """
    found = WHOLE.fullmatch(text)
    number = None if found is None else int(found[1])
    most = LARGEST if found is None or found[2] is None else LARGEST_EXACT
    return number if number is not None and -most <= number <= most else None


def by_number(ids: pd.Series) -> dict[int, str] | None:
    """The ids of a solution by the numbers that they are; None if one is not a number, or two are the same one.

    >>> by_number(pd.Series(["1", "10"])), by_number(pd.Series(["1", "01"])), by_number(pd.Series(["1", "a"]))
    ({1: '1', 10: '10'}, None, None)
    """
    for some in (ids.head(100), ids):  # most columns of texts show it at once
        written = texts(some).unique()
        if len(numbers := _numbers(written)) < len(written):
            return None
    return numbers


def _numbers(written: Iterable[str]) -> dict[int, str]:
    """Those of some texts that are whole numbers, by these."""
    texts = [*written]
    with contextlib.suppress(ValueError):  # all at once, if all are written as usual
        numbers = [*map(int, texts)]
        if [*map(str, numbers)] == texts and all(-LARGEST <= end(numbers) <= LARGEST for end in (min, max)):
            return dict(zip(numbers, texts))
    return {number: text for text in texts if (number := number_of(text)) is not None}


def of_solution(solution: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Give a solution the ids that a custom metric gets: whole numbers where all are such, else texts."""
    if list(solution.columns).count(row_id) != 1 or solution[row_id].dtype.kind in "iu":
        return solution
    ids, known = texts(solution[row_id]), by_number(solution[row_id])
    if known is None:
        return solution.assign(**{row_id: _of_type(ids, TEXT)})
    return solution.assign(**{row_id: ids.map({text: number for number, text in known.items()})})


def columns_of(arguments: Mapping[str, Any]) -> list[str]:
    """The columns of ids that the arguments of ``score`` name, those of rows and those of items, each once."""
    named = (str(value) for name, value in arguments.items() if name.endswith("_id_column_name"))
    return [*dict.fromkeys(named)]


def as_in(solution: pd.DataFrame, submission: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Write the ids of a submission as those of the solution, in the same type.

    Ids that are none of the solution's stay as they are, and match none.
    """
    for column in columns:
        if all(list(table.columns).count(column) == 1 for table in (solution, submission)):
            given = submission[column]
            ids = _as_in(solution[column], given)
            if ids is not given:
                submission = submission.assign(**{column: ids})
    return submission


def _as_in(wanted: pd.Series, given: pd.Series) -> pd.Series:
    """The ids of a submission in the form and the type of those of the solution."""
    if wanted.dtype.kind not in "iuO" or {wanted.dtype.kind, given.dtype.kind} <= {"i", "u"}:
        return given
    others = _others(wanted, given)
    is_of_type = given.dtype == wanted.dtype
    if is_of_type and not others:
        return given
    if wanted.dtype.kind in "iu":
        known = {text: number for number, text in (by_number(wanted) or {}).items()}
        numbers = known | {text: number_of(text) for text in others}
        return given if None in numbers.values() else texts(given).map(numbers).astype("int64")
    names = _names(wanted, others)
    if is_of_type and not names:
        return given
    ids = texts(given)
    return _of_type(ids.map(lambda text: names.get(text, text)) if names else ids, wanted.dtype)


def _names(wanted: pd.Series, others: Iterable[str]) -> dict[str, str]:
    """The ids of the solution that others are taken for, if all of the solution's are whole numbers."""
    known = (by_number(wanted) if others else None) or {}
    numbers = {text: number for text in others if (number := number_of(text)) is not None}
    return {text: known[number] for text, number in numbers.items() if number in known}


def _others(wanted: pd.Series, given: pd.Series) -> list[str]:
    """The ids of a submission that are written as none of the solution's, each once."""
    kind = wanted.dtype
    # pandas keeps texts like this only where pyarrow is installed.
    if isinstance(kind, pd.StringDtype) and kind.storage == "pyarrow" and kind == given.dtype:
        import pyarrow as pa
        import pyarrow.compute as pc

        held = [pa.array(each, pa.large_string()) for each in (wanted, given)]
        # Arrays are not compared with columns in chunks, as some are.
        ours, theirs = (each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in held)
        if ours[: len(theirs)].equals(theirs) or pc.all(pc.is_in(theirs, value_set=ours)).as_py():
            return []  # as in most submissions
    known = {*texts(wanted).unique()}
    return [text for text in texts(given).unique() if text not in known]


def _of_type(ids: pd.Series, dtype: Any) -> pd.Series:
    """Texts in another type, unless one of them is half of a character, which not every type can hold."""
    try:
        return ids.astype(dtype)
    except UnicodeEncodeError:
        return ids


def otherwise_written(given: pd.DataFrame, known: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Tell, once for each column, which id of a submission `as_in` has written in another way."""
    told = []
    for column in columns if known is not given else ():
        if list(given.columns).count(column) == 1:
            before, after = texts(given[column]).to_numpy(), texts(known[column]).to_numpy()
            if (is_other := before != after).any():
                text, name = before[is_other][0], after[is_other][0]
                told.append(f"{column}: {text!r:.40} is taken for {name}, because all ids are whole numbers")
    return told


def can_have_them(table: pd.DataFrame) -> list[str]:
    """The columns of a table that can have the ids of its rows."""
    return [str(name) for name in table if name != USAGE and not _why_no_ids(table[name], False)]


def first_column(solution: pd.DataFrame, may_repeat: bool) -> str:
    """The column of ids where none is named: the first one, unless it cannot have ids and a later one can."""
    first, *others = map(str, solution.columns)
    why = _why_no_ids(solution[first], may_repeat)
    if why and (able := can_have_them(solution[others])):
        taken = f"ids in {first}, the first column, as no other is named"
        raise HostError(f"expected {taken}, found {why}; {able[0]} can have them: {_as_row_id(able[0])}")
    return first


def _as_row_id(column: str) -> str:
    """Name the argument that says which column has the ids, which `podium.score` has, too."""
    return as_parameter("row_id_column_name", column) if is_command() else as_option("row_id", column)


def _why_no_ids(column: pd.Series, may_repeat: bool) -> str:
    """Say why a column cannot have the ids of rows: decimals, empty cells, or one value in several rows."""
    written = texts(column)
    decimals = written[written.map(lambda text: bool(DECIMAL.fullmatch(text)))]
    if len(decimals):
        return f"the decimal {decimals.iloc[0]}"
    if (written == "").any():
        return "an empty cell"
    return "" if may_repeat or written.is_unique else f"{written[written.duplicated()].iloc[0]!r} twice"


def refuse_empty(submission: pd.DataFrame) -> None:
    """Refuse a submission with an empty cell in the words of Kaggle, and tell the host where it is."""
    empty = submission.isna().to_numpy()
    if empty.any():
        row, column = (int(each[0]) for each in np.nonzero(empty))
        rejection = SubmissionRejected("Submission contains null values")
        name = submission.columns[column] or "without a name"
        rejection.for_host = f"the column {name} is empty in row number {row + 1:,}"
        raise rejection


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
    refuse_empty(submission)
    ordered: pd.DataFrame = submission.iloc[pd.Index(given).get_indexer(wanted)]
    return ordered
