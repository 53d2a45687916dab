"""Recognize frequent mistakes in the files of participants, and say how to correct them.

`diagnose` explains a rejected submission and says what to write instead. `of_file` and `of_matches` notice what
the metric accepts although it is probably not intended.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.errors import SubmissionRejected
from podium.wording import counted

OTHER_NAMES = {"id": "essay_id", "class": "discourse_type"}
# With fewer matches, a habit cannot be told from chance.
FEW_MATCHES = 30
# Overlap removal may take this share of the predictions without a notice.
NOTABLE_LOSS = 0.02
# If more than this share of the rows are single words that continue the row before, rows are words, not
# segments.
SINGLE_WORDS = 0.5

# How participants write a predictionstring instead of "45 46 47", and what to do about it.
SPELLINGS = (
    (re.compile(r"[\[\](){}]"), "leave out brackets"),
    (re.compile(r"\d\s*[-–:…]\s*\d|\.\."), "list every position instead of a range"),
    (re.compile(r"[,;|]"), "separate positions by single spaces, not by commas"),
    (re.compile(r"\d\.\d"), "write whole numbers, without a decimal point"),
    (re.compile(r"\s{2}|^\s|\s$"), "separate positions by single spaces, with none at the ends"),
)

Ints = npt.NDArray[np.int64]


def recognise(
    frame: pd.DataFrame, row_id: str, effectiveness: float | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Rename the columns of the Feedback Prize to those of this metric.

    Parameters
    ----------
    frame : DataFrame
        A submission, possibly with the columns of the Feedback Prize 1.
    row_id : str
        The column that names rows in messages. A file without it gets one that counts its lines.
    effectiveness : float in [0, 1], optional
        The probability of effective for every row.

    Returns
    -------
    frame : DataFrame
        The submission with this metric's columns.
    notices : list of str
        What was renamed.

    Raises
    ------
    SubmissionRejected
        No column tells the effectiveness, and none is given.
    """
    names = {old: new for old, new in OTHER_NAMES.items() if old in frame and new not in frame}
    notices = [f"the column {old} is taken for {new}" for old, new in names.items()]
    own = ", ".join(map(str, frame))
    frame = frame.rename(columns=names)
    if effectiveness is not None:
        d = (1 - effectiveness, effectiveness)
        frame = frame.assign(score_discourse_effectiveness_0=d[0], score_discourse_effectiveness_1=d[1])
    elif "predictionstring" in frame and not any(
        name.startswith("score_discourse_") for name in map(str, frame)
    ):
        raise SubmissionRejected(
            "add the columns score_discourse_effectiveness_0 and score_discourse_effectiveness_1, or score "
            f"the segmentation alone with --effectiveness 0.5; the file has {own:.100}"
        )
    if row_id not in frame and row_id not in OTHER_NAMES.values():
        # Lines count from 1, and the first one is the header. A column that is scored is never made up, even if
        # it names the rows.
        frame = frame.assign(**{row_id: [f"of line {line}" for line in range(2, len(frame) + 2)]})
    return frame, notices


def diagnose(metric: Any, prepared: Any, submission: pd.DataFrame) -> str | None:
    """Say what to write instead in a rejected submission with a known mistake.

    Parameters
    ----------
    metric : module
        The metric file.
    prepared : podium.contract.StagedPrepared
        The solution as the metric prepared it.
    submission : DataFrame
        The submission that was rejected.

    Returns
    -------
    str or None
        A sentence, or None if no mistake is recognized. It may name an id of the solution, so it is only for
        people who have the solution.
    """
    renamed = _other_column(
        submission,
        [
            prepared.essay_id_column_name,
            "discourse_type",
            "predictionstring",
            *metric.PROBABILITY_COLUMNS,
        ],
    )
    if renamed is not None:
        return f"rename the column {renamed[0]!r} to {renamed[1]!r}"
    if "predictionstring" in submission:
        cells = [_as_text(cell) for cell in submission["predictionstring"]]
        _, last = metric.parse_predictionstrings(cells)
        wrong = np.flatnonzero(last < 0)
        for row in wrong[:1].tolist():
            for pattern, cure in SPELLINGS:
                if pattern.search(cells[row]):
                    return (
                        f"{cure} in predictionstring: '45 46 47' is right, found {cells[row][:40]!r} "
                        f"in row number {row + 1} and in {len(wrong) - 1:,} other rows"
                    )
    if "discourse_type" in submission:
        given = pd.unique(submission["discourse_type"].astype(str)).tolist()
        unknown = [name for name in given if name not in metric.DISCOURSE_TYPES]
        other = _other_spelling(unknown, metric.DISCOURSE_TYPES)
        if other is not None:
            return f"write {other[1]!r} in discourse_type, found {other[0]!r}"
    essay_id = prepared.essay_id_column_name
    if essay_id in submission:
        given = pd.unique(submission[essay_id].astype(str)).tolist()
        if given and not set(given) & set(prepared.items):
            other = _other_spelling(given, prepared.items)
            if other is not None:
                return f"spell {essay_id} as the solution does: {other[1]!r}, found {other[0]!r}"
            return f"take the essays of this solution, such as {prepared.items[0]!r}; found {given[0]!r}"
    return None


def of_file(prepared: Any, submission: pd.DataFrame, given: Any) -> list[str]:
    """Notice mistakes in the rows of a submission.

    Parameters
    ----------
    prepared : podium.contract.StagedPrepared
        The solution as the metric prepared it.
    submission : DataFrame
        The submission.
    given : Segments
        Its segments as the metric read them.

    Returns
    -------
    list of str
        The notices.
    """
    notices = []
    essay_id = submission[prepared.essay_id_column_name]
    unknown = pd.unique(essay_id[given.essay < 0].astype(str)).tolist()
    other = _other_spelling(unknown, prepared.items)
    if other is not None:
        notices.append(
            f"spell {prepared.essay_id_column_name} as the solution does: {other[1]!r}, found {other[0]!r}"
        )
    # A row continues the one before if both are one word, and these follow each other in the same essay and
    # type.
    goes_on = (
        (given.essay[1:] == given.essay[:-1])
        & (given.discourse_type[1:] == given.discourse_type[:-1])
        & (given.first[1:] == given.last[:-1] + 1)
        & (given.words[1:] == 1)
        & (given.words[:-1] == 1)
    )
    words = int(goes_on.sum())
    if words > SINGLE_WORDS * len(given.row):
        notices.append(
            f"write one row per segment, with all of its positions in predictionstring: {words:,} of "
            f"{counted(len(given.row), 'row')} are a single word that continues the row before"
        )
    return notices


def of_matches(
    prepared: Any, matched: Any, truths: Any, true_probability: npt.NDArray[np.float64]
) -> list[str]:
    """Notice mistakes that show in the matches.

    Parameters
    ----------
    prepared : podium.contract.StagedPrepared
        The solution as the metric prepared it.
    matched, truths : Segments, (m,)
        The matched predictions as they were given, and their truths.
    true_probability : (m,) float
        The predicted probability of the true effectiveness of each match.

    Returns
    -------
    list of str
        The notices; none if there are too few matches.
    """
    notices: list[str] = []
    if len(matched.row) < FEW_MATCHES:
        return notices
    shifts = np.concatenate([matched.first - truths.first, matched.last - truths.last])
    late, right = int((shifts == 1).sum()), int((shifts == 0).sum())
    if late - right > 3 * np.sqrt(late + right):  # more than three standard deviations of chance
        notices.append(
            f"count positions from 0: among the starts and ends of matches, {late:,} are one word late and "
            f"{right:,} are right"
        )
    if np.ptp(matched.d1) == 0 and true_probability.mean() < 1:
        share = prepared.segment_weight + (1 - prepared.segment_weight) * 0.5
        most = f"; even a perfect segmentation scores {2 * share / (1 + share):.3f} at most"
        notices.append(
            f"say how effective each segment is: all of them have the probability {matched.d1[0]:g}"
            + (most if matched.d1[0] == 0.5 else "")
        )
    elif true_probability.mean() + 2 * true_probability.std() / np.sqrt(len(true_probability)) < 0.5:
        notices.append(
            "check whether score_discourse_effectiveness_0 and _1 are swapped: the true effectiveness has a "
            f"probability of {true_probability.mean():.2f} on average, less than a coin would give"
        )
    return notices


def _as_text(cell: object) -> str:
    """Write a cell as text in one line."""
    return " ".join(cell.split("\n")) if isinstance(cell, str) else str(cell)


def _other_column(table: pd.DataFrame, names: Sequence[str]) -> tuple[str, str] | None:
    """A column of the table that is one of the names but for case and separators, and that name."""
    known = {re.sub(r"[\W_]", "", name.casefold()): name for name in names if name not in table}
    for column in map(str, table):
        name = known.get(re.sub(r"[\W_]", "", column.casefold()))
        if name is not None and column not in names:
            return column, name
    return None


def _other_spelling(given: Sequence[str], right: Sequence[str]) -> tuple[str, str] | None:
    """Find the first text that equals a right one except for case, blanks and the like; return both of them."""
    if not len(given):
        return None
    known = {_bare(text): text for text in right}
    return next(((text, known[_bare(text)]) for text in given if _bare(text) in known), None)


def _bare(text: str) -> str:
    """Remove what programs change in a text: case, blanks, underscores, suffixes, leading zeros, quotes."""
    bare = re.sub(r"\.(txt|csv|json|0)$", "", text.strip().strip("'\"").casefold())
    return re.sub(r"[\s_-]+", " ", bare).lstrip("0")
