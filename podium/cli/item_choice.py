"""Score submissions for `podium score`, on the items that its options choose."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from podium.child import limits
from podium.cli.score_options import Options
from podium.common.errors import SubmissionRejected, UsageError
from podium.common.wording import counted, listed
from podium.contest import pipeline, reading
from podium.metric.contract import Metric, Progress
from podium.scoring import evaluating
from podium.scoring.alignment import names_of_rows
from podium.scoring.evaluating import Evaluation, Solution
from podium.tables.files import is_table_name, read_text
from podium.tables.formats import write_table

Tell = Callable[[Iterable[str]], None]


@dataclass
class Done:
    """Submissions that were scored on the chosen items."""

    name: str  # of the first submission
    evaluation: Evaluation  # of it
    others: dict[str, Evaluation]  # the other submissions by their names
    renamed: list[str]  # what was changed in the submissions, such as names of columns
    chosen: list[str]  # what a score of the chosen items alone hides


def score_all(metric: Metric, parameters: dict[str, Any], options: Options, tell: Tell, show: Progress) -> Done:
    """Score submissions; `tell` gets notices that must be seen even if the next step rejects a file."""
    first, *others = options.submission
    renamed = list[str]()

    def note(notices: Iterable[str]) -> None:
        """Keep notices, and tell them."""
        kept = [*notices]
        renamed.extend(kept)
        tell(kept)

    texts = options.texts if is_table_name(options.texts or "") else None
    whole = pipeline.opened(metric, options.solution, parameters, show, first, texts)
    with limits.within(limits.Limits()):
        submission, of_first = pipeline.submitted(whole, first, options.effectiveness)
        note(of_first)
        if options.side_form is not None:
            write_side_form(whole, submission, options.side_form)
        if options.side is not None:
            submission = reading.add_side(whole, submission, options.side)
        part, notices = _chosen(whole, options)
        evaluation = pipeline.scored_alone(part, submission, show)
    name, *names = names_of(options.submission)
    of_others = {each: _other(path, part, options, note) for each, path in zip(names, others)}
    return Done(name, evaluation, of_others, renamed, notices)


def names_of(paths: Sequence[str]) -> Sequence[str]:
    """Name files by the last parts of their paths, or by their whole paths if two last parts are the same."""
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else paths


def _other(path: str, solution: Solution, options: Options, note: Tell) -> Evaluation:
    """Score another submission; an error names its file."""
    try:
        with limits.within(limits.Limits()):
            submission, renamed = pipeline.submitted(solution, path, options.effectiveness)
            note(f"{path}: {notice}" for notice in renamed)
            evaluation = pipeline.scored_alone(solution, submission)
            note(f"{path}: {notice}" for notice in evaluation.other_ids)
            return evaluation
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {problem}") from problem


def _chosen(whole: Solution, options: Options) -> tuple[Solution, list[str]]:
    """Reduce the solution to the items that were asked for, and tell which of them it lacks.

    Its signature says what changes the score.
    """
    further = dict(whole.further)
    if options.effectiveness is not None:
        further["effectiveness"] = f"{options.effectiveness:g}"
    if options.side is not None:
        further["side"] = Path(options.side).name
    if options.essays is None:
        return replace(whole, further=further), []
    ids = {line.strip() for line in read_text(options.essays, UsageError).splitlines()} - {""}
    names = names_of_rows(whole)
    kept = names.isin(ids)
    if not kept.any():
        found = repr(min(ids)) if ids else "an empty file"
        raise UsageError(
            f"{options.essays}: expected ids of the solution, such as {names.min()!r}, one per line; "
            f"found {found}"
        )
    further["essays"] = f"{names[kept].nunique()}/{names.nunique()}"
    unknown = sorted(ids.difference(names))
    lacks = f"{len(unknown):,} of {counted(len(ids), 'id')} in {options.essays.name}: {listed(unknown)}"
    notices = [f"the solution lacks {lacks}"] if unknown else []
    return replace(evaluating.narrowed(whole, kept.to_numpy()), further=further), notices


def write_side_form(solution: Solution, submission: pd.DataFrame, path: Path) -> None:
    """Write the table that the host's experts fill for --side."""
    side_form = solution.metric.companion.side_form
    if side_form is None:
        raise UsageError(f"--side-form: nothing is added to submissions of {solution.metric.name}")
    write_table(side_form(submission, solution.arguments["row_id_column_name"]), path)
