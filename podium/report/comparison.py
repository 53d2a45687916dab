"""Say in words and tables how one submission compares with others."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.common.statements import say
from podium.scoring import explain
from podium.scoring.evaluating import ALL, Evaluation
from podium.statistics import Comparison, Difference, Reason, compared


def measures(comparison: Comparison) -> pd.DataFrame:
    """Tabulate the differences in all measures; if small groups decide, in the score and the large ones."""
    table, doubt = comparison.table, comparison.score.doubt
    if doubt is None or doubt.reason is not Reason.SMALL_GROUPS:
        return table
    shown = table["measure"].isin([table["measure"][0], *comparison.large_groups])
    return table[shown].reset_index(drop=True)


def overview(name: str, comparisons: Mapping[str, Comparison], higher_is_better: bool) -> pd.DataFrame:
    """Tabulate how the score of one submission compares with those of several others.

    It names the better one where the interval of the difference excludes 0.
    """
    rows = pd.concat([each.table.head(1) for each in comparisons.values()], ignore_index=True)
    rows = rows.assign(
        submission=list(comparisons),
        score=rows["other"],
        better=np.where((rows["low"] > 0) == higher_is_better, name, list(comparisons)),
        ahead=[each.score.ahead for each in comparisons.values()],
        detectable=[each.score.detectable for each in comparisons.values()],
    )
    rows["better"] = rows["better"].where((rows["low"] > 0) | (rows["high"] < 0), "")
    columns = ["submission", "score", "difference", "better", "low", "high", "ahead", "detectable", "note"]
    return rows[columns]


def sentences(
    evaluation: Evaluation, comparisons: Mapping[str, Comparison], name: str = "this submission"
) -> list[str]:
    """Say for one other submission how it compares; for several, only where there is no interval to show."""
    noun, higher = explain.item_noun(evaluation), evaluation.solution.higher_is_better
    told = {other: compared.said_of(each, noun, higher, (name, other)) for other, each in comparisons.items()}
    if len(told) == 1:
        return list(told.values())
    return [f"{other}: {text}" for other, text in told.items() if np.isnan(comparisons[other].score.low)]


def resolution(parts: Mapping[str, Difference], sizes: Mapping[str, int], noun: str) -> list[str]:
    """Say which true difference so many items would show, for each part of a solution with its size.

    The whole solution comes first. Nothing is said where its scores are equal or undefined.
    """
    whole = parts[ALL]
    if np.isnan(whole.value) or (whole.doubt is None and whole.hidden is None and np.isnan(whole.detectable)):
        return []
    of_part = {part: "" if part == ALL else f" ({part})" for part in parts}
    said = [
        say("one_difference", of=rounded(each.detectable), items=sizes[part], noun=noun, part=of_part[part])
        for part, each in parts.items()
        if not np.isnan(each.detectable)
    ]
    silent = {part: doubt for part, each in parts.items() if (doubt := each.doubt or each.hidden)}
    told = [say("not_detectable", part=of_part[part], doubt=doubt) for part, doubt in silent.items()]
    return [say("detectable", differences=said), *told] if said else told


def rounded(value: float) -> str:
    """Write a number with two digits that count, without an exponent.

    >>> rounded(0.02934), rounded(0.0000304), rounded(1234.5)
    ('0.029', '0.00003', '1200')
    """
    return np.format_float_positional(float(f"{value:.2g}"), trim="-")


def summary(comparison: Comparison) -> dict[str, Any]:
    """Collect the difference of two scores as plain values."""
    score = comparison.score
    note = "" if score.doubt is None else str(score.doubt)
    ends = {"low": score.low, "high": score.high}
    return {"value": score.value, **ends, "ahead": score.ahead, "detectable": score.detectable, "note": note}
