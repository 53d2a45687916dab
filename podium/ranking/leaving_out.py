"""Items that count for nobody, with the reasons.

The solution and every submission are narrowed together (`podium.scoring.evaluating.narrowed`).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from podium.common.errors import HostError
from podium.common.options import as_option
from podium.common.statements import Statement, say
from podium.scoring import evaluating
from podium.scoring.alignment import names_of_rows
from podium.scoring.evaluating import Solution
from podium.tables.files import Location
from podium.tables.schema import REMARK, TEXT, Table, wrong

ITEMS = Table(key=["item"], item=TEXT, reason=REMARK)
NOTHING = pd.DataFrame(columns=["item", "reason"])


def read(path: Location) -> pd.DataFrame:
    """Read which items to leave out, and why; other columns do not matter, so that rows of items.csv do."""
    table = ITEMS.read(path)
    return table.assign(reason=table["reason"].str.strip())


def check(whole: Solution, table: pd.DataFrame, path: Location | None) -> list[Statement]:
    """Refuse items that the solution lacks, or that leave nothing to decide; tell what follows from others."""
    names = names_of_rows(whole)
    known = {*names}
    for row, item in enumerate(table["item"]):
        if item not in known:
            raise HostError(wrong(path, row, "item", f"an item of the solution, such as {min(known)}", item))
    kept = ~names.isin({*table["item"]}).to_numpy()
    found = []
    for part in [part for part, rows in whole.rows.items() if not kept[rows[whole.rows[evaluating.ALL]]].any()]:
        if part in (whole.deciding, evaluating.ALL):
            where = "" if part == evaluating.ALL else f" in the {part} part"
            raise HostError(f"{path}: expected some items{where} that are not left out, found none")
        found.append(Statement("no_item_of_part", part=part))
    if whole.prepared:
        found += _without_groups(whole, {*names[kept]})
    return found


def _without_groups(whole: Solution, left: Collection[str]) -> list[Statement]:
    """Name the sub-populations of which no item is left."""
    prepared = whole.prepared[evaluating.ALL]
    still = {
        prepared.labels[group]
        for item, of in zip(prepared.items, prepared.groups.T)
        if str(item) in left
        for group in of
    }
    gone = [" = ".join(label) for label in prepared.labels if label not in still]
    return [Statement("no_item_of_group", groups=gone)] if gone else []


def narrowed(solution: Solution, items: Collection[str]) -> Solution:
    """Leave items out of a solution, and of every submission that it scores."""
    if not items:
        return solution
    kept = ~names_of_rows(solution).isin({*items}).to_numpy()
    if not kept.any():
        raise HostError(f"{as_option('left_out')}: expected some items that are not left out, found none")
    return evaluating.narrowed(solution, kept)


def with_reasons(left_out: Sequence[Mapping[str, str]], noun: str) -> str:
    """Say how many items are left out, and for which reasons."""
    numbers = Counter(each["reason"] for each in left_out).most_common()
    reasons = [reason if len(numbers) == 1 else f"{reason} ({number:,})" for reason, number in numbers]
    return say("left_out", items=left_out, noun=noun, reasons=reasons)
