"""Choose the file of each team that counts, and say the rule in words."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Ints
from podium.common.errors import HostError
from podium.common.options import as_option
from podium.common.wording import listed, printable
from podium.ranking.passes import Scored
from podium.ranking.rules import LAST, Rules
from podium.ranking.speed import KEYS
from podium.ranking.submissions import Submission, errors_of_boost
from podium.scoring import evaluating

PUBLIC, PRIVATE = evaluating.PARTS
METRIC_FAILED = "the metric failed"
NOT_SELECTED = "not selected"
ONLY_FILE = "the only file of each team"

TIME_UNKNOWN = 2**63 - 1  # what `boost.parse` makes of a missing time: later than any other

# What decides between files of a team that have the same score, in this order. The smaller value is better.
TIES = {"time": "the time of submission", "runtime": "the runtime", "submission": "the name"}


def column_of(part: str) -> str:
    """Name the column with the scores of a part."""
    return "score" if part == evaluating.ALL else f"{part.lower()}_score"


def table_of_files(submissions: Sequence[Submission], scored: Sequence[Scored]) -> pd.DataFrame:
    """List every file and what became of it.

    - ``team``, ``submission``, ``sha256``, ``fingerprint``: the team, the name of the file, its hash, and one
      that is the same for the same predictions;
    - ``side_sha256``, ``submitted_at``, ``given_public_score``: only if any file has one;
    - ``score``, or ``public_score`` and ``private_score``: NaN for a rejected file;
    - ``rejected``: the reason why the file was rejected, or None;
    - ``failed``: the unexpected error of the metric, or None.
    """
    table: dict[str, Any] = {
        "team": [each.team for each in submissions],
        "submission": [each.name for each in submissions],
        "sha256": [each.digest for each in scored],
        "fingerprint": [each.fingerprint for each in scored],
    }
    for column, texts in {
        "side_sha256": [each.side_digest for each in scored],
        "submitted_at": [each.submitted_at for each in submissions],
        "given_public_score": [each.public_score for each in submissions],
    }.items():
        if any(texts):
            table[column] = [text or None for text in texts]
    for part in next((each.scores for each in scored if each.scores is not None), {}):
        table[column_of(part)] = [math.nan if each.scores is None else each.scores[part] for each in scored]
    for column in ("rejected", "failed"):  # a metric may quote what a submission says
        texts = [getattr(each, column) for each in scored]
        table[column] = [None if text is None else printable(text) for text in texts]
    return pd.DataFrame(table)


def choose(
    files: pd.DataFrame,
    is_selected: Bools,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    solution: evaluating.Solution,
) -> tuple[pd.DataFrame, str]:
    """Mark the file of each team that counts: one of those that it selected, or the one that a rule chooses.

    If several files of a team have the same score, the earliest one counts. If that does not decide, the one
    with the shortest runtime counts, and then the first one by name.
    """
    public = column_of(PUBLIC) if PUBLIC in solution.rows else "given_public_score"
    # Where nothing Private is ranked, the Public score is the score, and says nothing beside it.
    is_apart = solution.deciding == PRIVATE or PUBLIC not in solution.rows
    rule = rules.choose or ("public:2" if is_apart and public in files else "private")
    files = files.assign(chosen=False, why=np.where(files["failed"].isna(), "rejected", METRIC_FAILED))
    scored = files[files["rejected"].isna() & files["failed"].isna()]
    if scored.empty:
        return files, rule
    order, deciding = _order(scored, runtimes), column_of(solution.deciding)
    sign = -1 if solution.higher_is_better else 1
    costs = {
        column: sign * pd.to_numeric(scored[column], errors="coerce")
        for column in (public, deciding)
        if column in scored
    }
    if rule not in ("private", LAST) and public not in costs:
        raise HostError(
            f"{as_option('choose', rule)}: the solution has no Public part, and no public_score is given"
        )
    by = "score" if solution.deciding == evaluating.ALL else f"{solution.deciding} score"
    words, first, among = _words_of(rule, by)
    last_step = dict.fromkeys(scored.index, (first, among))
    selects = scored["team"].isin(files["team"][is_selected])
    left = _left_by(rule, order[~selects], costs.get(public))
    unlike = "not the last file" if rule == LAST else "not among the best by Public score"
    files.loc[scored.index, "why"] = np.where(selects, NOT_SELECTED, unlike)
    if is_selected.any():
        left = left.union(scored.index[is_selected[scored.index]])
        of_selected = f"best by {by} of the selected files", " of the selected files"
        last_step |= dict.fromkeys(scored.index[selects], of_selected)
        words = f"the better by {by} of the files that a team selected; for teams without a selection, {words}"
    files.loc[_best(order.loc[left], costs[deciding], 1), "chosen"] = True
    files.loc[left, "why"] = _reasons(files.loc[left], order, deciding, by, last_step)
    return files, words if files["team"].duplicated().any() else ONLY_FILE


def _left_by(rule: str, order: pd.DataFrame, costs: "pd.Series[float] | None") -> "pd.Index[int]":
    """Find the files that a rule leaves for the last step, which takes the best one of each team."""
    if rule == LAST:
        return _last(order)
    return order.index if rule == "private" else _best(order, costs, int(rule.removeprefix("public:")))


def _best(order: pd.DataFrame, costs: "pd.Series[float] | None", number: int) -> "pd.Index[int]":
    """Find the files of each team with the lowest costs, which are scores or, if higher ones are better, minus
    these.
    """
    ranked = order.assign(cost=costs).sort_values(["team", "cost", *TIES])
    return ranked.index[ranked.groupby("team").cumcount() < number]


def _last(order: pd.DataFrame) -> "pd.Index[int]":
    """Find the last file of each team by its time of submission, which has to be known and to differ."""
    latest = order["time"] == order.groupby("team")["time"].transform("max")  # a missing time is the latest
    last = order[latest]
    several = order.groupby("team")["team"].transform("size") > 1
    unknown = last["team"].duplicated(keep=False) | (several[latest] & (last["time"] == TIME_UNKNOWN))
    if unknown.any():
        teams = listed(sorted(set(last["team"][unknown])))
        raise HostError(
            f"{as_option('choose', LAST)}: expected a submitted_at for each file, so that one of a team's is "
            f"the last; it is missing, or the same for several, in files of {teams}"
        )
    return last.index


def _reasons(
    files: pd.DataFrame, order: pd.DataFrame, deciding: str, by: str, last_step: dict[Any, tuple[str, str]]
) -> list[str]:
    """Say of the files that were left for the last step why one counts, or why another one does."""
    counts = files[files["chosen"]]
    first_of = dict(zip(counts["team"], counts.index))
    scores = files[deciding].to_dict()
    reasons = []
    for file, team in files["team"].items():
        best = first_of[team]
        first, among = last_step[file]
        another = f"another{among or ' file'}"
        if file == best:
            reasons.append(first)
        elif scores[file] == scores[best]:
            reasons.append(f"{another} is as good by {by}, and {_tie(order, file, best)} decided")
        else:
            reasons.append(f"{another} is better by {by}")
    return reasons


def _words_of(rule: str, by: str) -> tuple[str, str, str]:
    """Put a rule into words, with why a file counts and the files among which the last step chooses."""
    if rule == LAST:
        return "the last of each team's files", "the last file", ""
    if rule == "private":
        return f"the best of each team's files by {by}", f"best by {by}", ""
    number = int(rule.removeprefix("public:"))
    if number == 1:
        return f"the best of each team's files by {PUBLIC} score", f"best by {PUBLIC} score", ""
    among = f"{number} best files by Public score"
    return f"the better by {by} of each team's {among}", f"best by {by} of the {among}", f" of the {among}"


def _order(scored: pd.DataFrame, runtimes: pd.DataFrame | None) -> pd.DataFrame:
    """Collect what decides between files of a team that have the same score, in the columns of `TIES`."""
    files = with_runtimes(scored, runtimes)
    seconds = pd.to_numeric(files["runtime"], errors="coerce")
    return scored[KEYS].assign(time=times_of(files.get("submitted_at"), len(files)), runtime=seconds)


def times_of(texts: Any, number: int) -> Ints:
    """Parse times in ISO 8601 as boost.py does, as microseconds since 1970."""
    with errors_of_boost() as boost:
        rows = {"team": range(number), "score": None, "submitted_at": texts}
        times: Ints = boost.parse(pd.DataFrame(rows)).submitted_at
        return times


def _tie(order: pd.DataFrame, one: Any, other: Any) -> str:
    """Say what decided between two files of a team that have the same score."""
    return next(
        words
        for column, words in TIES.items()
        # A missing time or runtime is like another missing one.
        if not order.loc[[one, other], column].duplicated().any()
    )


def with_runtimes(files: pd.DataFrame, runtimes: pd.DataFrame | None) -> pd.DataFrame:
    """Add their runtimes to files, and their times of submission where these are missing."""
    if runtimes is None:
        return files.assign(runtime=None)
    keys = [name for name in ("team", "submission") if name in runtimes]
    known = runtimes[[name for name in (*keys, "runtime", "submitted_at") if name in runtimes]]
    both = files.merge(known, on=keys, how="left", suffixes=("", "_of_runtimes"))
    if "submitted_at_of_runtimes" in both:
        both["submitted_at"] = both["submitted_at"].combine_first(both.pop("submitted_at_of_runtimes"))
    return both.set_index(files.index)
