"""The items (essays, claims, documents) on the report's page, with the truth beside the prediction."""

import bisect
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.wording import natural_order
from podium.scoring import explain
from podium.scoring.evaluating import Evaluation
from podium.tables.text_index import TextIndex

WELL = ("matched", "correct")
TRIMMED = "trimmed"
NOTHING = "–"
NO_GAIN = 5e-6  # what five decimals do not show
ALGORITHM = "algorithm"
COLORS, STROKES = 7, 3  # colors of Okabe and Ito without black; solid, double and dotted lines
HEADERS = {
    "first": "words",
    "points_lost": "possible gain",
    "start": "characters",
    "cause": "lost most by",
    "iou": "IoU",
    "row_id": "row",
    "tp": "TP",
}
# Columns that are shown within another one.
MERGED = {"last", "end", "words", "words_kept", "partner_type", "partner_first", "partner_last"}

Fields = dict[str, Any]


class Roles(NamedTuple):
    """The names of columns of the explanation's rows that have a role; None if there is no such column."""

    item: Any  # a text or None
    label: str | None
    outcome: str | None


class ShownRow(NamedTuple):
    """A row of the explanation as the page shows it."""

    record: Fields  # the row of the explanation, with its number in the item
    partner: int | None  # the number of the row that is its partner
    label: str  # the label, such as the discourse type
    short: str  # the beginning of the label that no other label has
    look: str  # the CSS classes for the color and the stroke of the label
    outcome: str  # what became of the row
    cause: str  # By what it lost most, or ""
    well: bool  # whether it counts as correct
    cells: list[str]  # the texts of its cells in the table


class Stretch(NamedTuple):
    """A piece of an item's text that lies in the same segments from its first to its last character."""

    numbers: list[int]  # the numbers of the rows whose segments contain the piece, with the innermost one last
    starting: list[int]  # the numbers of the rows whose segments begin with the piece
    text: str  # the text
    after: str  # the white space after it


def section(evaluation: Evaluation, texts: Mapping[str, str], most_items: int) -> dict[str, Any] | None:
    """Collect the page's list of items, each with its text and with what became of its segments."""
    explanation = evaluation.explanation
    roles = Roles(*(explain.column(explanation, role) for role in Roles._fields))
    if roles.item is None:
        return None
    points = _points(evaluation)
    shown, total = points.index[:most_items].tolist(), points.sum()
    groups = explain.groups_of_items(evaluation.prepared)
    columns = _columns(explanation, roles)
    swatches = _swatches(labels(evaluation)) if roles.label else {}
    rows = _rows(explanation, roles, shown, columns, swatches)
    entries = [
        {
            "id": name,
            "points": points[name],
            "share": points[name] / total if total else math.nan,
            "groups": [f"{attribute}: {value}" for attribute, value in groups.loc[name].items()],
            **_looks(rows[name], texts.get(name)),
        }
        for name in shown
    ]
    of_writers = evaluation.prepared.labels if len(groups.columns) else []
    # The script filters by these values; the numbers say in which cell of a row they are.
    filtered = {"label": roles.label, "outcome": roles.outcome, "cause": "cause"}
    return {
        "label_noun": (roles.label or "label").replace("_", " "),
        "entries": entries,
        "shown": shown,
        "total": len(points),
        "has_points": "points_lost" in explanation.rows,
        "has_strips": any(entry["sides"] for entry in entries),
        "has_experts": "markup" in explanation.rows,
        "share_shown": points[shown].sum() / total if total else math.nan,
        "header": [HEADERS.get(name, name.replace("_", " ")) for name in columns],
        "places": {role: columns.index(name) for role, name in filtered.items() if name in columns},
        "swatches": swatches,
        "filters": _filters(rows, swatches) | {"group": [f"{name}: {value}" for name, value in of_writers]},
    }


def _looks(rows: list[ShownRow], text: str | None) -> dict[str, Any]:
    """Collect what the page shows of an item's rows and its text."""
    outcomes = Counter(row.outcome for row in rows if row.outcome).most_common()
    return {"rows": rows, "sides": _sides(rows, text), "text": text, "outcomes": outcomes}


def _points(evaluation: Evaluation) -> "pd.Series[float]":
    """Sum up the lost points of each item, the largest first; without points the order is that of the ids."""
    if "points_lost" in evaluation.explanation.rows:
        return explain.points_by_item(evaluation)
    return pd.Series(0.0, sorted(evaluation.prepared.items, key=natural_order))


def _filters(rows: Mapping[str, list[ShownRow]], swatches: Iterable[str]) -> dict[str, list[str]]:
    """List the values by which rows can be filtered: those that occur, in the order of the page."""
    all_rows = [row for of_item in rows.values() for row in of_item]
    used = {row.label for row in all_rows}
    partners = {of[row.partner].label for of in rows.values() for row in of if row.partner is not None}
    outcomes = dict.fromkeys(part for row in all_rows for part in row.outcome.split(", ") if part)
    return {
        "label": [name for name in swatches if name in used],
        "outcome": sorted(outcomes, key=lambda name: name == TRIMMED),
        "cause": [*dict.fromkeys(row.cause for row in all_rows if row.cause)],
        "partner": [name for name in swatches if name in partners],
    }


def labels(evaluation: Evaluation) -> list[str]:
    """List the labels that occur among the rows of an explanation."""
    explanation = evaluation.explanation
    occurring = dict.fromkeys(map(str, explanation.rows[explain.column(explanation, "label")].dropna()))
    order = [] if explanation.confusion is None else list(map(str, explanation.confusion.index))
    return sorted(occurring, key=lambda name: order.index(name) if name in order else len(order))


def number(value: Any, digits: int = 4) -> str:
    """Write a number as the page shows it.

    >>> number(-0.25), number(1234), number(None)
    ('−0.2500', '1,234', '–')
    """
    if pd.isna(value):
        return NOTHING
    if isinstance(value, float | np.floating) and not value:
        return "0"
    if isinstance(value, float | np.floating):
        # Adding 0.0 avoids −0.
        return f"{round(float(value), digits) + 0.0:,.{digits}f}".replace("-", "−")
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}".replace("-", "−")
    return str(value)


def gain(points: float) -> str:
    """Write a possible gain with as many decimals as tell it from nothing, and at least those of the score.

    >>> gain(0.25), gain(0.00012), gain(0.0), gain(-1e-9)
    ('0.2500', '0.00012', '0', '≈ 0')
    """
    if abs(points) < NO_GAIN:
        return "≈ 0" if points else "0"
    return number(points, 4 if abs(points) >= 0.001 else 5)


def share(part: float) -> str:
    """Write a share in percent.

    >>> share(0.25), share(0.0), share(0.0001), share(float("nan"))
    ('25.0%', '0', '< 0.1%', '–')
    """
    if pd.isna(part) or not part:
        return NOTHING if pd.isna(part) else "0"
    return f"{part:.1%}" if part >= 0.0005 else "< 0.1%"


def _swatches(names: list[str]) -> dict[str, tuple[str, str]]:
    """Find for each label its shortest beginning that no other label has, and the CSS classes of its look."""
    swatches = {}
    for number, label in enumerate(names):
        beginnings = (label[:length] for length in range(1, len(label)))
        short = next((s for s in beginnings if sum(name.startswith(s) for name in names) == 1), label)
        stroke = f" k{number // COLORS % STROKES}" if number >= COLORS else ""
        swatches[label] = short, f"c{number % COLORS}{stroke}"
    return swatches


# ---- Rows ------------------------------------------------------------------------------------------------


def _paired(rows: pd.DataFrame) -> pd.DataFrame:
    """Add to rows that are segments the columns ``pair``, ``is_truth``, ``first`` and ``last``.

    Other rows stay as they are. In markups, each expert's markup is a truth, and the algorithm's markup stands
    beside it.
    """
    if {"side", "first", "last"} <= set(rows):
        return rows.assign(pair="truth", is_truth=rows["side"] == "truth")
    if {"markup", "against", "start", "end"} <= set(rows):
        is_truth = rows["markup"] != ALGORITHM
        pair = rows["markup"].where(is_truth, rows["against"])
        rows = rows.assign(pair=pair, is_truth=is_truth, first=rows["start"], last=rows["end"] - 1)
        return rows[~is_truth | (rows["against"] == ALGORITHM)]
    return rows


def _columns(explanation: Any, roles: Roles) -> list[str]:
    """List the columns of the table of rows. Those that say most come first, as phones show only a few."""
    cause = [] if explanation.losses is None else ["cause"]
    columns = [str(name) for name in explanation.rows if name not in MERGED | {roles.item}] + cause
    first = ["row_id", roles.label, "points_lost", "cause" if cause else roles.outcome]
    return sorted(columns, key=lambda name: first.index(name) if name in first else len(first))


def _rows(
    explanation: Any,
    roles: Roles,
    shown: Sequence[str],
    columns: list[str],
    swatches: Mapping[str, tuple[str, str]],
) -> dict[str, list[ShownRow]]:
    """Turn the rows of the items that are shown into rows of the page, each with its partner."""
    item, label, outcome = roles
    table = explain.rows_of(explanation)
    table = _paired(table[table[item].isin(shown)])
    table = table.assign(number=table.groupby(item).cumcount())
    if explanation.losses is not None and len(table):
        table["cause"] = explanation.losses.loc[table.index].idxmax(axis=1)
    records: list[Any] = table.to_dict("records")
    # Names of columns that locate a row, with the columns that locate its partner in the same way.
    own = {label: "partner_type"} | {name: f"partner_{name}" for name in explanation.rows}
    links = {str(name): partner for name, partner in own.items() if partner in explanation.rows}
    positions = {*links, *links.values()}
    rows: dict[str, list[ShownRow]] = {name: [] for name in shown}
    for record, partner in zip(records, _partners(records, item, links)):
        name = number(record[label]) if label else ""
        rows[record[item]].append(
            ShownRow(
                record,
                partner,
                name,
                *swatches.get(name, ("", "c0")),
                outcome=_outcome(record, outcome) if outcome else "",
                cause=_cause(record),
                well=outcome is not None and record[outcome] in WELL,
                cells=[_cell(record, column, outcome, positions) for column in columns],
            )
        )
    return rows


def _partners(records: Sequence[Fields], item: str, links: Mapping[str, str]) -> list[int | None]:
    """The number of each row's partner, which is the first row of the other side in the place that it names."""
    if not (records and links and "pair" in records[0]):
        return [None] * len(records)

    def key(record: Fields, is_truth: bool, names: Iterable[str]) -> tuple[Any, ...]:
        return record[item], record["pair"], is_truth, *(record[name] for name in names)

    number_at = {key(each, each["is_truth"], links): each["number"] for each in reversed(records)}
    return [number_at.get(key(each, not each["is_truth"], links.values())) for each in records]


def _cell(record: Fields, name: str, outcome: str | None, positions: Collection[str]) -> str:
    """Write a row's cell of a column. The columns in `positions` hold positions, and -1 stands for none."""
    value = record[name]
    if name == "row_id":  # stays as it is in the file, where people look for it
        return str(value)
    if name == "first":
        text = _range(value, record["last"])
        return f"{text}, {_range(_first_kept(record), record['last'])} left" if _is_trimmed(record) else text
    if name == "start":
        return NOTHING if value < 0 else f"{value}–{record['end']}"
    if name == "partner":
        parts = [value, record.get("partner_type")]
        return ": ".join(str(part) for part in parts if not pd.isna(part)) or NOTHING
    if name == "points_lost":
        return gain(value)
    if name == "cause":
        return _cause(record)
    if name == outcome:
        return _outcome(record, name)
    if name in positions:
        return NOTHING if value == -1 else str(value)
    if isinstance(value, float) and value == value:
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return number(value)


def _is_trimmed(record: Fields) -> bool:
    """Tell whether overlap removal took some words of a segment, but not all."""
    return bool(0 < record.get("words_kept", 0) < record.get("words", 0))


def _first_kept(record: Fields) -> int:
    """Find the first word of a segment that overlap removal left to it."""
    kept = record.get("words_kept") or record["last"] - record["first"] + 1
    return int(record["last"] - kept + 1)


def _outcome(record: Fields, column: str) -> str:
    """Write what became of a row."""
    return f"{record[column]}, {TRIMMED}" if _is_trimmed(record) else number(record[column])


def _cause(record: Fields) -> str:
    """Write by what a row lost most, if it lost anything."""
    return str(record.get("cause", "")) if record.get("points_lost") else ""


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


# ---- The truth and the prediction side by side -----------------------------------------------------------


class ItemText:
    """A text that consists of words or of characters. Without a text, these are shown by their positions."""

    def __init__(self, text: str | None, in_characters: bool) -> None:
        self.text, known = text, text or ""
        characters = list(zip(range(len(known)), range(1, len(known) + 1)))
        self.places = characters if in_characters else TextIndex(known).borders()
        ends = [line.end() for line in re.finditer(r"\n\s*", known)]
        self.lines = {bisect.bisect_left(self.places, (end,)) for end in ends}

    def stretch(self, first: int, end: int) -> tuple[str, str]:
        """Cut units out of the text."""
        if self.text is None:
            return _range(first, end - 1), " "
        known = len(self.places)
        inside, following = self.places[first:end], self.places[end : end + 1]
        parts = [self.text[inside[0][0] : inside[-1][1]]] if inside else []
        if end > known:
            parts.append(f"[{_range(max(first, known), end - 1)}: beyond the text]")
        if end in self.lines:
            return " ".join(parts).rstrip(), ""
        return " ".join(parts), self.text[inside[-1][1] : following[0][0]] if following else " "


def _sides(rows: list[ShownRow], text: str | None) -> list[dict[str, Any]]:
    """Lay out the segments of an item: the truth and the prediction, each as a strip and as lines of text."""
    records = [row.record for row in rows]
    if not records or "pair" not in records[0]:
        return []
    in_characters = "start" in records[0]
    content = ItemText(text, in_characters)
    length = max([len(content.places), *(record["last"] + 1 for record in records)])
    sides = []
    for pair, is_truth in itertools.product(dict.fromkeys(record["pair"] for record in records), (True, False)):
        segments = [
            record
            for record in records
            if record["pair"] == pair and record["is_truth"] == is_truth and record["first"] <= record["last"]
        ]
        segments.sort(key=lambda record: (_first_kept(record), -record["last"], record["number"]))
        kept = [record for record in segments if record.get("words_kept", 1)]
        sides.append(
            {
                "name": pair if is_truth else ALGORITHM if in_characters else "prediction",
                # Each segment has the number of its row, its distance from the left and its width in percent.
                "strip": [
                    (
                        record["number"],
                        round(100 * record["first"] / length, 1),
                        round(100 * (record["last"] + 1 - record["first"]) / length, 1),
                    )
                    for record in segments
                ],
                "lines": list(_lines(kept, length, content)),
                "discarded": [record["number"] for record in segments if not record.get("words_kept", 1)],
                "outcomes": Counter(rows[record["number"]].outcome for record in segments).most_common(),
            }
        )
    return sides


def _lines(segments: list[Fields], length: int, content: ItemText) -> Iterator[list[Stretch]]:
    """Cut a text into lines, and each line into pieces that lie in the same segments."""
    ends = {record["number"]: record["last"] + 1 for record in segments}
    starting: dict[int, list[int]] = {}
    for record in segments:
        starting.setdefault(_first_kept(record), []).append(record["number"])
    cuts = {0, *starting, *ends.values(), *(unit for unit in content.lines if unit < length), length}
    pieces: list[Stretch] = []
    numbers: list[int] = []
    for first, end in itertools.pairwise(sorted(cuts)):
        if first in content.lines and pieces:
            yield pieces
            pieces = []
        begun = starting.get(first, [])
        numbers = [row for row in numbers if ends[row] > first] + begun
        pieces.append(Stretch(numbers, begun, *content.stretch(first, end)))
    yield pieces
