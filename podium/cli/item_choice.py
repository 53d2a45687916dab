"""Score submissions for `podium score`, on the items that its options choose."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from podium.child import limits
from podium.child.workers import alone
from podium.cli.score_options import Options
from podium.common.arrays import Bools
from podium.common.errors import SubmissionRejected, UsageError
from podium.common.wording import counted, listed, natural_order
from podium.contest import pipeline, reading
from podium.metric.contract import Metric, Progress
from podium.scoring import evaluating
from podium.scoring.evaluating import Evaluation, Solution
from podium.tables.files import is_table_name, read_text
from podium.tables.formats import read_texts, write_table

Tell = Callable[[Iterable[str]], None]


@dataclass
class Done:
    """Submissions that were scored on the chosen items."""

    evaluation: Evaluation  # the first submission
    others: dict[str, Evaluation]  # the other submissions by their paths
    renamed: list[str]  # what was changed in the first submission, such as names of columns
    chosen: list[str] = field(default_factory=list)  # what a score of the chosen items alone hides


def score_all(metric: Metric, parameters: dict[str, Any], options: Options, tell: Tell, show: Progress) -> Done:
    """Score submissions; `tell` gets notices that must be seen even if the next step rejects a file."""
    first, *others = options.submission
    texts = options.texts if is_table_name(options.texts or "") else None
    whole = pipeline.opened(
        metric, options.solution, parameters, show, first, pipeline.of_experts(metric, (), texts)
    )
    ids = None if options.essays is None else _ids(options.essays)
    with limits.within(limits.Limits()):
        submission, renamed = pipeline.submitted(whole, first, options.effectiveness)
        tell(renamed)
        if metric.companion.add_texts is not None and "text" in whole.frame:
            submission = metric.companion.add_texts(submission, whole.frame)
        if options.side_form is not None:
            write_side_form(whole, submission, options.side_form)
        if options.side is not None:
            submission = reading.add_side(whole, submission, options.side)
        part = _chosen(whole, options, ids)
        evaluation = pipeline.scored_alone(part, submission, show)
    of_others = {path: _other(path, part, options, tell) for path in others}
    return Done(evaluation, of_others, renamed, _unknown(whole, options, ids))


def _other(path: str, solution: Solution, options: Options, tell: Tell) -> Evaluation:
    """Score another submission; an error names its file."""
    try:
        with limits.within(limits.Limits()):
            submission, renamed = pipeline.submitted(solution, path, options.effectiveness)
            tell(f"{path}: {notice}" for notice in renamed)
            return pipeline.scored_alone(solution, submission)
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {problem}") from problem


def _chosen(whole: Solution, options: Options, ids: set[str] | None) -> Solution:
    """Reduce the solution to the items that were asked for; its signature says what changes the score."""
    further = dict(whole.further)
    if options.effectiveness is not None:
        further["effectiveness"] = f"{options.effectiveness:g}"
    if options.side is not None:
        further["side"] = Path(options.side).name
    if ids is None:
        return replace(whole, further=further) if further else whole
    names = evaluating.names_of_rows(whole)
    kept = names.isin(ids)
    if not kept.any():
        found = repr(min(ids)) if ids else "an empty file"
        raise UsageError(
            f"{options.essays}: expected ids of the solution, such as {names.min()!r}, one per line; "
            f"found {found}"
        )
    further["essays"] = f"{names[kept].nunique()}/{names.nunique()}"
    return replace(evaluating.narrowed(whole, kept.to_numpy()), further=further)


def write_side_form(solution: Solution, submission: pd.DataFrame, path: Path) -> None:
    """Write the table that the host's experts fill for --side."""
    side_form = solution.metric.companion.side_form
    if side_form is None:
        raise UsageError(f"--side-form: nothing is added to submissions of {solution.metric.name}")
    write_table(side_form(submission, solution.arguments["row_id_column_name"]), path)


def by_fold(evaluation: Evaluation, path: Path) -> pd.DataFrame:
    """Score the items of each fold that a table names: its first column has the ids, and fold their folds."""
    table = read_texts(path, UsageError)
    if "fold" not in table or table.columns[0] == "fold":
        found = listed([*map(str, table)])
        raise UsageError(f"{path}: expected ids in the first column, and a column fold, found {found}")
    solution, of_id = evaluation.solution, dict(zip(table.iloc[:, 0], table["fold"]))
    names = evaluating.names_of_rows(solution)
    fold = names.map(of_id)
    if fold.isna().any():
        lacking = names[fold.isna()].unique().tolist()
        raise UsageError(f"{path}: expected the fold of every item, found none for {listed(lacking, 3)}")
    rows = []
    score = functools.partial(_score_of_fold, solution, evaluation.submission)
    for name in sorted(fold.unique(), key=natural_order):
        of_fold = (fold == name).to_numpy()
        value = score(of_fold) if solution.metric.is_built_in else alone(score, of_fold)
        rows.append((name, names[of_fold].nunique(), value))
    return pd.DataFrame(rows, columns=["fold", "items", "score"])


def _score_of_fold(solution: Solution, submission: pd.DataFrame, of_fold: Bools) -> float:
    """Score the rows of one fold."""
    return pipeline.unjudged(evaluating.narrowed(solution, of_fold), submission).score


def _ids(path: Path) -> set[str]:
    """Read the ids of a file with one id per line. Empty lines are skipped."""
    return {line.strip() for line in read_text(path, UsageError).splitlines()} - {""}


def _unknown(whole: Solution, options: Options, ids: set[str] | None) -> list[str]:
    """Tell which of the chosen ids the solution lacks."""
    unknown = [] if ids is None else sorted(ids.difference(evaluating.names_of_rows(whole)))
    if not unknown or ids is None or options.essays is None:
        return []
    number = f"{len(unknown):,} of {counted(len(ids), 'id')}"
    return [f"the solution lacks {number} in {options.essays.name}: {listed(unknown)}"]
