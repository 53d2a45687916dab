"""The two formats of the essay competition's files: one row per segment, and one row per essay.

`metric.py` reads both and says what they hold; the second passes Kaggle's default check, which wants a
submission to have the rows of the solution.
"""

import warnings

import numpy as np
import pandas as pd

import metric
from competition.errors import HostError, SubmissionRejected, UsageError
from competition.metric_file import errors_explained

__all__ = ["ROW_ID", "TEXT_COLUMNS", "is_solution", "pack", "unpack"]

ROW_ID = "row_id"
TEXT_COLUMNS = (*metric.TEXT_COLUMNS, metric.SEGMENTS_COLUMN)
NAMES_SHOWN = 5


def is_solution(frame: pd.DataFrame) -> bool:
    """Whether a file with one row per segment is a solution: it has labels."""
    return metric.LABEL_COLUMN in frame


def pack(
    frame: pd.DataFrame, essay_id_column_name: str = "essay_id", essays: list[str] | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """One row per essay from one row per segment.

    Parameters
    ----------
    frame : DataFrame
        A submission or, with the column ``discourse_effectiveness``, a solution; its first column is the
        row id.
    essay_id_column_name : str
    essays : list of str, optional
        The essays that a submission must have a row for, in this order; those it says nothing of get
        ``none``.  Without it, the essays of the frame, in its order.

    Returns
    -------
    packed : DataFrame
        Essay, segments and, of a solution, the columns with one value per essay.
    dropped : list of str
        The columns of a solution that have several.

    Raises
    ------
    SubmissionRejected, HostError
        The frame is malformed, or has segments of other `essays`.
    UsageError
        It has one row per essay already.
    """
    if metric.SEGMENTS_COLUMN in frame:
        raise UsageError(f"the file has one row per essay already: it has the column {metric.SEGMENTS_COLUMN}")
    segments, essay_ids, _ = _read(frame, essay_id_column_name, is_solution(frame))
    cells = [
        f"{metric.DISCOURSE_TYPES[kind]} {first} {last} {repr(d1).removesuffix('.0')}"
        for kind, first, last, d1 in zip(
            segments.discourse_type.tolist(),
            segments.first.tolist(),
            segments.last.tolist(),
            segments.d1.tolist(),
        )
    ]
    texts = pd.Series(essay_ids, dtype=object).to_numpy()[segments.essay]
    by_essay = pd.Series(cells, dtype=object).groupby(texts, sort=False).agg(";".join)
    if is_solution(frame):
        constant, dropped = _columns_of_essays(frame, texts, essay_id_column_name)
        packed = pd.DataFrame({essay_id_column_name: by_essay.index, metric.SEGMENTS_COLUMN: by_essay.array})
        return pd.concat([packed, constant], axis=1), dropped
    if essays is not None:
        others = [text for text in by_essay.index if text not in set(essays)]
        if others:
            raise SubmissionRejected(
                f"of the submission's essays, {len(others):,} are not among the {len(essays):,} expected: "
                f"{', '.join(others[:NAMES_SHOWN])}"
            )
        by_essay = by_essay.reindex(essays, fill_value=metric.NO_SEGMENTS)
    packed = pd.DataFrame({essay_id_column_name: by_essay.index, metric.SEGMENTS_COLUMN: by_essay.array})
    return packed, []


def unpack(frame: pd.DataFrame, essay_id_column_name: str = "essay_id", solution: bool = False) -> pd.DataFrame:
    """One row per segment from one row per essay.

    Parameters
    ----------
    frame : DataFrame
        Its first column is the row id.
    essay_id_column_name : str
    solution : bool
        The file is a solution: its probabilities are labels, and all its columns are kept.

    Returns
    -------
    DataFrame
        ``row_id`` is what `Evaluation.segments` calls a segment: the row's id, a colon and its place in the
        cell.

    Raises
    ------
    SubmissionRejected, HostError
        The frame is malformed.
    UsageError
        It has one row per segment already.
    """
    if metric.SEGMENTS_COLUMN not in frame:
        raise UsageError(f"the file has no column {metric.SEGMENTS_COLUMN}: it has no row per essay")
    segments, essay_ids, row_ids = _read(frame, essay_id_column_name, solution)
    positions = [str(position) for position in range(int(segments.last.max(initial=0)) + 1)]
    unpacked = pd.DataFrame(
        {
            ROW_ID: pd.Series(row_ids.names(), dtype=object),
            essay_id_column_name: pd.Series(essay_ids, dtype=object).to_numpy()[segments.essay],
            "discourse_type": np.array(metric.DISCOURSE_TYPES, dtype=object)[segments.discourse_type],
            "predictionstring": [
                " ".join(positions[first : last + 1])
                for first, last in zip(segments.first.tolist(), segments.last.tolist())
            ],
        }
    )
    if not solution:
        return unpacked.assign(**dict(zip(metric.PROBABILITY_COLUMNS, (segments.d0, segments.d1))))
    unpacked[metric.LABEL_COLUMN] = segments.d1.astype(np.int64)
    others = [name for name in frame if name not in (*unpacked, metric.SEGMENTS_COLUMN)]
    return pd.concat([unpacked, frame[others].iloc[row_ids.row].reset_index(drop=True)], axis=1)


def _read(
    frame: pd.DataFrame, essay_id_column_name: str, solution: bool
) -> tuple[metric.Segments, list[str], metric.RowIds]:
    """The segments as they are in the file, checked by the metric."""
    if not len(frame.columns):
        raise (HostError if solution else SubmissionRejected)("the file has no columns")
    row_id = str(frame.columns[0])
    with errors_explained():
        if not solution:
            digest = metric.read(frame, row_id, essay_id_column_name)
            return digest.segments, digest.essay_ids, digest.row_ids
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", metric.TruthOverlapWarning)  # overlaps stay as they are
            prepared = metric.prepare(frame, row_id, essay_id_column_name, subpopulation_column_names="")
        return prepared.given, prepared.essay_ids, prepared.row_ids


def _columns_of_essays(
    frame: pd.DataFrame, texts: "np.ndarray[tuple[int], np.dtype[np.object_]]", essay_id_column_name: str
) -> tuple[pd.DataFrame, list[str]]:
    """The further columns with one value per essay, one row per essay, and the names of the others."""
    used = {str(frame.columns[0]), essay_id_column_name, *metric.TEXT_COLUMNS, metric.LABEL_COLUMN}
    others = frame[[name for name in frame if name not in used]]
    groups = others.groupby(texts, sort=False)
    constant = (groups.nunique(dropna=False) <= 1).all()
    first = groups.head(1).reset_index(drop=True)
    return first[constant.index[constant]], list(constant.index[~constant])
