"""What a host should know of a solution before anybody is scored with it."""

from collections.abc import Iterator

import numpy as np

from podium.common.arrays import Bools
from podium.common.wording import counted, listed
from podium.metric.shapes import BOTH_PARTS, TRUTH, Finding, note
from podium.scoring import evaluating
from podium.scoring.evaluating import Evaluation

NAMES_OF_PARTS = ("usage", "split", "set", "part")  # of columns that may mean Usage


def has_no_empty_cells(evaluation: Evaluation) -> Iterator[Finding]:
    """Look for empty cells in the truth, which many metrics leave out and no submission may have."""
    solution = evaluation.solution
    empty: Bools = solution.frame.isna().to_numpy() & solution.rows[evaluating.ALL][:, np.newaxis]
    columns = [str(name) for number, name in enumerate(solution.frame) if empty[:, number].any()]
    if columns:
        numbers = listed([f"{row + 1:,}" for row in np.flatnonzero(empty.any(axis=1)).tolist()])
        found = f"{counted(int(empty.sum()), 'empty cell')} in {listed(columns)}, in row number {numbers}"
        cure = (
            "; platforms refuse an empty answer, so nobody can give it: write a sign for it, such as -, in the "
            "solution and in submissions, unless the metric leaves such cells out"
        )
        is_answer = any(name in evaluation.submission for name in columns)
        yield note(TRUTH, f"the solution: {found}{cure if is_answer else ''}")


def keeps_classes_apart(evaluation: Evaluation) -> Iterator[Finding]:
    """Look for classes in the truth that differ only in case or spaces."""
    solution = evaluation.solution
    row_id = solution.arguments.get("row_id_column_name")
    answers = [name for name in solution.frame if name in evaluation.submission and name != row_id]
    for name in answers:
        cells = solution.frame[name][solution.rows[evaluating.ALL]].dropna()
        values = [value for value in cells.unique().tolist() if isinstance(value, str)]
        if len(values) <= len(cells) / 2:  # Others are texts and no classes.
            for said in evaluating.alike(str(name), values, "classes"):
                yield note(TRUTH, f"the solution: {said}")


def names_its_parts(evaluation: Evaluation) -> Iterator[Finding]:
    """Tell a solution with one board alone, and a column that looks like parts but has another name."""
    solution = evaluation.solution
    if evaluating.PARTS[0] in solution.rows and evaluating.PARTS[1] not in solution.rows:
        yield note(BOTH_PARTS, "no row is Private, so there is one board, which everybody sees and can climb")
    for name, cells in solution.frame.items():
        if str(name).casefold() in NAMES_OF_PARTS:
            values = {str(cell).strip().casefold() for cell in cells.dropna().unique()}
            if values and values <= {"public", "private", "ignored"}:
                cure = f"if so, call the column {evaluating.USAGE}, as platforms do"
                yield note(BOTH_PARTS, f"the column {name} of the solution looks like its parts: {cure}")
