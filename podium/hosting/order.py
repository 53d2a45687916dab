"""The order of the rows and of the ids of a test set, which must not tell the labels."""

import dataclasses
import hashlib
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from podium.common.arrays import Ints
from podium.common.errors import ToolError
from podium.contest import pipeline
from podium.hosting.evidence import Secrets, coded, natural, told_by_order
from podium.scoring import evaluating
from podium.tables import ids

# A day or a month, with the year in front or behind, or eight digits.
DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])(?:[-/.](?:0?[1-9]|[12]\d|3[01]))?"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/.](?:0?[1-9]|1[0-2])[-/.](?:19|20)\d\d"
    r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?!\d)"
)

STRETCHES, STRETCH = 20, 100  # of ids, and the length of each


def chance(seed: object, text: str) -> bytes:
    """Draw a number for a text, which is the same on every machine and in every version."""
    return hashlib.sha256(f"{seed} {text}".encode("utf-8", "surrogatepass")).digest()


def shuffled(row_ids: pd.Series, item_of_id: Mapping[str, str], seed: int) -> Ints:
    """Draw an order of rows, (n,), in which the rows of an item stay together.

    It depends on the ids and not on the order that the rows have. So the rows of another table with the same
    ids get the same order.
    """
    texts = ids.texts(row_ids)
    times = texts.groupby(texts).cumcount()  # of rows with the same id
    key = [
        (chance(f"{seed} items", item_of_id.get(text, text)), chance(f"{seed} rows", f"{text} {time}"))
        for text, time in zip(texts, times)
    ]
    return np.array(sorted(range(len(key)), key=key.__getitem__), dtype=np.int64)


def why_kept(solution: evaluating.Solution, submission: pd.DataFrame, row_ids: Sequence[str]) -> str:
    """Say why the rows keep their order; nothing if they need not.

    The `submission` has errors, as the scores of others may be the same in every order.
    """
    if len(row_ids) and all(DATE.search(text) for text in row_ids):
        return "the ids are dates"
    if solution.prepared:  # Podium refuses statistics that depend on it.
        return ""
    whole = dataclasses.replace(solution, rows={evaluating.ALL: solution.rows[evaluating.ALL]})
    try:
        evaluation = pipeline.unjudged(whole, submission)
    except ToolError:
        return ""
    return "the score depends on it" if _needs_order(evaluation) else ""


def _needs_order(evaluation: evaluating.Evaluation) -> bool:
    """Whether a score is another one with the rows of both tables in reverse, or the metric refuses them."""
    solution = evaluation.solution
    tables = solution.tables(evaluation.submission)
    reverse = (table.iloc[::-1].reset_index(drop=True) for table in tables)
    try:
        backward = solution.metric.score(*reverse, **solution.arguments)
    except ToolError:
        return True
    is_close = np.isclose(backward, evaluation.score, rtol=1e-6, atol=1e-9)  # the order of additions
    return bool(np.isfinite(evaluation.score) and not is_close)


def told_by_ids(row_ids: pd.Series, answers: pd.DataFrame) -> str:
    """Name a column of answers, which are texts, that the order of the ids tells; nothing if there is none."""
    texts = ids.texts(row_ids).tolist()
    rows = np.array(sorted(range(len(texts)), key=lambda row: natural(texts[row])), dtype=np.int64)
    # Some stretches of neighbors are enough.
    starts = np.linspace(0, max(len(rows) - STRETCH, 0), STRETCHES).astype(np.int64)
    some = np.unique(starts[:, np.newaxis] + np.arange(min(STRETCH, len(rows))))
    columns = coded(answers.iloc[rows[some]].fillna("").astype(str))
    told = told_by_order(np.arange(len(some)), Secrets(columns, some, np.zeros_like(some)))
    return told.answer if told else ""


def renamed(row_ids: pd.Series, seed: int) -> dict[str, str]:
    """Give ids new names whose numbers tell nothing.

    >>> sorted(renamed(pd.Series(["a1", "a2", "a2", "b1"]), 0).values())
    ['id_1', 'id_2', 'id_3']
    """
    names = sorted(ids.texts(row_ids).unique(), key=lambda text: chance(f"{seed} ids", text))
    return {name: f"id_{number:0{len(str(len(names)))}}" for number, name in enumerate(names, 1)}
