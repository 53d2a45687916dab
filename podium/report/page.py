"""A report: one page with everything that an evaluation offers.

The page loads nothing from elsewhere, and only the script ``templates/report.js`` may run in it.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from podium import statistics
from podium.common import pages
from podium.common.errors import UsageError
from podium.common.options import as_option
from podium.common.statements import say
from podium.common.wording import plural
from podium.report import comparison, histograms, items
from podium.scoring import evaluating, explain
from podium.scoring.evaluating import Evaluation
from podium.tables.files import write_atomically
from podium.tables.formats import read_table

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_ITEMS = 200
TEXT_COLUMNS = ("text", "full_text")
ID_COLUMNS = ("essay_id", "id")
BINS = 10
ITEMS_COMPARED = 10
DETAILS_SHOWN = 500  # rows of each table of values
CAUSES_NAMED = 3
LEAST_GAIN = 1e-9  # a smaller one is a rounding error
MOST_OFFSET = 8  # words
TEMPLATES = Path(__file__).with_name("templates")


def render(
    evaluation: Evaluation,
    title: str,
    texts: Mapping[str, str] | None = None,
    most_items: int = MOST_ITEMS,
    intervals: pd.DataFrame | None = None,
    others: Mapping[str, tuple[Evaluation, statistics.Comparison]] | None = None,
) -> str:
    """Make the report of an evaluation."""
    from markupsafe import Markup

    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    shown = ["measure", "low", "high", "note"]
    drawn = pd.DataFrame(columns=shown) if intervals is None else intervals[shown]
    return pages.template(TEMPLATES, "report.html", WORDS).render(
        title=title,
        style=Markup(style),
        script=Markup(script),
        policy=pages.policy(script),
        parts=[(part, score) for part, score in evaluation.scores.items() if part != evaluating.ALL],
        evaluation=evaluation,
        lower_is_better=not evaluation.solution.higher_is_better,
        notices=evaluation.notices,
        noun=explain.item_noun(evaluation),
        nouns=plural(explain.item_noun(evaluation)),
        has_intervals=intervals is not None,
        of_score=next(iter(drawn.to_dict("records")), None),
        comparison=_comparison(evaluation, others or {}),
        advice=_advice(evaluation),
        causes=_causes(evaluation),
        offsets=_offsets(evaluation),
        groups=_groups(evaluation, drawn),
        measures=_measures(evaluation, drawn),
        tables=_tables(evaluation),
        confusion=_confusion(evaluation),
        calibration=_calibration(evaluation),
        histograms=histograms.figures(evaluation.explanation),
        items=items.section(evaluation, texts or {}, most_items),
    )


def _breakable(name: str) -> "Markup":
    """A measure's name, which a narrow page breaks after a dot or an underscore, not within a word."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([._])(?=\w)", r"\1<wbr>", str(escape(name))))


WORDS: dict[str, Any] = {
    "number": items.number,
    "gain": items.gain,
    "breakable": _breakable,
    "share": items.share,
}


def write_report(
    evaluation: Evaluation,
    path: str | Path,
    texts: Mapping[str, str] | str | Path | None = None,
    title: str = "Report",
) -> None:
    """Write the report of a score, as `podium.scoring.evaluating.Evaluation.report` does.

    Parameters
    ----------
    evaluation : podium.scoring.evaluating.Evaluation
        What `podium.score` returns.
    path : str or Path
        The file to write, such as "report.html".
    texts : mapping of str to str, or a path, optional
        The texts of the items by their ids, or the folder or table that has them, as ``podium score --texts``
        takes it.
    title : str
        The title of the page.

    Raises
    ------
    podium.common.errors.UsageError
        The file cannot be written.

    Examples
    --------
    >>> podium.write_report(podium.score(solution, submission), "report.html")  # doctest: +SKIP
    """
    intervals = None if evaluation.statistics is None else statistics.intervals(evaluation)
    if isinstance(texts, str | Path):
        texts = read_texts(Path(texts), evaluation)
    write(render(evaluation, title, texts, intervals=intervals), Path(path))


def write(page: str, path: Path) -> None:
    """Write a page into a file in UTF-8, either whole or not at all."""
    # A text may contain half of a surrogate pair, which UTF-8 cannot encode and a question mark replaces.
    write_atomically(path, lambda part: part.write_bytes(page.encode("utf-8", "replace")))


def read_texts(path: Path | None, evaluation: Evaluation) -> dict[str, str]:
    """Read the texts of the items."""
    is_own = path is not None and (path.is_dir() or path.name.endswith((".csv", ".csv.gz", ".parquet")))
    read = evaluation.solution.metric.companion.texts
    if not is_own and read is not None:
        return dict(read(evaluation, path))
    if path is None:
        return {}
    wanted = set(evaluation.prepared.items)
    if path.is_dir():
        # The names of the files are compared with the ids. A path made from an id like "../secret" could lead
        # out of the folder.
        files = {file.stem: file for file in path.glob("*.txt") if file.stem in wanted}
        texts = {name: file.read_text(encoding="utf-8", errors="replace") for name, file in files.items()}
    else:
        ids = (explain.column(evaluation.explanation, "item") or "id", *ID_COLUMNS)
        table = read_table(path, {*ids, *TEXT_COLUMNS}, UsageError)
        columns = []
        for what, names in (("ids", dict.fromkeys(ids)), ("texts", TEXT_COLUMNS)):
            there = [name for name in names if name in table]
            if not there:
                raise UsageError(
                    f"{path} lacks a column of {what}: expected one of {', '.join(names)}; "
                    f"it has {', '.join(map(str, table))}"
                )
            columns.append(table[there[0]])
        known = columns[0].isin(wanted) & columns[1].notna()
        texts = dict(zip(*(column[known].tolist() for column in columns)))
    if not texts:
        raise UsageError(f"{path} has a text for none of the {len(wanted):,} ids of the solution")
    return texts


def notices_of_texts(evaluation: Evaluation, texts: Mapping[str, str]) -> list[str]:
    """Say in one sentence how many items have no text, an empty one, or one that ends before their segments."""
    rows, item = explain.rows_of(evaluation.explanation), explain.column(evaluation.explanation, "item")
    if item is None or "last" not in rows:
        return []
    lengths = {name: len(text) if "start" in rows else len(text.split()) for name, text in texts.items()}
    own, row_id = rows[item].map(lengths), evaluation.solution.arguments["row_id_column_name"]
    noun, told = explain.item_noun(evaluation), []
    for kind, wrong in (
        ("text_missing", own.isna()),
        ("text_empty", own == 0),
        ("text_too_short", (own > 0) & (own <= rows["last"])),
    ):
        if wrong.any():
            found, first = rows.loc[wrong, item].unique(), rows[wrong].iloc[0]
            row = f", {row_id} {first[row_id]}" if row_id in rows else ""
            told.append(say(kind, items=found, noun=noun, first=first[item], side=first["side"], row=row))
    return [say("texts_do_not_fit", texts=as_option("texts"), faults="; ".join(told))] if told else []


def calibration(forecasts: pd.DataFrame) -> pd.DataFrame:
    """Compare predicted probabilities with what was true, in ten bins of equal width.

    The interval is the score interval of E. Wilson ("Probable Inference, the Law of Succession, and Statistical
    Inference", Journal of the American Statistical Association 22, 1927).
    """
    from scipy.stats import binomtest

    tenth = np.minimum((forecasts["probability"] * BINS).astype(int), BINS - 1)
    table = forecasts.groupby(tenth).agg(
        forecasts=("happened", "size"), probability=("probability", "mean"), happened=("happened", "mean")
    )
    happened = (table["happened"] * table["forecasts"]).round().astype(int)
    intervals = [
        binomtest(int(k), int(n)).proportion_ci(method="wilson") for k, n in zip(happened, table["forecasts"])
    ]
    low, high = zip(*intervals) if intervals else ((), ())
    return table.assign(low=low, high=high).reset_index(drop=True)


class Axis:
    """A scale that contains all values and has 1 to 6 steps of round numbers."""

    def __init__(self, values: Any) -> None:
        finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        spread = max(high - low, 1e-3)
        power = 10.0 ** math.floor(math.log10(spread))
        step = next(power * n for n in (0.2, 0.5, 1, 2, 5) if spread / (power * n) <= 5)
        first = math.floor(low / step)
        last = max(math.ceil(high / step), first + 1)
        self.low, self.high = float(first * step), float(last * step)
        digits = max(0, -math.floor(math.log10(step)))
        self.ticks = [
            (self.at(n * step), f"{n * step:.{digits}f}".replace("-", "−")) for n in range(first, last + 1)
        ]

    def at(self, value: float) -> float:
        """Place a value on the scale."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


# ---- Sections of the template; a section is None if the evaluation does not offer it ----------------------


def _advice(evaluation: Evaluation) -> dict[str, Any] | None:
    """Find the cause whose correction gains most, and the label and the group that have most of it."""
    explanation = evaluation.explanation
    gains = explanation.gains
    if gains is None:
        return None
    causes = explain.gains_by_cause(explanation)
    cures = explanation.cures
    largest: list[Any] = causes[causes["gain"] >= LEAST_GAIN].head(CAUSES_NAMED).to_dict("records")
    if not largest:
        return None
    first, *others = largest
    of_labels = explain.shares(gains[first["cause"]].drop("(all)"))
    label = of_labels.idxmax() if of_labels.notna().any() else None
    return {
        **first,
        "after": evaluation.score + first["gain"],
        "label": label,
        "of_label": of_labels.get(label),
        "group": _group_of(evaluation, first["cause"]),
        "others": others,
        "cure": cures.get(first["cause"]),
        "cures": [
            (cause, cures[cause]) for cause in causes["cause"][causes["gain"] >= LEAST_GAIN] if cause in cures
        ],
    }


def _group_of(evaluation: Evaluation, cause: str) -> dict[str, Any] | None:
    """Find the group that loses most by a cause, if it has enough items and loses more than its share."""
    explanation = evaluation.explanation
    item = explain.column(explanation, "item")
    if item is None or explanation.losses is None:
        return None
    lost = explanation.losses[cause].groupby(explanation.rows[item]).sum()
    shares = explain.shares(lost.reindex(evaluation.prepared.items, fill_value=0.0))
    found: dict[str, Any] | None = None
    for attribute, values in explain.groups_of_items(evaluation.prepared).items():
        for value, share in shares.groupby(values).sum().items():
            size = int((values == value).sum())
            is_more = size >= explain.SMALL_SUBPOPULATION and share > size / len(values)
            if is_more and (found is None or share > found["share"]):
                found = {"name": f"{attribute}: {value}", "share": share, "size": size}
    return found


def _causes(evaluation: Evaluation) -> dict[str, Any] | None:
    """Collect the gains by cause, and by label and cause."""
    explanation = evaluation.explanation
    gains, losses = explanation.gains, explanation.losses
    if gains is None or losses is None:
        return None
    causes = explain.gains_by_cause(explanation)
    matrix = None
    if explain.column(explanation, "label"):
        labels = [label for label in items.labels(evaluation) if label in gains.index]
        by_label = gains.loc[labels, causes["cause"].tolist()]
        matrix = _heat(by_label, by_label.abs() / (by_label.abs().to_numpy().max() or 1.0))
    return {
        "rows": causes.to_dict("records"),
        "most": max(causes["gain"].abs().max(), 1e-300),
        "any": bool((losses.to_numpy() != 0).any()),
        "negative": bool((causes["gain"] < 0).any()),
        "matrix": matrix,
    }


def _heat(table: pd.DataFrame, darkness: pd.DataFrame) -> dict[str, Any]:
    """Prepare a table whose cells are shaded; the darkness of each is from 0 to 1."""
    shades = (100 * darkness).round().astype(int).to_numpy().tolist()
    rows = zip(map(str, table.index), table.to_numpy().tolist(), shades)
    return {
        "columns": [str(name) for name in table],
        "rows": [(name, list(zip(values, of_row))) for name, values, of_row in rows],
    }


def _offsets(evaluation: Evaluation) -> list[dict[str, Any]] | None:
    """Count matches by how many words their starts and their ends differ from those of the truth."""
    rows = evaluation.explanation.rows
    if not {"side", "outcome", "first", "last", "partner_first", "partner_last"} <= set(rows):
        return None
    matches = rows[(rows["side"] == "prediction") & rows["outcome"].isin(items.WELL)]
    if matches.empty:
        return None
    panels = []
    for title, end in (("Starts", "first"), ("Ends", "last")):
        words = (matches[end] - matches[f"partner_{end}"]).astype(np.int64).clip(-MOST_OFFSET, MOST_OFFSET)
        numbers = words.value_counts()
        bars = []
        for at in range(-MOST_OFFSET, MOST_OFFSET + 1):
            name = f"{at:+d}" if at else "0"
            more = " or more" if abs(at) == MOST_OFFSET else ""
            number = int(numbers.get(at, 0))
            bars.append({"name": name + more, "number": number, "height": 100 * number / numbers.max()})
        panels.append({"title": title, "exact": numbers.get(0, 0) / len(words), "bars": bars})
    return panels


def _comparison(
    evaluation: Evaluation, others: Mapping[str, tuple[Evaluation, statistics.Comparison]]
) -> dict[str, Any] | None:
    """Collect what the comparisons with other submissions say: all in a table, and each in full."""
    if not others:
        return None
    compared = {name: each for name, (_, each) in others.items()}
    overview = comparison.overview("this submission", compared, evaluation.solution.higher_is_better)
    return {
        "sentences": comparison.sentences(evaluation, compared),
        "rows": overview.assign(number=range(1, len(overview) + 1)).to_dict("records"),
        "axis": Axis(np.append(overview[["low", "high", "difference"]], 0.0)),
        "others": [
            {
                "name": name,
                "rows": table.to_dict("records"),
                "axis": Axis(np.append(table[["low", "high", "difference"]], 0.0)),
                **_items_that_differ(evaluation, other, evaluation.solution.higher_is_better),
            }
            for name, (other, each) in others.items()
            for table in [comparison.measures(each)]
        ],
    }


def _items_that_differ(evaluation: Evaluation, other: Evaluation, is_higher_better: bool) -> dict[str, Any]:
    """Find the items by which a submission gains and loses most, with the changes of the score.

    A metric with ``score()`` alone says nothing of items.
    """
    mine, theirs = evaluation.statistics, other.statistics
    if mine is None or theirs is None:
        return {"better": [], "worse": []}
    by_item = statistics.gains_by_item(evaluation.prepared, mine, theirs)[:, 0]
    changes = pd.Series(by_item, index=evaluation.prepared.items).sort_values(kind="stable")
    highest = [(item, change) for item, change in changes[::-1].head(ITEMS_COMPARED).items() if change > 0]
    lowest = [(item, change) for item, change in changes.head(ITEMS_COMPARED).items() if change < 0]
    return dict(zip(("better", "worse"), (highest, lowest) if is_higher_better else (lowest, highest)))


def _groups(evaluation: Evaluation, intervals: pd.DataFrame) -> dict[str, Any] | None:
    """Collect the scores and weights of sub-populations, if the solution tells any apart."""
    table = evaluation.explanation.groups
    if table is None or len(table) == 1:
        return None
    table = table.assign(measure=_group_names(table), slope=_slopes(evaluation)).merge(intervals, "left")
    rows: list[Any] = table.to_dict("records")
    return {
        "rows": rows,
        "sizes": [name for name in table if pd.api.types.is_integer_dtype(table[name])],
        "axis": Axis(np.append(table[["low", "high", "score"]], evaluation.score)),
        "heaviest": max(rows, key=lambda row: row["weight"]),
    }


def _slopes(evaluation: Evaluation) -> Any:
    """Find out how fast the score rises with the score of each sub-population; NaN where nobody knows."""
    assert evaluation.statistics is not None
    prepared = evaluation.prepared
    slopes = statistics.group_slopes(prepared, statistics.sums(evaluation.statistics, prepared.groups))
    return np.nan if slopes is None else slopes


def _group_names(groups: pd.DataFrame) -> "pd.Series[str]":
    """Name groups as measures are named."""
    return groups["attribute"] + " = " + groups["value"]


def _measures(evaluation: Evaluation, intervals: pd.DataFrame) -> dict[str, Any] | None:
    """Collect the measures that no other section shows."""
    if evaluation.statistics is None:
        return None
    table = pd.DataFrame(evaluation.measures.items(), columns=["measure", "value"])
    table = table.merge(intervals, "left")
    if evaluation.explanation.groups is not None:
        table = table[~table["measure"].isin(_group_names(evaluation.explanation.groups))]
    return {"rows": table.to_dict("records"), "axis": Axis(table[["low", "high", "value"]].to_numpy().ravel())}


def _tables(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Collect the companion's tables, and the first rows of its values."""
    tables = dict(evaluation.explanation.tables)
    for level, values in evaluation.explanation.details.items():
        shown = values.head(DETAILS_SHOWN)
        more = f": the first {len(shown):,} of {len(values):,}" if len(values) > len(shown) else ""
        tables[f"Values of each {level}{more}"] = shown
    groups = evaluation.explanation.groups
    return [
        {
            "title": title,
            "columns": [str(name).replace("_", " ") for name in table],
            "numeric": [pd.api.types.is_numeric_dtype(table[name]) for name in table],
            "rows": list(zip(*(_column(table[name]) for name in table))),
        }
        for title, table in tables.items()
        if groups is None or not table.equals(groups)
    ]


def _column(column: "pd.Series[Any]") -> list[str]:
    """Write the cells of a column: shares with four decimals, larger numbers with two."""
    is_large = pd.api.types.is_float_dtype(column) and (column.abs() > 1).any()
    return [items.number(value, 2 if is_large else 4) for value in column.tolist()]


def _confusion(evaluation: Evaluation) -> dict[str, Any] | None:
    """Prepare the table of true and predicted labels, shaded by the share of each row."""
    if evaluation.explanation.confusion is None:
        return None
    table: pd.DataFrame = evaluation.explanation.confusion
    return _heat(table, table.div(table.sum(axis=1).clip(lower=1), axis=0))


def _calibration(evaluation: Evaluation) -> dict[str, Any] | None:
    """Collect the calibration of predicted probabilities, and their Brier score."""
    forecasts = evaluation.explanation.forecasts
    if forecasts.empty:
        return None
    table = calibration(forecasts)
    return {
        "rows": table.to_dict("records"),
        "brier": ((forecasts["probability"] - forecasts["happened"]) ** 2).mean(),
        "number": len(forecasts),
        "most": table["forecasts"].max(),
    }
