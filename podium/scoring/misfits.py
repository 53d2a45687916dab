"""Where a submission does not fit a solution: columns, ids, kinds of cells, and labels that do not occur.

A metric that is not podium's seldom says what is wrong with a file: it raises a KeyError, or gives 0. So the
two tables are compared when it refuses, fails, gives something that is not finite, or scores worse than a
constant answer. What explains most comes first: without its column, no cell can be compared, and without its
ids no row.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.wording import counted, listed, together
from podium.tables import ids

MOST_COLUMNS = 50  # of a wide solution; a file that does not fit shows it in the first ones
MOST_TOLD = 2
ROWS_PER_LABEL = 4  # with fewer on average, the cells of a column are no labels: masks and lists never repeat
EXPLAINED = 0.9  # so many of the unknown ids have to become ids of the solution
LONGEST_CELL = 40  # characters
ENDING, FOLDER = re.compile(r"\.\w{1,5}$"), re.compile(r"^.*[/\\]")
DIGITS_OF_A_FLOAT = 6  # which even the shortest form of a large number keeps
ONE_NUMBER = re.compile(r"[^\d.+-]*([+-]?\d[\d,]*(?:\.\d+)?)[^\d.]*")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
MOST_CELLS = 1000  # of a column, which tell what its commas mean


class Misfit(NamedTuple):
    """One way in which a submission does not fit."""

    kind: str  # a key of `WORDS`
    facts: Mapping[str, Any]
    secret: str = ""  # what the solution alone shows, such as its labels; it stands behind the rest

    @property
    def public(self) -> str:
        """What everybody may read."""
        return WORDS[self.kind].format(**self.facts)

    def __str__(self) -> str:
        return self.public + self.secret


WORDS = {
    "renamed column": "expected the column {wanted}, found {found!r}: rename it",
    "missing column": "expected the column {column}, found {found}",
    "other columns": "none of the solution's columns {columns} is there, only {found}",
    "written otherwise": (
        "{number} of {all} ids in {column} are written otherwise than in the solution, such as {given!r} for "
        "{wanted!r}: {cure}"
    ),
    "missing ids": "{number} of {all} ids {are} missing in {column}, such as {examples}",
    "unknown ids": "{number} of {all} ids in {column} {are} not in the solution, such as {examples}",
    "repeated ids": "{ids} in {column} {are} repeated, such as {examples}",
    "no numbers": "{column}: expected numbers as in the solution, found {cell!r} in row {row:,}{more}{cure}",
    "not finite": "{column}: expected finite numbers, found {cell} in row {row:,}{more}",
    "foreign labels": "{column}: none of its {labels} occurs in the solution, such as {given!r}",
}


def found(
    solution: Any, submission: pd.DataFrame, accepts: Callable[[pd.DataFrame], bool] | None = None
) -> list[Misfit]:
    """Compare a submission whose ids are known with a prepared solution; what explains most comes first.

    If the metric has failed, `accepts` tells whether it takes another submission. Where the only column beside
    the ids has another name than the solution's, it is tried with this name, since some metrics want two names.
    """
    row_id = solution.arguments["row_id_column_name"]
    columns, own = _beside_ids(solution, solution.frame), _beside_ids(solution, submission)
    if misfits := [*_columns(solution.frame, submission, [row_id, *columns[:MOST_COLUMNS]])]:
        return misfits
    wanted_ids, given_ids = ids.texts(solution.frame[row_id]), ids.texts(submission[row_id])
    if misfits := [*_ids(row_id, wanted_ids, given_ids, not solution.metric.complete_submission)]:
        return misfits
    misfits = of_cells(solution, submission)
    is_named = len(columns) == len(own) == 1 and columns != own
    if is_named and not misfits and accepts and accepts(submission.rename(columns=dict(zip(own, columns)))):
        misfits = [Misfit("renamed column", {"wanted": columns[0], "found": own[0]})]
    return misfits


def of_cells(solution: Any, submission: pd.DataFrame) -> list[Misfit]:
    """Compare the cells of columns that have the same name, or of the only one in each table beside the ids."""
    columns, own = _beside_ids(solution, solution.frame), _beside_ids(solution, submission)
    truth = solution.frame[solution.counts]
    pairs = [(name, name) for name in columns[:MOST_COLUMNS] if name in own]
    if len(columns) == len(own) == 1:
        pairs = [(columns[0], own[0])]
    return [each for ours, theirs in pairs for each in _cells(theirs, truth[ours], submission[theirs])]


def _beside_ids(solution: Any, table: pd.DataFrame) -> list[str]:
    """The columns of a table that have no ids."""
    named = {*ids.columns_of(solution.arguments)}
    return [str(name) for name in table if name not in named]


def explanation(misfits: Sequence[Misfit], for_host: bool = True) -> str:
    """Write what explains most in at most two sentences without a full stop at the end."""
    return ". ".join(str(each) if for_host else each.public for each in misfits[:MOST_TOLD])


def are_other_rows(misfits: Sequence[Misfit]) -> bool:
    """Tell whether rows lack, are unknown or come twice, as they may where a metric matches them itself."""
    return all(each.kind in ("missing ids", "unknown ids", "repeated ids") for each in misfits)


# ---- Columns -------------------------------------------------------------------------------------------------


def _columns(truth: pd.DataFrame, submission: pd.DataFrame, wanted: Sequence[str]) -> Iterator[Misfit]:
    """Compare the names of columns, of which a solution may have some that no submission needs.

    It is told where there are no ids, where a name is only spelled otherwise, and where the submission has
    several columns beside its ids, of which the solution has none.
    """
    row_id, *others = wanted
    missing = [name for name in wanted if name not in submission]
    foreign = [str(name) for name in submission if name not in truth]
    alike = {name: each for name in missing for each in foreign if _letters(each) == _letters(name)}
    for name, each in alike.items():
        yield Misfit("renamed column", {"wanted": name, "found": each})
    if not alike and row_id in missing:
        yield Misfit("missing column", {"column": row_id, "found": listed([*map(repr, submission)])})
    elif not alike and len(missing) == len(others) and len({len(foreign), len(others)} - {0}) == 2:
        yield Misfit("other columns", {"columns": together(others), "found": listed([*map(repr, foreign)])})


def _letters(name: str) -> str:
    """A name without its blanks, signs and capitals."""
    return re.sub(r"[\W_]", "", name).casefold()


# ---- Ids -----------------------------------------------------------------------------------------------------

Change = Callable[[str], str]


def _as_it_is(text: str) -> str:
    return text


def _without_ending(text: str) -> str:
    return ENDING.sub("", text)


def _without_folder(text: str) -> str:
    return FOLDER.sub("", text)


def _without_commas(text: str) -> str:
    return text.replace(",", "")


def _without_signs(text: str) -> str:
    return text.strip(" '\"`\u2018\u2019\u201c\u201d\u00a0")


def _digits_of_a_float(text: str) -> str:
    """The digits that a whole number keeps when it is written as a float; empty for what is no large number."""
    try:
        number = float(text)
    except ValueError:
        return ""
    return f"{number:.{DIGITS_OF_A_FLOAT - 1}e}" if 10**DIGITS_OF_A_FLOAT < abs(number) < np.inf else ""


# How an id of a submission and one of the solution become equal, and what the participant does.
CHANGES: list[tuple[Change, Change, str]] = [
    (_as_it_is, _without_ending, "write the ending, too"),
    (_without_ending, _as_it_is, "leave the ending out"),
    (_without_folder, _as_it_is, "leave the folder out"),
    (_as_it_is, _without_folder, "write the folder, too"),
    (_without_commas, _as_it_is, "leave the commas out"),
    (_without_signs, _as_it_is, "leave the quotation marks and blanks at the ends out"),
    (str.casefold, str.casefold, "write capital and small letters as there"),
    (
        _digits_of_a_float,
        _digits_of_a_float,
        "read the ids as text, because floats have lost their last digits",
    ),
]


def _ids(column: str, wanted: pd.Series, given: pd.Series, whole: bool) -> Iterator[Misfit]:
    """Compare ids: what turns one into the other, or else how many are missing, unknown and repeated.

    Where a submission need not answer each row once, only that none of its ids is known tells anything.
    """
    wanted_ids, given_ids = dict.fromkeys(wanted), dict.fromkeys(given)
    missing = [each for each in wanted_ids if each not in given_ids]
    unknown = [each for each in given_ids if each not in wanted_ids]
    if not whole and len(unknown) < len(given_ids):
        return
    if unknown and (how := _shift(wanted_ids, given_ids) or _change(wanted_ids, unknown)):
        number, example, cure = how
        facts = {"given": _cut(example[0]), "wanted": _cut(example[1]), "cure": cure}
        yield Misfit(
            "written otherwise",
            {"column": column, "number": f"{number:,}", "all": f"{len(given_ids):,}"} | facts,
        )
        return
    for kind, some, of in ("missing ids", missing, wanted_ids), ("unknown ids", unknown, given_ids):
        if some and (whole or kind == "unknown ids"):
            facts = {"number": f"{len(some):,}", "all": f"{len(of):,}", "are": _are(some)}
            yield Misfit(kind, {"column": column, "examples": _examples(some)} | facts)
    if whole and len(given_ids) < len(given):
        repeated = [*given[given.duplicated()].unique()]
        facts = {"ids": counted(len(repeated), "id"), "are": _are(repeated)}
        yield Misfit("repeated ids", {"column": column, "examples": _examples(repeated)} | facts)


def _change(wanted: Collection[str], unknown: Sequence[str]) -> tuple[int, tuple[str, str], str] | None:
    """Find the change that makes nearly all unknown ids those of the solution: their number, one, the cure."""
    for of_given, of_wanted, cure in CHANGES:
        known = {key: each for each in wanted if (key := of_wanted(each))}
        pairs = [(each, known[key]) for each in unknown if (key := of_given(each)) in known]
        if len(pairs) >= EXPLAINED * len(unknown):
            return len(pairs), pairs[0], cure
    return None


def _shift(wanted: Collection[str], given: Collection[str]) -> tuple[int, tuple[str, str], str] | None:
    """Tell whether all ids are whole numbers and those of the submission are off by the same number."""
    ours, theirs = (sorted(map(ids.number_of, each), key=lambda n: (n is None, n)) for each in (wanted, given))
    if len(ours) != len(theirs) or ours[-1] is None or theirs[-1] is None:
        return None
    steps = {our - their for our, their in zip(ours, theirs) if our is not None and their is not None}
    if len(steps) != 1 or 0 in steps:
        return None
    (step,) = steps
    cure = f"{'add' if step > 0 else 'subtract'} {abs(step):,} {'to' if step > 0 else 'from'} each"
    return len(theirs), (str(theirs[0]), str(ours[0])), cure


# ---- Cells ---------------------------------------------------------------------------------------------------


def _cells(column: str, truth: pd.Series, given: pd.Series) -> Iterator[Misfit]:
    """Compare the kinds of the cells of a column, and the labels of one that has labels."""
    are_numbers = pd.api.types.is_numeric_dtype(truth), pd.api.types.is_numeric_dtype(given)
    if all(are_numbers):
        infinite = np.flatnonzero(np.isinf(given.to_numpy(dtype=float, na_value=np.nan)))
        if len(infinite):
            facts = {"cell": given.iloc[infinite[0]]} | _place(infinite)
            yield Misfit("not finite", {"column": column} | facts)
    elif are_numbers[0]:
        strange = np.flatnonzero(pd.to_numeric(given, errors="coerce").isna())
        if len(strange):
            cell = str(given.iloc[strange[0]])
            number = _number_in(cell, given.iloc[strange[:MOST_CELLS]])
            cure = f": write {number}" if number else ""
            facts = {"cell": _cut(cell), "cure": cure} | _place(strange)
            yield Misfit("no numbers", {"column": column} | facts)
    elif truth.nunique() <= len(truth) / ROWS_PER_LABEL:
        yield from _labels(column, [*ids.texts(truth).unique()], [*ids.texts(given).unique()])


def _number_in(cell: str, cells: "pd.Series[Any]") -> str:
    """The one number in a cell as Python writes it, both that can be meant, or "".

    Commas are decimal ones if one of the cells has a comma that cannot be one of thousands, and the other way
    round.
    """
    if not (number := ONE_NUMBER.fullmatch(cell)):
        return ""
    found = [each[1] for text in cells if (each := ONE_NUMBER.fullmatch(str(text))) and "," in each[1]]
    meant = [number[1].replace(",", ""), number[1].replace(",", ".")]
    if any("." in each or each.count(",") > 1 for each in found) or not found:
        return meant[0]
    return meant[1] if not all(map(THOUSANDS.fullmatch, found)) else " or ".join(meant)


def _labels(column: str, wanted: Sequence[str], given: Sequence[str]) -> Iterator[Misfit]:
    """Tell whether none of the labels of a submission is one of the solution, and what could be meant."""
    if not given or {*wanted} & {*given}:
        return
    by_letters = {_letters(each): each for each in wanted}
    meant = next(((each, by_letters[key]) for each in given if (key := _letters(each)) in by_letters), None)
    labels = "value" if len(given) == 1 else f"{len(given):,} values"
    cure = f" for {_cut(meant[1])!r}" if meant else f"; the solution has {listed([*map(_cut, wanted)], 3)}"
    facts = {"column": column, "labels": labels, "given": _cut(meant[0] if meant else given[0])}
    yield Misfit("foreign labels", facts, cure)


def _place(rows: Any) -> dict[str, Any]:
    """The first of some rows, by its number, and how many more there are."""
    more = f" and in {counted(len(rows) - 1, 'more row')}" if len(rows) > 1 else ""
    return {"row": int(rows[0]) + 1, "more": more}


def _are(some: Sequence[str]) -> str:
    return "is" if len(some) == 1 else "are"


def _examples(some: Sequence[str]) -> str:
    """Two of some ids."""
    return together([repr(_cut(each)) for each in some[:2]])


def _cut(text: str) -> str:
    """A text of a table, which may be long."""
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
