"""Items that count for nobody, with the reasons, and what leaving them out has changed on a board.

The solution and every submission are narrowed together (`podium.scoring.evaluating.narrowed`).
"""

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from podium.common.errors import HostError
from podium.common.wording import counted, listed
from podium.scoring import evaluating
from podium.scoring.evaluating import Solution
from podium.tables.files import Location
from podium.tables.schema import NAME, REMARK, TEXT, Table, number, whole, wrong

ITEMS = Table(key=["item"], item=TEXT, reason=REMARK)
NOTHING = pd.DataFrame(columns=["item", "reason"])
BOARD = Table(key=["team"], team=NAME, rank=whole("a rank", 1, 10**9).optional, score=number("a score"))
BOARD_FILE = "final_leaderboard.csv"


def read(path: Location) -> pd.DataFrame:
    """Read which items to leave out, and why; other columns do not matter, so that rows of items.csv do."""
    table = ITEMS.read(path)
    return table.assign(reason=table["reason"].str.strip())


def check(whole: Solution, table: pd.DataFrame, path: Location | None) -> list[str]:
    """Refuse items that the solution lacks, or that leave nothing to decide; tell what follows from others."""
    names = evaluating.names_of_rows(whole)
    known = {*names}
    for row, item in enumerate(table["item"]):
        if item not in known:
            raise HostError(wrong(path, row, "item", f"an item of the solution, such as {min(known)}", item))
    kept = ~names.isin({*table["item"]}).to_numpy()
    told = []
    for part in [part for part, rows in whole.rows.items() if not kept[rows[whole.rows[evaluating.ALL]]].any()]:
        if part in (whole.deciding, evaluating.ALL):
            where = "" if part == evaluating.ALL else f" in the {part} part"
            raise HostError(f"{path}: expected some items{where} that are not left out, found none")
        told.append(f"no item of the {part} part is left, so there are no {part} scores to choose files by")
    if whole.prepared:
        told += _without_groups(whole, {*names[kept]})
    return told


def _without_groups(whole: Solution, left: Collection[str]) -> list[str]:
    """Name the sub-populations of which no item is left."""
    prepared = whole.prepared[evaluating.ALL]
    still = {
        prepared.labels[group]
        for item, of in zip(prepared.items, prepared.groups.T)
        if str(item) in left
        for group in of
    }
    gone = [" = ".join(label) for label in prepared.labels if label not in still]
    if not gone:
        return []
    return [f"no item of {listed(gone)} is left, so no score depends on such items any more"]


def narrowed(solution: Solution, items: Collection[str]) -> Solution:
    """Leave items out of a solution, and of every submission that it scores."""
    if not items:
        return solution
    kept = ~evaluating.names_of_rows(solution).isin({*items}).to_numpy()
    if not kept.any():
        raise HostError("--left-out: expected some items that are not left out, found none")
    return evaluating.narrowed(solution, kept)


def with_reasons(left_out: Sequence[Mapping[str, str]], noun: str) -> str:
    """Say how many items are left out, and for which reasons."""
    numbers = Counter(each["reason"] for each in left_out).most_common()
    reasons = [reason if len(numbers) == 1 else f"{reason} ({number:,})" for reason, number in numbers]
    verb = "was" if len(left_out) == 1 else "were"
    return f"{counted(len(left_out), noun)} {verb} left out after submissions were seen: {listed(reasons, 9)}"


# ---- Compared with an earlier board -------------------------------------------------------------------------


def board_in(path: Location) -> str:
    """Find the table of a board in its folder."""
    return str(Path(path) / BOARD_FILE) if Path(path).is_dir() else os.fspath(path)


def read_earlier(path: Location) -> pd.DataFrame:
    """Read the ranks and scores of an earlier board, of the teams that had a rank."""
    table = BOARD.read(path)
    return table[table["rank"].notna()].astype({"rank": int, "score": float})


def changes(board: pd.DataFrame, earlier: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """List each team with its rank and score, here and on the earlier board, with what to say of that."""
    both = board[["team", "rank", "score"]].merge(earlier, on="team", how="outer", suffixes=("", "_earlier"))
    both = both.sort_values(["rank", "rank_earlier"], ignore_index=True)
    ranks = {name: both[name].astype("Int64") for name in ("rank", "rank_earlier")}
    columns = ["rank", "rank_earlier", "team", "score", "score_earlier", "change"]
    table = both.assign(**ranks, change=both["score"] - both["score_earlier"])[columns]
    known = table.dropna(subset=["rank", "rank_earlier"])
    facts = {
        "first": table.loc[table["rank"] == 1, "team"].tolist(),
        "first_earlier": table.loc[table["rank_earlier"] == 1, "team"].tolist(),
        "moved": int((known["rank"] != known["rank_earlier"]).sum()),
        "largest_change": float(known["change"].abs().max()) if len(known) else None,
        "only_here": table.loc[table["rank_earlier"].isna(), "team"].tolist(),
        "only_earlier": table.loc[table["rank"].isna(), "team"].tolist(),
    }
    return table, facts


def sentence(facts: dict[str, Any], number: int, noun: str) -> str:
    """Say what has changed since an earlier board, from the facts of `changes`."""
    without = f"without {counted(number, noun)}" if number else "compared with the earlier board,"
    first, before = facts["first"], facts["first_earlier"]
    if facts["largest_change"] is None:
        return f"{without} nothing can be said: no team is on both boards"
    leads = (
        "the first is unchanged" if first == before else f"{listed(first)} is first instead of {listed(before)}"
    )
    parts = [
        f"{without} {leads}; {counted(facts['moved'], 'team')} moved",
        f"the largest change of a score is {facts['largest_change']:.4f}",
    ]
    for where, key in (("only on this board", "only_here"), ("only on the earlier one", "only_earlier")):
        if facts[key]:
            parts.append(f"{where}: {listed(facts[key])}")
    return ", ".join(parts)
