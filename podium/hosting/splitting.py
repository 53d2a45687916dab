"""Draw the parts of a competition: what participants learn from, and what is Public and Private.

The drawing depends on the seed and the ids alone. It is the same on every machine and for every order of the
rows. Instead, a column of the labels may say where each row belongs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints
from podium.common.errors import HostError, UsageError
from podium.common.wording import listed
from podium.contest import pipeline
from podium.hosting import columns, order
from podium.hosting.evidence import natural
from podium.metric.hosted import Metric
from podium.scoring import evaluating
from podium.scoring.evaluating import IGNORED, PARTS, USAGE
from podium.tables import ids

TRAIN, TESTED = "train", "test"
ONE_BOARD = "For one board alone, give the labels a column Usage that says Public in every row."
NO_ITEMS = (
    "The metric has no prepare(), so each row was drawn by itself. If rows belong together, such as those of "
    "one patient, name the column that says so by --items, or choose the parts in a column Usage of the labels."
)
# What the values of a column mean that splits labels already, in lower case; numbers are those of folds.
MEANINGS = {
    **dict.fromkeys(["train", "training", "dev", "development", "val", "valid", "validation"], TRAIN),
    **dict.fromkeys(["test", "testing", "holdout", "eval", "evaluation"], TESTED),
    **{part.lower(): part for part in (*PARTS, IGNORED)},
}
MOST_VALUES = 20  # of a column that splits labels
FEWEST_TIMES = 30  # of which something can be said of neighbors
TIME = re.compile(r"[T _](\d\d(?::\d\d){0,2}(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)(?!\d)")  # of the day
UNIX_SECONDS = np.array([631_152_000, 4_102_444_800])  # of 1990 and of 2100

Strata = Sequence[tuple[str, ...]]
Texts = npt.NDArray[np.object_]


class Draw(NamedTuple):
    """How the rows of labels are drawn."""

    seed: int
    public_share: float = 0.3  # of the items of the test set
    test_share: float = 1.0  # of all items; the others are published with their labels, to learn from
    items: str = ""  # columns, separated by commas, which may be known; rows that share a value stay together
    new_ids: bool = False  # whether the rows get other ids
    split: str = ""  # a column that says where each row belongs
    meanings: Mapping[str, str] = {}  # of values of this column that podium does not know

    @property
    def is_at_random(self) -> bool:
        """Whether rows to score lie anywhere among rows to learn from."""
        return self.test_share < 1


class Allotted(NamedTuple):
    """The part of each row of labels."""

    items: Texts  # (rows,) the item of each row
    parts: Texts  # (rows,) the part of each row
    report: list[str]  # what the report says of it
    doubts: list[str]  # what the host should look at


def split(
    items: Sequence[str],
    strata: Strata,
    twins: Sequence[str],
    test_share: float,
    public_share: float,
    seed: int,
) -> npt.NDArray[np.object_]:
    """Draw the part of each item, with the same shares in each stratum."""
    leaders: dict[str, int] = {}
    for item in sorted(range(len(items)), key=items.__getitem__):
        leaders.setdefault(twins[item], item)
    names = [items[item] for item in leaders.values()]
    groups = [strata[item] for item in leaders.values()]
    part = np.full(len(names), TRAIN, dtype=object)
    test = np.flatnonzero(drawn(names, groups, test_share, f"{seed} test"))
    of_test = [names[item] for item in test], [groups[item] for item in test]
    part[test] = np.where(drawn(*of_test, public_share, f"{seed} public"), *PARTS)
    _refuse_empty(part, test_share, len(names))
    of_twins = dict(zip(leaders, part))
    return np.array([of_twins[twin] for twin in twins], dtype=object)


def _refuse_empty(part: Texts, test_share: float, items: int) -> None:
    """Refuse parts of which one has no item."""
    needed = [TRAIN, *PARTS] if test_share < 1 else PARTS
    absent = [name for name in needed if name not in part]
    if absent:
        raise HostError(
            f"expected enough items to split, found {items:,}: none is left for {' and '.join(absent)}; "
            "give more items, or another share by --public or --test"
        )


def drawn(items: Sequence[str], strata: Strata, share: float, seed: str) -> Bools:
    """Draw a share of each stratum.

    The items are ordered by hashes of their ids, because the random numbers of a library may change between
    versions.

    >>> drawn(["a", "b", "c", "d"], [("x",), ("x",), ("y",), ("y",)], 0.5, "0").tolist()
    [True, False, False, True]
    """

    in_order = sorted(range(len(items)), key=lambda item: (strata[item], order.chance(seed, items[item])))
    start = int.from_bytes(order.chance(seed, "")[:6]) / 2**48
    chosen = np.zeros(len(items), dtype=bool)
    # Along this order the shares are added up, and each item at which the sum passes a whole number is drawn.
    # So every stratum gets its share, up to one item.
    added = np.arange(len(items) + 1) * share
    chosen[in_order] = np.diff(np.floor(added + start)) > 0
    return chosen


def parts_of(
    metric: Metric, labels: pd.DataFrame, arguments: Mapping[str, object], row_id: str, draw: Draw
) -> Allotted:
    """Draw the part of each row of official labels, or take it from them."""
    splitting = draw.split or (USAGE if USAGE in labels else "")
    check_ways(splitting, draw)
    given = labels.drop(columns=[USAGE, splitting], errors="ignore")
    whole = pipeline.prepared(metric, given, dict(arguments))
    item_of_row, items, strata = _items(whole, labels, row_id)
    of_rows = np.array(items, dtype=object)[item_of_row]
    groups = _groups(given, draw.items, of_rows) if draw.items else of_rows
    if splitting:
        return Allotted(of_rows, *as_split(labels, splitting, groups, draw), [])
    twins = pd.Series(groups).groupby(item_of_row).first().tolist()
    of_items = split(items, strata, twins, draw.test_share, draw.public_share, draw.seed)
    how = _how_drawn(draw, bool(whole.prepared))
    return Allotted(of_rows, of_items[item_of_row], how, doubts_of_split(given))


def check_ways(splitting: str, draw: Draw) -> None:
    """Refuse two ways of choosing the test set."""
    if splitting and draw.test_share != 1:
        option = "--split" if draw.split else f"the column {USAGE}"
        raise UsageError(f"{option}, --test: expected one way to choose the test set: leave out the other one")


def _how_drawn(draw: Draw, has_items: bool) -> list[str]:
    """Say in the report how the parts were drawn."""
    said = f"The parts were drawn with seed {draw.seed}: "
    if draw.test_share != 1:
        said += f"{draw.test_share:g} of the items are for the test, and of these "
    said += f"{draw.public_share:g} of the items are Public."
    if draw.items:
        said += f" Rows with the same {draw.items.replace(',', ' or ')} stay together."
    return [f"{said} {ONE_BOARD}", *([] if has_items or draw.items else [NO_ITEMS])]


def _groups(labels: pd.DataFrame, items: str, of_rows: Texts) -> Texts:
    """The name of what each row stays together with: rows that share a value in one of the columns."""
    by = ids.named(items, labels)
    columns.check_present(labels, by, "--items")
    for name in by:
        columns.check_values(labels[name], "--items")
        columns.check_one_value(ids.texts(labels[name]), of_rows, f"--items: expected one {name}")
    together = ids.together(labels, by)
    largest = np.bincount(together).max()
    if len(by) > 1 and largest > len(labels) / 2:
        raise HostError(
            f"--items {items}: expected rows that can be drawn apart, found {largest:,} of {len(labels):,} "
            f"that all hang together by a value of {listed(by)}: name fewer columns"
        )
    first = np.unique(together, return_index=True)[1]
    return ids.texts(labels[by[0]]).to_numpy()[first[together]]


# ---- A split that is there already -----------------------------------------------------------------------


def as_split(labels: pd.DataFrame, name: str, groups: Texts, draw: Draw) -> tuple[Texts, list[str]]:
    """Take the part of each row from a column; of rows that it gives to the test alone, some are Public.

    Returns what the report says of it, too.
    """
    columns.check_present(labels, [name], "--split")
    columns.check_values(labels[name], "the parts")
    values = ids.texts(labels[name]).str.strip().str.casefold()
    given = {value.strip().casefold(): _meaning(part) for value, part in draw.meanings.items()}
    if absent := sorted(given.keys() - set(values)):
        there = listed(sorted(set(ids.texts(labels[name]))))
        raise HostError(f"--split: expected values of {name}, such as {there}, found {listed(absent)}")
    parts = values.map(lambda value: given.get(value) or _meaning(value))
    if unknown := sorted(set(ids.texts(labels[name])[parts == ""])):
        example = f"--split {name}={TRAIN}:{unknown[0]}"
        raise HostError(
            f"{name}: expected the words train, test, {', '.join(PARTS)} or {IGNORED}, found "
            f"{listed(unknown)}: say which of them these are, such as {example}"
        )
    columns.check_one_value(parts, groups, f"{name}: expected one part", draw.items or "item")
    chosen = parts.to_numpy(dtype=object)
    tested = chosen == TESTED
    report = [f"The parts are those of the column {name} of the labels."]
    if tested.any():
        report.append(f"Of its test set, {draw.public_share:g} were drawn as Public with seed {draw.seed}.")
        drawn_from = sorted(set(groups[tested]))
        public = drawn(drawn_from, [()] * len(drawn_from), draw.public_share, f"{draw.seed} public")
        is_public = dict(zip(drawn_from, public.tolist()))
        chosen[tested] = [PARTS[not is_public[group]] for group in groups[tested]]
    if PARTS[0] not in chosen:
        raise HostError(f"{name}: expected Public rows in the labels, found none")
    return chosen, report


def _meaning(value: str) -> str:
    """The part that a value of a column names, which may be the number of a fold; "" if it is unknown."""
    return MEANINGS.get(value.casefold(), TRAIN if value.isdecimal() else "")


def doubts_of_split(labels: pd.DataFrame) -> list[str]:
    """Warn of columns by which labels are split already, although the parts are drawn."""
    return [
        f"the column {name} seems to split the labels already, so that rows to learn from may be scored now: "
        f"--split {name} takes its parts"
        for name in _split_already(labels)
    ]


def _split_already(labels: pd.DataFrame) -> Iterator[str]:
    """Name columns that split the labels already, by their name or by values for training and for a test."""
    for name, cells in labels.items():
        values = cells.dropna().drop_duplicates()
        if not 1 < len(values) <= MOST_VALUES:
            continue
        means = set(map(_meaning, ids.texts(values).str.strip()))
        is_named = str(name).casefold() in ("split", USAGE.casefold()) and not means <= {*PARTS, IGNORED}
        if is_named or (TRAIN in means and (TESTED in means or means.issuperset(PARTS))):
            yield str(name)


# ---- Neighbors --------------------------------------------------------------------------------------------


def _moments(cells: pd.Series) -> Floats | None:
    """Numbers in the order of time: those of dates, which may stand within ids; None if there are others.

    >>> times = _moments(pd.Series(["store 1, 2027-02-01", "store 1, 2027-01-31", "2027-01-31_07"]))
    >>> (np.diff(times) / 3600).tolist()
    [-24.0, 7.0]
    >>> times = _moments(pd.Series(["01/02/2027", "31/01/2027"]))
    >>> bool(times[0] > times[1]), _moments(pd.Series(["01/02/2027", "02/01/2027"]))
    (True, None)
    """
    if pd.api.types.is_integer_dtype(cells):
        is_time = any(cells.between(*UNIX_SECONDS * unit).all() for unit in (1, 1_000))
        return cells.to_numpy(np.float64) if is_time else None
    found = [order.DATE.search(text) for text in ids.texts(cells)]
    dates = _in_iso_8601([re.findall(r"\d{4}|\d\d?", date[0] if date else "") for date in found])
    if dates is None:
        return None
    times = [TIME.match(date.string, date.end()) if date else None for date in found]
    with_times = [f"{date}T{time[1]}" if time else date for date, time in zip(dates, times)]
    # A time such as 25:70 is none.
    moments = _as_moments(with_times).fillna(_as_moments(dates))
    return np.asarray((moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds(), dtype=np.float64)


def _as_moments(texts: Sequence[str]) -> pd.Series:
    """Read texts in ISO 8601, as far as they are dates and times."""
    return pd.to_datetime(pd.Series(texts), format="ISO8601", errors="coerce", utc=True)


def _in_iso_8601(dates: Sequence[Sequence[str]]) -> list[str] | None:
    """Write dates, given by their numbers, as 2027-01-31; None if the order of their numbers is not sure."""
    if not all(numbers and len(numbers[0]) == 4 for numbers in dates):
        has_years = all(numbers and len(numbers[-1]) == 4 for numbers in dates)
        if not has_years or max(int(numbers[0]) for numbers in dates) <= 12:  # The first one may be the month.
            return None
        dates = [numbers[::-1] for numbers in dates]
    return ["-".join(number.zfill(2) for number in numbers) for numbers in dates]


def doubt_of_neighbors(labels: pd.DataFrame, public: Sequence[str], answers: Sequence[str]) -> str:
    """Warn if an answer changes little between the dates of a public column, or from one id to the next.

    The index of the `labels` says which rows stay together, and tell one another nothing.
    """
    for moments, what, cure in _neighbors(labels, public):
        for answer in answers:
            if _is_smooth(labels[answer], moments):
                return f"{what.format(answer)}: rows to learn from tell those between them; {cure}"
    return ""


def _neighbors(labels: pd.DataFrame, public: Sequence[str]) -> Iterator[tuple[Floats, str, str]]:
    """Orders in which all may see the rows, with what is said of an answer that follows one, and its cure."""
    for name in public:
        some = labels[name].iloc[:: max(len(labels) // FEWEST_TIMES, 1)]
        if _moments(some) is not None and (moments := _moments(labels[name])) is not None:
            what = f"{name} has dates, and {{}} changes little from one to the next"
            yield moments, what, f"give the last rows to the test set, by a column {USAGE}"
    places = pd.factorize(ids.texts(labels[public[0]]).map(natural), sort=True)[0]
    what = f"{{}} changes little from one {public[0]} to the next"
    yield np.asarray(places, np.float64), what, "--new-ids gives the rows other ids"


def _is_smooth(values: pd.Series, moments: Floats) -> bool:
    """Whether values change little from a moment to the next one, where other rows begin that stay together."""
    if not pd.api.types.is_numeric_dtype(values):
        texts = values.map(str)
        values = texts == texts.mode()[0]
    rows = pd.DataFrame({"value": np.asarray(values, dtype=np.float64), "item": values.index})
    series = rows.groupby(moments).agg({"value": "mean", "item": "first"}).dropna()
    steps = series["value"].diff()[series["item"].ne(series["item"].shift())].dropna()
    # The mean square of a step is twice the variance where neighbors have nothing in common.
    return len(steps) >= FEWEST_TIMES and bool(0 < (steps**2).mean() < series["value"].var())


def _items(whole: evaluating.Solution, labels: pd.DataFrame, row_id: str) -> tuple[Ints, list[str], Strata]:
    """Tell the item of each row, the items and their strata."""
    if whole.prepared:
        prepared = whole.prepared[evaluating.ALL]
        strata = [tuple(map(str, groups)) for groups in np.asarray(prepared.groups).T.tolist()]
        return np.asarray(prepared.item_of_row), prepared.items, strata
    item_of_row, items = pd.factorize(ids.texts(labels[row_id]), sort=True)
    return item_of_row, list(items), [()] * len(items)
