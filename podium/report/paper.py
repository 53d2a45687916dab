"""Write results as a table for a paper: LaTeX, Markdown or CSV.

The best value of a column is bold. What cannot be told from it, by the rule of a board, is underlined in LaTeX
and has a dagger in Markdown.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from podium import statistics
from podium.common.arrays import Bools, Floats
from podium.common.errors import UsageError
from podium.common.options import as_option
from podium.common.statements import say
from podium.common.wording import counted, listed
from podium.scoring import explain
from podium.scoring.evaluating import ALL, Evaluation, Solution
from podium.statistics import inference
from podium.tables.files import write_atomically
from podium.tables.formats import table_bytes
from podium.tables.names import without_ending

NORMAL = 1.96  # standard errors from the middle of a 95% interval to its end
DECIMALS, MOST_DECIMALS = 4, 8  # of numbers of which nobody knows how sure they are, and at most
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # a row that begins so would be an argument of the end of the row before it
    "*": "{*}",
}


class PaperTable(NamedTuple):
    """What a table shows: a row for each submission or team, and a column for each measure."""

    names: Sequence[str]
    measures: Sequence[str]
    values: Floats  # (rows, measures)
    is_best: Bools  # (rows, measures)
    is_alike: Bools  # (rows, measures) what cannot be told from the best, and is not
    decimals: Sequence[int]  # (measures,)
    ends: Floats | None  # (rows, measures, 2) the intervals, if they are shown
    caption: str


def of_evaluations(
    evaluations: Mapping[str, Evaluation],
    wanted: Sequence[str] = (),
    resamples: int | None = None,
    seed: int = 0,
    items: str = "",
) -> PaperTable:
    """Tabulate the measures of scored submissions; with `resamples`, with their 95% intervals."""
    names, scored = list(evaluations), list(evaluations.values())
    known = list(scored[0].measures)
    unknown = [measure for measure in wanted if measure not in known]
    if unknown:
        raise UsageError(f"{as_option('measures', unknown[0])}: expected one of {listed(known, len(known))}")
    leading = inference.leading(scored, resamples, seed, items=items)
    is_may_be_best = dict(zip(known, leading.may_be_best.T))
    measures = list(wanted) or [name for name, same in zip(known, leading.is_repeated.tolist()) if not same]
    values = np.array([[each.measures[measure] for measure in measures] for each in scored])
    sign = 1 if scored[0].solution.higher_is_better else -1
    best = np.where(np.isnan(values), -np.inf, sign * values).argmax(axis=0)
    is_alike, errors = np.zeros(values.shape, dtype=bool), [math.nan] * len(measures)
    compared: dict[tuple[int, int], pd.DataFrame] = {}
    for column, (measure, first) in enumerate(zip(measures, best.tolist())):
        of_column = []
        for row in (row for row in range(len(names)) if row != first):
            if (first, row) not in compared:
                comparison = statistics.compare(scored[first], scored[row], resamples, seed, items=items)
                compared[first, row] = comparison.table.set_index("measure")
            ends = compared[first, row].loc[[measure], ["low", "high"]].to_numpy(dtype=np.float64)
            low, high = ends[0].tolist()
            is_alike[row, column] = math.isnan(low) or is_may_be_best[measure][row]
            of_column.append((high - low) / (2 * NORMAL))
        errors[column] = float(np.nanmin(of_column)) if np.isfinite(of_column).any() else math.nan
    shown = _ends(scored, measures, resamples, seed, items) if resamples else None
    is_best = (values == values[best, np.arange(len(measures))]) & (len(names) > 1)
    noun = explain.item_noun(scored[0]) if scored[0].solution.prepared else "row"
    size = counted(number_of_items(scored[0].solution), noun)
    caption = f"{scored[0].signature}; {size}."
    rows, is_alike = rows_named(names), is_alike & ~is_best
    return PaperTable(rows, measures, values, is_best, is_alike, decimals(errors), shown, caption)


def rows_named(files: Sequence[str]) -> list[str]:
    """Name the rows of a table like the teams of a board: by the names of files without their endings.

    >>> rows_named(["v1.2.csv", "Red Pen.csv.gz"]), rows_named(["a.csv", "a.parquet"])
    (['v1.2', 'Red Pen'], ['a.csv', 'a.parquet'])
    """
    named = [without_ending(name) for name in files]
    return named if len(set(named)) == len(named) else list(files)


def number_of_items(solution: Solution) -> int:
    """Count the items of the whole solution: those of its metric, or the rows with different ids."""
    return len(solution.prepared[ALL].items) if solution.prepared else len(solution.items_of(ALL).stratum)


def _ends(
    scored: Sequence[Evaluation], measures: Sequence[str], resamples: int, seed: int, items: str
) -> Floats:
    """The 95% intervals of measures, (submissions, measures, 2)."""
    tables = (statistics.intervals(each, resamples, seed, items=items).set_index("measure") for each in scored)
    return np.stack(
        [table[["low", "high"]].reindex(list(measures)).to_numpy(dtype=np.float64) for table in tables]
    )


def decimals(errors: Sequence[float]) -> list[int]:
    """How many decimals of numbers with such standard errors mean something: those of two digits of the error.

    >>> decimals([0.012, 3.4, 120.0, float("nan")])
    [3, 1, 0, 4]
    """
    return [
        min(max(1 - math.floor(math.log10(error)), 0), MOST_DECIMALS) if error > 0 else DECIMALS
        for error in errors
    ]


def check_form(path: Path) -> None:
    """Refuse a file whose ending names no form."""
    if path.suffix not in FORMS:
        raise UsageError(f"--table {path}: expected a name that ends in {', '.join(FORMS)}")


def write(results: PaperTable, path: Path) -> None:
    """Write results in the form that the ending of the path names."""
    check_form(path)
    made = FORMS[path.suffix](results)
    content = made if isinstance(made, bytes) else made.encode("utf-8", "replace")
    write_atomically(path, lambda part: part.write_bytes(content))


def _cells(results: PaperTable, best: str, alike: str, escaped: Callable[[str], str]) -> pd.DataFrame:
    """Write every cell, with the marks of the best ones and of those that cannot be told from them."""
    columns: dict[str, list[str]] = {"": [escaped(name) for name in results.names]}
    for column, measure in enumerate(results.measures):
        written = []
        for row, value in enumerate(results.values[:, column].tolist()):
            text = "–" if math.isnan(value) else f"{value:.{results.decimals[column]}f}"
            form = best if results.is_best[row, column] else alike if results.is_alike[row, column] else "{}"
            text = form.format(text)
            if results.ends is not None and not np.isnan(results.ends[row, column]).any():
                low, high = (f"{end:.{results.decimals[column]}f}" for end in results.ends[row, column])
                text = f"{text} [{low}, {high}]"
            written.append(text)
        columns[escaped(measure)] = written
    return pd.DataFrame(columns)


def _caption(results: PaperTable, marked: str) -> str:
    """The caption, and what the marks mean."""
    said = [results.caption]
    if results.is_best.any():
        alike = say("alike_are_marked", marked=marked) if results.is_alike.any() else ""
        said.append(say("best_is_bold", alike=alike))
    if results.ends is not None and not np.isnan(results.ends).all():
        said.append(say("intervals_in_brackets"))
    return " ".join(said)


def latex(results: PaperTable) -> str:
    """Write a table for LaTeX with the package booktabs."""
    cells = _cells(results, r"\textbf{{{}}}", r"\underline{{{}}}", escaped_for_latex)
    caption = escaped_for_latex(_caption(results, "what is underlined"))
    written: str = cells.to_latex(
        index=False, escape=False, caption=caption, column_format="l" + "r" * len(results.measures)
    )
    return written


def escaped_for_latex(text: str) -> str:
    r"""Write a foreign text so that LaTeX sets it as it is.

    >>> escaped_for_latex("50% of R&D_1 \\input{x}")
    '50\\% of R\\&D\\_1 \\textbackslash{}input\\{x\\}'
    """
    return "".join(LATEX.get(character, character) for character in " ".join(text.split()))


def markdown(results: PaperTable) -> str:
    """Write a table in Markdown."""
    cells = _cells(results, "**{}**", "{}†", escaped_for_markdown)
    rows: list[list[str]] = [
        [*map(str, cells)],
        ["---", *["--:"] * len(results.measures)],
        *cells.to_numpy().tolist(),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", escaped_for_markdown(_caption(results, "what has a †")), ""])


def escaped_for_markdown(text: str) -> str:
    r"""Write a foreign text so that Markdown shows it as it is.

    >>> escaped_for_markdown("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d\\>'
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", " ".join(text.split()))


def plain(results: PaperTable) -> bytes:
    """Write all digits as CSV; behind each measure stand its interval and what cannot be told from the best."""
    columns: dict[str, object] = {"name": list(results.names)}
    for column, measure in enumerate(results.measures):
        columns[measure] = results.values[:, column]
        if results.ends is not None:
            for end, values in zip(("low", "high"), results.ends[:, column].T):
                columns[f"{measure}: {end}"] = values
        columns[f"{measure}: not told from the best"] = results.is_alike[:, column].astype(int)
    return table_bytes(pd.DataFrame(columns))


FORMS: Mapping[str, Callable[[PaperTable], str | bytes]] = {".tex": latex, ".md": markdown, ".csv": plain}
