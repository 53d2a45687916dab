"""What a submission answers to each thing that a solution asks, in a form in which submissions can be compared.

A metric's companion tells it, such as the type of the segment that stands where a true one is. Otherwise the
cells are compared, where a submission has one row for each row of the solution and names one of a few labels.
"""

import functools
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints
from podium.scoring.evaluating import ALL, Evaluation, Solution
from podium.scoring.misfits import MOST_COLUMNS, ROWS_PER_LABEL
from podium.tables import ids

__all__ = ["Answers", "asked", "given_by", "pack", "unpack"]

KNOWN = 0.9  # so many of the cells of a submission have to be labels of the solution
MOST_LABELS = 2**15 - 1  # which two bytes can number
PERCENT, NOTHING = 100, 255


class Answers(NamedTuple):
    """What a submission answers to each of m things, in the order of `asked`."""

    columns: tuple[str, ...]  # of the solution that were compared by cells; none if the companion told it
    codes: Ints  # the label that is given there, by its place among the sorted ones; -1 for none
    probabilities: Floats  # which are given to what else is true of the thing, NaN for none
    is_answered: Bools  # whether the submission says anything about the thing's item

    def taken(self, some: Bools) -> "Answers":
        """Select some of the things."""
        return Answers(self.columns, self.codes[some], self.probabilities[some], self.is_answered[some])


@functools.lru_cache(maxsize=2)
def asked(solution: Solution, columns: tuple[str, ...]) -> pd.DataFrame:
    """List the things that a solution asks: the number of their item, their name (row), and their label."""
    of_companion = solution.metric.companion.asked
    if not columns and of_companion is not None:
        table = of_companion(solution)
        number_of = {item: number for number, item in enumerate(solution.prepared[ALL].items)}
        return table.assign(item=table["item"].map(number_of))
    row = ids.texts(solution.frame[solution.arguments["row_id_column_name"]][solution.rows[ALL]]).to_numpy()
    item = solution.prepared[ALL].item_of_row if solution.prepared else np.arange(len(row))
    label = _joined([_labels_of(solution)[name] for name in columns])
    return pd.DataFrame({"item": item, "row": row, "label": label})


def given_by(evaluation: Evaluation) -> Answers | None:
    """Tell what a submission answers, or None if that cannot be compared with others."""
    solution, companion = evaluation.solution, evaluation.solution.metric.companion
    if companion.answered is None or companion.asked is None:
        return _of_cells(solution, evaluation.submission)
    things, answers = asked(solution, ()), companion.answered(evaluation)
    codes = _codes(things["label"], answers["answer"])
    says = answers["is_answered"].to_numpy()
    return Answers((), codes, answers["probability"].to_numpy(np.float64), says)


def _codes(labels: pd.Series, given: Any) -> Ints:
    """Number labels that were given by their places among the sorted ones, -1 for others."""
    codes, values = pd.factorize(given)
    codes_of_values: Ints = pd.Index(sorted(labels.unique())).get_indexer(values)
    return np.append(codes_of_values, -1)[codes]


def _of_cells(solution: Solution, submission: pd.DataFrame) -> Answers | None:
    """Compare the cells of a submission that has one row for each row of the solution."""
    row_id, named = solution.arguments["row_id_column_name"], ids.columns_of(solution.arguments)
    place = _places(solution, submission, row_id)
    if place is None:
        return None
    own = [str(name) for name in submission if name not in named]
    labels: dict[str, Any] = {}
    for name, truth in _labels_of(solution).items():
        instead = own[0] if len(own) == 1 and len(solution.frame.columns) == len(named) + 1 else name
        texts = _given_labels(truth, submission, instead)
        if texts is not None:
            there = np.where(place < 0, "", np.append(texts, "")[place])
            if (there != truth.to_numpy())[place >= 0].any():  # else it is copied from what is public
                labels[name] = there
    if not labels:
        return None
    known = asked(solution, tuple(labels))["label"]
    if known.nunique() > MOST_LABELS:
        return None
    codes = _codes(known, _joined([*labels.values()]))
    return Answers(tuple(labels), codes, np.full(len(codes), np.nan), place >= 0)


def _joined(columns: Sequence[Any]) -> Any:
    """Join the texts of several columns row by row, (rows,)."""
    return np.array([" | ".join(each) for each in zip(*columns)], dtype=object)


def _places(solution: Solution, submission: pd.DataFrame, row_id: str) -> Ints | None:
    """Find the row of a submission for each row that counts, -1 for none; None if ids are repeated."""
    truth = solution.frame[solution.rows[ALL]]
    if row_id not in truth or row_id not in submission:
        return None
    if len(truth) == len(submission) and np.array_equal(truth[row_id], submission[row_id]):
        return np.arange(len(truth)) if truth[row_id].is_unique else None
    rows, given = (pd.Index(ids.texts(table[row_id])) for table in (truth, submission))
    if not (rows.is_unique and given.is_unique):
        return None
    places: Ints = given.get_indexer(rows)
    return places


@functools.lru_cache(maxsize=2)
def _labels_of(solution: Solution) -> dict[str, pd.Series]:
    """The columns of the solution that have labels, as texts; of a wide solution, among the first ones."""
    truth = solution.frame[solution.rows[ALL]].drop(columns=ids.columns_of(solution.arguments), errors="ignore")
    columns = [truth[name] for name in list(truth)[:MOST_COLUMNS]]
    some = [each for each in columns if 2 <= each.nunique(dropna=False) <= len(each) / ROWS_PER_LABEL]
    return {str(each.name): _texts(each) for each in some}


def _texts(cells: pd.Series) -> pd.Series:
    """Write cells as texts, each different one once, which is soon done."""
    codes, values = pd.factorize(cells)
    return pd.Series(np.append(ids.texts(pd.Series(values)).to_numpy(dtype=object), "")[codes], dtype=object)


def _given_labels(truth: pd.Series, submission: pd.DataFrame, name: str) -> Any:
    """The label that each row of a submission names, (rows,); None if it names none.

    A probability or another number names the higher one of two labels if it is among the largest, of which
    there are as many as the solution has. Columns with the names of labels name that of the largest cell.
    """
    labels = truth.unique().tolist()
    if name not in submission:
        of_label = [column for column in submission if str(column) in labels]
        if len(of_label) < len(labels) or any(
            submission[column].dtype.kind not in "iuf" for column in of_label
        ):
            return None
        return np.array([*map(str, of_label)], dtype=object)[submission[of_label].to_numpy().argmax(axis=1)]
    given = submission[name]
    texts = _texts(given)
    if texts.isin(labels).mean() >= KNOWN:
        return texts.to_numpy()
    numbers = pd.to_numeric(pd.Series(labels).replace({"False": "0", "True": "1"}), errors="coerce")
    if len(labels) > 2 or numbers.isna().any() or given.dtype.kind not in "iuf":
        return None
    low, high = (labels[place] for place in np.argsort(numbers.to_numpy()))
    least = given.nlargest(int((truth == high).sum())).min()
    return np.where(given >= least, high, low)


def pack(answers: Answers) -> bytes:
    """Write answers as a few bytes; a probability keeps two digits."""
    # Rounded down, what is less than one half stays less.
    percent = np.nan_to_num(np.floor(answers.probabilities * PERCENT + 1e-9), nan=NOTHING).astype(np.uint8)
    parts = answers.codes.astype(np.int16), percent, answers.is_answered
    return zlib.compress(b"".join(part.tobytes() for part in parts))


def unpack(packed: bytes, columns: Sequence[str]) -> Answers:
    """Read what `pack` has written."""
    content = zlib.decompress(packed)
    number = len(content) // 4
    codes = np.frombuffer(content, np.int16, number).astype(np.int64)
    percent = np.frombuffer(content, np.uint8, number, 2 * number)
    is_answered = np.frombuffer(content, bool, number, 3 * number)
    return Answers(tuple(columns), codes, np.where(percent == NOTHING, np.nan, percent / PERCENT), is_answered)
