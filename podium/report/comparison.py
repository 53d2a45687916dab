"""Say in words and tables how one submission compares with others."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.common.statements import say
from podium.common.wording import counted, plural
from podium.scoring import explain
from podium.scoring.evaluating import ALL, Evaluation
from podium.statistics import Comparison, Difference, Reason

# Doubts that do not count the items that decide.
WITHOUT_NUMBER = (Reason.FAILED, Reason.FAR, Reason.HEAVY_TAIL, Reason.TOO_SLOW)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def sentence(
    difference: Difference, noun: str, higher_is_better: bool = True, names: tuple[str, str] = ("A", "B")
) -> str:
    """Say which of two submissions is better, if the test set can tell."""
    value, doubt = difference.value, difference.doubt
    if np.isnan(value):
        return say("cannot_be_compared", names=names)
    is_first = (value > 0) == higher_is_better
    better, worse = names if is_first else names[::-1]
    both = {"better": better, "worse": worse, "by": abs(value)}
    ahead = say("is_ahead", **both) if value else say("same_score", names=names)
    if doubt is not None and doubt.reason in WITHOUT_NUMBER:
        option = "; --bootstrap 200 draws them" if doubt.reason is Reason.TOO_SLOW else ""
        return say("ahead_without_chance", ahead=ahead, doubt=doubt, option=option)
    if doubt is not None and doubt.reason is not Reason.UNDEFINED:
        number = doubt.items
        count = NUMBERS[number] if 0 < number < len(NUMBERS) else f"{number:,}" if number else "hardly any"
        decide = f"{noun} decides" if number < 2 else f"{plural(noun)} decide"
        return say("too_few_decide", ahead=ahead, count=count.capitalize(), decide=decide)
    if value == 0:
        return f"{ahead}."
    share = _share(difference.ahead if is_first else 1 - difference.ahead)
    if difference.low > 0 or difference.high < 0:
        return say("is_better", **both, share=share)
    return say("interval_contains_0", ahead=ahead, share=share)


def _share(share: float) -> str:
    """Write a share of the draws, so that it is not rounded to all of them."""
    return "all" if share == 1 else "more than 99% of the" if share >= 0.995 else f"{share:.0%} of the"


def of_groups(comparison: Comparison, noun: str, higher_is_better: bool, names: tuple[str, str]) -> str:
    """Say which of two submissions is better in the groups that are large enough, where small ones decide."""
    doubt, value = comparison.score.doubt, comparison.score.value
    assert doubt is not None
    both = list(zip(names, comparison.table.iloc[0][["value", "other"]].tolist()))
    (better, score), (worse, other) = both if (value > 0) == higher_is_better else both[::-1]
    large = comparison.table[comparison.table["measure"].isin(comparison.large_groups)]
    number, clearly = len(large), int(((large["low"] > 0) if value > 0 else (large["high"] < 0)).sum())
    against = int((large["difference"] * value < 0).sum())
    if not number:
        told = say("no_large_group", fewest=doubt.fewest)
    elif clearly == number:
        told = say("better_in_large_groups", better=better, number=number)
    else:
        other_ahead = f", and {worse} is ahead in {against}" if against else ""
        told = say("better_in_some", better=better, clearly=clearly, number=number, against=other_ahead)
    scores = {"better": better, "score": score, "worse": worse, "other": other}
    decided = {"fewest": doubt.fewest, "items": plural(noun), "share": doubt.share}
    return say("difference_of_groups", **scores, **decided, told=told)


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
    told = {}
    for other, each in comparisons.items():
        said = explain.item_noun(evaluation), evaluation.solution.higher_is_better, (name, other)
        doubt, has_small_groups = each.score.doubt, len(each.table) > 1 and each.score.value != 0
        is_of_groups = has_small_groups and doubt is not None and doubt.reason is Reason.SMALL_GROUPS
        told[other] = of_groups(each, *said) if is_of_groups else sentence(each.score, *said)
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
        f"of {rounded(each.detectable)} with {counted(sizes[part], noun)}{of_part[part]}"
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
