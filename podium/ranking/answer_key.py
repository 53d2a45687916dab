"""Is the solution right? The items come first on which most of the best files give the same other answer.

Weak files are wrong by themselves, so the best ones are compared, and of near copies only one. No count tells
a wrong label from a mistake that models share, so nothing is concluded from it: people have to look. The table
is for those who can correct the solution. It is never published, because it gives away the answers.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints
from podium.common.statements import say
from podium.common.wording import plural
from podium.metric.contract import Prepared
from podium.ranking.store import StoreEntry
from podium.scoring.answers import Answers, asked, unpack
from podium.scoring.evaluating import ALL, Solution
from podium.scoring.explain import groups_of_items, ratio

MOST_FILES = 10  # the best ones
FEWEST_FILES = 5  # with fewer, chance gives the same other answer too easily to speak of it
NEAR_COPIES = 0.5  # two files that agree so often where few others do count as one
AT_ONCE = 2048  # items whose scores are computed at once


def best_rows(
    leaderboard: pd.DataFrame, entries: Sequence[int], agreeing: pd.DataFrame, higher_is_better: bool
) -> list[int]:
    """The rows of the best files by score; of near copies, the best one alone."""
    number_of = dict(zip(leaderboard["team"], entries))
    near = agreeing[agreeing["agreement"] >= NEAR_COPIES]
    pairs = [
        {number_of.get(team), number_of.get(other)} for team, other in zip(near["team"], near["other_team"])
    ]
    sign = -1 if higher_is_better else 1
    best: list[int] = []
    for row in np.argsort(sign * leaderboard["score"].to_numpy(dtype=np.float64), kind="stable").tolist():
        if not any(entries[row] == entries[other] or {entries[row], entries[other]} in pairs for other in best):
            best.append(row)
        if len(best) == MOST_FILES:
            break
    return best


def of_best(solution: Solution, entries: Sequence[StoreEntry]) -> tuple[pd.DataFrame, int] | None:
    """List the items of the part that decides, those to look at first, from the entries of the best files.

    Behind the table stands how many files have answers that can be compared. It is None if neither answers nor
    scores of single items are known. The columns of the table:

    - ``item``: its id;
    - ``answered``, ``same``, ``against``, ``contradict``, ``row``, ``label``, ``answer``: see `compared`;
    - ``best``, ``mean``: of the scores that the files would have on this item alone;
    - the sub-populations.
    """
    is_counted, names, groups = _counted(solution)
    given, scores = _comparable(entries), _scores(solution, entries)
    table = pd.DataFrame({"item": names})
    order: list[Any] = []  # what sorts the items, the least first
    if given:
        things = asked(solution, given[0].columns)
        some = is_counted[things["item"]]
        things = things[some].assign(item=(np.cumsum(is_counted) - 1)[things["item"][some]])
        table = table.join(compared(things, [each.taken(some) for each in given], len(table)))
        order += [-table.filter(["same", "against"]).max(axis=1).fillna(0), -table["contradict"].fillna(0)]
    if scores is not None:
        better = 1 if solution.higher_is_better else -1
        best, mean = (better * of(better * scores, axis=1) for of in (np.max, np.mean))
        table = table.assign(best=best.round(4), mean=mean.round(4))
        order += [np.nan_to_num(better * each, nan=np.inf) for each in (best, mean)]
    if not order:
        return None
    groups = groups.rename(columns={name: f"{name} of item" for name in groups if name in table})
    return table.join(groups).iloc[np.lexsort(order[::-1])].reset_index(drop=True), len(given)


def compared(things: pd.DataFrame, answers: Sequence[Answers], number: int) -> pd.DataFrame:
    """Count for each of so many items how many files contradict the solution.

    Where an item has several things, such as segments, the counts are averages over these, and the one is named
    with the largest count. The columns of the table:

    - ``answered``: the number of files that say anything about the item;
    - ``same``: of files that give the same other label;
    - ``against``: of files whose probabilities speak against what else is true; only if there are any;
    - ``contradict``: of files that do not give the label or whose probabilities speak against the rest;
    - ``row``, ``label``, ``answer``: the thing, its label, and the commonest other one.
    """
    labels, true = np.unique(things["label"].to_numpy(dtype=object), return_inverse=True)
    item, given = things["item"].to_numpy(), np.stack([each.codes for each in answers])
    probabilities = np.stack([each.probabilities for each in answers])
    size = np.bincount(item, minlength=number)
    same, other = _same_other(given, true)
    is_against = probabilities < 0.5
    against = is_against.sum(axis=0)
    contradict = ((given != true) | is_against).sum(axis=0)
    counts = {"same": same, "against": against, "contradict": contradict}
    if np.isnan(probabilities).all():
        del counts["against"]
    table = pd.DataFrame(
        {name: ratio(np.bincount(item, each, minlength=number), size) for name, each in counts.items()}
    )
    table = table.astype("Int64") if (size <= 1).all() else table.round(2)
    answered = [np.bincount(item, each.is_answered, minlength=number) > 0 for each in answers]
    table.insert(0, "answered", np.sum(answered, axis=0))
    named = things[["item", "row"]].assign(label=labels[true], answer=np.append(labels, "")[other])
    worst = (
        named.iloc[np.lexsort((-contradict, -np.maximum(same, against)))]
        .drop_duplicates("item")
        .set_index("item")
    )
    return table.join(worst.astype(object).reindex(range(number), fill_value=""))


def _same_other(given: Ints, true: Ints) -> tuple[Ints, Ints]:
    """Count the commonest answer to each thing that is not the right one, and tell which one it is, (m,)."""
    most, which = np.zeros(len(true), dtype=np.int64), np.full(len(true), -1)
    for one in given:
        same = np.where((one >= 0) & (one != true), (given == one).sum(axis=0), 0)
        which = np.where(same > most, one, which)
        most = np.maximum(most, same)
    return most, which


def _counted(solution: Solution) -> tuple[Bools, list[str], pd.DataFrame]:
    """Which items decide, their names, and their groups."""
    part = solution.deciding
    if not solution.prepared:
        rows = solution.rows[part][solution.rows[ALL]]
        names = solution.frame[solution.arguments["row_id_column_name"]][solution.rows[part]]
        return rows, [*map(str, names)], pd.DataFrame(index=range(len(names)))
    prepared = solution.prepared[part]
    return solution.items[part], [*map(str, prepared.items)], groups_of_items(prepared).reset_index(drop=True)


def _comparable(entries: Sequence[StoreEntry]) -> list[Answers]:
    """Read the answers in entries; those of other columns than most cannot be compared."""
    columns = [entry.header.get("answered") for entry in entries]
    usual = Counter(tuple(each) for each in columns if each is not None).most_common(1)
    if not usual:
        return []
    same = [entry for entry, each in zip(entries, columns) if each is not None and tuple(each) == usual[0][0]]
    return [unpack(entry.answers, usual[0][0]) for entry in same]


def _scores(solution: Solution, entries: Sequence[StoreEntry]) -> Floats | None:
    """Score each item alone, (n, files), or None without statistics."""
    if not solution.prepared:
        return None
    kept, prepared = solution.items[solution.deciding], solution.prepared[solution.deciding]
    scores = [_alone(prepared, entry.statistics[kept]) for entry in entries if entry.statistics is not None]
    return np.stack(scores, axis=1) if scores else None


def _alone(prepared: Prepared, numbers: Floats) -> Floats:
    """The score of each item alone, (n,), from the statistics of a file, (n, k)."""
    groups, scores = np.asarray(prepared.groups), []
    for first in range(0, len(numbers), AT_ONCE):
        some = numbers[first : first + AT_ONCE]
        sums = np.zeros((len(some), len(prepared.labels), numbers.shape[1]))
        for of_attribute in groups[:, first : first + AT_ONCE]:
            sums[np.arange(len(some)), of_attribute] = some
        with np.errstate(all="ignore"):
            scores.append(prepared.measures(sums)[..., 0])
    return np.concatenate(scores)


def sentence(items: pd.DataFrame, files: int, noun: str) -> str:
    """Say which items to look at first, from the table of `of_best`; empty if too few files were compared."""
    if files < FEWEST_FILES:
        return ""
    number = int((items.filter(["same", "against"]).max(axis=1) > files / 2).sum())
    facts = {"nouns": plural(noun), "items": len(items), "files": files}
    return say("look_at_first", number=number, **facts) if number else say("look_at_none", **facts)
