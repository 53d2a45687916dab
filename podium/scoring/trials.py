"""Trials: score again, and see whether a metric keeps to the contract.

It gives the same score again, also with the rows in another order; it is not misled by further columns; and the
truth is not worse than a submission. Spoiled submissions are tried where a platform would show what it says of
them, in `podium.hosting.kaggle.kernel`. Each trial yields a `Finding` for each slip, or nothing.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.common.errors import MetricError, SubmissionRejected, ToolError
from podium.metric import hosted
from podium.metric.contract import Metric
from podium.metric.shapes import AGAIN, COLUMNS, DIRECTION, Finding, failure, note, where
from podium.scoring.evaluating import Evaluation

MOST_COLUMN_TRIALS = 60  # of columns that a metric may not need
MOST_TRIALS = 3  # of a score that should be the same again
CLEARLY_WORSE = 1e-9  # a difference between two scores
ROUNDING = 1e-6  # relative to a score
STATELESS = "use no random numbers, no clock, and nothing that an earlier call left"

Tables = tuple[pd.DataFrame, pd.DataFrame]  # a solution and a submission, as score() gets them

# ---- The same again ----------------------------------------------------------------------------------------


def keeps_nothing(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that nothing of an earlier call changes a score.

    The loaded metric scores the submission, then others, then the first one again. The same file, loaded a
    second time, scores them in the reverse order, so none of them has the same calls before it.
    """
    metric, arguments = evaluation.solution.metric, evaluation.solution.arguments
    trials = _trials(evaluation)
    used = [(trial, _outcome(metric, trials[trial], arguments)) for trial in (*range(len(trials)), 0)]
    again = hosted.anew(metric)
    fresh = [_outcome(again, tables, arguments) for tables in reversed(trials)][::-1]
    for trial, score in [(0, evaluation.score), *used]:
        first = fresh[trial]
        if score is not None and first is not None and not same(first, score):
            yield failure(
                AGAIN,
                f"{where(metric)}: expected the same number whenever it is called with the same tables, found "
                f"{first!r} and then {score!r}; {STATELESS}",
            )
            return


def _trials(evaluation: Evaluation) -> list[Tables]:
    """The submission, and others to be scored between two calls with it: one with the truth, and a half."""
    frame, answers = evaluation.solution.tables(evaluation.submission)
    row_id = evaluation.solution.arguments["row_id_column_name"]
    others = answers.iloc[::-1].set_axis(answers.index)
    kept = {row_id: answers[row_id]} if row_id in answers else {}
    if not len(frame) == len(answers) > 1:
        return [(frame, answers), (frame, others.assign(**kept))]
    columns: dict[str, Any] = {str(name): cells / 2 for name, cells in answers.select_dtypes("number").items()}
    columns |= {str(name): frame[name].to_numpy() for name in answers if name in frame}
    half = len(frame) // 2
    return [
        (frame, answers),
        (frame, others.assign(**columns | kept)),
        (frame.iloc[:half], answers.iloc[:half]),
    ]


def _outcome(metric: Metric, tables: Tables, arguments: Mapping[str, Any]) -> float | None:
    """The score of two tables; None if they are refused."""
    with contextlib.suppress(ToolError):
        return metric.score(*(table.copy() for table in tables), **arguments)
    return None


def same_again(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that a second call gives the same score."""
    scored = None
    with contextlib.suppress(ToolError):
        tables = evaluation.solution.tables(evaluation.submission)
        scored = evaluation.solution.metric.score(*tables, **evaluation.solution.arguments)
    if scored is None or not same(scored, evaluation.score):
        found = f"{evaluation.score!r} and then {'a rejection' if scored is None else repr(scored)}"
        expected = "expected the same score when it is called again, found"
        yield failure(AGAIN, f"{where(evaluation.solution.metric)}: {expected} {found}; {STATELESS}")


# ---- Another order -----------------------------------------------------------------------------------------


def matches_by_ids(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that rows of a complete submission, which nobody brings into order, are matched by their ids."""
    metric = evaluation.solution.metric
    frame, answers = evaluation.solution.tables(evaluation.submission)
    if not metric.complete_submission:
        return
    with contextlib.suppress(ToolError):  # The metric may rightly refuse rows in another order.
        backward = score_of(evaluation, (frame, answers.iloc[::-1].reset_index(drop=True)))
        if not np.isclose(backward, evaluation.score, rtol=ROUNDING, atol=CLEARLY_WORSE, equal_nan=True):
            yield note(
                AGAIN,
                f"{where(metric)}: the score depends on the order of a submission's rows: "
                f"{evaluation.score:.6f}, and {backward:.6f} with the last one first. Match rows by their ids, "
                "unless the order has a meaning",
            )


# ---- Further columns ---------------------------------------------------------------------------------------


def ignores_further_columns(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that a submission may carry further columns, such as the solution's own, and gains nothing by it.

    A metric that joins the two tables may take a column of the submission for one of the solution. Then a
    participant chooses the truth, or the weights of the score.
    """
    frame, answers = evaluation.solution.tables(evaluation.submission)
    if not len(frame):
        return
    further = [str(name) for name in frame.columns if name not in answers]
    try:
        found = _gained(evaluation, frame[further], frame, answers) if further else None
    except SubmissionRejected:
        found = None  # The metric says that it wants no other columns.
    except ToolError as problem:
        error = problem.error if isinstance(problem, MetricError) else str(problem)
        yield note(
            COLUMNS,
            f"{where(evaluation.solution.metric)}: it does not score a submission with further columns "
            f"{_named(further)}: {error}; participants are not told why",
        )
        return
    if found is None:
        yield from _takes_the_place(evaluation, frame, answers)
        return
    expected, scored, columns = found
    place = (
        f"{where(evaluation.solution.metric)}: expected the same score for a submission with further columns"
    )
    text = f"{place} {_named(further)}, found {scored!r} instead of {expected!r}"
    foreign = {f"{name} of nobody": cells for name, cells in columns.items()}
    with contextlib.suppress(ToolError):
        if same(scored, score_of(evaluation, (frame, _with(answers, foreign)))):
            yield note(COLUMNS, f"{text}, and the same with such columns of any other name")
            return
    yield failure(COLUMNS, f"{text}; select the columns that you need before you join tables")


def _named(columns: Iterable[str]) -> str:
    """List columns in brackets."""
    return f"({', '.join(columns):.60})"


def _with(answers: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Add new columns all at once, because pandas adds them one by one in quadratic time."""
    return pd.concat([answers, pd.DataFrame(columns, index=answers.index)], axis=1)


def _gained(
    evaluation: Evaluation, further: pd.DataFrame, frame: pd.DataFrame, answers: pd.DataFrame
) -> tuple[float, float, dict[str, Any]] | None:
    """Find columns that change a score: the score without them, the one with them, and what they are."""
    expected = score_of(evaluation, (frame, answers))
    for columns in _further_columns(further, len(answers)):
        scored = score_of(evaluation, (frame, _with(answers, columns)))
        if not same(expected, scored):
            return expected, scored, columns
    return None


def by_halves(columns: list[str], is_settled: Callable[[list[str]], bool]) -> None:
    """Ask about all columns together, and then about halves of those that are not settled, in few trials."""
    groups = [columns]
    for _ in range(MOST_COLUMN_TRIALS):
        group = groups.pop(0) if groups else []
        if group and not is_settled(group) and len(group) > 1:
            groups += [group[: len(group) // 2], group[len(group) // 2 :]]


def _takes_the_place(evaluation: Evaluation, frame: pd.DataFrame, answers: pd.DataFrame) -> Iterator[Finding]:
    """Check the columns that the submission has already and the metric does not ask for.

    One of them may be a voluntary answer. It takes the place of the solution's if what the solution says there
    does not matter any more.
    """
    row_id = evaluation.solution.arguments["row_id_column_name"]
    found = dict[str, tuple[float, float, Any]]()

    def are_harmless(names: list[str]) -> bool:
        """Whether the metric does not ask for these columns, and its score is the same with others of them."""
        with contextlib.suppress(ToolError):
            gained = _gained(evaluation, frame[names], frame, answers.drop(columns=names))
            if gained and len(names) == 1:
                found[names[0]] = gained
            return gained is None
        return False

    by_halves([str(name) for name in frame.columns if name in answers and name != row_id], are_harmless)
    for name, gained in found.items():
        scored = score_of(evaluation, (frame, answers))
        with contextlib.suppress(ToolError):
            changed = [frame.assign(**cells) for cells in _further_columns(frame[[name]], len(frame))]
            if all(same(scored, score_of(evaluation, (each, answers))) for each in changed):
                expected = f"expected the column {name} of the solution to count"
                instead = f"found that the submission's takes its place: {gained[1]!r} instead of {gained[0]!r}"
                cure = "select the columns that you need before you join tables"
                yield failure(COLUMNS, f"{where(evaluation.solution.metric)}: {expected}, {instead}; {cure}")
                return


def _further_columns(columns: pd.DataFrame, rows: int) -> Iterator[dict[str, Any]]:
    """Columns of the solution for a submission: in other rows, and of one value each."""
    cells = {str(name): columns[name].to_numpy() for name in columns}
    yield {name: np.resize(np.roll(each, shift), rows) for shift, (name, each) in enumerate(cells.items(), 1)}
    for row in (0, -1):  # Some scores do not change where cells are exchanged.
        yield {name: np.resize(each[[row]], rows) for name, each in cells.items()}


# ---- The truth ---------------------------------------------------------------------------------------------


def knows_direction(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the truth, given as a submission, does not score worse than the submission."""
    truth, answers = evaluation.solution.tables(evaluation.submission)
    if not {*answers} <= {*truth}:
        return
    try:
        best = score_of(evaluation, (truth, truth[list(answers)]))
    except ToolError:
        return
    lead = evaluation.score - best if evaluation.solution.higher_is_better else best - evaluation.score
    if lead > CLEARLY_WORSE:
        yield note(
            DIRECTION,
            f"the solution itself scores {best:.6f}, and the given submission {evaluation.score:.6f}, which "
            "counts as better: is that meant?",
        )


def score_of(evaluation: Evaluation, tables: Tables) -> float:
    """Call ``score()`` with these tables, as a platform does."""
    solution = evaluation.solution
    return solution.metric.score(*(table.copy() for table in tables), **solution.arguments)


def same(first: float, second: float) -> bool:
    """Whether two scores are equal to the last bit, or both undefined."""
    return first == second or bool(np.isnan(first) and np.isnan(second))
