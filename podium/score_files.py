"""Read a solution and submissions from files, choose the items that count, and score."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium import contest, limits, reading, scoring
from podium.contract import Metric, Progress
from podium.errors import SubmissionRejected, UsageError
from podium.explain import item_noun
from podium.files import read_text
from podium.scoring import ALL, Evaluation, Solution
from podium.wording import counted, listed, plural


@dataclass
class Choice:
    """What is scored instead of everything as it is."""

    essays: Path | None = None  # a file with the ids of the items that count
    only_predicted: bool = False  # whether only items with a prediction count
    effectiveness: float | None = None  # the probability of effective that replaces those of the submission
    side: str | None = None  # a file with what only the host may say of a submission
    leave_out: Sequence[str] = ()  # the experts who do not count
    texts: Path | None = None  # a table with the texts of the documents that experts marked


@dataclass
class Scored:
    """Submissions that were scored on the chosen items."""

    evaluation: Evaluation  # the first submission
    others: dict[str, Evaluation]  # the other submissions by their paths
    renamed: list[str]  # what was changed in the first submission, such as names of columns
    chosen: list[str] = field(default_factory=list)  # what a score of the chosen items alone hides


def score_files(
    metric: Metric,
    solution: str,
    submissions: Sequence[str],
    given: dict[str, Any],
    choice: Choice,
    tell: Callable[[Iterable[str]], None],
    show: Progress,
) -> Scored:
    """Score submissions; `tell` gets notices that must be seen even if the next step rejects a file."""
    first, *others = submissions
    change = contest.of_experts(metric, choice.leave_out, choice.texts)
    whole = contest.opened(metric, solution, given, show, first, change)
    whole.further.update({"leave_out": ",".join(choice.leave_out)} if choice.leave_out else {})
    ids = None if choice.essays is None else _ids(choice.essays)
    with limits.within(limits.Limits()):
        submission, renamed = contest.submitted(whole, first, choice.effectiveness)
        tell(renamed)
        if metric.companion.add_texts is not None and "text" in whole.frame:
            submission = metric.companion.add_texts(submission, whole.frame)
        if choice.side is not None:
            submission = reading.add_side(whole, submission, choice.side)
        with contest.cured(whole, submission):
            part = _chosen(whole, submission, choice, ids)
        evaluation = contest.scored(part, submission, show)
    of_others = {path: _other(path, part, choice, tell) for path in others}
    return Scored(evaluation, of_others, renamed, _on_choice(whole, evaluation, choice, ids))


def _other(path: str, solution: Solution, choice: Choice, tell: Callable[[Iterable[str]], None]) -> Evaluation:
    """Score another submission; an error names its file."""
    try:
        with limits.within(limits.Limits()):
            submission, renamed = contest.submitted(solution, path, choice.effectiveness)
            tell(f"{path}: {notice}" for notice in renamed)
            return contest.scored(solution, submission)
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {problem}") from problem


def _chosen(whole: Solution, submission: pd.DataFrame, choice: Choice, ids: set[str] | None) -> Solution:
    """Reduce the solution to the items that were asked for; its signature says what changes the score."""
    further = dict(whole.further)
    if choice.effectiveness is not None:
        further["effectiveness"] = f"{choice.effectiveness:g}"
    if choice.side is not None:
        further["side"] = Path(choice.side).name
    if ids is None and not choice.only_predicted:
        return replace(whole, further=further) if further else whole
    if not whole.prepared:
        raise UsageError(
            f"--essays, --only-predicted: {whole.metric.path.name} defines no prepare() to name items"
        )
    prepared = whole.prepared[ALL]
    kept = np.ones(len(prepared.items), dtype=bool)
    if ids is not None:
        kept = np.isin(prepared.items, list(ids))
        if not kept.any():
            found = repr(min(ids)) if ids else "an empty file"
            raise UsageError(
                f"{choice.essays}: expected ids of the solution, such as {prepared.items[0]!r}, one per line; "
                f"found {found}"
            )
        further["essays"] = f"{int(kept.sum())}/{len(kept)}"
    if choice.only_predicted:
        predicted = whole.metric.companion.predicted
        if predicted is None:
            raise UsageError(f"--only-predicted: every item of {whole.metric.path.name} has a prediction")
        kept &= predicted(prepared, submission)
        if not kept.any():
            raise UsageError("--only-predicted: expected a submission with a prediction for what is scored")
        further["only_predicted"] = f"{int(kept.sum())}/{len(kept)}"
    return replace(scoring.solution_of_items(whole, kept), further=further)


def _ids(path: Path) -> set[str]:
    """Read the ids of a file with one id per line. Empty lines are skipped."""
    return {line.strip() for line in read_text(path, UsageError).splitlines()} - {""}


def _on_choice(whole: Solution, evaluation: Evaluation, choice: Choice, ids: set[str] | None) -> list[str]:
    """Tell which of the chosen ids are unknown, and what a score of the items with a prediction hides."""
    notices = []
    if ids is not None and choice.essays is not None:
        unknown = sorted(ids.difference(map(str, whole.prepared[ALL].items)))
        if unknown:
            notices.append(
                f"the solution lacks {len(unknown):,} of {counted(len(ids), 'id')} in {choice.essays.name}: "
                f"{listed(unknown)}"
            )
    if choice.only_predicted:
        item = item_noun(evaluation)
        number, total = len(evaluation.prepared.items), len(whole.prepared[ALL].items)
        notices.append(
            f"scored only {number:,} of {counted(total, item)}, those with a prediction; thresholds that leave "
            f"an {item} empty raise such a score, so better name the {plural(item)} of your fold by "
            "--essays FILE"
        )
    return notices
