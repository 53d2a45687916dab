"""The F1 of Feedback Prize 1 as its public notebooks compute it: with sets of words, and with ranges of them.

Section 2.1 of the memo gives the rules. A prediction matches a truth of its type if they share at least half
of the words of each. If several predictions match a truth, the one with the largest overlap counts.
"""

from collections.abc import Callable

import pandas as pd

Scorer = Callable[[pd.DataFrame, pd.DataFrame], float]


def macro_f1(solution: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Compute the mean F1 over the discourse types with a set of words per segment, as most notebooks do."""
    return mean_over_types(solution, submission, f1_of_sets)


def macro_f1_of_ranges(solution: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Compute the same from first and last words, as the fast notebooks do."""
    with_ends = [frame.assign(**ends(frame["predictionstring"])) for frame in (solution, submission)]
    return mean_over_types(with_ends[0], with_ends[1], f1_of_ranges)


def mean_over_types(solution: pd.DataFrame, submission: pd.DataFrame, f1: Scorer) -> float:
    """Compute the mean of the F1 of each discourse type."""
    types = sorted(solution["discourse_type"].unique())
    of_types = [
        f1(*(frame[frame["discourse_type"] == name] for frame in (solution, submission))) for name in types
    ]
    return sum(of_types) / len(types)


def f1_of_sets(solution: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Compute the F1 of one type from sets of words."""
    pairs = pairs_of_essays(solution, submission, ["predictionstring"])
    overlaps = pairs.apply(overlap, axis=1, result_type="expand")
    pairs["of_truth"], pairs["of_predicted"] = overlaps[0], overlaps[1]
    return f1_of_pairs(pairs, len(solution), len(submission))


def f1_of_ranges(solution: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Compute the F1 of one type from first and last words."""
    pairs = pairs_of_essays(solution, submission, ["first", "last"])
    start = pairs[["first_truth", "first_predicted"]].max(axis=1)
    end = pairs[["last_truth", "last_predicted"]].min(axis=1)
    common = (end - start + 1).clip(lower=0)
    pairs["of_truth"] = common / (pairs["last_truth"] - pairs["first_truth"] + 1)
    pairs["of_predicted"] = common / (pairs["last_predicted"] - pairs["first_predicted"] + 1)
    return f1_of_pairs(pairs, len(solution), len(submission))


def pairs_of_essays(solution: pd.DataFrame, submission: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Pair every true segment with every predicted segment of its essay."""
    truth, predicted = (
        frame[["essay_id", *columns]].reset_index(drop=True).reset_index(names="segment")
        for frame in (solution, submission)
    )
    return truth.merge(predicted, on="essay_id", suffixes=("_truth", "_predicted"))


def f1_of_pairs(pairs: pd.DataFrame, truths: int, predictions: int) -> float:
    """Compute the F1 from the shares of words that pairs have in common."""
    matches = pairs[(pairs["of_truth"] >= 0.5) & (pairs["of_predicted"] >= 0.5)].copy()
    matches["best"] = matches[["of_truth", "of_predicted"]].max(axis=1)
    matches = matches.sort_values("best", ascending=False).drop_duplicates("segment_truth")
    tp = matches["segment_predicted"].nunique()
    return tp / (tp + 0.5 * (predictions - tp + truths - tp))


def overlap(pair: "pd.Series[str]") -> tuple[float, float]:
    """Compute the common words of a pair, as a share of the truth's words and of the prediction's words."""
    truth, predicted = (
        set(pair["predictionstring_truth"].split()),
        set(pair["predictionstring_predicted"].split()),
    )
    common = len(truth & predicted)
    return common / len(truth), common / len(predicted)


def ends(predictionstrings: "pd.Series[str]") -> dict[str, list[int]]:
    """Read the first and the last word of each predictionstring."""
    cells = predictionstrings.tolist()
    return {
        "first": [int(cell.partition(" ")[0]) for cell in cells],
        "last": [int(cell.rpartition(" ")[2]) for cell in cells],
    }
