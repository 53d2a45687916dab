"""The items (essays, claims, documents) on the report's page, the truth beside the prediction."""

import bisect
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium import explain
from podium.scoring import Evaluation

WELL = ("matched", "correct")
ROLES = ("item", "label", "outcome")
TRIMMED = "trimmed"
NOTHING = "–"
THOUSANDTH = 1e-3  # of the score, the unit of every possible gain
ALGORITHM = "algorithm"
COLOURS, STROKES = 7, 3  # of Okabe and Ito, without black; solid, double, dotted
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

Record = dict[str, Any]


class Row(NamedTuple):
    """A row of the explanation as the page shows it: its texts, its look, and the row that is its partner."""

    record: Record  # as in the explanation's rows, and its number in the item
    partner: int | None
    label: str
    short: str
    look: str  # classes
    outcome: str
    cause: str
    well: bool
    cells: list[str]


class Piece(NamedTuple):
    """A piece of an item's text that lies in the same segments from its first to its last character."""

    numbers: list[int]  # of the rows whose segments hold it, the innermost last
    starting: list[int]  # those of them that begin with it
    text: str
    after: str  # white space


def section(
    evaluation: Evaluation, texts: Mapping[str, str], most_items: int, random: int | None
) -> dict[str, Any] | None:
    """The page's list of items, each with its text and what became of its segments.

    Parameters
    ----------
    evaluation : Evaluation
    texts : mapping of str to str
        The text of each item; one without a text is shown as strips of words.
    most_items : int
        How many to show: those that lost most.
    random : int, optional
        The seed of a random sample to show instead.

    Returns
    -------
    dict, or None
        For the template; None where the explanation names no items.
    """
    explanation = evaluation.explanation
    item, label, outcome = (explain.column(explanation, role) for role in ROLES)
    if item is None:
        return None
    has_points = "points_lost" in explanation.rows
    points = explain.points_by_item(evaluation) if has_points else pd.Series(0.0, evaluation.prepared.items)
    chosen = np.arange(min(most_items, len(points)))
    if random is not None:
        chosen = np.sort(np.random.default_rng(random).choice(len(points), len(chosen), replace=False))
    shown = points.index[chosen].tolist()
    total = points.sum()
    groups = explain.groups_of_items(evaluation)

    table = _paired(explanation.rows[explanation.rows[item].isin(shown)])
    table = table.assign(number=table.groupby(item).cumcount())
    if explanation.losses is not None and len(table):
        table["cause"] = explanation.losses.loc[table.index].idxmax(axis=1)
    columns = _columns(explanation)
    swatches = _swatches(labels(evaluation)) if label else {}
    records: list[Any] = table.to_dict("records")
    rows: dict[str, list[Row]] = {name: [] for name in shown}
    for row in _rows(records, explanation, columns, swatches):
        rows[row.record[item]].append(row)
    entries = [
        {
            "id": name,
            "points": points[name],
            "share": points[name] / total if total else math.nan,
            "groups": [f"{attribute}: {value}" for attribute, value in groups.loc[name].items()],
            "rows": rows[name],
            "sides": _sides(rows[name], texts.get(name)),
            "text": texts.get(name),
            "outcomes": Counter(row.outcome for row in rows[name] if row.outcome).most_common(),
        }
        for name in shown
    ]
    of_writers = evaluation.prepared.labels if len(groups.columns) else []
    return {
        "is_sample": random is not None,
        "label_noun": (label or "label").replace("_", " "),
        "entries": entries,
        "shown": shown,
        "total": len(points),
        "has_points": has_points,
        "has_strips": any(entry["sides"] for entry in entries),
        "has_experts": "markup" in table,
        "share_shown": points[shown].sum() / total if total else math.nan,
        "header": [HEADERS.get(name, name.replace("_", " ")) for name in columns],
        # What the script filters by, and in which of a row's cells that is.
        "places": {
            role: columns.index(name)
            for role, name in (("label", label), ("outcome", outcome), ("cause", "cause"))
            if name in columns
        },
        "swatches": swatches,
        "filters": _filters(rows, swatches) | {"group": [f"{name}: {value}" for name, value in of_writers]},
    }


def _filters(rows: Mapping[str, list[Row]], swatches: Iterable[str]) -> dict[str, list[str]]:
    """What the rows of all items can be filtered by: the values that occur, in the order of the page."""
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


def noun(evaluation: Evaluation) -> str:
    """What an item is called, such as “essay”: the name of its column without “_id”."""
    item = explain.column(evaluation.explanation, "item") or "item"
    return item.removesuffix("_id").replace("_", " ")


def labels(evaluation: Evaluation) -> list[str]:
    """The labels that occur among the rows, in the order of the confusion table where there is one."""
    explanation = evaluation.explanation
    found = dict.fromkeys(map(str, explanation.rows[explain.column(explanation, "label")].dropna()))
    order = [] if explanation.confusion is None else list(map(str, explanation.confusion.index))
    return sorted(found, key=lambda name: order.index(name) if name in order else len(order))


def number(value: Any, digits: int = 4) -> str:
    """A number as the page shows it: with a true minus sign, and a dash for what is missing."""
    if pd.isna(value):
        return NOTHING
    if isinstance(value, float | np.floating):
        return f"{round(float(value), digits) + 0.0:,.{digits}f}".replace("-", "−")  # no −0
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}".replace("-", "−")
    return str(value)


def gain(points: float) -> str:
    """A possible gain in thousandths of the score, to three decimals where it is less than one."""
    thousandths = points / THOUSANDTH
    return number(thousandths, 3 if abs(thousandths) < 1 else 2)


def _swatches(names: list[str]) -> dict[str, tuple[str, str]]:
    """The shortest beginning of each label that no other has, and classes."""
    found = {}
    for place, label in enumerate(names):
        beginnings = (label[:length] for length in range(1, len(label)))
        short = next((s for s in beginnings if sum(name.startswith(s) for name in names) == 1), label)
        stroke = f" k{place // COLOURS % STROKES}" if place >= COLOURS else ""
        found[label] = short, f"c{place % COLOURS}{stroke}"
    return found


# ---- Rows ------------------------------------------------------------------------------------------------


def _paired(rows: pd.DataFrame) -> pd.DataFrame:
    """Stretches of a text with ``pair``, ``is_truth``, ``first`` and ``last``; other rows as they are.

    Each expert's markup is a truth, with the algorithm's beside it.
    """
    if {"side", "first", "last"} <= set(rows):
        return rows.assign(pair="truth", is_truth=rows["side"] == "truth")
    if {"markup", "against", "start", "end"} <= set(rows):
        is_truth = rows["markup"] != ALGORITHM
        pair = rows["markup"].where(is_truth, rows["against"])
        rows = rows.assign(pair=pair, is_truth=is_truth, first=rows["start"], last=rows["end"] - 1)
        return rows[~is_truth | (rows["against"] == ALGORITHM)]
    return rows


def _columns(explanation: Any) -> list[str]:
    """What decides comes first, for phones."""
    item, label, outcome = (explain.column(explanation, role) for role in ROLES)
    cause = [] if explanation.losses is None else ["cause"]
    found = [str(name) for name in explanation.rows if name not in MERGED | {item}] + cause
    first = ["row_id", label, "points_lost", "cause" if cause else outcome]
    return sorted(found, key=lambda name: first.index(name) if name in first else len(first))


def _rows(
    records: list[Record],
    explanation: Any,
    columns: list[str],
    swatches: Mapping[str, tuple[str, str]],
) -> list[Row]:
    item, label, outcome = (explain.column(explanation, role) for role in ROLES)
    # Where a row and its partner are.
    own = {label: "partner_type"} | {name: f"partner_{name}" for name in explanation.rows}
    links = {str(name): partner for name, partner in own.items() if partner in explanation.rows}

    def key(record: Record, is_truth: bool, names: Iterable[str]) -> tuple[Any, ...]:
        return record[str(item)], record["pair"], is_truth, *(record[name] for name in names)

    number_at = {}
    if links and records and "pair" in records[0]:
        for record in reversed(records):  # of equal ones the first counts
            number_at[key(record, record["is_truth"], links)] = record["number"]
    positions = {*links, *links.values()}
    rows = []
    for record in records:
        name = number(record[label]) if label else ""
        rows.append(
            Row(
                record,
                number_at.get(key(record, not record["is_truth"], links.values())) if number_at else None,
                name,
                *swatches.get(name, ("", "c0")),
                outcome=_outcome(record, outcome) if outcome else "",
                cause=_cause(record),
                well=outcome is not None and record[outcome] in WELL,
                cells=[_cell(record, column, outcome, positions) for column in columns],
            )
        )
    return rows


def _cell(record: Record, name: str, outcome: str | None, positions: Collection[str]) -> str:
    """A row's text in a column; `positions` are the columns that hold positions, -1 for none."""
    value = record[name]
    if name == "row_id":  # as in the file, where people look for it
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


def _is_trimmed(record: Record) -> bool:
    return bool(0 < record.get("words_kept", 0) < record.get("words", 0))


def _first_kept(record: Record) -> int:
    kept = record.get("words_kept") or record["last"] - record["first"] + 1
    return int(record["last"] - kept + 1)


def _outcome(record: Record, column: str) -> str:
    return f"{record[column]}, {TRIMMED}" if _is_trimmed(record) else number(record[column])


def _cause(record: Record) -> str:
    return str(record.get("cause", "")) if record.get("points_lost") else ""


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


# ---- The truth and the prediction side by side -----------------------------------------------------------


class Text:
    """A text in units, matches of a pattern, which are shown by their positions where there is none."""

    def __init__(self, text: str | None, unit: str) -> None:
        self.text = text
        self.places = [match.span() for match in re.finditer(unit, text or "")]
        ends = [line.end() for line in re.finditer(r"\n\s*", text or "")]
        self.lines = {bisect.bisect_left(self.places, (end,)) for end in ends}  # units that begin one

    def stretch(self, first: int, end: int) -> tuple[str, str]:
        """And the white space after it in the line."""
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


def _sides(rows: list[Row], text: str | None) -> list[dict[str, Any]]:
    records = [row.record for row in rows]
    if not records or "pair" not in records[0]:
        return []
    in_characters = "start" in records[0]
    content = Text(text, "(?s)." if in_characters else r"\S+")
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
                # Number, percent from the left, and width.
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


def _lines(segments: list[Record], length: int, content: Text) -> Iterator[list[Piece]]:
    ends = {record["number"]: record["last"] + 1 for record in segments}
    starting: dict[int, list[int]] = {}
    for record in segments:
        starting.setdefault(_first_kept(record), []).append(record["number"])
    cuts = {0, *starting, *ends.values(), *(unit for unit in content.lines if unit < length), length}
    pieces: list[Piece] = []
    numbers: list[int] = []
    for first, end in itertools.pairwise(sorted(cuts)):
        if first in content.lines and pieces:
            yield pieces
            pieces = []
        begun = starting.get(first, [])
        numbers = [row for row in numbers if ends[row] > first] + begun
        pieces.append(Piece(numbers, begun, *content.stretch(first, end)))
    yield pieces
