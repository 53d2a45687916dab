"""One page, for people, of everything that an evaluation tells: an HTML file that needs nothing else.

The page shows what the evaluation offers (see `podium.companions`) and leaves out the rest: the score and
its parts with intervals, where the points went, sub-populations, confusion, calibration, histograms, and the
items (essays, claims, documents) that lost most, with the truth and the prediction side by side.

It loads nothing and sends nothing.  Whatever comes from files is escaped as text by Jinja2, and the page's own
policy lets the browser run one script only, that of ``templates/report.js``.
"""

import base64
import bisect
import hashlib
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium import companions, explain, scoring, statistics
from podium.errors import UsageError
from podium.files import read_table, write_atomically
from podium.report import histograms
from podium.scoring import Evaluation

__all__ = ["MOST_ITEMS", "calibration", "read_texts", "render", "write"]

MOST_ITEMS = 200
TEXT_COLUMNS = ("text", "full_text")
ID_COLUMNS = ("essay_id", "id")
WELL = ("matched", "correct")
TRIMMED = "trimmed"
NOTHING = "–"
ALGORITHM = "algorithm"
ROLES = ("label", "outcome")
HEADERS = {
    "first": "words",
    "start": "characters",
    "cause": "lost most by",
    "iou": "IoU",
    "row_id": "row",
    "tp": "TP",
}
COLOURS, STROKES = 7, 3  # of Okabe and Ito, without black; solid, double, dotted
BINS = 10
ITEMS_COMPARED = 10
FIXES = 3
MOST_OFFSET = 8  # words
Z = 1.96
PLOT = 260  # pixels of the calibration's square
TEMPLATES = Path(__file__).with_name("templates")

Records = list[dict[str, Any]]


# ---------------------------------------------------------------------------------------------
# Public API
# ---------------------------------------------------------------------------------------------


def render(
    evaluation: Evaluation,
    title: str,
    texts: Mapping[str, str] | None = None,
    most_items: int = MOST_ITEMS,
    random: int | None = None,
    intervals: pd.DataFrame | None = None,
    comparison: pd.DataFrame | None = None,
    other: tuple[str, Evaluation] | None = None,
) -> str:
    """The page as text.

    Parameters
    ----------
    evaluation : what `podium.scoring.evaluate` returned
    title : heading of the page
    texts : the texts of some items by their ids
    most_items : how many items to show in full
    random : show a random sample, drawn by this seed, in place of the items that lost most
    intervals : what `podium.statistics.intervals` returns
    comparison, other : what `podium.statistics.compare` returns, and the other submission's name and evaluation
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"share": _share, "number": _number}
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    unit, unit_name = _unit(evaluation)
    return environment.get_template("report.html").render(
        title=title,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:",
        parts=[(part, score) for part, score in evaluation.scores.items() if part != scoring.ALL],
        evaluation=evaluation,
        signature=evaluation.signature,
        notices=[*evaluation.solution.notices, *getattr(evaluation.explanation, "notices", [])],
        score_interval=_score_interval(intervals),
        comparison=None if comparison is None or other is None else _comparison(comparison, evaluation, *other),
        unit=unit_name,
        fixes=_fixes(evaluation, unit),
        causes=_causes(evaluation, unit),
        offsets=_offsets(evaluation),
        groups=_groups(evaluation, intervals),
        measures=_measures(evaluation, intervals),
        tables=_tables(evaluation),
        confusion=_confusion(evaluation),
        calibration=_calibration_plot(evaluation),
        histograms=_histograms(evaluation),
        items=_items(evaluation, texts or {}, most_items, random, unit),
    )


def write(page: str, path: Path) -> None:
    """Write the page, all of it or nothing."""
    # What is no character (half of a pair, from a broken file) must not stop the rest.
    write_atomically(path, lambda part: part.write_bytes(page.encode("utf-8", "replace")))


def read_texts(path: Path | None, evaluation: Evaluation) -> dict[str, str]:
    """The texts of the evaluation's items, as far as they are known.

    Parameters
    ----------
    path : a folder of files ID.txt, or a CSV with a column of ids (named as in the explanation's rows,
        ``essay_id`` or ``id``) and one of texts (``text`` or ``full_text``); anything else is for the metric's
        companion, if it offers ``texts``

    Raises
    ------
    UsageError
        There is no such folder or file, it lacks a column, or it has a text for none of the items.
    """
    is_own = path is not None and (path.is_dir() or path.name.endswith((".csv", ".csv.gz", ".parquet")))
    companion: Any = companions.of(evaluation.solution.metric)
    if not is_own and hasattr(companion, "texts"):
        return dict(companion.texts(evaluation, path))
    if path is None:
        return {}
    wanted = set(evaluation.prepared.items)
    if path.is_dir():
        # Names are looked up, not made of ids: an id like "../secret" finds nothing.
        files = {file.stem: file for file in path.glob("*.txt") if file.stem in wanted}
        texts = {name: file.read_text(encoding="utf-8", errors="replace") for name, file in files.items()}
    else:
        explanation = evaluation.explanation
        item = explain.column(explanation, "item") if hasattr(explanation, "rows") else None
        ids = tuple(dict.fromkeys([item, *ID_COLUMNS] if item else ID_COLUMNS))
        table = read_table(path, {*ids, *TEXT_COLUMNS}, UsageError)
        id_column, text_column = (
            next((name for name in names if name in table), None) for names in (ids, TEXT_COLUMNS)
        )
        if id_column is None or text_column is None:
            raise UsageError(
                f"{path} lacks a column of {'ids' if id_column is None else 'texts'}: expected one of "
                f"{', '.join(ids if id_column is None else TEXT_COLUMNS)}; it has {', '.join(map(str, table))}"
            )
        table = table[table[id_column].isin(wanted) & table[text_column].notna()]
        texts = dict(zip(table[id_column].tolist(), table[text_column].tolist()))
    if not texts:
        raise UsageError(f"{path} has a text for none of the {len(wanted):,} ids of the solution")
    return texts


def calibration(forecasts: pd.DataFrame) -> pd.DataFrame:
    """How often it happened, by how likely it was said to be.

    Parameters
    ----------
    forecasts : DataFrame
        probability, happened (0 or 1).

    Returns
    -------
    DataFrame, one row per tenth of the probabilities that occurs
        forecasts: their number; probability: their mean; happened: the share that did; low, high: its 95%
        interval (E. Wilson, 1927).
    """
    tenth = np.minimum((forecasts["probability"] * BINS).astype(int), BINS - 1)
    table = forecasts.groupby(tenth).agg(
        forecasts=("happened", "size"), probability=("probability", "mean"), happened=("happened", "mean")
    )
    n, share = table["forecasts"], table["happened"]
    centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    low, high = (centre - half).clip(lower=0.0), (centre + half).clip(upper=1.0)
    return table.assign(low=low, high=high).reset_index(drop=True)


# ---------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------


def _share(value: float) -> str:
    return NOTHING if value is None or math.isnan(value) else f"{100 * value:.1f}%"


def _number(value: Any, digits: int = 4) -> str:
    """A number as people read it; text as it is; a dash for nothing."""
    if value is None or value is pd.NA or value != value:
        return NOTHING
    if isinstance(value, float | np.floating):
        return f"{round(float(value), digits) + 0.0:,.{digits}f}".replace("-", "−")  # no −0
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}".replace("-", "−")
    return str(value)


class Axis(NamedTuple):
    """A scale from left to right, with round ends."""

    low: float
    high: float
    ticks: list[tuple[float, str]]  # percent from the left, label

    def at(self, value: float) -> float:
        """Percent from the left."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


def _axis(values: Iterable[float]) -> Axis:
    """An axis that holds all values, from 2 to 6 steps of 1, 2 or 5 of a decimal place."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    spread = max(high - low, 1e-3)
    place = 10.0 ** math.floor(math.log10(spread))
    step = next(place * n for n in (0.2, 0.5, 1, 2, 5) if spread / (place * n) <= 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    digits = max(0, -math.floor(math.log10(step)))
    axis = Axis(first * step, last * step, [])
    ticks = [(axis.at(n * step), f"{n * step:.{digits}f}".replace("-", "−")) for n in range(first, last + 1)]
    return axis._replace(ticks=ticks)


# ---------------------------------------------------------------------------------------------
# Sections
# ---------------------------------------------------------------------------------------------


def _score_interval(intervals: pd.DataFrame | None) -> tuple[float, float] | None:
    if intervals is None:
        return None
    first = intervals.iloc[0]
    return float(first["low"]), float(first["high"])


def _comparison(
    comparison: pd.DataFrame, evaluation: Evaluation, name: str, other: Evaluation
) -> dict[str, Any]:
    """The differences in all measures, and the items in which either submission is ahead."""
    mine: Any = evaluation.statistics
    theirs: Any = other.statistics
    by_item = statistics.gains_by_item(evaluation.prepared, mine, theirs)
    gains = pd.Series(by_item, index=evaluation.prepared.items).sort_values(kind="stable")
    return {
        "other": name,
        "rows": comparison.to_dict("records"),
        "axis": _axis([0.0, *comparison["low"], *comparison["high"], *comparison["difference"]]),
        "better": [(item, gain) for item, gain in gains[::-1].head(ITEMS_COMPARED).items() if gain > 0],
        "worse": [(item, gain) for item, gain in gains.head(ITEMS_COMPARED).items() if gain < 0],
        "noun": _noun(evaluation),
    }


def _noun(evaluation: Evaluation) -> str:
    """What an item is called."""
    has_rows = hasattr(evaluation.explanation, "rows")
    item = explain.column(evaluation.explanation, "item") if has_rows else None
    return str(item or "item").removesuffix("_id").replace("_", " ")


def _fixes(evaluation: Evaluation, unit: float) -> list[dict[str, Any]]:
    """Where most points are to be gained: causes of labels in sub-populations, the most first."""
    explanation = evaluation.explanation
    if not hasattr(explanation, "losses") or not explain.column(explanation, "label"):
        return []
    item, label = (str(explain.column(explanation, role)) for role in ("item", "label"))
    losses: pd.DataFrame = explanation.losses
    keys = {"label": explanation.rows[label], "item": explanation.rows[item]}
    by_item = losses.assign(**keys).groupby(["item", "label"], sort=False).sum().reset_index()
    points = by_item.melt(["item", "label"], var_name="cause", value_name="points")
    total = points["points"].sum()
    groups = explain.groups_of_items(evaluation)
    found: list[dict[str, Any]] = []
    for attribute in groups if len(groups.columns) else [None]:
        group = "" if attribute is None else points["item"].map(f"{attribute}: " + groups[attribute])
        sums = points.assign(group=group).groupby(["group", "label", "cause"], sort=False)["points"].sum()
        most = sums.nlargest(FIXES).reset_index()
        most = most[most["points"] > 0]
        most = most.assign(share=most["points"] / total, points=most["points"] / unit)
        found += [{str(name): value for name, value in row.items()} for row in most.to_dict("records")]
    found.sort(key=lambda fix: -fix["points"])
    # The same mistakes count in a group of each attribute: one line per label and cause.
    distinct = {(fix["label"], fix["cause"]): fix for fix in reversed(found)}
    return sorted(distinct.values(), key=lambda fix: -fix["points"])[:FIXES]


def _offsets(evaluation: Evaluation) -> list[dict[str, Any]] | None:
    """How far starts and ends of matches are off: a shift of all of them shows at once."""
    explanation = evaluation.explanation
    needed = {"side", "outcome", "first", "last", "partner_first", "partner_last"}
    if not hasattr(explanation, "rows") or not needed <= set(explanation.rows):
        return None
    rows = explanation.rows
    matches = rows[(rows["side"] == "prediction") & rows["outcome"].isin(WELL)]
    if matches.empty:
        return None
    panels = []
    for name, mine, truth in (("Starts", "first", "partner_first"), ("Ends", "last", "partner_last")):
        words = (matches[mine] - matches[truth]).astype(np.int64).clip(-MOST_OFFSET, MOST_OFFSET)
        counts = words.value_counts().reindex(range(-MOST_OFFSET, MOST_OFFSET + 1), fill_value=0)
        panels.append(
            {
                "title": name,
                "exact": counts[0] / len(words),
                "bars": [
                    {
                        "name": f"{offset:+d}" + ("" if abs(offset) < MOST_OFFSET else " or more")
                        if offset
                        else "0",
                        "number": number,
                        "height": 100 * number / counts.max(),
                    }
                    for offset, number in counts.items()
                ],
            }
        )
    return panels


def _causes(evaluation: Evaluation, unit: float) -> dict[str, Any] | None:
    """The points by cause, and by label and cause."""
    if not hasattr(evaluation.explanation, "losses"):
        return None
    causes = explain.points_by_cause(evaluation.explanation)
    causes["points"] /= unit
    section: dict[str, Any] = {
        "rows": causes.to_dict("records"),
        "total": causes["points"].sum(),
        "most": max(causes["points"].abs().max(), 1e-300),
        "negative": bool((evaluation.explanation.losses < 0).any(axis=None)),
        "matrix": None,
    }
    if explain.column(evaluation.explanation, "label"):
        by_label = explain.points_by_label(evaluation.explanation)
        labels = [label for label in _labels(evaluation) if label in by_label.index]
        by_label = by_label.loc[labels][list(causes["cause"])]
        by_label /= unit
        by_label["all causes"] = by_label.sum(axis=1)
        section["matrix"] = _heat(by_label, by_label.abs().to_numpy()[:, :-1].max())
    return section


def _heat(table: pd.DataFrame, darkest: float) -> dict[str, Any]:
    """A table whose cells have a shade from 0 to 100."""
    shade = (table.abs().clip(upper=darkest) / (darkest or 1.0) * 100).round().astype(int)
    return {
        "columns": [str(name) for name in table],
        "rows": [
            (str(name), list(zip(values, shades)))
            for name, values, shades in zip(table.index, table.to_numpy().tolist(), shade.to_numpy().tolist())
        ],
    }


def _groups(evaluation: Evaluation, intervals: pd.DataFrame | None) -> dict[str, Any] | None:
    """The sub-populations with their intervals and weights."""
    if not hasattr(evaluation.explanation, "groups"):
        return None
    table: pd.DataFrame = evaluation.explanation.groups
    table = _with_intervals(table.assign(name=_group_names(evaluation)), "name", intervals)
    rows: list[Any] = table.to_dict("records")
    return {
        "rows": rows,
        "sizes": [name for name in table if pd.api.types.is_integer_dtype(table[name])],
        "axis": _axis([*table["low"], *table["high"], *table["score"], evaluation.score]),
        "heaviest": max(rows, key=lambda row: row["weight"]),
        "has_intervals": intervals is not None,
    }


def _group_names(evaluation: Evaluation) -> list[str]:
    """The sub-populations as the measures name them."""
    table: pd.DataFrame = evaluation.explanation.groups
    return [f"{attribute} = {value}" for attribute, value in zip(table["attribute"], table["value"])]


def _with_intervals(table: pd.DataFrame, name: str, intervals: pd.DataFrame | None) -> pd.DataFrame:
    if intervals is None:
        return table.assign(low=math.nan, high=math.nan)
    return table.merge(intervals[["measure", "low", "high"]], left_on=name, right_on="measure", how="left")


def _measures(evaluation: Evaluation, intervals: pd.DataFrame | None) -> dict[str, Any] | None:
    """The measures that no other section shows."""
    if evaluation.statistics is None:
        return None
    table = pd.DataFrame({"name": list(evaluation.measures), "value": list(evaluation.measures.values())})
    table = _with_intervals(table, "name", intervals)
    if hasattr(evaluation.explanation, "groups"):
        table = table[~table["name"].isin(_group_names(evaluation))]
    return {
        "rows": table.to_dict("records"),
        "axis": _axis([*table["low"], *table["high"], *table["value"]]),
        "has_intervals": intervals is not None,
    }


def _tables(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The evaluation's own tables, but for that of the sub-populations."""
    tables: dict[str, pd.DataFrame] = getattr(evaluation.explanation, "tables", {})
    groups = getattr(evaluation.explanation, "groups", None)
    return [
        {
            "title": title,
            "columns": [
                (str(name).replace("_", " "), pd.api.types.is_numeric_dtype(table[name])) for name in table
            ],
            "rows": list(zip(*(_column(table[name]) for name in table))),
        }
        for title, table in tables.items()
        if groups is None or not table.equals(groups)
    ]


def _column(column: "pd.Series[Any]") -> list[str]:
    """Shares to four digits, larger numbers to two."""
    digits = 4
    if pd.api.types.is_float_dtype(column) and (column.abs() > 1).any():
        digits = 2
    return [_number(value, digits) for value in column.tolist()]


def _confusion(evaluation: Evaluation) -> dict[str, Any] | None:
    """How often which label was predicted for which, each row's cells shaded by their share of the row."""
    if not hasattr(evaluation.explanation, "confusion"):
        return None
    table: pd.DataFrame = evaluation.explanation.confusion
    share = table.div(table.sum(axis=1).clip(lower=1), axis=0)
    section = _heat(share, 1.0)
    counts = table.to_numpy().tolist()
    section["rows"] = [
        (name, [(count, shade, name == column) for count, (_, shade), column in zip(row, cells, table)])
        for (name, cells), row in zip(section["rows"], counts)
    ]
    return section


def _calibration_plot(evaluation: Evaluation) -> dict[str, Any] | None:
    """The bins with their places in a square of `PLOT` pixels."""
    if not hasattr(evaluation.explanation, "forecasts") or evaluation.explanation.forecasts.empty:
        return None
    forecasts: pd.DataFrame = evaluation.explanation.forecasts
    table = calibration(forecasts)
    brier = float(((forecasts["probability"] - forecasts["happened"]) ** 2).mean())
    rows: list[Any] = table.to_dict("records")
    return {
        "rows": rows,
        "brier": brier,
        "number": len(forecasts),
        "size": PLOT,
        "points": [
            {
                "x": round(PLOT * row["probability"], 1),
                "y": round(PLOT * (1 - row["happened"]), 1),
                "low": round(PLOT * (1 - row["low"]), 1),
                "high": round(PLOT * (1 - row["high"]), 1),
                "radius": round(3 + 6 * math.sqrt(row["forecasts"] / table["forecasts"].max()), 1),
                "text": f"{row['forecasts']:,} of mean {row['probability']:.2f}: {row['happened']:.1%} did",
            }
            for row in rows
        ],
    }


def _histograms(evaluation: Evaluation) -> str | None:
    """The picture as a data URL.  As an image, an SVG can run no script."""
    if not getattr(evaluation.explanation, "histograms", None):
        return None
    picture = io.BytesIO()
    histograms.draw(evaluation.explanation).savefig(picture, format="svg")
    return "data:image/svg+xml;base64," + base64.b64encode(picture.getvalue()).decode()


# ---------------------------------------------------------------------------------------------
# Items: the truth and the prediction side by side
# ---------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A row of an item, as the page shows it.

    Attributes
    ----------
    partner : number of its partner, if that is in the item
    label, outcome, cause : str; the cause is the one that cost most
    look : str, the classes of its label's colour and stroke
    well : bool, it lost nothing by its outcome
    cells : list of str, of `_shown_columns`
    """

    partner: int | None
    label: str
    outcome: str
    cause: str
    look: str
    well: bool
    cells: list[str]


class Piece(NamedTuple):
    """A stretch of a text.

    Attributes
    ----------
    numbers : list of int, the rows whose segments hold it, the innermost last
    starting : list of int, those of them that begin with it
    text, after : str, the stretch and the white space that follows
    """

    numbers: list[int]
    starting: list[int]
    text: str
    after: str


class Text(NamedTuple):
    """A text in units, words or characters; where there is none, units are shown by their positions.

    Attributes
    ----------
    text : str or None
    places : list of pairs of int, where each unit starts and ends in the text
    paragraphs : set of int, the units that begin a line
    """

    text: str | None
    places: list[tuple[int, int]]
    paragraphs: set[int]

    @classmethod
    def of(cls, text: str | None, unit: str) -> "Text":
        """The text cut into units, matches of a pattern."""
        if text is None:
            return cls(None, [], set())
        places = [match.span() for match in re.finditer(unit, text)]
        starts = [start for start, _ in places]
        lines = re.finditer(r"\n\s*", text)
        return cls(text, places, {bisect.bisect_left(starts, line.end()) for line in lines})

    def stretch(self, first: int, last: int) -> tuple[str, str]:
        """The units from first to last, and the white space that follows within the line."""
        if self.text is None:
            return _range(first, last), " "
        parts = []
        if inside := self.places[first : last + 1]:
            parts.append(self.text[inside[0][0] : inside[-1][1]])
        if last >= len(self.places):
            parts.append(f"[{_range(max(first, len(self.places)), last)}: beyond the text]")
        following = self.places[last + 1 : last + 2]
        after = self.text[inside[-1][1] : following[0][0]] if following else " "
        return (" ".join(parts).rstrip(), "") if last + 1 in self.paragraphs else (" ".join(parts), after)


def _labels(evaluation: Evaluation) -> list[str]:
    """The labels of the segments, in the order of the confusion where it is offered."""
    explanation = evaluation.explanation
    found = list(dict.fromkeys(map(str, explanation.rows[explain.column(explanation, "label")].dropna())))
    order = [str(name) for name in explanation.confusion.index] if hasattr(explanation, "confusion") else []
    return [name for name in order if name in found] + [name for name in found if name not in order]


def _abbreviations(labels: Sequence[str]) -> dict[str, str]:
    """The shortest beginnings that tell the labels apart."""
    found = {}
    for label in labels:
        others = tuple(other for other in labels if other != label)
        lengths = range(1, len(label) + 1)
        found[label] = next(
            (label[:n] for n in lengths if not any(o.startswith(label[:n]) for o in others)), label
        )
    return found


def _unit(evaluation: Evaluation) -> tuple[float, str]:
    """The power of ten in which the page shows points, and its name: that of the item that lost most."""
    explanation = evaluation.explanation
    if not hasattr(explanation, "rows") or "points_lost" not in explanation.rows:
        return 1.0, ""
    most = explain.points_by_item(evaluation).max()
    if not most > 0:
        return 1.0, ""
    exponent = math.floor(math.log10(most))
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return 10.0**exponent, f"10{digits}"


def _items(
    evaluation: Evaluation, texts: Mapping[str, str], most_items: int, random: int | None, unit: float
) -> dict[str, Any] | None:
    """The items that lost most, the first ones or a sample, with their segments."""
    explanation = evaluation.explanation
    if not hasattr(explanation, "rows") or explain.column(explanation, "item") is None:
        return None
    item = str(explain.column(explanation, "item"))
    has_points = "points_lost" in explanation.rows
    none = pd.Series(0.0, index=evaluation.prepared.items)
    points = explain.points_by_item(evaluation) if has_points else none
    if random is not None and most_items < len(points):
        drawn = np.random.default_rng(random).choice(len(points), most_items, replace=False)
        shown = points.index[np.sort(drawn)].tolist()
    else:
        shown = points.index[:most_items].tolist()
    total = points.sum()
    labels = _labels(evaluation) if explain.column(explanation, "label") else []
    looks = [f"c{n % COLOURS}" + f" k{n // COLOURS % STROKES}" * (n >= COLOURS) for n in range(len(labels))]
    make_rows = _row_maker(evaluation, dict(zip(labels, looks)), unit)
    groups = explain.groups_of_items(evaluation)

    table: pd.DataFrame = _paired(explanation.rows[explanation.rows[item].isin(shown)])
    if hasattr(explanation, "losses") and len(table):
        table = table.assign(cause=explanation.losses.loc[table.index].idxmax(axis=1))
    records: dict[str, Records] = {name: [] for name in shown}
    all_records: list[Any] = table.to_dict("records")
    for record in all_records:
        records[record[item]].append(record)
    entries = []
    for name in shown:
        rows = make_rows(records[name])
        entries.append(
            {
                "id": name,
                "points": float(f"{points[name]:.6g}"),
                "in_units": _number(points[name] / unit, 2),
                "share": points[name] / total if total else math.nan,
                "groups": [f"{attribute}: {value}" for attribute, value in groups.loc[name].items()],
                "rows": rows,
                "sides": _sides(records[name], rows, texts.get(name)),
                "text": texts.get(name),
                "outcomes": Counter(row.outcome for row in rows if row.outcome).most_common(),
            }
        )
    rows = [row for entry in entries for row in entry["rows"]]
    partners = {e["rows"][row.partner].label for e in entries for row in e["rows"] if row.partner is not None}
    outcomes = dict.fromkeys(row.outcome.removesuffix(f", {TRIMMED}") for row in rows if row.outcome)
    outcomes |= {TRIMMED: None} if any(row.outcome.endswith(TRIMMED) for row in rows) else {}
    columns = _shown_columns(explanation)
    shorts = _abbreviations(labels)
    return {
        "noun": _noun(evaluation),
        "is_sample": random is not None,
        "label_noun": str(explain.column(explanation, "label") or "label").replace("_", " "),
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
            for role, name in (
                *((role, explain.column(explanation, role)) for role in ROLES),
                ("cause", "cause"),
            )
            if name in columns
        },
        "labels": [(name, shorts[name], look) for name, look in zip(labels, looks)],
        "shorts": shorts,
        "filters": {
            "label": [name for name in labels if name in {row.label for row in rows}],
            "outcome": [*outcomes],
            "cause": [*dict.fromkeys(row.cause for row in rows if row.cause)],
            "partner": [name for name in labels if name in partners],
            "group": [f"{attribute}: {value}" for attribute, value in evaluation.prepared.labels]
            if len(groups.columns)
            else [],
        },
    }


# Columns that are shown within another one.
_MERGED = {"last", "end", "words", "words_kept", "partner_type", "partner_first", "partner_last"}


def _shown_columns(explanation: Any) -> list[str]:
    """What decides first: it must be visible on a phone."""
    label, outcome, item = (explain.column(explanation, role) for role in (*ROLES, "item"))
    cause = ["cause"] if hasattr(explanation, "losses") else []
    found = [str(name) for name in explanation.rows if name not in _MERGED | {item}] + cause
    first = ["row_id", label, "points_lost", "cause" if cause else outcome]
    return sorted(found, key=lambda name: first.index(name) if name in first else len(first))


def _paired(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows that are stretches of a text with ``pair``, ``is_truth``, and ``first`` and ``last`` unit.

    Of several experts' markups each is a truth, and the algorithm's is beside each of them.
    """
    if {"side", "first", "last"} <= set(rows):
        return rows.assign(pair="truth", is_truth=rows["side"] == "truth")
    if {"markup", "against", "start", "end"} <= set(rows):
        is_truth = rows["markup"] != ALGORITHM
        pair = rows["markup"].where(is_truth, rows["against"])
        rows = rows.assign(pair=pair, is_truth=is_truth, first=rows["start"], last=rows["end"] - 1)
        return rows[~is_truth | (rows["against"] == ALGORITHM)]
    return rows


def _row_maker(evaluation: Evaluation, looks: Mapping[str, str], unit: float) -> Callable[[Records], list[Row]]:
    """The function that makes the rows of one item from its records."""
    explanation = evaluation.explanation
    columns = _shown_columns(explanation)
    label_column, outcome_column = (explain.column(explanation, role) for role in ROLES)
    # What says where a row is, and where its partner is.
    own = {label_column: "partner_type"} | {name: f"partner_{name}" for name in explanation.rows}
    links = {name: partner for name, partner in own.items() if partner in explanation.rows}

    def cell(record: dict[str, Any], name: str) -> str:
        if name in CELLS:
            return CELLS[name](record)
        value = record[name]
        if name == "points_lost":
            return _number(value / unit, 2)
        if name in links or name in links.values():
            return NOTHING if value == -1 else str(value)
        return (
            f"{value:.3f}".rstrip("0").rstrip(".")
            if isinstance(value, float) and value == value
            else _number(value)
        )

    def place(record: dict[str, Any], names: Iterable[str], is_truth: bool) -> tuple[Any, ...]:
        return record["pair"], is_truth, *(record[name] for name in names)

    def make_rows(records: Records) -> list[Row]:
        places: dict[tuple[Any, ...], int] = {}
        if links and records and "pair" in records[0]:
            for number, record in enumerate(records):
                places.setdefault(place(record, links, record["is_truth"]), number)
        rows = []
        for record in records:
            label = "" if label_column is None else _number(record[label_column])
            rows.append(
                Row(
                    partner=places.get(place(record, links.values(), not record["is_truth"]))
                    if places
                    else None,
                    label=label,
                    outcome="" if outcome_column is None else _outcome(record, outcome_column),
                    cause=_cause(record),
                    look=looks.get(label, "c0"),
                    well=outcome_column is not None and record[outcome_column] in WELL,
                    cells=[cell(record, name) for name in columns],
                )
            )
        return rows

    return make_rows


def _cause(record: dict[str, Any]) -> str:
    """What cost most; "" if nothing did."""
    return str(record.get("cause", "")) if record.get("points_lost") else ""


def _is_trimmed(record: dict[str, Any]) -> bool:
    return bool(0 < record.get("words_kept", 0) < record.get("words", 0))


def _outcome(record: dict[str, Any], column: str = "outcome") -> str:
    return f"{record[column]}, {TRIMMED}" if _is_trimmed(record) else _number(record[column])


def _words(record: dict[str, Any]) -> str:
    text = _range(record["first"], record["last"])
    if _is_trimmed(record):
        text += f", {_range(_first_kept(record), record['last'])} left"
    return text


def _characters(record: dict[str, Any]) -> str:
    return NOTHING if record["start"] < 0 else f"{record['start']}–{record['end']}"


def _partner(record: dict[str, Any]) -> str:
    """The partner's row and, where known, what it is."""
    parts = [record["partner"], record.get("partner_type")]
    return ": ".join(str(part) for part in parts if part is not None and part == part) or NOTHING


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


# Cells that are made of more than their value; a row id is as in the file, to be found there.
CELLS: dict[str, Callable[[dict[str, Any]], str]] = {
    "row_id": lambda record: str(record["row_id"]),
    "first": _words,
    "start": _characters,
    "outcome": _outcome,
    "partner": _partner,
    "cause": _cause,
}


def _first_kept(record: dict[str, Any]) -> int:
    """Where the words begin that counted; of a discarded segment, that were given."""
    kept = record.get("words_kept") or record["last"] - record["first"] + 1
    return int(record["last"] - kept + 1)


def _sides(records: Records, rows: list[Row], text: str | None) -> list[dict[str, Any]]:
    """The truth and the prediction as strips and in the text; empty where rows are no stretches of one."""
    if not records or "pair" not in records[0]:
        return []
    in_characters = "start" in records[0]
    content = Text.of(text, "(?s)." if in_characters else r"\S+")
    length = max([len(content.places), *(record["last"] + 1 for record in records)])
    sides = []
    for pair, is_truth in itertools.product(dict.fromkeys(record["pair"] for record in records), (True, False)):
        segments = sorted(
            (_first_kept(record), -record["last"], number)
            for number, record in enumerate(records)
            if record["pair"] == pair and record["is_truth"] == is_truth and record["first"] <= record["last"]
        )
        kept = [segment for segment in segments if records[segment[-1]].get("words_kept", 1)]
        sides.append(
            {
                "name": pair if is_truth else ALGORITHM if in_characters else "prediction",
                # Percent from the left, and width.
                "strip": [
                    (
                        number,
                        round(100 * records[number]["first"] / length, 1),
                        round(100 * (1 - last - records[number]["first"]) / length, 1),
                    )
                    for _, last, number in segments
                ],
                "paragraphs": list(_paragraphs(kept, length, content)),
                "discarded": [segment[-1] for segment in segments if segment not in kept],
                "outcomes": Counter(rows[number].outcome for *_, number in segments).most_common(),
            }
        )
    return sides


def _paragraphs(segments: list[tuple[int, int, int]], length: int, content: Text) -> Iterator[list[Piece]]:
    """A text from its first unit to its last, cut where a segment (first, -last, number) begins or ends."""
    ends = {number: 1 - last for _, last, number in segments}
    starting: dict[int, list[int]] = {}
    for first, _, number in segments:
        starting.setdefault(first, []).append(number)
    cuts = sorted(
        {0, *starting, *ends.values(), *(unit for unit in content.paragraphs if unit < length), length}
    )
    pieces: list[Piece] = []
    numbers: list[int] = []
    for first, end in itertools.pairwise(cuts):
        if first in content.paragraphs and pieces:
            yield pieces
            pieces = []
        begun = starting.get(first, [])
        numbers = [number for number in numbers if ends[number] > first] + begun
        pieces.append(Piece(numbers, begun, *content.stretch(first, end - 1)))
    yield pieces
