"""The items of a board, the most suspicious first: where its best files answer otherwise than the solution.

The table is for those who can mend the solution. It is never published, because it tells what the answers are.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Floats
from podium.common.wording import counted
from podium.metric.contract import Prepared
from podium.ranking import answer_key, store
from podium.ranking.answer_key import Suspicion
from podium.scoring.answers import Answers, asked, unpack
from podium.scoring.evaluating import ALL, Solution
from podium.scoring.explain import groups_of_items

DIGITS = 4
AT_ONCE = 2048  # items whose scores are computed at once
SAID = {
    "agree": "the same other answer", "unsolved": "solved by none", "against": "probabilities against it",
}  # fmt: skip


Told = tuple[pd.DataFrame, list[Suspicion], int]  # a row for each item, their signs, and the number of files


def best_rows(leaderboard: pd.DataFrame, entries: Sequence[int], higher_is_better: bool) -> list[int]:
    """The rows of the best files by score, each file once."""
    sign = -1 if higher_is_better else 1
    order = np.argsort(sign * leaderboard["score"].to_numpy(dtype=np.float64), kind="stable").tolist()
    first_of = {entries[row]: row for row in reversed(order)}
    return [row for row in order if first_of[entries[row]] == row][: answer_key.MOST_FILES]


def of_best(solution: Solution, entries: Sequence[bytes]) -> Told | None:
    """Tell what the best files say of the items of the part that decides, from their entries of the store.

    It is None if nothing can be compared. The columns of the table:

    - ``item``, ``why``: its id, and which signs it shows, if so many items show these that chance does not
      explain it;
    - ``answered``: how many of the files say anything about it;
    - ``mean``, ``best``, ``spread``: of the scores that the files would have on this item alone;
    - ``agree``, ``unsolved``, ``against``: the signs, see `podium.ranking.answer_key`;
    - ``row``, ``label``, ``answer``: the row, such as a segment, about which most files agree, its label,
      and what they answer;
    - the sub-populations.
    """
    is_counted, names, groups = _counted(solution)
    given = _comparable(entries)
    table = pd.DataFrame({"item": names})
    found: list[Suspicion] = []
    if given:
        things = asked(solution, given[0].columns)
        some = is_counted[things["item"]]
        things = things[some].assign(item=(np.cumsum(is_counted) - 1)[things["item"][some]])
        told, scores = answer_key.told(things, [each.taken(some) for each in given], len(table))
        found = answer_key.signs(told, len(given))
        table = table.join(told)
    if (of_statistics := _scores(solution, entries)) is not None:
        scores = of_statistics
    elif not given:
        return None
    best = np.max if solution.higher_is_better else np.min
    of_scores = {"mean": scores.mean(axis=1), "best": best(scores, axis=1), "spread": scores.std(axis=1)}
    table = _sorted(table.assign(**of_scores), groups, found, solution.higher_is_better)
    return table, found, len(given)


def _counted(solution: Solution) -> tuple[Bools, list[str], pd.DataFrame]:
    """Which items decide, their names, and their groups."""
    part = solution.deciding
    if not solution.prepared:
        rows = solution.rows[part][solution.rows[ALL]]
        names = solution.frame[solution.arguments["row_id_column_name"]][solution.rows[part]]
        return rows, [*map(str, names)], pd.DataFrame(index=range(len(names)))
    prepared = solution.prepared[part]
    return solution.items[part], [*map(str, prepared.items)], groups_of_items(prepared).reset_index(drop=True)


def _comparable(entries: Sequence[bytes]) -> list[Answers]:
    """Read the answers in entries; those of other columns than most cannot be compared."""
    columns = [store.header_of(entry).get("answered") for entry in entries]
    usual = Counter(tuple(each) for each in columns if each is not None).most_common(1)
    if not usual:
        return []
    same = [entry for entry, each in zip(entries, columns) if each is not None and tuple(each) == usual[0][0]]
    return [unpack(store.packed_of(entry), usual[0][0]) for entry in same]


def _scores(solution: Solution, entries: Sequence[bytes]) -> Floats | None:
    """Score each item alone, (n, files), or None without statistics."""
    if not solution.prepared:
        return None
    kept, prepared = solution.items[solution.deciding], solution.prepared[solution.deciding]
    numbers = [store.decode(entry) for entry in entries]
    scores = [_alone(prepared, each[kept]) for each in numbers if each is not None]
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


def _sorted(
    table: pd.DataFrame, groups: pd.DataFrame, found: Sequence[Suspicion], higher_is_better: bool
) -> pd.DataFrame:
    """Put the most suspicious items first, those that show a sign that is told before all others."""
    suspicion = np.zeros(len(table))
    why = pd.Series("", index=table.index)
    for sign in found:
        suspicion = np.maximum(suspicion, table[sign.name].fillna(0.0) * sign.steps / sign.least)
        if sign.is_told:
            why[sign.shown] += np.where(why[sign.shown] == "", "", "; ") + SAID[sign.name]
    of_thing = [] if found and found[0].is_single else ["row"]
    wanted = ["item", "why", "answered", "mean", "best", "spread", *SAID, *of_thing, "label", "answer"]
    better = 1 if higher_is_better else -1
    mean, best = (better * table[name].fillna(better * np.inf) for name in ("mean", "best"))
    # A hard item is solved by some file, and one with a wrong label hardly is.
    order = np.lexsort((mean, best, -suspicion, why == ""))
    table = table.assign(why=why).reindex(columns=wanted).dropna(axis=1, how="all").round(DIGITS)
    groups = groups.rename(columns={name: f"{name} of item" for name in groups if name in table})
    return table.join(groups).iloc[order].reset_index(drop=True)


def sentence(table: pd.DataFrame, found: Sequence[Suspicion], files: int, noun: str, similar: int) -> str:
    """Say how many items to look at and why, without a verdict; empty if there are none.

    ``similar`` of the best files are listed as similar to another one of them.
    """
    told: list[str] = []
    is_named = np.zeros(len(table), dtype=bool)
    for sign in found:
        number = int((sign.shown & ~is_named).sum())
        if sign.is_told and number:
            told.append(_of_sign(sign, number, f"the {files} best files", is_first=not told))
            is_named |= sign.shown
    if not told:
        return ""
    near = f"; {similar} of these files are listed as similar to another one" if similar else ""
    look = f"look at {counted(int(is_named.sum()), noun)} before the prize"
    return f"{look}: {', and '.join(told)} (items.csv){near}"


def _of_sign(sign: Suspicion, number: int, files: str, is_first: bool) -> str:
    """Say how many items show a sign, and how many would be expected to."""
    is_half = 0 <= sign.least - sign.steps / 2 < 1
    share = "at least half of" if is_half else f"at least {sign.least / sign.steps:.0%} of"
    if sign.name == "unsolved":
        text = f"{number:,} {'is' if number == 1 else 'are'} solved by none"
        return f"{text} of {files}" if is_first else text
    if sign.name == "against":
        text = f"on {number:,} {share} the probabilities of {files} speak against what is true"
    elif sign.is_single:
        text = f"on {number:,} at least {sign.least} of {files} give the same other answer"
    else:
        text = f"on {number:,} {share} the answers of {files} are the same other ones"
    return f"{text}, where other mistakes would give about {sign.expected:.0f}"
